"""What one session changes in its workspace, kept so that it can be taken back: edits, and what commands change."""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.checkpoint_store import CheckpointStore, StoreInUse
from orchestrator.errors import ToolError
from orchestrator.file_states import Change, DamagedRecord, State, safe_path, state_to_json
from orchestrator.path_names import raw_path, shown_path
from orchestrator.tree_files import TreeFiles
from orchestrator.tree_watch import TreeWatch


class Token(NamedTuple):
    """A change that has begun."""

    id: str
    agent: str
    paths: tuple[str, ...]
    made: tuple[str, ...]


class Checkpoints:
    """Keeps what files were before they change. One for a session, used by all its agents.

    Nothing is made on disk before the first change. Edits are kept by `begin` and `finish`, commands by `before_shell`
    and `after_shell`; commands of several agents may run at the same time, and each change is recorded once.
    """

    def __init__(self, folder: Path, root: Path, *, shadow: Path, notice: Callable[[str, str, str], None]) -> None:
        """`folder`: of this session alone; `shadow`: for what is held while commands run, shared by sessions."""
        self.store = CheckpointStore(folder)
        self.tree = TreeFiles(root)
        state = Path(os.path.realpath(folder.parents[2]))
        own = (state, Path(os.path.realpath(shadow.parent)))
        self._watch = TreeWatch(self.tree, self.store, self._prepare, shadow, own, notice)
        self._session = folder.parent.name
        self._notice = notice
        self._lock = threading.RLock()
        self._turn = 1
        self._run = secrets.token_hex(4)
        self._running = 0
        self._ending = 0
        self._editing: dict[str, Token] = {}

    def turn(self, number: int) -> None:
        """A new turn of the user begins; what changes from here on is taken back together."""
        with self._lock:
            self._turn = number

    def close(self) -> None:
        """Give up the lock and what was held aside; the next change takes them again. What was kept stays."""
        with self._lock:
            self._watch.close()
            self.store.close()

    # --- edits -------------------------------------------------------------------------------------------------------

    def begin(self, agent: str, paths: Sequence[str], made: Sequence[str] = ()) -> Token:
        """Keep what the files at `paths` are now. `made`: folders that were made for them a moment ago.

        Both as in `Located.path`. Raises `ToolError('disk')` when it cannot be kept; then nothing may be changed.
        """
        names = [_checked(path) for path in paths]
        with self._lock, _refusing():
            self._prepare()
            self._record_shell("", self._watch.changes_at(names))
            before = [(name, self._kept(name)) for name in names]
            token = Token(secrets.token_hex(6), agent, tuple(names), tuple(_checked(path) for path in made))
            rows = [[name, state_to_json(state)] for name, state in before]
            self._append("begin", id=token.id, agent=agent, made=list(token.made), before=rows)
            self._editing[token.id] = token
            return token

    def finish(self, token: Token) -> None:
        """The files were changed. Raises `ToolError('disk')` when that cannot be written down."""
        with self._lock, _refusing():
            after = []
            for name in token.paths:
                found = self.tree.look(name)
                if found.data is not None:
                    self.store.keep(found.data)
                self._watch.settle(name, found)
                after.append([name, state_to_json(found.state)])
            folders = [(name, self.tree.look(name)) for name in token.made]
            for name, found in folders:
                self._watch.settle(name, found)
            made = [[name, state_to_json(found.state)] for name, found in folders]
            self._append("end", id=token.id, after=after, made=made)
            self._editing.pop(token.id, None)

    def abandon(self, token: Token) -> None:
        """Nothing was changed after all."""
        with self._lock:
            self._editing.pop(token.id, None)
            try:
                self._append("abandon", id=token.id)
            except OSError:
                return  # the files are what they were: whoever reads the index later finds nothing to take back

    def _kept(self, path: str) -> State:
        found = self.tree.look(path)
        if found.state.kind == "file":
            if found.data is None:
                raise PermissionError(13, "its content cannot be read", path)
            self.store.keep(found.data)
        return found.state

    # --- commands ----------------------------------------------------------------------------------------------------

    async def before_shell(self) -> None:
        """A command that may write is about to run. Never refuses: what cannot be kept is said in a notice."""
        self._running += 1
        try:
            await asyncio.to_thread(self._open_window)
        except BaseException:
            self._running -= 1
            # Where the lock is held, whoever holds it looks at `_running` once more.
            if self._lock.acquire(blocking=False):
                try:
                    self._end_unless_needed()
                finally:
                    self._lock.release()
            raise

    async def after_shell(self, agent: str) -> Sequence[str]:
        """The command has ended. Gives the paths that changed since the last look, as they are shown."""
        self._running -= 1
        self._ending += 1
        # Shielded: also what a command changed that was stopped can be undone.
        return await asyncio.shield(asyncio.to_thread(self._close_window, agent))

    def _open_window(self) -> None:
        """Take down how the tree is, unless that was done for another command that still runs."""
        with self._lock:
            if self._watch.watching:
                return
            try:
                self._watch.begin()
            except OSError as error:
                self._watch.end()
                self._not_kept(error)
            self._end_unless_needed()

    def _close_window(self, agent: str) -> list[str]:
        with self._lock:
            try:
                editing = {name for token in self._editing.values() for name in (*token.paths, *token.made)}
                changes = self._watch.changes(editing)
                self._record_shell(agent, changes)
                return [shown_path(change.path) for change in changes]
            except (OSError, StoreInUse) as error:
                self._not_kept(error)
                return []
            finally:
                self._ending -= 1
                self._end_unless_needed()

    def _end_unless_needed(self) -> None:
        if self._running == 0 and self._ending == 0:
            self._watch.end()

    def _record_shell(self, agent: str, changes: Sequence[Change]) -> None:
        if not changes:
            return
        rows = [[each.path, state_to_json(each.before), state_to_json(each.after)] for each in changes]
        self._append("shell", agent=agent, changes=rows)

    def _not_kept(self, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        self._notice("warning", f"what the command changes cannot be undone: {reason}", f"see {self.store.folder}")

    # --- the store ---------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        header = {"root": str(self.tree.root), "session": self._session, "started": round(time.time(), 3)}
        self.store.prepare(header)

    def _append(self, kind: str, **fields: Any) -> None:
        entry: Mapping[str, Any] = {"type": kind, "run": self._run, "turn": self._turn, **fields}
        self.store.append({**entry, "at": round(time.time(), 3)})


@contextmanager
def _refusing() -> Iterator[None]:
    """What goes wrong while something is kept, as an error of the call that wants to change it."""
    try:
        yield
    except OSError as error:
        raise _not_kept(error.strerror or str(error)) from None
    except StoreInUse:
        raise _not_kept("another process uses this session") from None


def _not_kept(reason: str) -> ToolError:
    return ToolError("disk", f"what the files were could not be kept for undo ({reason}), so nothing was changed")


def _checked(path: str) -> str:
    try:
        return safe_path(raw_path(path))
    except DamagedRecord as error:
        raise ToolError("invalid_path", f"{error}; nothing was changed") from None
