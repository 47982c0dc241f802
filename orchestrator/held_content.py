"""Content that a command may be about to change, held aside until the session ends."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from hashlib import sha256
from pathlib import Path

MAX_HELD = 200 * 1024 * 1024
"""Bytes that one session holds aside at most."""


class HeldContent:
    """Files in a folder of their own below `shadow`, named by the SHA-256 of what they hold.

    The folder is made by the first `hold`; those that other processes left behind are taken away then.
    """

    def __init__(self, shadow: Path) -> None:
        self._shadow = shadow
        self._folder: Path | None = None
        self._lock: int | None = None
        self._bytes = 0

    def hold(self, data: bytes) -> str:
        """The name of the content; empty when there is no room for it. Raises `OSError`."""
        name = sha256(data).hexdigest()
        path = self._opened() / name
        if path.exists():
            return name
        if self._bytes + len(data) > MAX_HELD:
            return ""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except BaseException:
            path.unlink(missing_ok=True)  # a part of it would pass for the whole
            raise
        self._bytes += len(data)
        return name

    def content(self, name: str) -> bytes | None:
        """What was held under `name`; `None` when it is not there any more or not whole."""
        if self._folder is None:
            return None
        try:
            data = (self._folder / name).read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == name else None

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
            self._bytes = 0
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _opened(self) -> Path:
        if self._folder is None:
            self._shadow.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._shadow.chmod(0o700)
            _remove_abandoned(self._shadow)
            folder = self._shadow / f"{os.getpid()}-{secrets.token_hex(4)}"
            # Locked before it has its name: nobody can take it for one that was left behind.
            making = self._shadow / f"{folder.name}.new"
            making.mkdir(mode=0o700)
            self._lock = os.open(making / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._folder = making.rename(folder)
        return self._folder


def _remove_abandoned(shadow: Path) -> None:
    """Folders whose process has ended: the kernel lets go of its lock with it."""
    for folder in shadow.iterdir():
        try:
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)
