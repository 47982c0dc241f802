"""Files below a root read, written and taken away, each reached folder by folder and never through a link."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import NamedTuple

from orchestrator.file_states import MISSING, State
from orchestrator.file_swap import read_attributes
from orchestrator.open_folders import OpenFolders

Key = tuple[int, int, int, int, int]
"""Mode, size, times of change of content and inode, number of the inode: what differs once a file was written."""

Read = Callable[[str, int], tuple[Key, bytes | None] | None]

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE = 1024 * 1024
_MODE = 0o7777
_TICK_NS = 50_000_000
_COARSE_NS = 2_100_000_000


class Swapped(Exception):
    """What stands at a path is not what was looked at a moment before; the text names it."""


class Found(NamedTuple):
    """What stands at a path. `data` is a file's content if it was small enough to be held; `key` as the system says."""

    state: State
    data: bytes | None = None
    key: Key | None = None


class TreeFiles:
    """The files below `root`. Paths are relative, with `/`, as `os.fsdecode` gives them.

    Every call opens the folders anew: what is moved away in the meantime is not written to.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def look(self, path: str, *, hold: int | None = None) -> Found:
        """What stands at `path`. A file with more than `hold` bytes is hashed but not held.

        Something below a link or below a file is missing. Raises `OSError` for what the system does not let us see.
        """
        try:
            with self._folder_of(path) as (folder, name):
                return self._look_at(folder, name, hold)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return Found(MISSING)
            raise

    @contextmanager
    def reading(self) -> Iterator[Read]:
        """For many files in the order of their paths: the key and the bytes of each, `None` for what is no file.

        The bytes are `None` when there are more than the limit, or the system does not let us read them.
        """
        folders = OpenFolders(self.root)

        def read(path: str, limit: int) -> tuple[Key, bytes | None] | None:
            *parents, name = path.split("/")
            try:
                return _read_once(folders.descriptor_of(parents), name, limit)
            except OSError:
                folders.close()  # what is resolved anew is opened anew
                return None

        try:
            yield read
        finally:
            folders.close()

    def _look_at(self, folder: int, name: str, hold: int | None) -> Found:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode):
            return _read_file(folder, name, hold)
        if stat.S_ISLNK(status.st_mode):
            return Found(State("link", target=os.readlink(name, dir_fd=folder)), None, key_of(status))
        if stat.S_ISDIR(status.st_mode):
            return Found(State("folder", status.st_mode & _MODE), None, key_of(status))
        return Found(State("other", kept=False), None, key_of(status))

    # --- changing ----------------------------------------------------------------------------------------------------

    def put(self, path: str, state: State, data: bytes, was: Key | None, *, sync: bool = True) -> None:
        """Put a file or link in the place of what stands at `path` (`was`, `None` for nothing), whole or not at all.

        Owner and attributes of a file that is replaced stay. `sync`: it is on disk when this returns.
        Raises `Swapped` when something else stands there by now, `OSError` when it cannot be written.
        """
        with self._folder_of(path) as (folder, name):
            # The watch of the tree knows names like this one, and leaves them out.
            temporary = f".orch-{secrets.token_hex(8)}.tmp"
            try:
                if state.kind == "link":
                    os.symlink(state.target, temporary, dir_fd=folder)
                else:
                    _write_file(folder, temporary, state.mode, data, like=name if was else "", sync=sync)
                _require(folder, name, was, path)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                _forget(folder, temporary)
                raise
            if sync:
                os.fsync(folder)

    def remove(self, path: str, was: Key | None) -> None:
        """Take away the file or link at `path`. Raises as `put` does."""
        with self._folder_of(path) as (folder, name):
            _require(folder, name, was, path)
            os.unlink(name, dir_fd=folder)

    def make_folder(self, path: str, mode: int) -> None:
        """Make the folder at `path`, which must not exist; the one above it must."""
        with self._folder_of(path) as (folder, name):
            os.mkdir(name, 0o700, dir_fd=folder)
            _set_folder_mode(folder, name, mode)

    def set_folder_mode(self, path: str, mode: int) -> None:
        """Give the folder at `path` these permissions."""
        with self._folder_of(path) as (folder, name):
            _set_folder_mode(folder, name, mode)

    def remove_folder(self, path: str) -> bool:
        """Take away the folder at `path` if it is empty; whether it was."""
        try:
            with self._folder_of(path) as (folder, name):
                os.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EBUSY):
                return False
            raise
        return True

    @contextmanager
    def _folder_of(self, path: str) -> Iterator[tuple[int, str]]:
        *parents, name = path.split("/")
        folders = OpenFolders(self.root)
        try:
            yield folders.descriptor_of(parents), name
        finally:
            folders.close()


def key_of(status: os.stat_result) -> Key:
    """What of `status` differs once the file was written, replaced or given other permissions."""
    return (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def is_settled(key: Key, now_ns: int) -> bool:
    """Whether a write after `now_ns` would leave another time of change than the one in `key`."""
    changed = key[3]
    margin = _COARSE_NS if changed % 1_000_000_000 == 0 else _TICK_NS
    return changed < now_ns - margin


def _read_file(folder: int, name: str, hold: int | None) -> Found:
    """A regular file as it was at one moment: read again when it changed meanwhile."""
    found = Found(State("other", kept=False))
    for _ in range(5):
        try:
            descriptor = os.open(name, _READ, dir_fd=folder)
        except PermissionError:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            return Found(State("file", status.st_mode & _MODE, size=status.st_size, kept=False), None, key_of(status))
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise OSError(errno.ELOOP, "something took the place of the file", name)
            sha, size, data = _hashed(file, hold)
            after = os.fstat(descriptor)
        found = Found(State("file", after.st_mode & _MODE, sha, size, kept=data is not None), data, key_of(after))
        if key_of(before) == key_of(after):
            break
    return found


def _read_once(folder: int, name: str, limit: int) -> tuple[Key, bytes | None] | None:
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > limit:
            return key_of(status), None
        data = os.read(descriptor, status.st_size + 1)
        whole = len(data) == status.st_size and key_of(os.fstat(descriptor)) == key_of(status)
        return key_of(status), data if whole else None
    finally:
        os.close(descriptor)


def _hashed(file: RawIOBase, hold: int | None) -> tuple[str, int, bytes | None]:
    digest, size = sha256(), 0
    pieces: list[bytes] | None = []
    while piece := file.read(_PIECE):
        digest.update(piece)
        size += len(piece)
        if hold is not None and size > hold:
            pieces = None
        if pieces is not None:
            pieces.append(piece)
    return digest.hexdigest(), size, None if pieces is None else b"".join(pieces)


def _write_file(folder: int, name: str, mode: int, data: bytes, *, like: str, sync: bool) -> None:
    """A new file; owner and attributes are those of the file `like`, if it is one and the system allows it."""
    descriptor = os.open(name, _MAKE, 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if like:
            with suppress(OSError):
                _dress(descriptor, folder, like)
        os.fchmod(descriptor, mode)
        if sync:
            os.fsync(descriptor)


def _dress(descriptor: int, folder: int, like: str) -> None:
    model = os.open(like, _READ, dir_fd=folder)
    try:
        own, status = os.fstat(descriptor), os.fstat(model)
        if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        for attribute, value in read_attributes(model):
            os.setxattr(descriptor, attribute, value)
    finally:
        os.close(model)


def _require(folder: int, name: str, was: Key | None, path: str) -> None:
    try:
        now = key_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        now = None
    if now != was:
        raise Swapped(path)


def _set_folder_mode(folder: int, name: str, mode: int) -> None:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _forget(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return
