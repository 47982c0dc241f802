"""Changes of the workspace's files by one agent: only of what it has read as it is now, all or nothing, kept for undo.

Encoding, byte-order mark, mode and owner of a file stay what they are. Nothing is written through a link that leads
out of the workspace, nor into a file that has other names (hard links), is read-only or is not a regular file.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from orchestrator.decoding import NotText, decode, encode
from orchestrator.errors import ToolError
from orchestrator.file_swap import Change, Former, Swap, read_attributes
from orchestrator.path_names import raw_path, shown_path
from orchestrator.secret_files import is_secret
from orchestrator.text_cut import cut_middle
from orchestrator.tool import Editable, Located, Rewrite, TextFile
from orchestrator.unified_diff import unified_diff
from orchestrator.workspace import MAX_FILE, WorkspaceFiles

_MARK = "\ufeff"
"""The byte-order mark as text. A file keeps it or stays without; only for a new file the text decides."""
_KEPT_TEXT = 8 * 1024 * 1024
"""Characters of read files that are kept, to say what changed in one of them since."""
_SHOWN_CHANGE = 2500
"""Characters of the diff that says what changed."""
_LONGEST_NAME = 255
"""Bytes."""
_ENCODING_NAMES = {"cp1252": "Windows-1252", "utf-8-sig": "UTF-8", "utf-16-le-sig": "UTF-16", "utf-16-be-sig": "UTF-16"}


class KeepsFormer(Protocol):
    """What edits need of the checkpoints. `paths` are as in `Located.path` (`path_names.raw_path` gives the names)."""

    def begin(self, agent: str, paths: Sequence[str], made: Sequence[str] = ()) -> Any:
        """Keep what the files are now, or that they are not there. `made`: folders just made for them.

        Called in a thread. Raises `ToolError('disk')` when it cannot be kept.
        """

    def finish(self, token: Any) -> None:
        """The files have been changed."""

    def abandon(self, token: Any) -> None:
        """Nothing was changed after all."""


class _Seen(NamedTuple):
    """A file as an agent last read or wrote it; `text` is empty once it takes too much room."""

    digest: bytes
    text: str


class _ReadRecord:
    """What one agent knows of files: by path, the digest of the content, and the latest of the texts themselves."""

    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}
        self._room = _KEPT_TEXT

    def note(self, path: str, text: str, encoding: str) -> None:
        self.forget(path)
        self._seen[path] = _Seen(_digest(text, encoding), text)
        self._room -= len(text)
        for other, seen in list(self._seen.items()):
            if self._room >= 0:
                break
            self._room += len(seen.text)
            self._seen[other] = seen._replace(text="")

    def forget(self, path: str) -> None:
        seen = self._seen.pop(path, None)
        if seen is not None:
            self._room += len(seen.text)

    def get(self, path: str) -> _Seen | None:
        return self._seen.get(path)


class _Standing(NamedTuple):
    """What stands at a place now: a text file, or nothing (`former` is `None`)."""

    path: str
    names: tuple[str, ...]
    former: Former | None = None
    text: str = ""
    encoding: str = "utf-8"


class _Planned(NamedTuple):
    """A change with the texts that it is made of, for the diff and for what the agent knows afterwards."""

    change: Change
    before: str | None
    after: str | None
    encoding: str = "utf-8"
    moved_from: str = ""
    moved_away: bool = False
    """The file goes to another place, whose change tells of it."""


class WorkspaceEdits:
    """`Edits` over the files of one workspace, for one agent."""

    def __init__(
        self,
        files: WorkspaceFiles,
        agent: str,
        checkpoints: KeepsFormer,
        changed: Callable[[tuple[str, ...]], None],
    ) -> None:
        """`changed` is told the paths of what was changed, after it was."""
        self._files = files
        self._agent = agent
        self._checkpoints = checkpoints
        self._changed = changed
        self._read = _ReadRecord()

    def noted(self, file: TextFile) -> None:
        """This agent has read `file`."""
        self._read.note(file.path, file.text, file.encoding)

    def open(self, path: str, *, must_exist: bool = True) -> Editable:
        """The file as it is now. Raises `ToolError`: `not_read`, `stale`, and the codes of `Files`."""
        standing = self._look(path, must_exist=must_exist)
        self._require_read(standing)
        return Editable(standing.path, standing.text, standing.former is not None)

    def was_read(self, path: str) -> bool:
        """Whether this agent has read or written the file as it is now."""
        try:
            standing = self._look(path)
        except ToolError:
            return False
        seen = self._read.get(standing.path)
        return seen is not None and seen.digest == _digest(standing.text, standing.encoding)

    def diff(self, rewrites: Sequence[Rewrite]) -> str:
        """The unified diff that applying them would make now. Raises what applying them would, the disk apart."""
        return "".join(_diff_of(planned) for planned in self._plan(rewrites))

    async def apply(self, rewrites: Sequence[Rewrite]) -> None:
        """Make all changes or none. Raises `ToolError`, see `tool.Edits`; nothing was changed then."""
        plan = self._plan(rewrites)
        if not plan:
            return
        swap = Swap(self._files.root, [planned.change for planned in plan])
        paths = tuple(planned.change.path for planned in plan)
        try:
            token = await self._prepared(swap, paths)
            # From here on without a pause: no other agent can come in between.
            self._put_in_place(swap, token)
        finally:
            swap.close()
        for planned in plan:
            self._know(planned)
        self._changed(paths)

    async def _prepared(self, swap: Swap, paths: Sequence[str]) -> Any:
        """Write the new files and keep the former ones, in a thread since disks can be slow. Gives the token."""

        def prepare() -> Any:
            swap.stage()
            return self._checkpoints.begin(self._agent, paths, swap.made)

        running = asyncio.get_running_loop().run_in_executor(None, prepare)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # A thread cannot be stopped: what it still does is waited for, and taken back.
            await asyncio.wait([running])
            if running.exception() is None:
                self._checkpoints.abandon(running.result())
            raise

    def _put_in_place(self, swap: Swap, token: Any) -> None:
        try:
            swap.commit()
            self._checkpoints.finish(token)
        except BaseException as error:
            lost = swap.undo()
            if not lost:
                self._checkpoints.abandon(token)
                raise
            # The checkpoint stays: what is in it is needed now.
            raise ToolError(
                "disk",
                f"{_message(error)}; but of what was changed before that, some could not be put back. Tell the user",
                not_put_back="; ".join(lost),
            ) from error

    def _know(self, planned: _Planned) -> None:
        if planned.after is None:
            self._read.forget(planned.change.path)
        else:
            self._read.note(planned.change.path, planned.after, planned.encoding)

    # --- what stands there ---------------------------------------------------------------------------------------

    def _look(self, path: str, *, must_exist: bool = True) -> _Standing:
        try:
            located = self._files.locate(path)
        except ToolError as error:
            if must_exist or error.code != "not_found":
                raise
            return _new_place(self._files.root, path, error)
        except OSError:
            raise _replaced_just_now(path) from None
        with self._files.opened(located) as (descriptor, size):
            former = _former(descriptor, size, located)
        try:
            text, encoding = decode(former.data)
        except NotText as not_text:
            raise ToolError("binary", f"{located.path} is {not_text.kind}; only text can be edited") from None
        return _Standing(located.path, tuple(raw_path(located.path).split("/")), former, text, encoding)

    def _require_read(self, standing: _Standing) -> None:
        if standing.former is None:
            return
        seen = self._read.get(standing.path)
        if seen is None:
            raise ToolError(
                "not_read", f"{standing.path} exists and you have not read it; read it with read_file, then change it"
            )
        if seen.digest == _digest(standing.text, standing.encoding):
            return
        raise ToolError(
            "stale",
            f"{standing.path} has changed since you read it; read it again, then change it",
            changed=_what_changed(standing, seen),
        )

    # --- planning ------------------------------------------------------------------------------------------------

    def _plan(self, rewrites: Sequence[Rewrite]) -> list[_Planned]:
        """The changes that the rewrites come to, without those that change nothing."""
        puts: dict[str, _Planned] = {}
        gone: dict[str, _Planned] = {}
        for rewrite in rewrites:
            source = self._look(rewrite.moved_from) if rewrite.moved_from else None
            target = self._look(rewrite.path, must_exist=rewrite.text is None)
            for standing in (target, source):
                if standing is not None:
                    self._require_read(standing)
                    _require_writable(standing, self._files.root)
            if source is not None:
                gone[source.path] = _removal(source)._replace(moved_away=True)
            if rewrite.text is None:
                gone[target.path] = _removal(target)
            else:
                puts[target.path] = _planned(rewrite, rewrite.text, target, source)
        _require_free(puts, gone)
        left = [planned for path, planned in gone.items() if path not in puts]
        return [planned for planned in (*puts.values(), *left) if _changes_something(planned.change)]


class ReadingFiles:
    """`Files` that note what this agent reads, so that it may change it."""

    def __init__(self, files: WorkspaceFiles, edits: WorkspaceEdits) -> None:
        self.files = files
        self._edits = edits

    @property
    def root(self) -> Path:
        return self.files.root

    def over(self, files: WorkspaceFiles) -> ReadingFiles:
        """The same record over other files."""
        return ReadingFiles(files, self._edits)

    def locate(self, path: str) -> Located:
        return self.files.locate(path)

    def read_text(self, path: str) -> TextFile:
        file = self.files.read_text(path)
        self._edits.noted(file)
        return file

    def reading(self) -> AbstractContextManager[Callable[[str], TextFile]]:
        return self._reading()

    @contextmanager
    def _reading(self) -> Iterator[Callable[[str], TextFile]]:
        with self.files.reading() as read:

            def noting(path: str) -> TextFile:
                file = read(path)
                self._edits.noted(file)
                return file

            yield noting


def _digest(text: str, encoding: str) -> bytes:
    """Of the text and not the bytes, since that is what is at hand when a tool has read a file."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=encoding.encode()).digest()


def _message(error: BaseException) -> str:
    return error.message if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"


# --- what stands there -----------------------------------------------------------------------------------------------


def _former(descriptor: int, size: int, located: Located) -> Former:
    if size <= MAX_FILE:
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(MAX_FILE + 1)
        size = len(data)
    if size > MAX_FILE:
        raise ToolError("too_large", f"{located.path} has more than the {MAX_FILE:,} bytes that can be edited")
    return Former(data, os.fstat(descriptor), read_attributes(descriptor))


def _new_place(root: Path, path: str, missing: ToolError) -> _Standing:
    """The place of a file that is to be made. `missing` says that there is nothing at `path`."""
    if "\\" in path or shown_path(path) != path:
        raise ToolError(
            "invalid_path", f"{shown_path(path)[:200]} would be a name with a backslash or a control character; use /"
        )
    if path.endswith("/"):
        raise ToolError("invalid_path", f"{path} names a folder; name the file, its folders are made with it")
    literal = os.path.join(root, path)  # noqa: PTH118  # pathlib drops what os.path keeps
    if os.path.islink(literal):  # noqa: PTH114
        raise missing
    try:
        real = os.path.realpath(literal)
    except OSError:  # a link was taken away while it was followed
        raise _replaced_just_now(path) from None
    prefix = f"{root}/" if str(root) != "/" else "/"
    if not real.startswith(prefix):
        raise ToolError("outside_workspace", f"{path[:200]} is outside the workspace; only paths inside can be used")
    names = tuple(real[len(prefix) :].split("/"))
    _require_folders(root, names)
    return _Standing("/".join(names), names)


def _replaced_just_now(path: str) -> ToolError:
    return ToolError("stale", f"what stands at {shown_path(path)[:200]} was replaced just now; look at it again")


def _require_folders(root: Path, names: tuple[str, ...]) -> None:
    """The parents of a new file are folders or are not there yet, and no name is too long."""
    for name in names:
        if len(os.fsencode(name)) > _LONGEST_NAME:
            raise ToolError("invalid_path", f"{name[:80]}… is too long for a name ({len(name):,} characters)")
    for depth in range(1, len(names)):
        above = os.path.join(root, *names[:depth])  # noqa: PTH118
        if not os.path.exists(above):  # noqa: PTH110  # pathlib's raises where a folder cannot be looked into
            return
        if not os.path.isdir(above):  # noqa: PTH112
            shown = "/".join(names[:depth])
            raise ToolError("exists", f"{shown} is a file, so nothing can be made below it; choose another path")


def _what_changed(standing: _Standing, seen: _Seen) -> str | None:
    if not seen.text or is_secret(standing.path):
        return None
    diff = unified_diff(standing.path, seen.text, standing.text, context=1)
    if not diff:
        return "only its encoding"
    return "\n" + cut_middle(diff, _SHOWN_CHANGE, "read the file to see it")


def _require_writable(standing: _Standing, root: Path) -> None:
    if standing.former is None:
        return
    status = standing.former.status
    writable = status.st_mode & 0o222 and os.access(root.joinpath(*standing.names), os.W_OK)
    if not writable:
        mode = f"{stat.S_IMODE(status.st_mode):04o}"
        raise ToolError("denied", f"{standing.path} is read-only (mode {mode}); nothing was changed", mode=mode)
    if status.st_nlink > 1:
        raise ToolError(
            "denied",
            f"{standing.path} is one of {status.st_nlink} names of the same file (hard links), which an edit would "
            "separate; if that is wanted, replace it with a copy of itself first; nothing was changed",
        )


# --- planning --------------------------------------------------------------------------------------------------------


def _removal(standing: _Standing) -> _Planned:
    change = Change(standing.path, standing.names, standing.former, None)
    return _Planned(change, standing.text, None, standing.encoding)


def _planned(rewrite: Rewrite, text: str, target: _Standing, source: _Standing | None) -> _Planned:
    """The new content of `target`; encoding and mode are those of the file that is moved there, or that is there."""
    origin = source or target
    body = text.removeprefix(_MARK)
    encoding = origin.encoding
    if origin.former is None and body != text:
        encoding = "utf-8-sig"
    data = origin.former.data if origin.former and body == origin.text else _encoded(target.path, body, encoding)
    change = Change(target.path, target.names, target.former, data, origin.former, rewrite.executable)
    before = None if origin.former is None else origin.text
    return _Planned(change, before, body, encoding, "" if source is None else source.path)


def _encoded(path: str, text: str, encoding: str) -> bytes:
    """`text` as bytes that are read back as the same text."""
    try:
        data = encode(text, encoding)
    except UnicodeEncodeError as error:
        raise _unencodable(path, text, encoding, error) from None
    if len(data) > MAX_FILE:
        raise ToolError("too_large", f"{path} would have {len(data):,} bytes, over the {MAX_FILE:,} that can be edited")
    try:
        same = decode(data)[0] == text
    except NotText as not_text:
        raise ToolError("binary", f"{path} would be read as {not_text.kind}; nothing was changed") from None
    if not same:
        raise ToolError(
            "unencodable",
            f"{path} is {_ENCODING_NAMES.get(encoding, encoding)}, in which the new text would be read back as another "
            "one; nothing was changed",
        )
    return data


def _unencodable(path: str, text: str, encoding: str, error: UnicodeEncodeError) -> ToolError:
    if encoding == "mixed":
        return ToolError(
            "unencodable",
            f"{path} cannot be edited: {error.reason}; convert it to UTF-8 first; nothing was changed",
        )
    line = text.count("\n", 0, error.start) + 1
    return ToolError(
        "unencodable",
        f"{path} is {_ENCODING_NAMES.get(encoding, encoding)}, which has no {text[error.start]!r} (line {line} of the "
        "new text); use other characters, or convert the file first; nothing was changed",
    )


def _require_free(puts: dict[str, _Planned], gone: dict[str, _Planned]) -> None:
    """A file is moved only to where nothing stands, or where what stands is taken away by the same call."""
    for path, planned in puts.items():
        if planned.moved_from and planned.moved_from != path and planned.change.before is not None and path not in gone:
            raise ToolError("exists", f"{path} exists already, so {planned.moved_from} cannot be moved there")


def _changes_something(change: Change) -> bool:
    if change.before is None or change.data != change.before.data:
        return True
    return _new_mode(change) is not None


def _new_mode(change: Change) -> bool | None:
    """Whether the file becomes one that may be run or stops being one; `None` when that stays as it is."""
    if change.executable is None or change.like is None:
        return change.executable
    is_now = bool(change.like.status.st_mode & 0o111)
    return None if change.executable == is_now else change.executable


def _diff_of(planned: _Planned) -> str:
    change = planned.change
    if planned.moved_away:
        return ""
    executable = None if planned.after is None else _new_mode(change)
    return unified_diff(
        change.path, planned.before, planned.after, moved_from=planned.moved_from, executable=executable
    )
