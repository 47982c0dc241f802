"""What can be asked of one file, by name, so that it can be sent to another process as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from orchestrator.code.occurrences import FileOccurrences, Place, occurrences_in
from orchestrator.code.outline import FileSymbol, symbols_in

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """`run(path, data, *arguments)` is a pure function; `read` makes its result again from its JSON form."""

    name: str
    run: Callable[..., T]
    read: Callable[[Any], T]
    arguments: tuple[str, ...] = ()

    def __call__(self, path: str, data: bytes) -> T:
        return self.run(path, data, *self.arguments)


def occurrences_task(name: str) -> Task[FileOccurrences]:
    return Task("occurrences", occurrences_in, _read_occurrences, (name,))


def symbols_task() -> Task[tuple[FileSymbol, ...]]:
    return Task("symbols", symbols_in, _read_symbols)


RUNNERS: Mapping[str, Callable[..., Any]] = {"occurrences": occurrences_in, "symbols": symbols_in}
"""What a worker runs, by the name of the task."""


def _read_occurrences(value: list[Any]) -> FileOccurrences:
    places, hidden, how = value
    return FileOccurrences(tuple(map(Place._make, places)), hidden, how)


def _read_symbols(value: list[Any]) -> tuple[FileSymbol, ...]:
    return tuple(FileSymbol._make([*symbol, tuple(map(tuple, lines)), tuple(bases)]) for *symbol, lines, bases in value)
