"""What stands at a path (nothing, a file, a link or a folder), how two such states differ, how one is written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal["missing", "file", "link", "folder", "other"]
_KINDS = frozenset(get_args(Kind))
_SHA = re.compile("[0-9a-f]{64}")


class State(NamedTuple):
    """`mode` are the permission bits of a file or folder, `sha` the SHA-256 of a file's bytes, `target` a link's.

    `kept`: whether the bytes are in the store, so that they can be brought back. `sha` is empty for bytes that nobody
    could read.
    """

    kind: Kind
    mode: int = 0
    sha: str = ""
    size: int = 0
    target: str = ""
    kept: bool = True

    def same(self, other: State) -> bool:
        """Whether both are the same to whoever opens the path. Bytes that are not known are never the same."""
        if self.kind != other.kind or self.kind == "other":
            return False
        if self.kind == "file" and not self.sha:
            return False
        return (self.mode, self.sha, self.target) == (other.mode, other.sha, other.target)

    @property
    def restorable(self) -> bool:
        return self.kind != "other" and self.kept


MISSING = State("missing")


class Change(NamedTuple):
    """What one path was before and after; `after` is `None` when the run ended before that was written down."""

    path: str
    before: State
    after: State | None
    agent: str = ""
    how: str = "edit"


class DamagedRecord(ValueError):
    """A line of the index is not what orch writes there; the text says what is wrong with it."""


def safe_path(path: object) -> str:
    """`path`, when it leads one way: down from the root. Raises `DamagedRecord` for anything else.

    The index is read again by another process later: what it names is never trusted to stay inside.
    """
    if not isinstance(path, str) or not path or "\0" in path:
        raise DamagedRecord(f"{path!r} is not a path")
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise DamagedRecord(f"{path!r} does not lead straight down from the workspace")
    return path


def state_to_json(state: State | None) -> dict[str, Any] | None:
    """The state without what says nothing."""
    if state is None:
        return None
    fields = state._asdict()
    return {key: fields[key] for key in fields if key == "kind" or fields[key] != State._field_defaults[key]}


def state_from_json(value: object) -> State:
    """The state that `state_to_json` wrote. Raises `DamagedRecord`."""
    if not isinstance(value, Mapping) or value.get("kind") not in _KINDS or not set(value) <= set(State._fields):
        raise DamagedRecord(f"{value!r} is not the state of a file")
    state = State(**value)
    texts = isinstance(state.sha, str) and isinstance(state.target, str)
    if not texts or (state.sha and not _SHA.fullmatch(state.sha)) or "\0" in state.target:
        raise DamagedRecord(f"{value!r} does not name what a file held")
    if type(state.mode) is not int or not 0 <= state.mode <= 0o7777 or type(state.size) is not int:
        raise DamagedRecord(f"{value!r} does not say a file's mode and size")
    if type(state.kept) is not bool or (state.kind == "file" and state.kept and not state.sha):
        raise DamagedRecord(f"{value!r} does not say what was kept")
    return state
