"""Which types extend which: levels of subclasses, told apart where several types share a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orchestrator.scouting.attribution import by_qualifier, owners
from orchestrator.scouting.headers import declarers, extenders, headers_with
from orchestrator.scouting.line_kinds import declared_type
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.places import Place
from orchestrator.scouting.regions import Filters
from orchestrator.scouting.resolve import apply_filters

_MAX_LEVELS = 6
_MAX_TYPES = 150
"""Types of one level whose own subclasses are looked for."""


class Family(NamedTuple):
    """What extends one type: `root` is its definition, `None` for those of which it cannot be told."""

    root: Place | None
    direct: tuple[Place, ...]
    indirect: tuple[Place, ...] = ()

    @property
    def size(self) -> int:
        return len(self.direct) + len(self.indirect)

    def inside(self, filters: Filters) -> Family:
        """The family within the part of the workspace that is asked for."""
        direct, indirect = apply_filters(self.direct, filters).inside, apply_filters(self.indirect, filters).inside
        return self._replace(direct=direct, indirect=indirect)


def split_by_root(
    name: str, roots: Sequence[Place], direct: Sequence[Place], places: Sequence[Place]
) -> tuple[Family, ...]:
    """A family a definition of `name`; of several, the last is for what cannot be told.

    `places` hold the imports of the name.
    """
    if len(roots) < 2:
        return (Family(roots[0] if roots else None, tuple(direct)),)
    owned = _owners(name, roots, direct, places)
    families = [Family(root, tuple(p for p, o in zip(direct, owned, strict=True) if o == root)) for root in roots]
    rest = Family(None, tuple(p for p, o in zip(direct, owned, strict=True) if o is None))
    return (*(family for family in families if family.direct), rest)


def _owners(
    name: str, definitions: Sequence[Place], uses: Sequence[Place], places: Sequence[Place]
) -> list[Place | None]:
    by_import = owners(definitions, uses, places)
    return [by_qualifier(p.text, name, definitions) or owner for p, owner in zip(uses, by_import, strict=True)]


def descend(book: Notebook, families: Sequence[Family], roots: Sequence[Place]) -> tuple[Family, ...] | None:
    """The families with the subclasses of their subclasses, level by level; `None` while they are not known."""
    taken = {place[:2] for family in families for place in family.direct} | {root[:2] for root in roots}
    grown = [list[Place]() for _ in families]
    levels: list[Sequence[Place]] = [family.direct for family in families]
    for _ in range(_MAX_LEVELS):
        names = _types(place for level in levels for place in level)[:_MAX_TYPES]
        headers = headers_with(book, names) if names else ()
        if headers is None:
            return None
        below: list[list[Place]] = [[] for _ in families]
        for name in names:
            _extend(name, headers, levels, below, taken)
        levels = list(below)
        for family, level in zip(grown, below, strict=True):
            family += level
    return tuple(f._replace(indirect=tuple(found)) for f, found in zip(families, grown, strict=True))


def _types(places: Iterable[Place]) -> list[str]:
    return list(dict.fromkeys(name for place in places if (name := declared_type(place.text))))


def _extend(
    name: str,
    headers: Sequence[Place],
    levels: Sequence[Sequence[Place]],
    below: Sequence[list[Place]],
    taken: set[tuple[str, int]],
) -> None:
    """Add what extends `name` to the level below the family that its definition is in, else to the last one."""
    headers = [place for place in headers if name in place.text]
    uses = [place for place in extenders(headers, name) if place[:2] not in taken]
    definitions = declarers(headers, name)
    homes = {
        place[:2]: at
        for at, level in enumerate(levels)
        for place in level
        if name in place.text and declared_type(place.text) == name
    }
    for use, told in zip(uses, _owners(name, definitions, uses, headers), strict=True):
        owner = told or _beside(use, definitions)
        if owner is not None and owner[:2] not in homes:
            continue
        at = (
            homes[owner[:2]]
            if owner is not None
            else next(iter(homes.values()))
            if len(set(homes.values())) == 1
            else -1
        )
        below[at].append(use._replace(kind="reference"))
        taken.add(use[:2])


def _beside(use: Place, definitions: Sequence[Place]) -> Place | None:
    """The only definition, or the only one in the folder."""
    if len(definitions) == 1:
        return definitions[0]
    folder = use.path.rpartition("/")[0]
    near = [place for place in definitions if place.path.rpartition("/")[0] == folder]
    return near[0] if len(near) == 1 else None
