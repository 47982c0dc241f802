"""What the user allowed for always in one workspace, kept in the user's own state.

One JSON file a workspace, named after the real path. Every change is made under a lock, on what the file holds at that
moment, and by a rename: two processes lose nothing of each other, and a reader never sees half a file. A file that is
damaged, or that somebody else could have written, grants nothing.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.path_names import shown_path
from orchestrator.permission_patterns import PatternError, parse_rule

_MAX_BYTES = 256 * 1024
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_LOCK = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class Grants:
    """The rules granted in one workspace. Nothing is made on disk before the first one is added."""

    def __init__(self, folder: Path, workspace: Path, warn: Callable[[str], None] = lambda text: None) -> None:
        """`folder` holds the files of all workspaces; `warn` is told, once, why a file is ignored."""
        from hashlib import sha256

        self._workspace = os.path.realpath(workspace)
        self._folder = folder
        self.file = folder / (sha256(os.fsencode(self._workspace)).hexdigest()[:32] + ".json")
        self.warn = warn
        self._seen: tuple[int, ...] | None = None
        self._rules: tuple[str, ...] = ()
        self.problem = ""
        """Why the file that is there grants nothing; empty when there is nothing wrong."""

    def rules(self) -> tuple[str, ...]:
        """The rules in force now, also those that another process has just added."""
        stamp = _stamp(self.file)
        if stamp is None or stamp != self._seen:
            self._seen = stamp
            self._take(*self._read())
        return self._rules

    def add(self, rule: str) -> None:
        """Keep one more rule. Raises `OSError` when it cannot be kept."""
        self._change(lambda rules: rules if rule in rules else (*rules, rule))

    def remove(self, rule: str) -> bool:
        """Forget a rule; whether there was such a one. Raises `OSError`."""
        if _stamp(self.file) is None:
            return False
        return rule in self._change(lambda rules: tuple(each for each in rules if each != rule))

    def clear(self) -> int:
        """Forget all rules; how many there were. Raises `OSError`."""
        return len(self._change(lambda rules: ())) if _stamp(self.file) else 0

    def _change(self, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> tuple[str, ...]:
        """Put changed rules in the place of those on disk; gives the ones before."""
        with self._locked():
            before, problem = self._read()
            after = change(before)
            if after != before or problem:
                self._write(after)
            self._seen = None
            self._take(after, "")
        return before

    def _take(self, rules: tuple[str, ...], problem: str) -> None:
        if problem and problem != self.problem:
            self.warn(f"{self.file}: {problem}; what was allowed for always in this folder is asked again")
        self._rules, self.problem = rules, problem

    # --- the file ---------------------------------------------------------------------------------------------------

    def _read(self) -> tuple[tuple[str, ...], str]:
        """The rules on disk, and what is wrong with the file."""
        try:
            data = _own_bytes(self._folder, self.file)
            return self._rules_in(json.loads(data)), ""
        except FileNotFoundError:
            return (), ""
        except OSError as error:
            return (), f"it cannot be read ({error.strerror})"
        except _Untrusted as error:
            return (), str(error)
        except (ValueError, RecursionError, PatternError):
            return (), "it is damaged"

    def _rules_in(self, record: object) -> tuple[str, ...]:
        """Raises `ValueError` for anything but a whole record of this workspace."""
        if not isinstance(record, dict) or record.get("path") != shown_path(self._workspace):
            raise ValueError("not the record of this workspace")
        rules = record.get("rules")
        if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
            raise ValueError("no rules")
        for rule in rules:
            parse_rule(rule)
        return tuple(dict.fromkeys(rules))

    def _write(self, rules: tuple[str, ...]) -> None:
        record = {"version": 1, "path": shown_path(self._workspace), "rules": list(rules)}
        data = json.dumps(record, indent=1).encode("ascii")
        if len(data) > _MAX_BYTES:
            raise OSError(0, "too much is allowed for always in this folder; see `orch permissions forget`")
        temporary = self.file.with_suffix(f".{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o600)
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            temporary.replace(self.file)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of the folder, which another process holds for some milliseconds at most."""
        import fcntl

        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if reason := _not_ours(os.lstat(self._folder), stat.S_ISDIR):
            raise OSError(0, f"the folder {self._folder} {reason}")
        descriptor = os.open(self._folder / ".lock", _LOCK, 0o600)
        try:
            _wait_for(lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB))
            yield
        finally:
            os.close(descriptor)


class _Untrusted(Exception):
    """Somebody else could have written the file."""


def _wait_for(lock: Callable[[], None]) -> None:
    """Try for two seconds. Raises `OSError`: whoever holds it longer hangs."""
    for _ in range(200):
        try:
            return lock()
        except BlockingIOError:
            time.sleep(0.01)
    raise OSError(errno.EAGAIN, "another process does not let go of the lock")


def _own_bytes(folder: Path, path: Path) -> bytes:
    """The bytes of a regular file that only the user can write. Raises `_Untrusted`, `OSError`."""
    if reason := _not_ours(os.lstat(folder), stat.S_ISDIR):
        raise _Untrusted(f"its folder {reason}")
    if reason := _not_ours(os.lstat(path), stat.S_ISREG):
        raise _Untrusted(f"it {reason}")
    descriptor = os.open(path, _OPEN)
    with os.fdopen(descriptor, "rb") as file:
        if reason := _not_ours(os.fstat(descriptor), stat.S_ISREG):
            raise _Untrusted(f"it {reason}")
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise _Untrusted(f"it is longer than {_MAX_BYTES:,} bytes")
    return data


def _not_ours(status: os.stat_result, kind: Callable[[int], bool]) -> str:
    if not kind(status.st_mode):
        return "is not what it should be (a link, a pipe or the like)"
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & 0o022:
        return "can be written by others"
    return ""


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What changes whenever the file is written anew; `None` where there is none."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_mode, status.st_uid)
