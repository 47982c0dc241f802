"""What a session's files were before it changed them: content by its hash, and an index that only grows.

    checkpoints/
      index.jsonl      a header, then one line for each thing that happened
      blobs/ab/…       content, by its SHA-256
      lock             held by the process that writes

Content is on disk before the line that names it, and the line before the change. A last line that was torn by a crash
does not count. Everything is readable by its owner alone.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from orchestrator.file_states import DamagedRecord

INDEX = "index.jsonl"
VERSION = 1
_MAX_INDEX = 512 * 1024 * 1024
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


class StoreInUse(Exception):
    """Another process writes this store."""


class CheckpointStore:
    """The store in `folder`. Nothing is made before `prepare`; raises `OSError` when the disk does not take it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None
        self._whole_line = False

    @property
    def index(self) -> Path:
        return self.folder / INDEX

    @property
    def exists(self) -> bool:
        return self.index.is_file()

    def prepare(self, header: Mapping[str, Any]) -> None:
        """Make the folder and the index, which begins with `header`, and keep other processes from writing them.

        Raises `StoreInUse`. Does nothing the second time.
        """
        if self._lock is not None:
            return
        _make_private(self.folder)
        self.folder.chmod(0o700)
        self.lock()
        if not self.exists or self.index.stat().st_size == 0:
            self.append({"type": "header", "v": VERSION, **header})
            _sync_folder(self.folder)

    def lock(self) -> None:
        """Keep other processes from writing until `close`. Raises `StoreInUse`."""
        if self._lock is not None:
            return
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise StoreInUse(str(self.folder)) from None
        self._lock = descriptor

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            self._whole_line = False

    # --- content -----------------------------------------------------------------------------------------------------

    def keep(self, data: bytes, *, sync: bool = True) -> str:
        """Keep `data`; gives its hash. `sync`: it is on disk when this returns."""
        sha = sha256(data).hexdigest()
        path = self._blob(sha)
        if self._has(path, len(data)):
            return sha
        _make_private(path.parent)
        temporary = path.with_name(f"{sha}.{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if sync:
                    os.fsync(descriptor)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        if sync:
            _sync_folder(path.parent)
        return sha

    def content(self, sha: str) -> bytes:
        """The content with this hash. Raises `DamagedRecord` when it is not there or not what it was."""
        try:
            data = self._blob(sha).read_bytes()
        except FileNotFoundError:
            raise DamagedRecord(f"the content {sha[:12]} is not in {self.folder}") from None
        if sha256(data).hexdigest() != sha:
            raise DamagedRecord(f"the content {sha[:12]} in {self.folder} is damaged")
        return data

    def _blob(self, sha: str) -> Path:
        return self.folder / "blobs" / sha[:2] / sha

    def _has(self, path: Path, size: int) -> bool:
        """A crash may have left a blob that was not on disk yet: shorter, mostly empty."""
        try:
            return path.stat().st_size == size
        except FileNotFoundError:
            return False

    # --- the index ---------------------------------------------------------------------------------------------------

    def append(self, entry: Mapping[str, Any]) -> None:
        """Add one line; it is on disk when this returns."""
        line = json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        descriptor = os.open(self.index, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600)
        try:
            if not self._whole_line:
                line = _after_torn_line(descriptor) + line
            self._whole_line = False
            _write_all(descriptor, line)
            os.fsync(descriptor)
            self._whole_line = True
        finally:
            os.close(descriptor)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Every whole line, the header first. Lines that are no JSON objects were torn and are left out.

        Raises `DamagedRecord` when it does not begin with a header that this version reads.
        """
        if self.index.stat().st_size > _MAX_INDEX:
            raise DamagedRecord(f"{self.index} is too large to be what orch wrote")
        lines = self.index.read_bytes().split(b"\n")
        rows = (row for row in map(_parsed, lines) if row is not None)
        header = next(rows, None)
        if header is None or header.get("type") != "header":
            raise DamagedRecord(f"{self.index} does not begin as orch's do")
        if header.get("v") != VERSION:
            raise DamagedRecord(f"{self.index} was written by another version of orch")
        yield header
        yield from rows


def read_header(folder: Path) -> dict[str, Any] | None:
    """The header of the store in `folder`; `None` where there is none that can be read."""
    try:
        with (folder / INDEX).open("rb") as file:
            row = _parsed(file.readline(64 * 1024))
    except OSError:
        return None
    return row if row is not None and row.get("type") == "header" else None


def _make_private(folder: Path) -> None:
    """Make `folder` and those above it that are not there, for their owner alone."""
    if not folder.is_dir():
        _make_private(folder.parent)
        folder.mkdir(exist_ok=True, mode=0o700)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _after_torn_line(descriptor: int) -> bytes:
    """A line break when the last line has none: what a crash tore stays alone on its line."""
    size = os.fstat(descriptor).st_size
    return b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
