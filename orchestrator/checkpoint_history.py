"""What a session did to its files, read from its index: turn by turn, and which turns were taken back since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from orchestrator.checkpoint_store import CheckpointStore
from orchestrator.file_states import Change, DamagedRecord, State, safe_path, state_from_json

TurnKey = tuple[str, int]
"""The process that wrote it, and the number that it gave to the turn."""


class Turn(NamedTuple):
    """The changes of one turn of the user, in the order in which they were made. `at`: seconds since 1970."""

    key: TurnKey
    changes: tuple[Change, ...]
    at: float = 0.0

    @property
    def number(self) -> int:
        return self.key[1]


class History(NamedTuple):
    """`done` turns, the oldest first; `undone` ones with what taking them back changed, the last taken back last."""

    root: str
    session: str
    started: float
    done: tuple[Turn, ...]
    undone: tuple[Turn, ...]


def read_history(store: CheckpointStore) -> History:
    """Raises `DamagedRecord` when the index is not what orch wrote, `OSError` when it cannot be read."""
    rows = store.entries()
    header = next(rows)
    reading = _Reading()
    for row in rows:
        reading.take(row)
    started = header.get("started")
    return History(
        str(header.get("root")),
        str(header.get("session")),
        float(started) if isinstance(started, int | float) else 0.0,
        tuple(Turn(key, tuple(changes), reading.at.get(key, 0.0)) for key, changes in reading.done.items() if changes),
        tuple(reading.undone),
    )


@dataclass(slots=True)
class _Reading:
    """The state while lines are read; changes of a turn stay in the order in which they began."""

    done: dict[TurnKey, list[Change]] = field(default_factory=dict)
    undone: list[Turn] = field(default_factory=list)
    at: dict[TurnKey, float] = field(default_factory=dict)
    _open: dict[str, tuple[TurnKey, list[Change]]] = field(default_factory=dict)

    def take(self, row: Mapping[str, Any]) -> None:
        key = _key_of(row)
        at = row.get("at")
        match row.get("type"):
            case "begin":
                self._begin(key, row)
            case "end":
                self._end(row)
            case "abandon":
                self._drop(row)
            case "shell":
                self._add(key, _changes(row, "shell"))
            case "undo":
                self.done.pop(key, None)
                self.undone.append(Turn(key, tuple(_changes(row, "undo")), float(at or 0.0)))
                return
            case "redo":
                self.undone = [turn for turn in self.undone if turn.key != key]
                self.done[key] = list(_changes(row, "redo"))
            case _:
                return  # of a later version; what it says beyond this is not needed to take changes back
        if isinstance(at, int | float):
            self.at[key] = float(at)

    def _begin(self, key: TurnKey, row: Mapping[str, Any]) -> None:
        agent = str(row.get("agent", ""))
        made = [Change(safe_path(path), State("missing"), None, agent) for path in _list(row.get("made"))]
        begun = [
            *made,
            *(Change(safe_path(path), state_from_json(state), None, agent) for path, state in _pairs(row, "before", 2)),
        ]
        self._open[str(row.get("id"))] = (key, begun)
        self._add(key, begun)

    def _end(self, row: Mapping[str, Any]) -> None:
        key, begun = self._open.pop(str(row.get("id")), (None, []))
        if key is None:
            return
        after = {safe_path(p): state_from_json(s) for name in ("made", "after") for p, s in _pairs(row, name, 2)}
        ended = {id(change): change._replace(after=after.get(change.path)) for change in begun}
        self.done[key] = [ended.get(id(change), change) for change in self.done.get(key, [])]

    def _drop(self, row: Mapping[str, Any]) -> None:
        key, begun = self._open.pop(str(row.get("id")), (None, []))
        if key is not None:
            dropped = {id(change) for change in begun}
            self.done[key] = [change for change in self.done.get(key, []) if id(change) not in dropped]

    def _add(self, key: TurnKey, changes: Iterable[Change]) -> None:
        self.done.setdefault(key, []).extend(changes)
        self.undone.clear()  # what was taken back cannot be put on top of what came after


def _key_of(row: Mapping[str, Any]) -> TurnKey:
    run, turn = row.get("run"), row.get("turn")
    if not isinstance(run, str) or type(turn) is not int:
        raise DamagedRecord(f"a line does not say which turn it belongs to: {str(row)[:80]}")
    return run, turn


def _changes(row: Mapping[str, Any], how: str) -> list[Change]:
    agent = str(row.get("agent", ""))
    return [
        Change(safe_path(path), state_from_json(before), state_from_json(after), agent, how)
        for path, before, after in _pairs(row, "changes", 3)
    ]


def _pairs(row: Mapping[str, Any], name: str, length: int) -> list[list[Any]]:
    rows = _list(row.get(name))
    if not all(isinstance(each, list) and len(each) == length for each in rows):
        raise DamagedRecord(f"a line's `{name}` is not what orch writes")
    return rows


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise DamagedRecord("a line lacks a list that orch writes")
    return value
