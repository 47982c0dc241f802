"""Answers that are a choice among the places of a name: used, defined, called, imported, tested, set, raised."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from orchestrator.scouting.attribution import shares
from orchestrator.scouting.line_kinds import assigns, declaration_rank, defines_function_or_class, raises
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import (
    CODE,
    KINDS,
    MENTIONS,
    USES,
    Place,
    count_kinds,
    of_kinds,
    ordered,
)
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.regions import is_config_path, is_doc_path, is_test_path
from orchestrator.scouting.resolve import (
    Filtered,
    Found,
    all_filtered_part,
    apply_filters,
    find,
    reading_note,
    unknown_part,
)
from orchestrator.scouting.wording import Words, code

_PLAIN_WORD = re.compile(r"[a-z]{2,}")
_ENVIRONMENT = re.compile(r"environ|getenv|process\.env|ENV\[|env::var|System\.getenv|\$\{?[A-Z]")

_OF_STUBS = 10
_OF_TESTS = 20
"""Added to the rank of a definition in a file that only declares types, or in a test."""

Select = Callable[[Found, tuple[Place, ...], Words], Part]
"""From a name and its places inside the part asked for to the answer."""


def answer(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """The answer to `ask` about one name; `None` while the tools have not answered."""
    found = find(book, subject)
    if found is None:
        return None
    if not found.places:
        return unknown_part(found, words)
    filtered = apply_filters(found.places, ask.filters)
    if not filtered.inside:
        return all_filtered_part(found, filtered.outside, words)
    part = _SELECT[ask.intent](found, filtered.inside, words)
    return noted(part, *_remarks(found, filtered, book, words))


def _remarks(found: Found, filtered: Filtered, book: Notebook, words: Words) -> tuple[str, ...]:
    outside = filtered.outside
    return (
        reading_note(found, words),
        words.say("filtered", count=words.kinds(outside)) if outside else "",
        "" if book.has("find_references") else words.say("tool_missing", tool="find_references"),
        *(words.say("tool_note", note=note) for note in found.notes),
    )


# --- shared sentences ------------------------------------------------------------------------------------------------


def sorted_definitions(places: Sequence[Place], name: str) -> tuple[Place, ...]:
    """Definitions, the likeliest first: functions and classes before variables before the rest, tests last."""

    def rank(place: Place) -> int:
        stub = _OF_STUBS if place.path.endswith((".pyi", ".d.ts", ".d.cts", ".d.mts")) else 0
        return declaration_rank(place.text, name) + stub + (_OF_TESTS if is_test_path(place.path, place.scope) else 0)

    return ordered(of_kinds(places, {"definition"}), rank)


def defined_clause(found: Found, words: Words) -> str:
    """`; defined at a.py:1`, for the end of a sentence."""
    definitions = sorted_definitions(found.places, found.last)
    if not definitions:
        return words.say("not_defined")
    if len(definitions) == 1:
        return words.say("defined_at", at=definitions[0].at)
    return words.say("defined_times", times=len(definitions), at=definitions[0].at)


def functions_of(places: Sequence[Place], words: Words) -> str:
    """The enclosing functions of the places, named once each."""
    return words.listed(dict.fromkeys(code(p.scope) if p.scope else words.say("module_level") for p in places))


def _mentioned(places: Sequence[Place], words: Words) -> str:
    mentions = of_kinds(places, {*MENTIONS, "other"})
    return words.say("mentioned", kinds=words.kinds(mentions)) if mentions else ""


def _kind_groups(
    places: Sequence[Place], kinds: Sequence[str], words: Words, name: str
) -> tuple[tuple[str, tuple[Place, ...]], ...]:
    return tuple(
        (words.title(kind), sorted_definitions(places, name) if kind == "definition" else of_kinds(places, {kind}))
        for kind in KINDS
        if kind in kinds
    )


def _context(found: Found, words: Words) -> tuple[str, tuple[Place, ...]]:
    """The group that says where the name is defined, for answers about something else."""
    return words.title("context"), sorted_definitions(found.places, found.last)[:5]


# --- used, defined ---------------------------------------------------------------------------------------------------


def _used(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    uses = of_kinds(places, USES)
    listed = groups(*_kind_groups(places, KINDS, words, found.last))
    if not uses:
        return Part(_no_use(found, places, words), listed)
    headline = words.say(
        "used",
        name=code(found.name),
        count=words.count(len(uses), "place"),
        files=words.files(uses),
        kinds=words.kinds(uses),
        defined=defined_clause(found, words),
        mentioned=_mentioned(places, words),
    )
    return noted(Part(headline, listed, silent=_first_definition(found)), *_use_notes(found, uses, words))


def _first_definition(found: Found) -> tuple[Place, ...]:
    """The definition that the headline names, so that it is cited also when a filter leaves it out of the groups."""
    return sorted_definitions(found.places, found.last)[:1]


def _no_use(found: Found, places: tuple[Place, ...], words: Words) -> str:
    definitions = sorted_definitions(places, found.last)
    if not definitions:
        return words.say("only_mentioned", name=code(found.name), kinds=words.kinds(places))
    return words.say(
        "unused",
        name=code(found.name),
        definitions=words.count(len(definitions), "definition"),
        at=definitions[0].at,
        mentioned=_mentioned(places, words),
    )


def _use_notes(found: Found, uses: tuple[Place, ...], words: Words) -> tuple[str, ...]:
    notes: list[str] = []
    if all(is_test_path(place.path, place.scope) for place in uses):
        notes.append(words.say("tests_only"))
    elif found.definitions and all(is_test_path(place.path, place.scope) for place in found.definitions):
        notes.append(words.say("defined_in_tests"))
    notes.append(_aliases(found, words))
    notes.append(_plain_word(found, words))
    notes.append(_by_name(found, uses, words))
    return tuple(notes)


def _aliases(found: Found, words: Words) -> str:
    """Said when files import the name under another one."""
    pattern = re.compile(rf"(?<![\w$]){re.escape(found.last)}\s*(?:\bas\b|:)\s*([A-Za-z_$][\w$]*)")
    renamed = ((place, pattern.search(place.text)) for place in of_kinds(found.places, {"import"}))
    names = dict.fromkeys(
        f"{code(match[1])} · {place.path}" for place, match in renamed if match and match[1] != found.last
    )
    return words.say("alias", names=words.listed(names, 5)) if names else ""


def _plain_word(found: Found, words: Words) -> str:
    """Said when a name is an ordinary word and much of what was found is prose."""
    mentions = of_kinds(found.places, MENTIONS)
    is_word = _PLAIN_WORD.fullmatch(found.name) is not None
    if not is_word or len(mentions) <= max(2, len(found.places) // 5):
        return ""
    return words.say("plain_word", name=found.name, kinds=words.kinds(mentions))


def _by_name(found: Found, uses: tuple[Place, ...], words: Words) -> str:
    """Said when several functions or classes share the name."""
    declared = tuple(p for p in found.definitions if defines_function_or_class(p.text, found.last))
    if len(declared) < 2 or "." in found.name:
        return ""
    counts, unknown = shares(declared, uses, found.places)
    said = [words.say("share", count=count, at=place.at) for place, count in counts if count]
    if unknown:
        said.append(words.say("share_unknown", count=unknown))
    return words.say("by_name", count=len(declared), shares=words.listed(said, 5))


def _defined(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    definitions = sorted_definitions(places, found.last)
    name = code(found.name)
    if not definitions:
        return _undefined(found, places, words)
    first, listed = definitions[0], groups((words.title("definition"), definitions))
    scope = words.say("scope", scope=first.scope) if first.scope else ""
    if len(definitions) == 1:
        return Part(words.say("defined", name=name, at=first.at, scope=scope), listed)
    count, files = words.count(len(definitions), "place"), words.files(definitions)
    return Part(words.say("defined_many", name=name, count=count, files=files, at=first.at), listed)


def _undefined(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    imports = of_kinds(places, {"import"})
    if imports:
        said = words.say("not_here", name=code(found.name), kinds=words.count(len(imports), "import"))
        return Part(said, groups((words.title("import"), imports)))
    said = words.say("nowhere_defined", name=code(found.name), mentioned=_mentioned(places, words))
    return Part(said, groups(*_kind_groups(places, KINDS, words, found.last)))


# --- called, imported ------------------------------------------------------------------------------------------------


def _called(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    calls, others = of_kinds(places, {"call"}), of_kinds(places, {"attribute", "reference"})
    defined = defined_clause(found, words)
    if not calls:
        said = words.say("not_called", name=code(found.name), defined=defined)
        listed = (("attribute", "reference"), ("import",)) if others else (("import",),)
        shown = [pair for kinds in listed for pair in _kind_groups(places, kinds, words, found.last)]
        return noted(Part(said, groups(*shown, _context(found, words))), _aliases(found, words))
    headline = words.say(
        "called",
        name=code(found.name),
        count=words.count(len(calls), "place"),
        files=words.files(calls),
        functions=functions_of(calls, words),
        defined=defined,
    )
    part = Part(headline, groups((words.title("call"), calls), _context(found, words)))
    indirect = words.say("other_references", kinds=words.kinds(others)) if others else ""
    return noted(part, indirect, _aliases(found, words), _by_name(found, calls, words))


def _imported(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    imports = of_kinds(places, {"import"})
    defined = defined_clause(found, words)
    if not imports:
        said = words.say("not_imported", name=code(found.name), defined=defined)
        uses = of_kinds(places, USES)
        note = words.say("same_file", files=words.files(uses)) if uses else ""
        shown = _kind_groups(places, ("call", "attribute", "reference"), words, found.last)
        return noted(Part(said, groups(*shown, _context(found, words))), note)
    count = words.count(len(imports), "import")
    said = words.say("imported", name=code(found.name), files=words.files(imports), count=count, defined=defined)
    return Part(said, groups((words.title("import"), imports), _context(found, words)))


# --- tested, documented, assigned, configured, raised ----------------------------------------------------------------


def _tested(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    tests = tuple(p for p in of_kinds(places, CODE) if is_test_path(p.path, p.scope))
    if not tests:
        said = words.say("not_tested", name=code(found.name), defined=defined_clause(found, words))
        return Part(said, groups(_context(found, words)))
    count, files = words.count(len(tests), "place"), words.files(tests)
    said = words.say("tested", name=code(found.name), count=count, files=files, functions=functions_of(tests, words))
    return Part(said, groups(*_kind_groups(tests, KINDS, words, found.last), _context(found, words)))


def _documented(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    docs = tuple(p for p in places if p.kind == "doc" or (is_doc_path(p.path) and p.kind in ("other", "comment")))
    docs = ordered(docs, lambda place: 0 if is_doc_path(place.path) else 1)
    comments = of_kinds(places, {"comment"})
    if not docs and not comments:
        said = words.say("not_documented", name=code(found.name), defined=defined_clause(found, words))
        return Part(said, groups(_context(found, words)))
    every = (*docs, *comments)
    said = words.say(
        "documented", name=code(found.name), count=words.count(len(every), "place"), files=words.files(every)
    )
    return Part(said, groups((words.title("doc"), docs), (words.title("comment"), comments), _context(found, words)))


def _assigned(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    set_here = tuple(p for p in of_kinds(places, CODE) if assigns(p.text, found.last))
    return _chosen(found, set_here, "assigned", "assignment", words)


def _configured(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    in_files = tuple(p for p in places if is_config_path(p.path) and p.kind not in ("comment", "doc"))
    environment = tuple(p for p in places if p not in in_files and _ENVIRONMENT.search(p.text))
    rest = tuple(
        p for p in of_kinds(places, CODE) if p not in in_files and p not in environment and assigns(p.text, found.last)
    )
    every = (*in_files, *environment, *rest)
    if not every:
        said = words.say("not_configured", name=code(found.name), defined=defined_clause(found, words))
        return Part(said, groups(_context(found, words)))
    said = words.say(
        "configured", name=code(found.name), count=words.count(len(every), "place"), files=words.files(every)
    )
    titles = (
        (words.title("setting"), in_files),
        (words.title("environment"), environment),
        (words.title("assignment"), rest),
    )
    return Part(said, groups(*titles))


def _raised(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    return _chosen(
        found, tuple(p for p in of_kinds(places, CODE) if raises(p.text, found.last)), "raised", "raise", words
    )


def _chosen(found: Found, chosen: tuple[Place, ...], intent: str, title: str, words: Words) -> Part:
    """The places that do what was asked, or the sentence that none does."""
    defined = defined_clause(found, words)
    if not chosen:
        return Part(words.say(f"not_{intent}", name=code(found.name), defined=defined), groups(_context(found, words)))
    count, files = words.count(len(chosen), "place"), words.files(chosen)
    said = words.say(intent, name=code(found.name), count=count, files=files, defined=defined)
    return Part(said, groups((words.title(title), chosen), _context(found, words)))


# --- is it used at all -----------------------------------------------------------------------------------------------


def _alive(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    uses = of_kinds(places, USES)
    listed = groups(*_kind_groups(places, KINDS, words, found.last))
    part = Part(_verdict(found, uses, words), listed, silent=_first_definition(found))
    doubtful = not uses or count_kinds(uses)["import"] == len(uses) or all(is_test_path(p.path, p.scope) for p in uses)
    return noted(part, words.say("limits") if doubtful else "", _by_name(found, uses, words))


def _verdict(found: Found, uses: tuple[Place, ...], words: Words) -> str:
    name = code(found.name)
    if not uses:
        return words.say("dead", name=name, defined=defined_clause(found, words))
    if count_kinds(uses)["import"] == len(uses):
        return words.say("imports_only", name=name, kinds=words.kinds(uses))
    if all(is_test_path(place.path, place.scope) for place in uses):
        return words.say("alive_in_tests", name=name, kinds=words.kinds(uses))
    return words.say("alive", name=name, kinds=words.kinds(uses), files=words.files(uses))


_SELECT: dict[str, Select] = {
    "about": _used,
    "used": _used,
    "defined": _defined,
    "callers": _called,
    "imports": _imported,
    "tested": _tested,
    "documented": _documented,
    "assigned": _assigned,
    "configured": _configured,
    "raised": _raised,
    "alive": _alive,
}
