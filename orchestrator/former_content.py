"""Where the content of every file of a tree can be had from, should a command change it: git, the store, or a copy."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from orchestrator.checkpoint_store import CheckpointStore
from orchestrator.file_states import MISSING, DamagedRecord, State
from orchestrator.git_tree import GitTree, content_name
from orchestrator.held_content import HeldContent
from orchestrator.tree_files import Found, Key, Read, TreeFiles, is_settled
from orchestrator.tree_scan import Snapshot

MAX_FILE = 10 * 1024 * 1024
"""Bytes of the largest file that is kept on behalf of a command. An edit's former content is kept whatever its size."""
_MAX_SECONDS = 15.0
"""For one look at what is new; files beyond it could not be brought back."""
_BATCH = 64 * 1024 * 1024


class _Source(NamedTuple):
    """Where a file's content is while its key stays the same: `git` is its name in git, `sha` its hash elsewhere.

    `settled`: a change from now on shows in the key. The clock of the file system ticks slowly, so that of a file that
    was written this very moment it would not.
    """

    key: Key
    settled: bool
    git: str = ""
    sha: str = ""
    target: str = ""


class FormerContent:
    """The content of a tree's files, as of the last `learn`."""

    def __init__(self, tree: TreeFiles, git: GitTree, held: HeldContent, store: CheckpointStore) -> None:
        self._tree = tree
        self._git = git
        self._held = held
        self._store = store
        self._sources: dict[str, _Source] = {}

    def learn(self, snapshot: Snapshot) -> int:
        """See to it that what `snapshot` names can be brought back. Gives how many files there was no time for.

        Raises `OSError` when the disk does not take the copies. Of a file that changes meanwhile, the key in `snapshot`
        becomes that of what was kept.
        """
        sources = self._sources
        new = [
            path
            for path, key in snapshot.keys.items()
            if (source := sources.get(path)) is None or not source.settled or source.key != key
        ]
        end = time.monotonic() + _MAX_SECONDS
        with self._tree.reading() as read:
            for count, path in enumerate(sorted(new)):
                if time.monotonic() > end:
                    return len(new) - count
                self._learn_one(path, snapshot, read)
        return 0

    def _learn_one(self, path: str, snapshot: Snapshot, read: Read) -> None:
        key = snapshot.keys[path]
        self._sources.pop(path, None)
        if stat.S_ISLNK(key[0]):
            found = self._tree.look(path)
            if found.key is not None:
                snapshot.keys[path] = found.key
                self._sources[path] = _Source(found.key, True, target=found.state.target)
            return
        if not stat.S_ISREG(key[0]):
            return
        now = time.time_ns()
        got = read(path, MAX_FILE)
        key, data = got or (key, None)
        if data is None:
            return
        snapshot.keys[path] = key
        name = snapshot.listing.tracked.get(path, "")
        if name and content_name(data, len(name)) == name:
            self._sources[path] = _Source(key, is_settled(key, now), git=name)
        else:
            sha = self._held.hold(data)
            if sha:
                self._sources[path] = _Source(key, is_settled(key, now), sha=sha)

    def forget(self) -> None:
        """What was held aside is gone."""
        self._sources.clear()

    def may_hide_a_change(self, path: str) -> bool:
        """Whether the file may have been written again without its key showing it."""
        source = self._sources.get(path)
        return source is not None and not source.settled

    def note(self, path: str, found: Found, at_ns: int, *, stored: bool) -> None:
        """`path` is what was `found` after `at_ns`; `stored`: its content is in the store. Raises `OSError`."""
        source = self._sources.pop(path, None)
        if found.key is None:
            return
        if found.state.kind == "link":
            self._sources[path] = _Source(found.key, True, target=found.state.target)
        if found.data is None:
            return
        settled = is_settled(found.key, at_ns)
        if source is not None and source.git and content_name(found.data, len(source.git)) == source.git:
            self._sources[path] = _Source(found.key, settled, git=source.git)
            return
        known = stored or (source is not None and source.sha == found.state.sha)
        sha = found.state.sha if known else self._held.hold(found.data)
        if sha:
            self._sources[path] = _Source(found.key, settled, sha=sha)

    def states(self, paths: Sequence[str], snapshot: Snapshot) -> Iterable[tuple[str, State, bytes | None]]:
        """What stood at each path in `snapshot`, and the bytes of a file where they can be had."""
        batch: list[str] = []
        size = 0
        for path in paths:
            batch.append(path)
            size += min(snapshot.keys[path][1], MAX_FILE) if path in snapshot.keys else 0
            if size > _BATCH:
                yield from self._states(batch, snapshot)
                batch, size = [], 0
        yield from self._states(batch, snapshot)

    def _states(self, paths: Sequence[str], snapshot: Snapshot) -> Iterable[tuple[str, State, bytes | None]]:
        sources = {path: self._sources.get(path) for path in paths}
        content = self._git.contents(source.git for source in sources.values() if source and source.git)
        for path, source in sources.items():
            yield path, *self._state(path, snapshot, source, content)

    def _state(
        self, path: str, snapshot: Snapshot, source: _Source | None, content: dict[str, bytes]
    ) -> tuple[State, bytes | None]:
        key = snapshot.keys.get(path)
        if key is None:
            mode = snapshot.folders.get(path)
            return MISSING if mode is None else State("folder", mode), None
        if stat.S_ISLNK(key[0]) and source is not None:
            return State("link", target=source.target), None
        if not stat.S_ISREG(key[0]):
            return State("other", kept=False), None
        data = None if source is None or source.key != key else self._data(source, content)
        mode = stat.S_IMODE(key[0])
        if data is None:
            return State("file", mode, size=key[1], kept=False), None
        return State("file", mode, sha256(data).hexdigest(), len(data)), data

    def _data(self, source: _Source, content: dict[str, bytes]) -> bytes | None:
        if source.git:
            data = content.get(source.git)
            return data if data is not None and content_name(data, len(source.git)) == source.git else None
        held = self._held.content(source.sha)
        if held is not None:
            return held
        try:
            return self._store.content(source.sha)
        except DamagedRecord:
            return None


def workspace_relative(folder: Path, root: Path) -> str:
    """`folder` as a path below `root`; empty when it is not inside."""
    try:
        return folder.relative_to(root).as_posix()
    except ValueError:
        return ""
