"""Which name in the code a question means, and every place of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.scouting import lookups
from orchestrator.scouting.line_kinds import defines_function_or_class
from orchestrator.scouting.names import is_identifier, joined, near_patterns, nearness, parts, same_words, singulars
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups
from orchestrator.scouting.places import CODE, Place, of_kinds, one_a_line
from orchestrator.scouting.question import Subject
from orchestrator.scouting.readings import References
from orchestrator.scouting.regions import Filters, is_test_path
from orchestrator.scouting.wording import Words, code

MAX_NEAR = 8
_LEAST_NEARNESS = 0.6
_NEAR_ENOUGH = 0.8
"""A name as near as this ends the search for near ones."""


@dataclass(frozen=True, slots=True)
class Found:
    """Every place of `name`, one a line, in the order of path and line; none when it is unknown.

    `variables` are places of parameters and variables that happen to be called like the function or class `name`.
    `asked` is the name as the question has it, where that is another one; `owner_missing` says that the places are
    those of the last part of a dotted name; `module` is the file that the name stands for, when it is one. `where` and
    `outside` are set when only a part of the workspace is asked for: in words, and the places elsewhere.
    """

    name: str
    places: tuple[Place, ...] = ()
    variables: tuple[Place, ...] = ()
    asked: str = ""
    owner_missing: str = ""
    near: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    module: str = ""
    where: str = ""
    outside: tuple[Place, ...] = ()

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def definitions(self) -> tuple[Place, ...]:
        return of_kinds(self.places, {"definition"})


def find(book: Notebook, subject: Subject) -> Found | None:
    """The places of the name that `subject` means; `None` while they are not known."""
    if subject.shape == "phrase":
        return _find_phrase(book, subject)
    exact = lookups.references(book, subject.dotted)
    if exact is None:
        return None
    if exact.places and (not subject.owner or of_kinds(exact.places, CODE)):
        return _found(subject.dotted, exact)
    if subject.owner:
        return _find_last(book, subject, exact)
    return _find_other(book, subject.name, (*_same(subject.name, exact.near), *singulars(subject.name)), exact)


def _find_last(book: Notebook, subject: Subject, exact: References) -> Found | None:
    last = lookups.references(book, subject.name)
    if last is None:
        return None
    if last.places:
        return _found(subject.name, last, owner_missing=subject.dotted)
    if exact.places:
        return _found(subject.dotted, exact)
    near = tuple(dict.fromkeys((*exact.near, *last.near)))
    nowhere = References(near=near, notes=tuple(dict.fromkeys((*exact.notes, *last.notes))))
    return _find_other(book, subject.name, _same(subject.name, near), nowhere)


def _find_phrase(book: Notebook, subject: Subject) -> Found | None:
    """Plain words: every name that people make of them, together."""
    words = parts(subject.name)
    singular = (*words[:-1], *(singulars(words[-1])[:1] or words[-1:]))
    names = tuple(dict.fromkeys((*joined(words), *joined(singular))))
    every = [lookups.references(book, name) for name in names]
    known = [found for found in every if found is not None]
    if len(known) < len(every):
        return None
    for name, found in zip(names, known, strict=True):
        if found.places:
            return _found(name, found, asked=subject.name)
    notes = tuple(dict.fromkeys(note for found in known for note in found.notes))
    near = _nearest(subject.name, (near for found in known for near in found.near))
    return Found(subject.name, near=near, notes=notes)


def _find_other(book: Notebook, name: str, others: Iterable[str], exact: References) -> Found | None:
    """The first of `others` that occurs; they differ from `name` in no more than case, separators or a plural."""
    for other in dict.fromkeys(others):
        found = lookups.references(book, other)
        if found is None:
            return None
        if found.places:
            return _found(other, found, asked=name)
    if not is_identifier(name):
        return _find_text(book, name, exact)
    near = _near(book, name, exact.near)
    return None if near is None else Found(name, near=near, notes=exact.notes)


def _near(book: Notebook, name: str, known: Iterable[str]) -> tuple[str, ...] | None:
    """Names that resemble `name`: those that the tool gave, and those that a search for its letters finds."""
    words = set(known)
    for pattern in near_patterns(name):
        if any(nearness(name, word) >= _NEAR_ENOUGH for word in words):
            break
        hits = lookups.grep_ascii(book, pattern)
        if hits is None:
            return None
        found = {word for place in hits.places for word in re.findall(pattern, place.text, re.IGNORECASE)}
        words.update(word for word in sorted(found) if nearness(name, word) >= _LEAST_NEARNESS)
    return _nearest(name, (*known, *sorted(words)))


def _find_text(book: Notebook, name: str, exact: References) -> Found | None:
    """A name that no code has, such as `foo-bar` or `--flag`, letter by letter."""
    hits = lookups.grep(book, name, literal=True)
    if hits is None:
        return None
    if hits.places:
        return Found(name, one_a_line(hits.places), notes=exact.notes)
    return Found(name, near=_nearest(name, exact.near), notes=exact.notes)


def _same(name: str, near: Iterable[str]) -> tuple[str, ...]:
    return tuple(other for other in near if same_words(name, other) and other != name)


def _nearest(name: str, near: Iterable[str]) -> tuple[str, ...]:
    others = (other for other in dict.fromkeys(near) if other != name)
    return tuple(sorted(others, key=lambda other: -nearness(name, other)))[:MAX_NEAR]


def _found(name: str, references: References, *, asked: str = "", owner_missing: str = "") -> Found:
    places = one_a_line(references.places)
    last = name.rpartition(".")[2]
    others: tuple[Place, ...] = ()
    if any(_is_main(place, last) for place in places):
        others = tuple(place for place in places if place.belongs == "local")
        places = tuple(place for place in places if place.belongs != "local")
    asked = "" if asked == name else asked
    return Found(name, places, others, asked, owner_missing, references.near, references.notes)


def _is_main(place: Place, name: str) -> bool:
    """Whether it defines a function or class that code outside tests can mean by the name."""
    if place.kind != "definition" or place.belongs == "local" or is_test_path(place.path, place.scope):
        return False
    return defines_function_or_class(place.text, name)


def unknown_part(found: Found, words: Words) -> Part:
    """The answer for a name that is nowhere: says so, and asks back. Cites nothing."""
    said = words.say("unknown_in_part" if found.notes else "unknown_name", name=code(found.asked or found.name))
    notes = tuple(words.say("tool_note", note=note) for note in found.notes)
    if not found.near:
        return Part(said, details=(words.say("no_near"),), notes=notes, open_question=said)
    question = words.say("did_you_mean", names=words.comma.join(map(code, found.near)))
    return Part(said, details=(question,), notes=notes, open_question=question)


def reading_note(found: Found, words: Words) -> str:
    """The remark that the places are those of another name than the one asked for; empty when they are not."""
    if found.asked:
        return words.say("read_as", asked=code(found.asked), name=code(found.name))
    if found.owner_missing:
        return words.say("no_owner", dotted=code(found.owner_missing), name=code(found.name))
    return ""


@dataclass(frozen=True, slots=True)
class Filtered:
    """Places inside the part asked for, and how many are outside."""

    inside: tuple[Place, ...]
    outside: tuple[Place, ...]


def apply_filters(places: Iterable[Place], filters: Filters) -> Filtered:
    inside: list[Place] = []
    outside: list[Place] = []
    for place in places:
        (inside if filters.passes(place.path, place.scope, place.line) else outside).append(place)
    return Filtered(tuple(inside), tuple(outside))


def all_filtered_part(found: Found, outside: tuple[Place, ...], words: Words) -> Part:
    """The answer when every place is outside the part asked for; the outside ones are shown."""
    said = words.say(
        "all_filtered", name=code(found.name), count=words.count(len(outside), "place"), files=words.files(outside)
    )
    return Part(
        said, groups(*((words.title(kind), of_kinds(outside, {kind})) for kind in ("definition", "call", "import")))
    )
