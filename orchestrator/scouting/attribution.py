"""Which of several definitions a use belongs to, as far as the file it is in and its imports tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

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
    owner_of_file = {path: _owner(path, definitions, places) for path in {place.path for place in uses}}
    counts: Counter[str] = Counter()
    unknown = 0
    for place in uses:
        owner = owner_of_file[place.path]
        if owner is None:
            unknown += 1
        else:
            counts[owner.at] += 1
    return tuple((definition, counts[definition.at]) for definition in definitions), unknown


def _owner(path: str, definitions: Sequence[Place], places: Sequence[Place]) -> Place | None:
    """The one definition that the name stands for in the file, if that can be told."""
    own = [definition for definition in definitions if definition.path == path]
    if own:
        return own[0] if len(own) == 1 else None
    imports = [place for place in places if place.path == path and place.kind == "import"]
    owners = {definition.at: definition for line in imports for definition in _imported(line, path, definitions)}
    return next(iter(owners.values())) if len(owners) == 1 else None


def _imported(line: Place, path: str, definitions: Sequence[Place]) -> list[Place]:
    found = _MODULE.search(line.text)
    module = next((text for text in found.groups() if text), "") if found else ""
    last = [piece for piece in re.split(r"[./:]+", re.sub(r"\.(?:js|ts|jsx|tsx|mjs|cjs)$", "", module)) if piece]
    if not last:
        return []
    near = [d for d in definitions if stem(d.path) == last[-1]]
    beside = [d for d in near if PurePosixPath(d.path).parent == PurePosixPath(path).parent]
    return beside if len(near) > 1 and module.startswith(".") else near
