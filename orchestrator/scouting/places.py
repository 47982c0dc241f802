"""A place in the workspace, and lists of places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

PlaceKind = Literal["definition", "import", "call", "attribute", "reference", "comment", "string", "doc", "other"]

KINDS: tuple[PlaceKind, ...] = (
    "definition",
    "import",
    "call",
    "attribute",
    "reference",
    "other",
    "comment",
    "string",
    "doc",
)
"""In the order in which they are shown."""

CODE: frozenset[PlaceKind] = frozenset({"definition", "import", "call", "attribute", "reference"})
USES: frozenset[PlaceKind] = frozenset({"import", "call", "attribute", "reference"})
MENTIONS: frozenset[PlaceKind] = frozenset({"comment", "string", "doc"})


@dataclass(frozen=True, slots=True)
class Place:
    """A line, or a few, that a tool has shown. `text` is the line as shown, stripped; `scope` what encloses it.

    `quote` is what stands on the line, where `text` says it in other words.
    """

    path: str
    line: int
    kind: PlaceKind
    text: str
    scope: str = ""
    end_line: int = 0
    quote: str = ""

    @property
    def at(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition as the `symbols` tool shows it. `calls` are the calls in it, when they were asked for."""

    path: str
    line: int
    end_line: int
    kind: str
    name: str
    signature: str = ""
    doc: str = ""
    calls: tuple[Place, ...] = ()

    @property
    def place(self) -> Place:
        """The line of its name. A signature may come from several lines, so the name alone is quoted."""
        owner, _, name = self.name.rpartition(".")
        return Place(self.path, self.line, "definition", self.signature, owner, quote=name)


def of_kinds(places: Iterable[Place], kinds: Iterable[str]) -> tuple[Place, ...]:
    wanted = frozenset(kinds)
    return tuple(place for place in places if place.kind in wanted)


def files_of(places: Iterable[Place]) -> int:
    """In how many files the places are."""
    return len({place.path for place in places})


def one_a_line(places: Iterable[Place]) -> tuple[Place, ...]:
    """Each line once, with the first of its kinds in the order of `KINDS`, in the order given."""
    best: dict[tuple[str, int], Place] = {}
    for place in places:
        known = best.get((place.path, place.line))
        if known is None or KINDS.index(place.kind) < KINDS.index(known.kind):
            best[place.path, place.line] = place
    return tuple(best.values())


def count_kinds(places: Iterable[Place]) -> Counter[PlaceKind]:
    return Counter(place.kind for place in places)


def with_kind(places: Iterable[Place], kind: PlaceKind) -> tuple[Place, ...]:
    return tuple(replace(place, kind=kind) for place in places)


def ordered(places: Iterable[Place], rank: Callable[[Place], int]) -> tuple[Place, ...]:
    """By `rank`, else as they came."""
    return tuple(sorted(places, key=rank))


def by_file(places: Sequence[Place]) -> dict[str, list[Place]]:
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(place.path, []).append(place)
    return groups
