"""Which of several definitions a use belongs to, as far as the file it is in and its imports tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from orchestrator.scouting.names import stem
from orchestrator.scouting.places import Place

_MODULE = re.compile(
    r"\bfrom\s+['\"]?(?P<from>[\w./@-]+)|\brequire\(\s*['\"](?P<require>[\w./@-]+)|"
    r"\bimport\s+(?P<import>[\w./:]+)|\buse\s+(?P<use>[\w:]+)"
)


def shares(
    definitions: Sequence[Place], uses: Sequence[Place], places: Sequence[Place]
) -> tuple[tuple[tuple[Place, int], ...], int]:
    """How many of `uses` belong to each definition, and how many cannot be told. `places` hold the import lines."""
    imports = _grouped((place for place in places if place.kind == "import"), lambda place: place.path)
    own = _grouped(definitions, lambda place: place.path)
    by_stem = _grouped(definitions, lambda place: stem(place.path))
    owner_of_file = {
        path: _owner(path, own.get(path, ()), imports.get(path, ()), by_stem) for path in {use.path for use in uses}
    }
    counts: Counter[str] = Counter()
    unknown = 0
    for place in uses:
        owner = owner_of_file[place.path]
        if owner is None:
            unknown += 1
        else:
            counts[owner.at] += 1
    return tuple((definition, counts[definition.at]) for definition in definitions), unknown


def _grouped(places: Iterable[Place], key: Callable[[Place], str]) -> dict[str, list[Place]]:
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(key(place), []).append(place)
    return groups


def _owner(
    path: str, own: Sequence[Place], imports: Sequence[Place], by_stem: Mapping[str, Sequence[Place]]
) -> Place | None:
    """The one definition that the name stands for in the file, if that can be told by the file's `own` definitions and
    `imports`."""
    if own:
        return own[0] if len(own) == 1 else None
    owners = {definition.at: definition for line in imports for definition in _imported(line, path, by_stem)}
    return next(iter(owners.values())) if len(owners) == 1 else None


def _imported(line: Place, path: str, by_stem: Mapping[str, Sequence[Place]]) -> Sequence[Place]:
    found = _MODULE.search(line.text)
    module = next((text for text in found.groups() if text), "") if found else ""
    last = [piece for piece in re.split(r"[./:]+", re.sub(r"\.(?:js|ts|jsx|tsx|mjs|cjs)$", "", module)) if piece]
    if not last:
        return []
    near = by_stem.get(last[-1], ())
    if len(near) == 1 or not module.startswith("."):
        return near
    folder = path.rpartition("/")[0]
    return [d for d in near if d.path.rpartition("/")[0] == folder]
