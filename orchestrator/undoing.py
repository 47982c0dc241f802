"""Takes back what a session did in one turn, or makes it again: all of it or nothing."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from orchestrator.checkpoint_store import CheckpointStore
from orchestrator.errors import OrchError
from orchestrator.file_states import DamagedRecord, State, state_to_json
from orchestrator.path_names import shown_path
from orchestrator.takeback import Step, Takeback
from orchestrator.tree_files import Key, Swapped, TreeFiles

_MANY = 100
"""Files from which on they are written to the disk together, not each for itself."""


class _Move(NamedTuple):
    """One thing to do: bring `path` from `now` to `target`, neither of which needs what another move does first."""

    path: str
    now: State
    target: State
    key: Key | None


def take_back(takeback: Takeback, store: CheckpointStore, tree: TreeFiles, *, redo: bool = False) -> tuple[str, ...]:
    """Do what was planned and write it down; gives the folders that were left because they are not empty.

    What stands there now is kept first, so that it can be brought back. Raises `OrchError` when it cannot be done: then
    everything is as it was, unless the message says otherwise.
    """
    try:
        content = {step.path: _content(step, store) for step in takeback.steps}
        for step in takeback.steps:
            if step.data is not None:
                store.keep(step.data)
    except (DamagedRecord, OSError) as error:
        raise _failed(error) from None
    work = _Work(tree, takeback.steps, content)
    try:
        for move in _in_order(takeback.steps):
            work.do(move)
        work.settle()
        _write_down(takeback, store, "redo" if redo else "undo")
    except BaseException as error:
        stuck = work.roll_back()
        if isinstance(error, OSError | Swapped):
            raise _failed(error, stuck) from None
        raise
    return tuple(work.left)


def _content(step: Step, store: CheckpointStore) -> bytes:
    return store.content(step.target.sha) if step.target.kind == "file" else b""


def _in_order(steps: Sequence[Step]) -> Iterable[_Move]:
    """What goes first, from the deepest, then folders, then what comes, from the top; permissions of folders last."""
    nothing = State("missing")
    gone = [s for s in reversed(steps) if s.now.kind not in ("missing", s.target.kind)]
    for step in gone:
        if step.now.kind != "folder":
            yield _Move(step.path, step.now, nothing, step.key)
    for step in gone:
        if step.now.kind == "folder":
            yield _Move(step.path, step.now, nothing, step.key)
    came = [s for s in steps if s.target.kind not in ("missing", s.now.kind)]
    for step in came:
        if step.target.kind == "folder":
            yield _Move(step.path, nothing, step.target._replace(mode=step.target.mode | 0o700), None)
    for step in steps:
        if step.target.kind in ("file", "link"):
            same_kind = step.now.kind == step.target.kind
            yield _Move(step.path, step.now if same_kind else nothing, step.target, step.key if same_kind else None)
    for step in reversed(steps):
        if step.target.kind == "folder":
            made = State("folder", step.target.mode | 0o700)
            yield _Move(step.path, step.now if step.now.kind == "folder" else made, step.target, None)


class _Work:
    """Moves that were made, so that they can be taken back in reverse order."""

    def __init__(self, tree: TreeFiles, steps: Sequence[Step], content: dict[str, bytes]) -> None:
        self._tree = tree
        self._content = content
        self._former = {step.path: step.data or b"" for step in steps}
        self._needed = {step.path for step in steps if step.target.kind != "missing"}
        self._sync = len(steps) <= _MANY
        self._done: list[_Move] = []
        self._made: list[str] = []
        self.left: list[str] = []

    def do(self, move: _Move) -> None:
        self._make_parents(move)
        if move.now.kind == "folder" and move.target.kind == "missing":
            if not self._tree.remove_folder(move.path):
                if move.path in self._needed:
                    raise OSError(errno.ENOTEMPTY, f"the folder {shown_path(move.path)} is not empty")
                self.left.append(move.path)
                return
        else:
            self._bring(move.path, move.target, self._content.get(move.path, b""), move.key, move.now)
        self._done.append(move)

    def settle(self) -> None:
        """See to it that all is on disk."""
        if not self._sync:
            os.sync()

    def roll_back(self) -> list[str]:
        """Gives what could not be put back."""
        stuck: list[str] = []
        for move in reversed(self._done):
            try:
                key = self._tree.look(move.path).key
                self._bring(move.path, move.now, self._former.get(move.path, b""), key, move.target)
            except (OSError, Swapped):
                stuck.append(move.path)
        for folder in reversed(self._made):
            with suppress(OSError):
                self._tree.remove_folder(folder)
        return stuck

    def _make_parents(self, move: _Move) -> None:
        """Folders above that nobody wrote down (git does not know them): with usual permissions."""
        if move.target.kind == "missing":
            return
        parts = move.path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if self._tree.look(folder).state.kind == "missing":
                self._tree.make_folder(folder, 0o755)
                self._made.append(folder)

    def _bring(self, path: str, target: State, data: bytes, key: Key | None, now: State) -> None:
        if target.kind in ("file", "link"):
            self._tree.put(path, target, data, key, sync=self._sync)
        elif target.kind == "folder":
            if now.kind == "folder":
                self._tree.set_folder_mode(path, target.mode)
            else:
                self._tree.make_folder(path, target.mode)
        elif now.kind == "folder":
            self._tree.remove_folder(path)
        else:
            self._tree.remove(path, key)


def _write_down(takeback: Takeback, store: CheckpointStore, kind: str) -> None:
    run, turn = takeback.turn.key
    rows = [[step.path, state_to_json(step.now), state_to_json(step.target)] for step in takeback.steps]
    store.append({"type": kind, "run": run, "turn": turn, "changes": rows, "at": round(time.time(), 3)})


def _failed(error: Exception, stuck: Sequence[str] = ()) -> OrchError:
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    if isinstance(error, Swapped):
        reason = f"{shown_path(str(error))} changed at this very moment"
    if stuck:
        names = ", ".join(shown_path(path) for path in stuck)
        return OrchError(
            f"undo failed ({reason}), and these could not be put back: {names}", "`orch diff` shows what was"
        )
    return OrchError(f"undo failed: {reason}; nothing was changed", "put that right and try again")
