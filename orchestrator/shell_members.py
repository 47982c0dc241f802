"""What a command has left running: the processes of its session, and those that carry its mark in their environment.

The mark finds daemons that made a session of their own. One that also threw its environment away is not found.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from orchestrator.safe_text import safe_line
from orchestrator.shell_env import SHELL_ID

_PROC = "/proc"
_FEW = 500
_NAME_WIDTH = 60
_KERNEL = 2
"""The parent of the threads of the kernel, which have no environment."""
_LOOKS = 20
"""At the environment of a process, a millisecond apart."""


class Member(NamedTuple):
    """A running process; `name` is what it was called with, shortened."""

    pid: int
    name: str


class _Status(NamedTuple):
    name: str
    runs: bool
    parent: int
    session: int


class Mark(NamedTuple):
    """How the processes of one command are known: by the session, whose leader is the shell, or by the mark."""

    session: int
    text: str


def find_members(mark: Mark, *, quick: bool = False) -> Sequence[Member]:
    """The processes that still run. `quick`: the command was so short that process numbers cannot have come round."""
    if sys.platform != "linux":
        return [Member(mark.session, "a process of it")] if _group_lives(mark.session) else []
    wanted = f"{SHELL_ID}={mark.text}\0".encode()
    found = []
    for pid in _younger(mark.session) if quick else _all():
        status = _status(pid)
        if status.runs and (
            status.session == mark.session or _carries(pid, wanted, new=pid > mark.session and status.parent != _KERNEL)
        ):
            found.append(Member(pid, _called(pid) or status.name))
    return found


def send_group(number: signal.Signals, mark: Mark) -> None:
    """Signal the process group. Its leader must not have been reaped: its number would be free for others."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(mark.session, number)


def send_each(number: signal.Signals, members: Iterable[Member]) -> None:
    for member in members:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member.pid, number)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except PermissionError:  # what macOS says of a group that holds only a process that has ended
        return False
    except ProcessLookupError:
        return False
    return True


def _younger(pid: int) -> Iterable[int]:
    """`pid` and the processes started after it, whose numbers follow its own until they come round."""
    try:
        last = int(Path(_PROC, "loadavg").read_bytes().split()[-1])
    except (OSError, ValueError, IndexError):
        return _all()
    return range(pid, last + 1) if pid <= last < pid + _FEW else _all()


def _all() -> Iterator[int]:
    own = os.getpid()
    for name in os.listdir(_PROC):  # noqa: PTH208  # names are enough, and this is done for every command
        if name.isdecimal() and int(name) != own:
            yield int(name)


def _status(pid: int) -> _Status:
    """The name stands in brackets and may itself hold anything."""
    before, _, after = _read(pid, "stat").rpartition(b")")
    fields = after.split()
    if len(fields) < 4:
        return _Status("", False, 0, 0)
    return _Status(
        before.partition(b"(")[2].decode("utf-8", "replace"),
        fields[0] not in (b"Z", b"X"),
        *map(int, (fields[1], fields[3])),
    )


def _carries(pid: int, wanted: bytes, *, new: bool) -> bool:
    """`new`: it may be in the middle of `exec`, where its environment is empty for a moment."""
    environment = _read(pid, "environ")
    for _ in range(_LOOKS if new else 0):
        if environment or not _read(pid, "stat"):
            break
        time.sleep(0.001)
        environment = _read(pid, "environ")
    return wanted in environment and b"\0" + wanted in b"\0" + environment


def _called(pid: int) -> str:
    """What a process was called with, on one line and not too long."""
    program, *words = _read(pid, "cmdline").split(b"\0")
    text = safe_line(b" ".join([program.rpartition(b"/")[2], *words]).decode("utf-8", "replace"))
    return text if len(text) <= _NAME_WIDTH else f"{text[:_NAME_WIDTH]}…"


def _read(pid: int, name: str) -> bytes:
    try:
        descriptor = os.open(f"{_PROC}/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
