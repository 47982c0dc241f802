"""A place in the workspace, and lists of places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

PlaceKind = Literal["definition", "import", "call", "attribute", "reference", "comment", "string", "doc", "other"]

Belongs = Literal["yes", "maybe", "local"]

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


class Place(NamedTuple):
    """A line, or a few, that a tool has shown. `text` is the line as shown, stripped; `scope` what encloses it.

    `quote` is what stands on the line, where `text` says it in other words. `belongs`: `maybe` where the type of the
    receiver is not known, `local` for a parameter or variable of a function.
    """

    path: str
    line: int
    kind: PlaceKind
    text: str
    scope: str = ""
    end_line: int = 0
    quote: str = ""
    belongs: Belongs = "yes"

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
    """Each line once, with the first of its kinds in the order of `KINDS`, in the order given; what is no more than a
    function's own variable comes last."""
    best: dict[tuple[str, int], Place] = {}
    for place in places:
        known = best.setdefault(place[:2], place)
        if known is not place and _rank(place) < _rank(known):
            best[place[:2]] = place
    return tuple(best.values())


def _rank(place: Place) -> tuple[bool, int]:
    return place.belongs == "local", KINDS.index(place.kind)


def count_kinds(places: Iterable[Place]) -> Counter[PlaceKind]:
    return Counter(place.kind for place in places)


def with_kind(places: Iterable[Place], kind: PlaceKind) -> tuple[Place, ...]:
    return tuple(place._replace(kind=kind) for place in places)


def ordered(places: Iterable[Place], rank: Callable[[Place], int]) -> tuple[Place, ...]:
    """By `rank`, else as they came."""
    return tuple(sorted(places, key=rank))


def by_file(places: Sequence[Place]) -> dict[str, list[Place]]:
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(place.path, []).append(place)
    return groups
