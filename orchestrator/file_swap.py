"""Several files changed at once or not at all: written beside their places first, then renamed into them.

Every folder is opened from the one before, never through a link, and what stands at a place is compared once more
right before it is replaced. What was there is kept under another name until all is done, so that it can be put back.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from orchestrator.errors import ToolError
from orchestrator.open_folders import OpenFolders

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_REPLACED = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY, errno.ESTALE}
)


class Former(NamedTuple):
    """A file as it stood: its content, its mode and owner, its extended attributes (access lists are among them)."""

    data: bytes
    status: os.stat_result
    attributes: tuple[tuple[str, bytes], ...] = ()


class Change(NamedTuple):
    """What is to stand at a place. `names` lead there from the root; `path` is how the place is shown.

    `before` is what stands there now and `data` what is to stand there, both `None` for nothing. A new file takes mode,
    owner and attributes of `like`, and then `executable` if that is not `None`.
    """

    path: str
    names: tuple[str, ...]
    before: Former | None
    data: bytes | None
    like: Former | None = None
    executable: bool | None = None


class _Place(NamedTuple):
    """A file by its folder (names from the root) and its name."""

    folder: tuple[str, ...]
    name: str


class _Done(NamedTuple):
    """A change that was made; `kept` is where the former file is, if there was one."""

    path: str
    place: _Place
    kept: _Place | None


class Swap:
    """Use: `stage`, `commit`, and `undo` if what comes after fails; `close` in any case.

    All raise `ToolError` (`stale`, `denied`, `disk`, `invalid_path`), `close` nothing.
    """

    def __init__(self, root: Path, changes: Sequence[Change]) -> None:
        self._root = root
        # What is taken away goes last: until then a failure leaves more than there was, never less.
        self._changes = sorted(changes, key=lambda change: change.data is None)
        self._mark = f".orch-{os.urandom(5).hex()}"
        self._extra: dict[_Place, None] = {}
        self._made: list[_Place] = []
        self._done: list[_Done] = []

    @property
    def made(self) -> tuple[str, ...]:
        """The folders that `stage` made, as they are shown, the outer ones first."""
        return tuple("/".join((*place.folder, place.name)) for place in self._made)

    def stage(self) -> None:
        """Write all new content to the disk, beside the places that it is for. May take a while."""
        with self._folders() as folders:
            for index, change in enumerate(self._changes):
                if change.data is not None:
                    with _naming(change.path):
                        self._stage_one(index, change, folders)

    def commit(self) -> None:
        """Put everything in its place. When that fails in the middle, `undo` is up to the caller."""
        with self._folders() as folders:
            for index, change in enumerate(self._changes):
                with _naming(change.path):
                    self._commit_one(index, change, folders)

    def undo(self) -> list[str]:
        """Put back what stood there. Gives what could not be, with the name under which `close` then leaves it."""
        lost: list[str] = []
        with self._folders() as folders:
            while self._done:
                done = self._done.pop()
                try:
                    _put_back(done, folders)
                except OSError as error:
                    lost.append(self._given_up(done, error))
        return lost

    def close(self) -> None:
        """Take away what is left of the work: temporary files, and new folders that nothing was put into."""
        with self._folders() as folders:
            for place in self._extra:
                with suppress(OSError):
                    os.unlink(place.name, dir_fd=folders.descriptor_of(place.folder))
            for place in reversed(self._made):
                with suppress(OSError):  # among others: it is not empty
                    os.rmdir(place.name, dir_fd=folders.descriptor_of(place.folder))
        self._extra.clear()
        self._made.clear()

    def _given_up(self, done: _Done, error: OSError) -> str:
        if done.kept is None:
            return f"{done.path} ({error.strerror})"
        self._extra.pop(done.kept, None)
        return (
            f"{done.path} ({error.strerror}; its former content is in {'/'.join((*done.kept.folder, done.kept.name))})"
        )

    @contextmanager
    def _folders(self) -> Iterator[OpenFolders]:
        folders = OpenFolders(self._root)
        try:
            yield folders
        finally:
            folders.close()

    def _stage_one(self, index: int, change: Change, folders: OpenFolders) -> None:
        parents = change.names[:-1]
        self._make_folders(parents, folders)
        place = _Place(parents, f"{self._mark}-{index}.new")
        self._write(place, change, folders)

    def _make_folders(self, names: tuple[str, ...], folders: OpenFolders) -> None:
        for depth in range(len(names)):
            try:
                folders.descriptor_of(names[: depth + 1])
            except FileNotFoundError:
                above = folders.descriptor_of(names[:depth])
                with suppress(FileExistsError):  # another agent was faster
                    os.mkdir(names[depth], dir_fd=above)
                    self._made.append(_Place(names[:depth], names[depth]))

    def _write(self, place: _Place, change: Change, folders: OpenFolders) -> None:
        """Write the content of `change` to a new file at `place`, through to the disk."""
        folder = folders.descriptor_of(place.folder)
        self._extra[place] = None
        descriptor = os.open(place.name, _NEW_FILE, 0o666 if change.like is None else 0o600, dir_fd=folder)
        try:
            rest = memoryview(change.data or b"")
            while rest:
                rest = rest[os.write(descriptor, rest) :]
            _dress(descriptor, change)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _commit_one(self, index: int, change: Change, folders: OpenFolders) -> None:
        *parents, name = change.names
        place = _Place(tuple(parents), name)
        folder = folders.descriptor_of(place.folder)
        _require_unchanged(change, folder)
        kept = None
        if change.before is not None:
            kept = _Place(place.folder, f"{self._mark}-{index}.old")
            self._extra[kept] = None
        if change.data is None:
            assert kept is not None, "only what is there can be taken away"
            os.rename(name, kept.name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            if kept is not None:
                self._keep(change, name, kept, folders)
            os.rename(f"{self._mark}-{index}.new", name, src_dir_fd=folder, dst_dir_fd=folder)
        self._done.append(_Done(change.path, place, kept))

    def _keep(self, change: Change, name: str, kept: _Place, folders: OpenFolders) -> None:
        """A second name for the file that is about to be replaced; a copy where the file system has no such names."""
        folder = folders.descriptor_of(kept.folder)
        try:
            os.link(name, kept.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError:
            former = change.before
            assert former is not None
            self._write(kept, Change(change.path, change.names, None, former.data, former), folders)


def read_attributes(descriptor: int) -> tuple[tuple[str, bytes], ...]:
    """The extended attributes of an open file, as far as the system has such and lets them be read."""
    if not hasattr(os, "listxattr"):
        return ()
    try:
        return tuple((name, os.getxattr(descriptor, name)) for name in os.listxattr(descriptor))
    except OSError:
        return ()


def _dress(descriptor: int, change: Change) -> None:
    """Give a new file the owner, attributes and mode that it is to have."""
    status = os.fstat(descriptor) if change.like is None else change.like.status
    if change.like is not None:
        _give_to(descriptor, status)
        for name, value in change.like.attributes:
            with suppress(OSError):
                os.setxattr(descriptor, name, value)
    mode = stat.S_IMODE(status.st_mode)
    if change.executable is not None:
        mode = mode | (mode & 0o444) >> 2 if change.executable else mode & ~0o111
    os.fchmod(descriptor, mode)


def _give_to(descriptor: int, status: os.stat_result) -> None:
    """Only root may give files away; anybody may give them to a group of theirs."""
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) == (status.st_uid, status.st_gid):
        return
    for owner in (status.st_uid, -1):
        try:
            os.fchown(descriptor, owner, status.st_gid)
        except OSError:
            continue
        return


def _require_unchanged(change: Change, folder: int) -> None:
    expected = None if change.before is None else change.before.data
    if _content(change.names[-1], folder, expected) != expected:
        what = "was made" if expected is None else "changed"
        raise ToolError(
            "stale", f"{change.path} {what} while it was being written; read it and try again; nothing was changed"
        )


def _content(name: str, folder: int, expected: bytes | None) -> bytes | None:
    """What stands at `name`, up to one byte more than expected; `None` if nothing does."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode) or expected is None:
        return b"" if expected != b"" else b"?"  # whatever it is: not what was expected
    descriptor = os.open(name, _OLD_FILE, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(len(expected) + 1)


def _put_back(done: _Done, folders: OpenFolders) -> None:
    folder = folders.descriptor_of(done.place.folder)
    if done.kept is None:
        os.unlink(done.place.name, dir_fd=folder)
    else:
        os.rename(done.kept.name, done.place.name, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Errors of the system as what the model can act on."""
    try:
        yield
    except OSError as error:
        raise _as_tool_error(error, path) from None


def _as_tool_error(error: OSError, path: str) -> ToolError:
    reason = error.strerror or str(error)
    if error.errno in _NO_RIGHT:
        return ToolError("denied", f"the system does not let this user write {path} ({reason}); nothing was changed")
    if error.errno == errno.ENAMETOOLONG:
        return ToolError("invalid_path", f"a name in {path[:200]} is too long for this disk; nothing was changed")
    if error.errno in _REPLACED:
        return ToolError(
            "stale", f"what stands at {path} was replaced while it was being written ({reason}); nothing was changed"
        )
    return ToolError("disk", f"{path} could not be written: {reason}; nothing was changed")
