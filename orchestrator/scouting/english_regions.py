"""The part of an English question that says where to look: "in tests", "outside src/legacy", "only *.py"."""

from __future__ import annotations

import re

from orchestrator.scouting.marks import MARK, Marked
from orchestrator.scouting.names import SOURCE_EXTENSIONS, looks_like_path
from orchestrator.scouting.regions import ENDINGS_OF, Filters, Region

_INSIDE = (
    r"only\s+(?:in|inside|within|under|from|among|for)|just\s+in|in|inside|within|under|from|across|among|throughout|by"
)
_OUTSIDE = (
    r"outside(?:\s+of)?|not\s+(?:in|inside|under|within|from|counting|including)|except(?:\s+(?:for|in|from))?|"
    r"excluding|without|other\s+than(?:\s+in)?|apart\s+from|aside\s+from|besides|ignoring|but\s+not(?:\s+in)?|"
    r"leaving\s+out|minus"
)
_THE = r"(?:(?:the|any|all|our|its|of\s+the)\s+)*"
_FOLDER_WORDS = r"folder|directory|dir|subfolder|package|module|file|subpackage|subdirectory"
_SCOPE_WORDS = r"function|method|class"
_LANGUAGES = "|".join(sorted(map(re.escape, ENDINGS_OF), key=len, reverse=True))
_KNOWN = (
    "src|lib|libs|app|apps|examples?|scripts?|bin|pkg|cmd|internal|tools|packages|vendor|build|benchmarks?|core|source"
)
_TOKEN = rf"(?:{MARK}|[\w$@./*+-]*[\w$*/])"
_TESTS = (
    r"(?:(?:unit|integration|functional|end-to-end|e2e)[ -])?(?:tests?|specs)"
    r"(?:[ -](?:suites?|code|files?|folders?|director(?:y|ies)|cases?|modules?|functions?))?"
)
_DOCS = r"(?:docs?|documentation|markdown files|readme files?)(?:\s+(?:files?|folder|pages))?"
_OBJECT = (
    rf"{_THE}(?:(?:{_FOLDER_WORDS}|{_SCOPE_WORDS})\s+(?:called\s+|named\s+)?{_TOKEN}(?!\s+(?:{_FOLDER_WORDS})\b)"
    rf"|{_TOKEN}\s+(?:{_FOLDER_WORDS}|{_SCOPE_WORDS})\b"
    rf"|(?:{_LANGUAGES})\s+(?:files?|code|sources?|modules?)\b"
    rf"|(?:[\w$@.+-]*[*/][\w$@./*+-]*|"
    rf"[\w$@.+-]+\.(?:{'|'.join(sorted(SOURCE_EXTENSIONS, key=len, reverse=True))}))(?:\s+files?)?(?![\w/.])"
    rf"|(?:\.\w+|{'|'.join(sorted(SOURCE_EXTENSIONS, key=len, reverse=True))})\s+files\b"
    rf"|{_TESTS}(?![\w/.])|{_DOCS}(?![\w/.])|(?:{_KNOWN})(?![\w/.])|{MARK})"
)
_OBJECTS = (
    rf"{_OBJECT}(?:\s*(?:,\s*(?:and\s+|or\s+|nor\s+)?|\band\s+|\bor\s+|\bnor\s+|&\s*)(?:in\s+|not\s+in\s+)?{_OBJECT})*"
)
_DEFINITE = re.compile(
    rf"(?:^|[\s,(]+)(?:(?P<out>{_OUTSIDE})|(?P<in>{_INSIDE}))\s+(?P<what>{_OBJECTS})(?:\s+only)?\)?(?=$|[\s,?.!)])",
    re.IGNORECASE,
)
_ONLY = re.compile(
    rf"[\s,(]+(?:only\s+(?P<a>{_OBJECTS})|(?P<b>{_OBJECT})\s+only|(?P<tests>tests?)\s+excluded|"
    rf"\(?no\s+(?P<no>{_TESTS}))\)?$",
    re.IGNORECASE,
)
_NON_TEST = re.compile(
    r"\s+in\s+(?:the\s+)?(?:non-test|production|prod|library|main)\s+(?:code|files|sources?)\b", re.IGNORECASE
)
_BARE = re.compile(
    rf"[\s,]+(?:(?P<out>{_OUTSIDE})|(?P<in>{_INSIDE}))\s+(?:the\s+)?(?P<what>{MARK}|[\w$.:-]*[\w$](?:\(\))?)$",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|\band\b|\bor\b|\bnor\b|&)\s*(?:in\s+|not\s+in\s+)?", re.IGNORECASE)


def take_regions(clause: str, marked: Marked) -> tuple[str, Filters]:
    """`clause` without the places that are surely places (paths, globs, tests, "the x folder"), and the filters."""
    filters = Filters()

    def keep(found: re.Match[str]) -> str:
        nonlocal filters
        regions = _regions(found["what"], marked)
        filters += Filters(without=regions) if found["out"] else Filters(within=(regions,))
        return " "

    def only(found: re.Match[str]) -> str:
        nonlocal filters
        if found["tests"] or found["no"]:
            filters += Filters(without=(Region("tests"),))
        else:
            filters += Filters(within=(_regions(found["a"] or found["b"], marked),))
        return " "

    def production(found: re.Match[str]) -> str:
        nonlocal filters
        filters += Filters(without=(Region("tests"),))
        return " "

    rest = _ONLY.sub(only, _DEFINITE.sub(keep, _NON_TEST.sub(production, clause)))
    return re.sub(r"\s+", " ", rest).strip(" ,"), filters


def take_bare_region(clause: str, marked: Marked) -> tuple[str, Filters]:
    """`clause` without a last "in NAME", where NAME may be a folder, a module, a function or a class."""
    found = _BARE.search(clause)
    if found is None:
        return clause, Filters()
    region = bare_region(found["what"], marked)
    rest = clause[: found.start()].strip()
    return rest, Filters(without=(region,)) if found["out"] else Filters(within=((region,),))


def bare_region(text: str, marked: Marked) -> Region:
    """The region that a word alone stands for."""
    name = marked.restore(text).strip().removesuffix("()")
    known = _region(name, marked)
    return known or Region("word", name)


def noun_region(noun: str) -> Filters:
    """What the noun of "which test files …", "all Python modules that …" says about where to look."""
    words = noun.lower().split()
    if re.search(r"\bnon-test\b|\bproduction\b", noun, re.IGNORECASE):
        return Filters(without=(Region("tests"),))
    if any(re.fullmatch(_TESTS.replace("tests?", "tests?|testing"), word) for word in words):
        return Filters(within=((Region("tests"),),))
    if any(word in ("docs", "documents", "documentation") for word in words):
        return Filters(within=((Region("docs"),),))
    for word in words:
        if word in ENDINGS_OF and len(words) > 1:
            return Filters(within=((Region("endings", " ".join(ENDINGS_OF[word])),),))
        if re.fullmatch(r"\*?\.\w+", word):
            return Filters(within=((Region("endings", word.lstrip("*")),),))
    return Filters()


def _regions(text: str, marked: Marked) -> tuple[Region, ...]:
    found = (_region(item, marked) for item in _AND.split(text) if item.strip())
    return tuple(region for region in found if region is not None)


def _region(text: str, marked: Marked) -> Region | None:
    words = re.sub(rf"^{_THE}", "", marked.restore(text).strip(), flags=re.IGNORECASE).strip()
    if re.fullmatch(_TESTS, words, re.IGNORECASE):
        return Region("tests")
    if re.fullmatch(_DOCS, words, re.IGNORECASE):
        return Region("docs")
    language = re.fullmatch(rf"({_LANGUAGES})\s+(?:files?|code|sources?|modules?)", words, re.IGNORECASE)
    if language:
        return Region("endings", " ".join(ENDINGS_OF[language[1].lower()]))
    ending = re.fullmatch(r"\*?\.?(\w{1,8})\s+files|\*\.(\w{1,8})(?:\s+files?)?", words)
    if ending and (ending[1] or ending[2]).lower() in SOURCE_EXTENSIONS:
        return Region("endings", "." + (ending[1] or ending[2]))
    return _named_region(words)


def _named_region(words: str) -> Region | None:
    scope = re.fullmatch(rf"(?:{_SCOPE_WORDS})\s+(\S+)|(\S+)\s+(?:{_SCOPE_WORDS})", words, re.IGNORECASE)
    if scope:
        return Region("scope", (scope[1] or scope[2]).removesuffix("()"))
    folder = re.fullmatch(
        rf"(?:{_FOLDER_WORDS})\s+(?:called\s+|named\s+)?(\S+)|(\S+)\s+(?:{_FOLDER_WORDS}|files?)", words, re.IGNORECASE
    )
    name = (folder[1] or folder[2]) if folder else words
    if "*" in name:
        return Region("glob", name)
    if looks_like_path(name) or re.fullmatch(_KNOWN, name, re.IGNORECASE):
        return Region("path", name)
    return Region("word", name) if folder or re.fullmatch(r"\S+", words) else None
