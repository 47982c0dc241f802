"""What was found out about files, kept between questions: an unchanged file is neither read nor parsed again.

A file counts as unchanged while the system gives the same inode, size and times for it; else its content is read, and
if that has the same hash, it is not parsed. Nothing of this changes an answer: facts come from a pure function of the
path and the content. Each entry holds many files, since one read of the store costs as much as parsing a small one: all
files of one name that was asked for, or all files of one folder for what depends on no name.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from orchestrator import __version__
from orchestrator.code.tasks import Task
from orchestrator.code.workers import Read, run_over, unwatched
from orchestrator.path_names import raw_path

if TYPE_CHECKING:
    from orchestrator.code.json_store import JsonStore

T = TypeVar("T")

WORTH_KEEPING = 48
"""Files from which on the cache is asked; fewer are parsed in less time than it takes to open."""
SIZE_LIMIT = 256_000_000
"""Bytes of all entries together."""
_SETTLED = 2_000_000_000
"""Nanoseconds after its last change until a file's times are trusted: two changes can share one tick of the clock."""


class Row(NamedTuple):
    """What is known of one file: `stamp` (inode, size, times), the hash of its content, and its facts."""

    stamp: list[int]
    digest: str
    facts: Any


class FactsCache:
    """The cache in `folder`, for any number of workspaces. A folder that cannot be used costs time, never an answer."""

    def __init__(self, folder: Path, *, size_limit: int = SIZE_LIMIT, now: Callable[[], int] = time.time_ns) -> None:
        self._folder = folder
        self._size_limit = size_limit
        self._now = now

    async def run_over(
        self,
        task: Task[T],
        paths: Sequence[str],
        root: Path,
        read: Read,
        *,
        progress: Callable[[int], None] = unwatched,
    ) -> list[T | None]:
        """The same as `workers.run_over` for the files `paths` of the workspace `root`, only sooner."""
        if len(paths) < WORTH_KEEPING:
            return await run_over(task, paths, read, progress=progress)
        known = await asyncio.to_thread(self._load, task, paths, root)
        reader = _Reader(root, read, self._now)
        results: dict[str, T | None] = {}
        for path in paths:
            row = known.get(path)
            if row is None:
                continue
            if row.stamp != reader.stamp(path):
                await asyncio.sleep(0)
                data = reader.read(path)
                if data is None:
                    results[path] = None
                if data is None or _digest(data) != row.digest:
                    continue
            results[path] = row.facts
        left = [path for path in paths if path not in results]
        known_ones = len(results)
        found = await run_over(task, left, reader.read, progress=lambda done: progress(known_ones + done))
        results.update(zip(left, found, strict=True))
        if reader.seen:
            await asyncio.to_thread(self._save, task, known, _rows(reader.seen, results), root)
        return [results[path] for path in paths]

    def _load(self, task: Task[Any], paths: Iterable[str], root: Path) -> dict[str, Row]:
        """The rows of all entries that `paths` belong to."""
        keys = [_key(task, root, bundle) for bundle in dict.fromkeys(_bundle(task, path) for path in paths)]
        rows: dict[str, Row] = {}
        for entry in self._store.get(keys):
            rows.update(_read_entry(task, entry))
        return rows

    def _save(self, task: Task[Any], known: dict[str, Row], new: dict[str, Row], root: Path) -> None:
        """Write the entries that `new` rows belong to, with the `known` rows of files that are still as they were."""
        changed = {_bundle(task, path) for path in new}
        entries: dict[str, dict[str, Row]] = {bundle: {} for bundle in changed}
        for path, row in known.items():
            if (bundle := _bundle(task, path)) in changed and path not in new and row.stamp == _stamp(root, path):
                entries[bundle][path] = row
        for path, row in new.items():
            entries[_bundle(task, path)][path] = row
        packed = ({path: [*row[:2], task.pack(row.facts)] for path, row in rows.items()} for rows in entries.values())
        self._store.set(dict(zip((_key(task, root, bundle) for bundle in entries), packed, strict=True)))

    @cached_property
    def _store(self) -> JsonStore:
        from orchestrator.code.json_store import JsonStore

        return JsonStore(self._folder, self._size_limit)


def _rows(seen: Mapping[str, tuple[list[int], str]], results: Mapping[str, Any]) -> dict[str, Row]:
    return {path: Row(*known, results[path]) for path, known in seen.items() if results[path] is not None}


def _read_entry(task: Task[Any], entry: Any) -> dict[str, Row]:
    """The rows of an entry of the store; none if it is not what `_save` writes."""
    try:
        return {path: Row(stamp, digest, task.read(facts)) for path, (stamp, digest, facts) in entry.items()}
    except (AttributeError, TypeError, ValueError, IndexError):  # there is none, or somebody else wrote it
        return {}


class _Reader:
    """Reads files and remembers the stamp and the hash of what was read, if both surely belong together."""

    def __init__(self, root: Path, read: Read, now: Callable[[], int]) -> None:
        self.seen: dict[str, tuple[list[int], str]] = {}
        self._root = root
        self._read = read
        self._now = now

    def stamp(self, path: str) -> list[int]:
        return _stamp(self._root, path)

    def read(self, path: str) -> bytes | None:
        before, began = self.stamp(path), self._now()
        data = self._read(path)
        self.seen.pop(path, None)
        if data is not None and before and before == self.stamp(path) and max(before[2:]) < began - _SETTLED:
            self.seen[path] = (before, _digest(data))
        return data


def _stamp(root: Path, path: str) -> list[int]:
    """Inode, size, and times of change of a regular file, links followed; empty for anything else."""
    try:
        status = os.stat(f"{root}/{raw_path(path)}")  # noqa: PTH116  # thousands of them: a Path costs more than this
    except (OSError, ValueError):
        return []
    if not stat.S_ISREG(status.st_mode):
        return []
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _bundle(task: Task[Any], path: str) -> str:
    """The entry that a file's row is in."""
    return "" if task.arguments else path.rpartition("/")[0]


def _key(task: Task[Any], root: Path, bundle: str) -> str:
    parts = [_version(), os.fsencode(root).hex(), task.name, task.arguments, bundle]
    return _digest(json.dumps(parts).encode("ascii"))


@cache
def _version() -> str:
    """Changes with orch, and with every edit of the code that finds the facts."""
    with os.scandir(Path(__file__).parent) as entries:
        files = sorted((entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py"))
    return json.dumps([__version__, [(name, status.st_size, status.st_mtime_ns) for name, status in files]])
