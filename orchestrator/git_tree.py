"""What git knows of a work tree: its files, where their committed content is, and where HEAD stands.

Git only lists and reads here. Nothing that the repository's own configuration or attributes name is run, nothing is
fetched, and nothing of the repository is written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha1, sha256
from pathlib import Path
from typing import NamedTuple

_SAFE = (
    *("--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.untrackedCache=keep"),
    *("-c", "protocol.allow=never", "-c", "submodule.recurse=false"),
)
_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "LANG")
"""HOME: the user's own list of ignored files counts, as it does for the user's git."""
_TIMEOUT = 10
"""Seconds; a listing of 100,000 files takes less than one."""
_SUBMODULE = b"160000"


class NotWatched(Exception):
    """The tree cannot be compared; the text says why, in a phrase."""


class Listing(NamedTuple):
    """`tracked` are files of the index with the name of their content in it, `others` those that git does not ignore.

    `nested` are repositories inside this one, which git does not look into. `head` is the commit and branch.
    """

    tracked: Mapping[str, str]
    others: tuple[str, ...]
    nested: tuple[str, ...]
    head: str


class GitTree:
    """The part of a git work tree below `root`. Keeps the last listing, since mostly it stays the same."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._git = ""
        self._gave_up = ""
        self._raw = (b"", b"", b"")
        self._listing: Listing | None = None

    def list_files(self, meanwhile: Callable[[], None] = lambda: None) -> Listing:
        """The files as git lists them now; `meanwhile` is called while git looks.

        Raises `NotWatched` outside of a work tree and where git fails.
        """
        if self._gave_up:
            raise NotWatched(self._gave_up)
        try:
            return self._list_files(meanwhile)
        except subprocess.TimeoutExpired:
            self._gave_up = f"git took more than {_TIMEOUT} s"  # and would again, before and after each command
            raise NotWatched(self._gave_up) from None

    def _list_files(self, meanwhile: Callable[[], None]) -> Listing:
        wanted = (
            ("ls-files", "-z", "--stage"),
            ("ls-files", "-z", "--others", "--exclude-standard"),
            ("rev-parse", "-q", "HEAD", "--symbolic-full-name", "HEAD"),
        )
        running = [self._start(*command) for command in wanted]
        try:
            meanwhile()
            staged, others, head = [_ended(process) for process in running]
        finally:
            _end_all(running)
        if staged.failed or others.failed:
            raise NotWatched(_failure(staged.errors + others.errors))
        raw = (staged.out, others.out, b"" if head.failed else head.out)
        if self._listing is None or raw != self._raw:
            self._listing, self._raw = _parsed(*raw), raw
        return self._listing

    def contents(self, names: Iterable[str]) -> dict[str, bytes]:
        """The content that git keeps under each of these names; what it does not have is left out."""
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        process = self._start("cat-file", "--batch", stdin=subprocess.PIPE)
        try:
            ended = _ended(process, "".join(f"{name}\n" for name in wanted).encode())
        except subprocess.TimeoutExpired:
            return {}
        finally:
            _end_all([process])
        return {} if ended.failed else dict(_objects(ended.out))

    def _start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        if not self._git:
            self._git = find_git(self._root)
        env = {name: os.environ[name] for name in _KEPT if name in os.environ}
        env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
        command = [self._git, *_SAFE, *arguments]
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(command, cwd=self._root, env=env, stdin=stdin, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise NotWatched(f"git cannot be run: {error.strerror}") from None


def find_git(workspace: Path) -> str:
    """The first git on PATH that is not one of the workspace. Raises `NotWatched`."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    outside = (each for each in folders if Path(each).is_absolute() and not Path(each).is_relative_to(workspace))
    found = shutil.which("git", path=os.pathsep.join(outside))
    if found is None or Path(found).resolve().is_relative_to(workspace):
        raise NotWatched("git is not installed here")
    return found


def content_name(data: bytes, length: int) -> str:
    """The name that git gives to a file with these bytes; `length` is that of the repository's names (40 or 64)."""
    digest = sha256 if length == 64 else sha1
    return digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class _Ended(NamedTuple):
    out: bytes
    errors: bytes
    failed: bool


def _ended(process: subprocess.Popen[bytes], data: bytes | None = None) -> _Ended:
    out, errors = process.communicate(data, timeout=_TIMEOUT)
    return _Ended(out, errors, process.returncode != 0)


def _end_all(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """Whatever happened, no git is left running and no pipe open."""
    for process in processes:
        if process.poll() is None:
            process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()


def _failure(errors: bytes) -> str:
    text = errors.decode("utf-8", "replace").strip()
    if "not a git repository" in text or "must be run in a work tree" in text:
        return "it is not in a git work tree"
    return f"git says: {text.splitlines()[0]}" if text else "git failed"


def _parsed(staged: bytes, others: bytes, head: bytes) -> Listing:
    tracked: dict[str, str] = {}
    nested: list[str] = []
    for row in staged.split(b"\0")[:-1]:
        facts, _, path = row.partition(b"\t")
        mode, name, _ = facts.split(b" ")
        if mode == _SUBMODULE:
            nested.append(os.fsdecode(path))
        else:
            tracked[os.fsdecode(path)] = name.decode()
    names = [os.fsdecode(path) for path in others.split(b"\0")[:-1]]
    nested += [name.rstrip("/") for name in names if name.endswith("/")]
    plain = tuple(name for name in names if not name.endswith("/"))
    return Listing(tracked, plain, tuple(nested), " ".join(head.decode("utf-8", "replace").split()))


def _objects(out: bytes) -> Iterable[tuple[str, bytes]]:
    """The answers of `cat-file --batch`: `<name> blob <size>`, then the content and a line break."""
    position = 0
    while position < len(out):
        end = out.index(b"\n", position)
        facts = out[position:end].split(b" ")
        position = end + 1
        if len(facts) != 3:
            continue
        size = int(facts[2])
        if facts[1] == b"blob":
            yield facts[0].decode(), out[position : position + size]
        position += size + 1
