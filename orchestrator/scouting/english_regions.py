"""The part of an English question that says where to look: "in tests", "outside src/legacy", "only *.py"."""

from __future__ import annotations

import re

from orchestrator.scouting.marks import MARK, Marked
from orchestrator.scouting.names import SOURCE_EXTENSIONS, looks_like_path, word_set
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
    r"|(?:[\w$@.+-]*[*/][\w$@./*+-]*|[\w$@.+-]+\.\w{1,8})(?:\s+files?)?(?![\w/.])"
    r"|\.?\w+\s+files\b"
    rf"|{_TESTS}(?![\w/.])|{_DOCS}(?![\w/.])|(?:{_KNOWN})(?![\w/.])|{MARK})"
)
_JOIN = r"\s*(?:,\s*(?:and\s+|or\s+|nor\s+)?|\band\s+|\bor\s+|\bnor\s+|&\s*)(?:in\s+|not\s+in\s+)?"
_DEFINITE = (
    rf"(?:^|[\s,(]+)(?:(?P<out>{_OUTSIDE})|(?P<in>{_INSIDE}))\s+(?P<what>{_OBJECT}(?:{_JOIN}{_OBJECT})*)"
    r"(?:\s+only)?\)?(?=$|[\s,?.!)])"
)
_ONLY = rf"[\s,(]+only\s+(?P<what>{_OBJECT})\)?$"
_ONLY_LAST = rf"[\s,(]+(?P<what>{_OBJECT})\s+only\)?$"
_NO_TESTS = (
    rf"[\s,(]+(?:tests?\s+excluded|\(?no\s+{_TESTS})\)?$|"
    r"\s+in\s+(?:the\s+)?(?:non-test|production|prod|main)\s+(?:code|files|sources?)\b"
)
_BARE = rf"[\s,]+(?:(?P<out>{_OUTSIDE})|(?P<in>{_INSIDE}))\s+(?:the\s+)?(?P<what>{MARK}|[\w$.:-]*[\w$](?:\(\))?)$"
_LINES = (
    r"[\s,(]+(?:(?:between|from|in|on|at|within)\s+)?(?:the\s+)?lines?\s+(?P<first>\d+)"
    r"(?:\s*(?:-|–|to|and|through|until)\s*(?P<last>\d+))?\)?(?:(?P<of>\s+(?:of|in)\s+)|(?=$|[\s,?.!]))"
)
_NO_NAMES = word_set("which what whose any all each every some other this that")
_AND = r"\s*(?:,|\band\b|\bor\b|\bnor\b|&)\s*(?:in\s+|not\s+in\s+)?"
_HINTS = word_set(
    "in inside within under from across among throughout by outside not except excluding without other apart "
    "aside besides "
    "ignoring but leaving minus"
)
"""One of these is in every clause that says where to look; the patterns are built only for such a clause."""


def take_regions(clause: str, marked: Marked) -> tuple[str, Filters]:
    """`clause` without the places that are surely places (paths, globs, tests, "the x folder"), and the filters."""
    words = set(re.findall(r"\w+", clause.lower()))
    filters: list[Filters] = []

    def lines(found: re.Match[str]) -> str:
        first, last = int(found["first"]), int(found["last"] or found["first"])
        filters.append(Filters(lines=(min(first, last), max(first, last))))
        return " in " if found["of"] else " "

    if words & {"line", "lines"}:
        clause = re.sub(_LINES, lines, clause, count=1, flags=re.IGNORECASE)

    def without_tests(found: re.Match[str]) -> str:
        filters.append(Filters(without=(Region("tests"),)))
        return " "

    def keep(found: re.Match[str]) -> str:
        regions = _regions(found["what"], marked)
        if regions:
            is_outside = found.re.groupindex.get("out") and found["out"]
            filters.append(Filters(without=regions) if is_outside else Filters(within=(regions,)))
        return " " if regions else found.group()

    if words & {"excluded", "no", "production", "prod", "main", "non"}:
        clause = re.sub(_NO_TESTS, without_tests, clause, flags=re.IGNORECASE)
    if words & _HINTS:
        clause = re.sub(_DEFINITE, keep, clause, flags=re.IGNORECASE)
    if "only" in words:
        clause = re.sub(_ONLY_LAST, keep, re.sub(_ONLY, keep, clause, flags=re.IGNORECASE), flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", clause).strip(" ,"), sum(filters, Filters())


def take_bare_region(clause: str, marked: Marked) -> tuple[str, Filters]:
    """`clause` without a last "in NAME", where NAME may be a folder, a module, a function or a class."""
    found = re.search(_BARE, clause, re.IGNORECASE) if _HINTS & set(clause.lower().split()) else None
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
    """The regions that the words joined by "and" name; none when one of them names no place."""
    found = [_region(item, marked) for item in re.split(_AND, text, flags=re.IGNORECASE) if item.strip()]
    known = tuple(region for region in found if region is not None)
    return known if len(known) == len(found) else ()


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
    return _named_region(words, is_quoted=marked.at(text.strip()) is not None)


def _named_region(words: str, *, is_quoted: bool) -> Region | None:
    scope = re.fullmatch(rf"(?:{_SCOPE_WORDS})\s+(\S+)|(\S+)\s+(?:{_SCOPE_WORDS})", words, re.IGNORECASE)
    if scope:
        return Region("scope", (scope[1] or scope[2]).removesuffix("()"))
    folder = re.fullmatch(
        rf"(?:{_FOLDER_WORDS})\s+(?:called\s+|named\s+)?(\S+)|(\S+)\s+(?:{_FOLDER_WORDS})", words, re.IGNORECASE
    )
    name = (folder[1] or folder[2]) if folder else re.sub(r"\s+files?$", "", words)
    if name.lower() in _NO_NAMES:
        return None
    if "*" in name:
        return Region("glob", name)
    if looks_like_path(name) or re.fullmatch(_KNOWN, name, re.IGNORECASE):
        return Region("path", name)
    return Region("word", name) if folder or is_quoted else None
