"""Reading the small files that orch itself looks for when it starts. Never blocks, whatever stands at the path."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from orchestrator.errors import ConfigError

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_small_file(path: Path, limit: int) -> bytes:
    """The bytes of the regular file at `path` (links are followed), at most `limit` of them.

    Raises `ConfigError` for anything but a regular file and for a longer one (the message leaves it to the caller to
    name the file), `OSError` if it cannot be opened.
    """
    _require_regular(path.stat().st_mode)  # before opening: opening a device can have effects of its own
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        _require_regular(os.fstat(descriptor).st_mode)
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ConfigError(f"longer than the {limit:,} bytes that are read", "make it shorter")
    return data


def _require_regular(mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for test, name in _KINDS if test(mode)), "something else")
    raise ConfigError(f"{kind}, not a regular file", "put a regular file there, or remove it")
