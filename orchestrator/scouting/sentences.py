"""Clauses and groups that the answers about a name share: where it is defined, what is elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.scouting.line_kinds import declaration_rank
from orchestrator.scouting.places import KINDS, MENTIONS, Place, of_kinds, ordered
from orchestrator.scouting.regions import Filters, Region, is_test_path
from orchestrator.scouting.resolve import Found
from orchestrator.scouting.wording import Words, code

_OF_STUBS = 10
_OF_TESTS = 20
"""Added to the rank of a definition in a file that only declares types, or in a test."""
_MAX_FUNCTIONS = 3
"""Functions that a sentence names; the others are counted."""


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
        return words.say("is_module", path=found.module) if found.module else words.say("not_defined")
    if len(definitions) == 1:
        return words.say("defined_at", at=definitions[0].at)
    return words.say("defined_times", times=len(definitions), at=definitions[0].at)


def elsewhere_clause(found: Found, kinds: Iterable[str], words: Words) -> str:
    """`; elsewhere: 25 calls in 5 files`, where a part of the workspace is asked for and others have such places."""
    places = of_kinds(found.outside, kinds)
    return words.say("elsewhere", kinds=words.kinds(places), files=words.files(places)) if places else ""


def variables_clause(found: Found, words: Words) -> str:
    return words.say("variables", count=words.count(len(found.variables), "variable")) if found.variables else ""


def unsure_clause(unsure: Sequence[Place], words: Words) -> str:
    return words.say("unsure", count=f"{len(unsure):,}") if unsure else ""


def mentioned_clause(places: Sequence[Place], words: Words) -> str:
    mentions = of_kinds(places, {*MENTIONS, "other"})
    return words.say("mentioned", kinds=words.kinds(mentions)) if mentions else ""


def functions_of(places: Sequence[Place], words: Words) -> str:
    """The enclosing functions of the places, named once each."""
    named = dict.fromkeys(code(p.scope) if p.scope else words.say("module_level") for p in places)
    return words.listed(named, _MAX_FUNCTIONS)


def kind_groups(
    places: Sequence[Place], kinds: Sequence[str], words: Words, name: str
) -> tuple[tuple[str, tuple[Place, ...]], ...]:
    """A group a kind; uses that may be of something else are in one of their own after those that are certain."""
    sure = tuple(place for place in places if place.belongs != "maybe")
    unsure = tuple(place for place in places if place.belongs == "maybe" and place.kind in kinds)
    listed = [
        (words.title(kind), sorted_definitions(sure, name) if kind == "definition" else of_kinds(sure, {kind}))
        for kind in KINDS
        if kind in kinds
    ]
    at = sum(kind in kinds for kind in KINDS[: KINDS.index("other")])
    return (*listed[:at], (words.title("unsure"), unsure), *listed[at:])


def definition_group(found: Found, words: Words) -> tuple[str, tuple[Place, ...]]:
    """The group that says where the name is defined, for answers about something else."""
    return words.title("context"), sorted_definitions(found.places, found.last)[:5]


def variable_group(found: Found, words: Words) -> tuple[str, tuple[Place, ...]]:
    return words.title("variable"), found.variables


def where_clause(filters: Filters, words: Words) -> str:
    """` in tests outside src/legacy`: the part of the workspace that is asked for."""
    inside = [words.say("either").join(_region(region, words) for region in group) for group in filters.within]
    outside = [_region(region, words) for region in filters.without]
    said = "".join(words.say("inside", regions=regions) for regions in inside)
    if filters.lines:
        said += words.say("lines", first=filters.lines[0], last=filters.lines[1])
    return said + (words.say("outside", regions=words.comma.join(outside)) if outside else "")


def _region(region: Region, words: Words) -> str:
    if region.kind in ("tests", "docs"):
        return words.say(f"region_{region.kind}")
    if region.kind == "endings":
        return words.say("region_endings", text=words.comma.join(f"*{ending}" for ending in region.text.split()))
    return code(region.text)
