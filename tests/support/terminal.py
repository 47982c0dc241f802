"""A program run on a real pseudo terminal whose screen is emulated, so that tests see what a person would see."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

ROOT = Path(__file__).resolve().parents[2]
EVENT_SOURCE = (sys.executable, "-m", "tests.support.event_source")
PATIENCE = 30.0
"""Seconds until a test gives up; nothing is expected to take a noticeable part of it."""


class ScreenSession:
    """A process whose standard output and error are one terminal; commands reach it through a pipe on its input."""

    def __init__(
        self, argv: Sequence[str], columns: int = 80, rows: int = 24, env: Mapping[str, str] | None = None
    ) -> None:
        self.raw = b""
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._master, self._slave = pty.openpty()
        self._set_size(columns, rows)
        environ = {"TERM": "xterm-256color", "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=self._slave,
            stderr=self._slave,
            env={**environ, **(env or {})},
            cwd=ROOT,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),  # noqa: PLW1509 -- one thread at this point
        )

    def __enter__(self) -> ScreenSession:
        return self

    def __exit__(self, *args: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()
        os.close(self._slave)
        os.close(self._master)

    @property
    def lines(self) -> list[str]:
        """The screen without trailing blanks and blank lines at its end."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip().split("\n")

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def echo(self) -> bool:
        """Whether the terminal echoes what is typed."""
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def send(self, *commands: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        for command in commands:
            self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self._set_size(columns, rows)

    def wait_for(self, seen: str | Callable[[], bool]) -> None:
        """Take in output until `seen` is on the screen (or true), and the frame that shows it is complete."""
        deadline = time.monotonic() + PATIENCE
        while self.screen.cursor.hidden or not (seen() if callable(seen) else seen in self.text):
            assert time.monotonic() < deadline, f"never saw {seen!r} on:\n{self.text}"
            self._take(0.05)

    def end(self) -> int:
        """Take in all output until the process has ended; gives its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"does not end; screen:\n{self.text}"
            self._take(0.05)
        while self._take(0):
            pass
        return self.process.returncode

    def _take(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return False
        data = os.read(self._master, 65536)
        self.raw += data
        self._stream.feed(data)
        return True

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def watch_events(
    *arguments: str, columns: int = 80, rows: int = 24, env: Mapping[str, str] | None = None
) -> ScreenSession:
    """The event source on a terminal, in text mode unless `arguments` say otherwise."""
    return ScreenSession([*EVENT_SOURCE, *arguments], columns, rows, env)
