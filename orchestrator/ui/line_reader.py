"""Lines typed at a terminal, read without blocking the event loop; a cancelled read leaves the terminal as it was."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_PIECE = 4096


class LineReader:
    """Reads from the terminal (or pipe) behind `stdin`; what Python has read ahead of it does not count."""

    def __init__(self, stdin: TextIO | None) -> None:
        self._descriptor = _descriptor(stdin)
        self._pending = b""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """The terminal echoes and edits lines meanwhile; what is half typed at the end is dropped with it."""
        before = _make_plain(self._descriptor)
        try:
            yield
        finally:
            self.forget_typed()
            _restore(self._descriptor, before)

    def forget_typed(self) -> None:
        """Drop what was typed so far: it was meant for something else."""
        import termios

        self._pending = b""
        try:
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
        except (OSError, ValueError, termios.error):
            return

    async def line(self) -> str | None:
        """The next line without its end; `None` at the end of input, also in the middle of a line."""
        while b"\n" not in self._pending:
            piece = await self._piece()
            if not piece:
                return None
            self._pending += piece
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    async def _piece(self) -> bytes:
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[bytes] = loop.create_future()
        try:
            loop.add_reader(self._descriptor, _take, self._descriptor, arrived)
        except PermissionError:  # a regular file, which is always ready
            return os.read(self._descriptor, _PIECE)
        except (OSError, ValueError):
            return b""
        try:
            return await arrived
        finally:
            loop.remove_reader(self._descriptor)


def _take(descriptor: int, arrived: asyncio.Future[bytes]) -> None:
    if arrived.done():
        return
    try:
        arrived.set_result(os.read(descriptor, _PIECE))
    except (BlockingIOError, InterruptedError):
        return
    except OSError:  # the terminal is gone
        arrived.set_result(b"")


def _descriptor(stdin: TextIO | None) -> int:
    try:
        return -1 if stdin is None else stdin.fileno()
    except (OSError, ValueError):
        return -1


def _make_plain(descriptor: int) -> list[Any] | None:
    """Let the terminal echo, edit lines and send signals; gives the settings to restore, `None` if nothing changed."""
    import termios

    try:
        before = termios.tcgetattr(descriptor)
        local = before[3] | termios.ICANON | termios.ECHO | termios.ISIG
        plain = [before[0] | termios.ICRNL, *before[1:3], local, *before[4:]]
        if plain == before:
            return None
        termios.tcsetattr(descriptor, termios.TCSANOW, plain)
    except (OSError, ValueError, termios.error):
        return None
    return before


def _restore(descriptor: int, before: list[Any] | None) -> None:
    import termios

    if before is None:
        return
    try:
        if os.tcgetpgrp(descriptor) == os.getpgrp():  # else it would stop us: the terminal is somebody else's now
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
    except (OSError, termios.error):
        return
