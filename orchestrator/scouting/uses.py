"""Answers that are a choice among the places of a name: used, defined, called, imported, tested, documented."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from orchestrator.scouting.line_kinds import imports_module
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import CODE, KINDS, USES, Place, count_kinds, of_kinds, ordered, with_kind
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.regions import is_doc_path, is_test_path
from orchestrator.scouting.remarks import aliases, by_name, plain_word
from orchestrator.scouting.resolve import (
    Found,
    all_filtered_part,
    apply_filters,
    find,
    reading_note,
    unknown_part,
)
from orchestrator.scouting.sentences import (
    defined_clause,
    definition_group,
    elsewhere_clause,
    functions_of,
    kind_groups,
    mentioned_clause,
    sorted_definitions,
    unsure_clause,
    variable_group,
    variables_clause,
    where_clause,
)
from orchestrator.scouting.spots import module_file
from orchestrator.scouting.tool_notes import said_note
from orchestrator.scouting.wording import Words, code

Select = Callable[[Found, tuple[Place, ...], Words], Part]
"""From a name and its places inside the part asked for to the answer."""


def answer(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """The answer to `ask` about one name; `None` while the tools have not answered."""
    found = find(book, subject)
    if found is None:
        return None
    if not found.places:
        return unknown_part(found, words)
    module = "" if found.definitions or not of_kinds(found.places, {"import"}) else module_file(book, subject)
    if module is None:
        return None
    places, variables = apply_filters(found.places, ask.filters), apply_filters(found.variables, ask.filters)
    if not places.inside and not variables.inside:
        return all_filtered_part(found, places.outside, words)
    where = where_clause(ask.filters, words)
    found = replace(found, variables=variables.inside, module=module, where=where, outside=places.outside)
    part = _select(ask.intent, found, places.inside, book, words)
    if part is None:
        return None
    if ask.is_yes_or_no and part.is_yes is not None:
        part = replace(part, headline=words.say("yes" if part.is_yes else "no", said=part.headline))
    return noted(part, *_remarks(found, book, words))


def _select(intent: str, found: Found, places: tuple[Place, ...], book: Notebook, words: Words) -> Part | None:
    if intent == "caught":
        from orchestrator.scouting.caught import caught

        return caught(found, places, book, words)
    if intent in ("assigned", "configured", "raised"):
        from orchestrator.scouting.chosen import CHOOSE

        return CHOOSE[intent](found, places, words)
    return _SELECT[intent](found, places, words)


def _remarks(found: Found, book: Notebook, words: Words) -> tuple[str, ...]:
    return (
        reading_note(found, words),
        words.say("filtered", count=words.kinds(found.outside)) if found.outside else "",
        "" if book.has("find_references") else words.say("tool_missing", tool="find_references"),
        *(words.say("tool_note", note=said_note(note, words.language)) for note in found.notes),
    )


# --- used, defined ---------------------------------------------------------------------------------------------------


def _used(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    uses = of_kinds(places, USES)
    listed = groups(*kind_groups(places, KINDS, words, found.last), variable_group(found, words))
    if not uses:
        return Part(_no_use(found, places, words), listed, is_yes=False)
    sure = tuple(place for place in uses if place.belongs != "maybe")
    headline = words.say(
        "used" if sure else "used_maybe",
        name=code(found.name),
        count=words.count(len(sure), "place"),
        files=words.files(sure),
        kinds=words.kinds(sure),
        unsure=unsure_clause([place for place in uses if place.belongs == "maybe"], words),
        defined=defined_clause(found, words),
        variables=variables_clause(found, words),
        mentioned=mentioned_clause(places, words),
    )
    part = Part(headline, listed, silent=_first_definition(found), is_yes=True)
    return noted(part, *_use_notes(found, uses, words))


def _first_definition(found: Found) -> tuple[Place, ...]:
    """The definition that the headline names, so that it is cited also when a filter leaves it out of the groups."""
    return sorted_definitions(found.places, found.last)[:1]


def _no_use(found: Found, places: tuple[Place, ...], words: Words) -> str:
    definitions = sorted_definitions(places, found.last)
    mentioned, variables = mentioned_clause(places, words), variables_clause(found, words)
    elsewhere = elsewhere_clause(found, USES, words)
    if found.where and definitions:
        return words.say(
            "unused_there",
            name=code(found.name),
            where=found.where,
            elsewhere=elsewhere,
            defined=defined_clause(found, words),
            variables=variables,
            mentioned=mentioned,
        )
    if not definitions:
        return words.say(
            "only_mentioned",
            name=code(found.name),
            where=found.where,
            elsewhere=elsewhere,
            kinds=words.kinds(places) or variables,
        )
    return words.say(
        "unused",
        name=code(found.name),
        definitions=words.count(len(definitions), "definition"),
        at=definitions[0].at,
        variables=variables,
        mentioned=mentioned,
    )


def _use_notes(found: Found, uses: tuple[Place, ...], words: Words) -> tuple[str, ...]:
    notes: list[str] = []
    if all(is_test_path(place.path, place.scope) for place in uses):
        notes.append(words.say("tests_only"))
    elif found.definitions and all(is_test_path(place.path, place.scope) for place in found.definitions):
        notes.append(words.say("defined_in_tests"))
    return (*notes, aliases(found, words), plain_word(found, words), by_name(found, uses, words))


def _defined(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    definitions = sorted_definitions(places, found.last)
    name = code(found.name)
    if not definitions:
        return _undefined(found, places, words)
    others = (words.title("variable"), of_kinds(found.variables, {"definition"}))
    first, listed = definitions[0], groups((words.title("definition"), definitions), others)
    scope = words.say("scope", scope=first.scope) if first.scope else ""
    if len(definitions) == 1:
        return Part(words.say("defined", name=name, at=first.at, scope=scope), listed)
    count, files = words.count(len(definitions), "place"), words.files(definitions)
    return Part(words.say("defined_many", name=name, count=count, files=files, at=first.at), listed)


def _undefined(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    imports = of_kinds(places, {"import"})
    if found.module:
        said = words.say("the_module", name=code(found.name), path=code(found.module))
        return Part(said, groups((words.title("import"), imports)))
    if imports:
        said = words.say("not_here", name=code(found.name), kinds=words.count(len(imports), "import"))
        return Part(said, groups((words.title("import"), imports)))
    said = words.say("nowhere_defined", name=code(found.name), mentioned=mentioned_clause(places, words))
    return Part(said, groups(*kind_groups(places, KINDS, words, found.last)))


# --- called, imported ------------------------------------------------------------------------------------------------


def _called(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    calls, others = of_kinds(places, {"call"}), of_kinds(places, {"attribute", "reference"})
    defined = defined_clause(found, words)
    if not calls:
        elsewhere = elsewhere_clause(found, {"call"}, words)
        said = words.say("not_called", name=code(found.name), where=found.where, elsewhere=elsewhere, defined=defined)
        listed = (("attribute", "reference"), ("import",)) if others else (("import",),)
        shown = [pair for kinds in listed for pair in kind_groups(places, kinds, words, found.last)]
        part = Part(said, groups(*shown, definition_group(found, words)), is_yes=False)
        return noted(part, aliases(found, words))
    sure = tuple(place for place in calls if place.belongs != "maybe")
    unsure = tuple(place for place in calls if place.belongs == "maybe")
    headline = words.say(
        "called" if not unsure else "called_surely" if sure else "called_maybe",
        name=code(found.name),
        count=words.count(len(sure), "place"),
        files=words.files(sure),
        functions=functions_of(sure, words),
        unsure=unsure_clause(unsure, words),
        defined=defined,
    )
    titled = (words.title("call"), sure), (words.title("unsure"), unsure), definition_group(found, words)
    indirect = words.say("other_references", kinds=words.kinds(others)) if others else ""
    part = Part(headline, groups(*titled), is_yes=True)
    return noted(part, indirect, aliases(found, words), by_name(found, calls, words))


def _imported(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    imports = tuple(
        place
        for each in places
        for place in (with_kind([each], "import") if imports_module(each.text, found.name) else (each,))
        if place.kind == "import"
    )
    defined = defined_clause(found, words)
    if not imports:
        elsewhere = elsewhere_clause(found, {"import"}, words)
        said = words.say("not_imported", name=code(found.name), where=found.where, elsewhere=elsewhere, defined=defined)
        uses = of_kinds(places, USES)
        note = words.say("same_file", files=words.files(uses)) if uses else ""
        shown = kind_groups(places, ("call", "attribute", "reference"), words, found.last)
        return noted(Part(said, groups(*shown, definition_group(found, words)), is_yes=False), note)
    if all(imports_module(place.text, found.name) for place in imports):
        defined = words.say("is_module", path=found.module) if found.module else ""
    count = words.count(len(imports), "import")
    said = words.say("imported", name=code(found.name), files=words.files(imports), count=count, defined=defined)
    return Part(said, groups((words.title("import"), imports), definition_group(found, words)), is_yes=True)


# --- tested, documented ----------------------------------------------------------------------------------------------


def _tested(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    tests = tuple(p for p in of_kinds(places, CODE) if is_test_path(p.path, p.scope))
    if not tests:
        said = words.say(
            "not_tested",
            name=code(found.name),
            where=found.where,
            elsewhere=elsewhere_clause(found, CODE, words),
            defined=defined_clause(found, words),
        )
        return Part(said, groups(definition_group(found, words)), is_yes=False)
    count, files = words.count(len(tests), "place"), words.files(tests)
    named = tuple(place for place in tests if place.kind != "import") or tests
    said = words.say("tested", name=code(found.name), count=count, files=files, functions=functions_of(named, words))
    return Part(
        said, groups(*kind_groups(tests, KINDS, words, found.last), definition_group(found, words)), is_yes=True
    )


def _documented(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    docs = tuple(p for p in places if p.kind == "doc" or (is_doc_path(p.path) and p.kind in ("other", "comment")))
    docs = ordered(docs, lambda place: 0 if is_doc_path(place.path) else 1)
    comments = of_kinds(places, {"comment"})
    if not docs and not comments:
        said = words.say(
            "not_documented",
            name=code(found.name),
            where=found.where,
            elsewhere=elsewhere_clause(found, {"doc", "comment"}, words),
            defined=defined_clause(found, words),
        )
        return Part(said, groups(definition_group(found, words)), is_yes=False)
    every = (*docs, *comments)
    said = words.say(
        "documented", name=code(found.name), count=words.count(len(every), "place"), files=words.files(every)
    )
    listed = groups((words.title("doc"), docs), (words.title("comment"), comments), definition_group(found, words))
    return Part(said, listed, is_yes=True)


# --- is it used at all -----------------------------------------------------------------------------------------------


def _alive(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    uses = of_kinds(places, USES)
    listed = groups(*kind_groups(places, KINDS, words, found.last), variable_group(found, words))
    part = Part(_verdict(found, uses, words), listed, silent=_first_definition(found))
    doubtful = not uses or count_kinds(uses)["import"] == len(uses) or all(is_test_path(p.path, p.scope) for p in uses)
    return noted(part, words.say("limits") if doubtful else "", by_name(found, uses, words))


def _verdict(found: Found, uses: tuple[Place, ...], words: Words) -> str:
    name = code(found.name)
    if not uses:
        where = found.where or words.say("here")
        elsewhere = elsewhere_clause(found, USES, words)
        return words.say("dead", name=name, where=where, elsewhere=elsewhere, defined=defined_clause(found, words))
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
    "alive": _alive,
}
