"""The files of one workspace: every path resolved, checked to be inside, and opened so that it cannot be swapped.

Rules for paths: relative to the workspace root, or absolute inside it. Links are followed first and checked then.
`~` is not expanded. A folder named with a `..` that stays inside is fine.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import NoReturn

from orchestrator.decoding import NotText, decode
from orchestrator.errors import ToolError, UsageError
from orchestrator.open_folders import OpenFolders
from orchestrator.path_names import raw_path, shown_path
from orchestrator.secret_files import is_secret
from orchestrator.tool import Located, TextFile

MAX_FILE = 32 * 1024 * 1024
"""Bytes of the largest file that is read whole."""

_OPEN_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_DETOURS = frozenset({"", ".", ".."})
"""Parts of a path that lead elsewhere than one step down."""
_TRUSTED_LISTING = 2000
"""Names of a folder that are compared when a similar one is looked for."""


class WorkspaceFiles:
    """`Files` over a folder on disk."""

    def __init__(self, root: Path) -> None:
        """Raises `UsageError` when `root` is not a folder. The root itself may be a link."""
        try:
            resolved = Path(os.path.realpath(root, strict=True))
        except OSError as error:
            raise UsageError(
                f"the workspace {root} cannot be opened: {error.strerror}", "name an existing folder"
            ) from error
        if not resolved.is_dir():
            raise UsageError(f"the workspace {root} is not a folder", "name an existing folder")
        self._root = resolved
        self._allowed: frozenset[str] = frozenset()
        self._kernel_devices = {_device_of("/proc"), _device_of("/sys")} - {_device_of("/"), None}

    @property
    def root(self) -> Path:
        return self._root

    def allowing(self, secrets: Iterable[str]) -> WorkspaceFiles:
        """The same files, of which these secrets may be read: the user said so."""
        files = copy(self)
        files._allowed = frozenset(secrets)
        return files

    def locate(self, path: str) -> Located:
        """Resolve `path` to something that exists inside the workspace. Raises `ToolError`, see `Files`."""
        for name in _spellings(path):
            located = self._existing(name)
            if located is not None:
                return located
        raise self._missing(path)

    def read_text(self, path: str) -> TextFile:
        """Read a regular text file. Raises `ToolError`, see `Files`."""
        with self.reading() as read:
            return read(path)

    @contextmanager
    def reading(self) -> Iterator[Callable[[str], TextFile]]:
        """`read_text` for many files: the folders that one file shares with the next are opened once."""
        folders = OpenFolders(self._root)
        try:
            yield lambda path: self._read_plain(path, folders) or self._read_any(path, folders)
        finally:
            folders.close()

    def _read_plain(self, path: str, folders: OpenFolders) -> TextFile | None:
        """A file whose path leads to it without links and detours; `None` for what must be looked at more closely."""
        names = path.split("/")
        if not _DETOURS.isdisjoint(names) or shown_path(path) != path or is_secret(path):
            return None
        try:
            descriptor, size = self._open_at(names, path, folders)
        except (OSError, ToolError):
            return None
        try:
            data = _read_all(descriptor, size, path)
        finally:
            os.close(descriptor)
        return _decoded(path, data)

    def _read_any(self, path: str, folders: OpenFolders) -> TextFile:
        folders.close()  # what is resolved anew is opened anew
        located = self.locate(path)
        shown = located.path
        secret = is_secret(shown) or (is_secret(path) and not located.is_dir)
        if secret and self._allowed.isdisjoint((shown, path)):
            raise ToolError(
                "denied", f"{shown} is a secrets file, which orch does not read; ask the user for what you need from it"
            )
        with self._opened(located, folders) as (descriptor, size):
            data = _read_all(descriptor, size, shown)
        return _decoded(shown, data)

    @contextmanager
    def opened(self, located: Located) -> Iterator[tuple[int, int]]:
        """A descriptor of the regular file at `located`, and its size in bytes as the system reports it.

        Each folder on the way is opened from the one before, without following links: what was put in the place of a
        checked folder or file in the meantime is refused. Never blocks on pipes or devices.
        """
        folders = OpenFolders(self._root)
        try:
            with self._opened(located, folders) as opened:
                yield opened
        finally:
            folders.close()

    # --- resolving -----------------------------------------------------------------------------------------------

    def _existing(self, name: str) -> Located | None:
        """What `name` leads to, `None` if there is nothing. Raises `ToolError` when it leads outside."""
        try:
            # Raises when a link is taken away while it is followed. Paths as text: every read goes through here.
            real = os.path.realpath(os.path.join(self._root, name))  # noqa: PTH118
            relative = self._relative(real, name)
            status = os.stat(real)  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._fail_stat(error, name)
        return Located(shown_path(relative), Path(real), stat.S_ISDIR(status.st_mode))

    def _relative(self, real: str, name: str) -> str:
        root = str(self._root)
        if real == root:
            return "."
        prefix = root if root.endswith("/") else root + "/"
        if not real.startswith(prefix):
            raise ToolError(
                "outside_workspace",
                f"{_brief(name)} is outside the workspace; only paths inside it can be used",
                workspace=shown_path(root),
            )
        return real[len(prefix) :]

    def _fail_stat(self, error: OSError, name: str) -> NoReturn:
        if error.errno == errno.ENAMETOOLONG:
            raise ToolError(
                "invalid_path", f"{_brief(name)} is too long for a path ({len(name):,} characters)"
            ) from None
        if error.errno == errno.ELOOP:
            raise ToolError("invalid_path", f"{_brief(name)} is a link that leads back to itself") from None
        if error.errno == errno.EINVAL:  # something else took the place of a link while it was followed
            raise _swapped(_brief(name)) from None
        if error.errno in (errno.EACCES, errno.EPERM):
            raise ToolError("denied", f"the system does not let this user open {_brief(name)}") from None
        raise error

    def _missing(self, path: str) -> ToolError:
        if path.startswith("~"):
            reason = "~ is not expanded; give a path relative to the workspace root"
            return ToolError("invalid_path", f"{_brief(path)}: {reason}")
        literal = str(self._root / path)
        if os.path.islink(literal):  # noqa: PTH114  # pathlib's raises for over-long paths
            return ToolError("not_found", f"{_brief(path)} is a link to something that does not exist")
        near = self._near_names(literal)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; look with glob or list_files"
        return ToolError("not_found", f"{_brief(path)} does not exist{hint}")

    def _near_names(self, literal: str) -> list[str]:
        """Existing paths in the deepest existing folder of `literal` whose names resemble the part that is missing."""
        parent, missing = os.path.split(os.path.normpath(literal))
        while not os.path.isdir(parent):  # noqa: PTH112  # as above
            parent, missing = os.path.split(parent)
        real = os.path.realpath(parent)
        if real != str(self._root) and not real.startswith(f"{self._root}/"):
            return []
        import difflib
        from itertools import islice

        try:
            with os.scandir(real) as entries:
                names = {entry.name.casefold(): entry.name for entry in islice(entries, _TRUSTED_LISTING)}
        except OSError:
            return []
        close = difflib.get_close_matches(missing.casefold(), names, n=3, cutoff=0.6)
        folder = self._relative(real, real)
        return [shown_path(names[name] if folder == "." else f"{folder}/{names[name]}") for name in close]

    # --- opening -------------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self, located: Located, folders: OpenFolders) -> Iterator[tuple[int, int]]:
        if located.is_dir:
            raise _folder(located.path)
        try:
            descriptor, size = self._open_at(raw_path(located.path).split("/"), located.path, folders)
        except OSError as error:
            self._fail_open(error, located.path)
        try:
            yield descriptor, size
        finally:
            os.close(descriptor)

    def _open_at(self, names: Sequence[str], shown: str, folders: OpenFolders) -> tuple[int, int]:
        """A descriptor of the regular file that `names` lead to, which belongs to the caller, and its size."""
        *parents, name = names
        folder = folders.descriptor_of(parents)
        self._require_plain_file(os.stat(name, dir_fd=folder, follow_symlinks=False), shown)
        descriptor = os.open(name, _OPEN_FILE, dir_fd=folder)
        try:
            status = os.fstat(descriptor)
            self._require_plain_file(status, shown)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor, status.st_size

    def _require_plain_file(self, status: os.stat_result, shown: str) -> None:
        if stat.S_ISLNK(status.st_mode):
            raise _swapped(shown)
        if stat.S_ISDIR(status.st_mode):
            raise _folder(shown)
        if not stat.S_ISREG(status.st_mode):
            kind = _KINDS.get(stat.S_IFMT(status.st_mode), "not a regular file")
            raise ToolError("special_file", f"{shown} is {kind}; only regular files can be read")
        if status.st_dev in self._kernel_devices:
            raise ToolError("special_file", f"{shown} is a file of the kernel, not of the project")

    def _fail_open(self, error: OSError, shown: str) -> NoReturn:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENOENT):
            raise _swapped(shown) from None
        if error.errno == errno.ENXIO:
            raise ToolError("special_file", f"{shown} is a socket or device; only regular files can be read") from None
        if error.errno in (errno.EACCES, errno.EPERM):
            raise ToolError("denied", f"the system does not let this user open {shown}") from None
        raise error


def _spellings(path: str) -> list[str]:
    """`path` as names to try on disk: what the escapes in it stand for, then as it is."""
    if "\0" in path:
        raise ToolError("invalid_path", f"{_brief(path)} holds a NUL character, which no path can")
    names = [raw_path(path), path] if "\\" in path else [path]
    usable = [name for name in dict.fromkeys(names) if "\0" not in name and _encodable(name)]
    if not usable:
        raise ToolError("invalid_path", f"{_brief(path)} holds characters that no path can")
    return usable


def _encodable(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _brief(name: str) -> str:
    shown = shown_path(name)
    return shown if len(shown) <= 200 else f"{shown[:100]}…{shown[-60:]}"


def _folder(shown: str) -> ToolError:
    return ToolError("is_directory", f"{shown} is a folder; use list_files or glob to see what is in it")


def _swapped(shown: str) -> ToolError:
    return ToolError("outside_workspace", f"{shown} was replaced while it was being opened; try again")


def _device_of(path: str) -> int | None:
    try:
        return os.stat(path).st_dev  # noqa: PTH116  # a Path is not needed for it
    except OSError:
        return None


def _decoded(shown: str, data: bytes) -> TextFile:
    try:
        text, encoding = decode(data)
    except NotText as not_text:
        advice = "; it cannot be shown as text" if not_text.is_image else ""
        raise ToolError(
            "binary", f"{shown} is {not_text.kind} ({len(data):,} bytes){advice}", kind=not_text.kind
        ) from None
    return TextFile(shown, text, encoding, len(data))


def _read_all(descriptor: int, size: int, shown: str) -> bytes:
    """All bytes up to the end of the file, whatever `size` promises (files of the kernel say 0)."""
    if size > MAX_FILE:
        _fail_large(shown, size)
    chunks: list[bytes] = []
    total, want = 0, size + 1
    while chunk := os.read(descriptor, want):
        chunks.append(chunk)
        total += len(chunk)
        if total == size > 0:  # less than was asked for: the end, except of the kernel's files, which say 0
            break
        want = 65536
        if total > MAX_FILE:
            _fail_large(shown, total)
    return b"".join(chunks)


def _fail_large(shown: str, size: int) -> NoReturn:
    raise ToolError(
        "too_large", f"{shown} has {size:,} bytes, over the {MAX_FILE:,} that are read; use grep on it instead"
    )
