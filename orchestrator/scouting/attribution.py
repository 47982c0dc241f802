"""Which of several definitions a use belongs to, as far as the file it is in and its imports tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

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
    counts: Counter[str] = Counter()
    unknown = 0
    for owner in owners(definitions, uses, places):
        if owner is None:
            unknown += 1
        else:
            counts[owner.at] += 1
    return tuple((definition, counts[definition.at]) for definition in definitions), unknown


def owners(definitions: Sequence[Place], uses: Sequence[Place], places: Sequence[Place]) -> tuple[Place | None, ...]:
    """The definition that each of `uses` belongs to, where that can be told."""
    imports = _grouped((place for place in places if place.kind == "import"), lambda place: place.path)
    own = _grouped(definitions, lambda place: place.path)
    by_file = {
        path: _owner(path, own.get(path, ()), imports.get(path, ()), definitions) for path in {p.path for p in uses}
    }
    return tuple(by_file[place.path] for place in uses)


def by_qualifier(text: str, name: str, definitions: Sequence[Place]) -> Place | None:
    """The definition that `module.name` in `text` names, if its file or folder is called so and no other's is."""
    found = re.search(rf"([\w$]+)(?:\.|::|\\){re.escape(name)}(?![\w$])", text)
    fitting = [d for d in definitions if found and found[1] in re.split(r"[/.]", d.path)]
    return fitting[0] if len(fitting) == 1 else None


def _grouped(places: Iterable[Place], key: Callable[[Place], str]) -> dict[str, list[Place]]:
    groups: dict[str, list[Place]] = {}
    for place in places:
        groups.setdefault(key(place), []).append(place)
    return groups


def _owner(path: str, own: Sequence[Place], imports: Sequence[Place], definitions: Sequence[Place]) -> Place | None:
    """The one definition that the name stands for in the file, if that can be told by the file's `own` definitions and
    `imports`."""
    if own:
        return own[0] if len(own) == 1 else None
    owners = {definition.at: definition for line in imports for definition in _imported(line, path, definitions)}
    return next(iter(owners.values())) if len(owners) == 1 else None


def _imported(line: Place, path: str, definitions: Sequence[Place]) -> Sequence[Place]:
    found = _MODULE.search(line.text)
    module = next((text for text in found.groups() if text), "") if found else ""
    last = [piece for piece in re.split(r"[./:]+", re.sub(r"\.(?:js|ts|jsx|tsx|mjs|cjs)$", "", module)) if piece]
    folder = path.rpartition("/")[0]
    if not last:
        return [d for d in definitions if module and d.path.rpartition("/")[0] == folder]
    near = [d for d in definitions if stem(d.path) == last[-1]]
    if len(near) == 1 and _ends_alike(near[0].path, last):
        return near
    if module.startswith(".") and near:
        return [d for d in near if d.path.rpartition("/")[0] == folder]
    inside = [d for d in definitions if f"/{'/'.join(last)}/" in f"/{d.path}"]
    return near if len(near) == 1 and not inside else inside


def _ends_alike(path: str, module: Sequence[str]) -> bool:
    """Whether the module in `path` has the name `module`, as far as both go."""
    parts = [*path.split("/")[:-1], stem(path)] if not path.endswith("/__init__.py") else path.split("/")[:-1]
    common = min(len(parts), len(module))
    return parts[-common:] == list(module[-common:])
