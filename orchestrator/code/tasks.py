"""What can be asked of one file, by name, so that it can be sent to another process as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any, Generic, TypeVar

from orchestrator.code.links import FileLinks, links_in, pack_links
from orchestrator.code.occurrences import FileOccurrences, Place, occurrences_in
from orchestrator.code.outline import FileSymbol, symbols_in

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """`run(path, data, *arguments)` is a pure function; `pack` gives the JSON form of its result, `read` undoes it."""

    name: str
    run: Callable[..., T]
    pack: Callable[[T], Any]
    read: Callable[[Any], T]
    arguments: tuple[str, ...] = ()

    def __call__(self, path: str, data: bytes) -> T:
        return self.run(path, data, *self.arguments)


def occurrences_task(name: str) -> Task[FileOccurrences]:
    return Task("occurrences", occurrences_in, _pack_occurrences, _read_occurrences, (name,))


def symbols_task() -> Task[tuple[FileSymbol, ...]]:
    return Task("symbols", symbols_in, list, _read_symbols)


def links_task() -> Task[FileLinks]:
    return Task("links", links_in, pack_links, _read_links)


def _packed_occurrences(path: str, data: bytes, name: str) -> list[Any]:
    return _pack_occurrences(occurrences_in(path, data, name))


def _packed_links(path: str, data: bytes) -> list[Any]:
    return pack_links(links_in(path, data))


def _pack_occurrences(found: FileOccurrences) -> list[Any]:
    """Each line once, since a generated one can have 200,000 characters and several places."""
    lines = {text: at for at, text in enumerate(dict.fromkeys(place.text for place in found.places))}
    places = [(*place[:3], lines[place.text], *place[4:]) for place in found.places]
    return [places, list(lines), found.hidden, found.how]


def _read_occurrences(value: list[Any]) -> FileOccurrences:
    places, lines, hidden, how = value
    rows = (Place(number, column, kind, lines[at], *rest) for number, column, kind, at, *rest in places)
    return FileOccurrences(tuple(rows), hidden, how)


def _read_symbols(value: list[Any]) -> tuple[FileSymbol, ...]:
    return tuple(FileSymbol._make([*symbol, tuple(map(tuple, lines)), tuple(bases)]) for *symbol, lines, bases in value)


def _read_links(value: list[Any]) -> FileLinks:
    symbols, uses, imports = value
    return FileLinks(_read_symbols(symbols), tuple(map(intern, uses.split())), tuple(imports))


RUNNERS: Mapping[str, Callable[..., Any]] = {
    "occurrences": _packed_occurrences,
    "symbols": symbols_in,
    "links": _packed_links,
}
"""What a worker runs, by the name of the task: it gives the JSON form."""
