"""JSON values on disk under text keys, in diskcache. A store that is broken, locked or full of rubbish knows nothing.

diskcache unpickles what a row says is pickled, and opens and deletes the files that a row names (B175). Neither happens
here: every value is compressed JSON inside its row, and a row that says otherwise counts as absent.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import diskcache
from diskcache.core import DBNAME, MODE_RAW

MAX_VALUE = 48_000_000
"""Bytes of JSON of the largest value that is stored and read."""
PATIENCE = 0.5
"""Seconds to wait for another process that writes."""

_SETTINGS: Mapping[str, object] = {
    "eviction_policy": "least-recently-stored",
    "statistics": 0,
    "tag_index": 0,
    "cull_limit": 10,
    "sqlite_cache_size": 512,
    "sqlite_mmap_size": 0,
}
_KNOWN_SETTINGS = {*diskcache.DEFAULT_SETTINGS, "count", "size", "hits", "misses"}
_FAULTS = (sqlite3.Error, OSError, ValueError, TypeError, RecursionError, zlib.error, diskcache.Timeout)
"""How a store that others damaged, hold or forbid makes itself known, through diskcache and the decoders."""


class _NotOurs(ValueError):
    """The row or the file was not written by this module."""


class _RowDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Keys are text and values bytes, both in the row itself: nothing is pickled, no other file is ever touched."""

    def put(self, key: str) -> tuple[str, bool]:
        return key, True

    def get(self, key: object, raw: object) -> NoReturn:
        raise _NotOurs("keys are never read back")

    def store(self, value: bytes, read: bool, key: object = None) -> tuple[int, int, None, memoryview]:
        return 0, MODE_RAW, None, memoryview(value)

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> bytes:
        if mode != MODE_RAW or filename is not None or not isinstance(value, bytes):
            raise _NotOurs("the value is not plain bytes")
        return value

    def remove(self, file_path: str) -> None:
        """A row of ours names no file."""


class JsonStore:
    """`get` and `set` never raise for the state of the folder: what cannot be read is absent, and so is what is lost.

    `size_limit` is in bytes; over it the entries that were stored longest ago go first. May be used from any thread.
    """

    def __init__(self, folder: Path, size_limit: int) -> None:
        self._folder = folder
        self._size_limit = size_limit
        self._cache: diskcache.Cache | None = None

    def get(self, keys: list[str]) -> list[Any]:
        """The values under `keys`, `None` where there is none."""
        values: list[Any] = []
        try:
            with self._opened() as cache:
                values.extend(_value(cache, key) for key in keys)
        except _FAULTS as fault:
            self._discard_if_broken(fault)
        return values + [None] * (len(keys) - len(values))

    def set(self, values: Mapping[str, Any]) -> None:
        """Store all of `values`, except those that are too large."""
        try:
            with self._opened() as cache:
                for key, value in values.items():
                    data = json.dumps(value, separators=(",", ":")).encode("ascii")
                    if len(data) <= MAX_VALUE:
                        cache.set(key, zlib.compress(data, 1))
        except _FAULTS as fault:
            self._discard_if_broken(fault)

    def _opened(self) -> diskcache.Cache:
        """The cache; its connection is closed again on leaving the `with` block."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._require_usable()
        if self._cache is None:
            settings = {**_SETTINGS, "size_limit": self._size_limit}
            self._cache = diskcache.Cache(str(self._folder), timeout=PATIENCE, disk=_RowDisk, **settings)
        return self._cache

    def _require_usable(self) -> None:
        """diskcache waits for a minute for a locked file, and obeys whatever settings it finds in one."""
        connection = sqlite3.connect(self._folder / DBNAME, timeout=PATIENCE, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'Settings'").fetchone()
            found = connection.execute("SELECT key FROM Settings").fetchall() if tables[0] else []
            connection.execute("ROLLBACK")
        finally:
            connection.close()
        if not {key for (key,) in found} <= _KNOWN_SETTINGS:
            raise _NotOurs("the settings are not diskcache's")

    def _discard_if_broken(self, fault: BaseException) -> None:
        """Delete a file that is no usable database, so that the next question starts a new one."""
        self._cache = None
        code = getattr(fault, "sqlite_errorcode", None)
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or isinstance(fault, (_NotOurs, TypeError)):
            for end in ("", "-wal", "-shm"):
                try:
                    (self._folder / (DBNAME + end)).unlink()
                except OSError:
                    continue


def _value(cache: diskcache.Cache, key: str) -> Any:
    try:
        data = cache.get(key)
        if data is None:
            return None
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(data, MAX_VALUE)
        return json.loads(text) if unpacker.eof else None
    except (ValueError, RecursionError, zlib.error):
        return None
