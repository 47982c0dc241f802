"""The output of commands: head and tail in little memory, all of it in a file, and pieces for the screen."""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Callable
from pathlib import Path

from orchestrator.safe_text import Stripper, safe_text

HEAD, TAIL = 10_000, 20_000
"""Bytes that are kept from the beginning and from the end; what is not longer than both stays whole."""

LOG_LIMIT = 256 * 1024 * 1024
"""Bytes of the file that holds all output."""

LIVE_PAUSE = 0.1
"""Seconds between two pieces for the screen."""

LIVE_PIECE = 8_000
"""Bytes of one piece; of what comes faster only the last part is shown."""

_STATES_KEPT = 3


class KeptOutput:
    """What a command has printed since it was last taken, and all of it in the file `log` once it is long.

    The file is made when the output is longer than what is kept in memory, readable by the user alone. A file that
    cannot be written is said in `trouble`, and the command goes on.
    """

    def __init__(self, log: Path, log_limit: int = LOG_LIMIT) -> None:
        self._path = log
        self._room = log_limit
        self._file: int | None = None
        self._whole: bytearray | None = bytearray()
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0
        self._lines_left_out = 0
        self.log = ""
        self.trouble = ""

    @property
    def pending(self) -> bool:
        """Whether anything came since the last look."""
        return bool(self._head)

    def add(self, data: bytes) -> None:
        self._save(data)
        fits = HEAD - len(self._head)
        if fits > 0:
            self._head += data[:fits]
            data = data[fits:]
        self._tail += data
        if len(self._tail) > 4 * TAIL:
            self._cut_tail()

    def take(self) -> str:
        """The text since the last look, without terminal control; the middle of a long one is left out, with a mark."""
        self._cut_tail()
        if not self._left_out:
            text = shown_text(bytes(self._head + self._tail))
        else:
            head, tail = self._at_line_ends()
            text = f"{shown_text(head)}{self._mark()}{shown_text(tail)}"
        self._head, self._tail = bytearray(), bytearray()
        self._left_out = self._lines_left_out = 0
        return text

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._whole = None

    def _cut_tail(self) -> None:
        extra = len(self._tail) - TAIL
        if extra > 0:
            self._leave_out(self._tail[:extra])
            del self._tail[:extra]

    def _leave_out(self, data: bytes | bytearray) -> None:
        self._left_out += len(data)
        self._lines_left_out += data.count(b"\n")

    def _at_line_ends(self) -> tuple[bytes, bytes]:
        """Head and tail without the broken lines and characters next to the gap, where the lines are not too long."""
        end = self._head.rfind(b"\n") + 1
        end = end if end > HEAD // 2 else _character_end(self._head)
        start = self._tail.find(b"\n") + 1
        start = start if 0 < start < TAIL // 2 else _character_start(self._tail)
        self._leave_out(self._head[end:])
        self._leave_out(self._tail[:start])
        return bytes(self._head[:end]), bytes(self._tail[start:])

    def _mark(self) -> str:
        where = f"all of it is kept in {self.log}; " if self.log and not self.trouble else ""
        amount = f"{self._lines_left_out:,} lines, {self._left_out:,} bytes left out here"
        return f"\n[… {amount}; {where}run it again through grep, head or tail to see it …]\n"

    # --- the file ---------------------------------------------------------------------------------------------------

    def _save(self, data: bytes) -> None:
        if self._whole is not None:
            self._whole += data
            if len(self._whole) <= HEAD + TAIL:
                return
            data, self._whole = bytes(self._whole), None
            self._open()
        if self._file is None:
            return
        try:
            _write_all(self._file, data[: self._room])
        except OSError as error:
            self._give_up(f"the rest of the output could not be written to {self.log}: {error.strerror}")
            return
        self._room -= len(data)
        if self._room < 0:
            self._give_up(f"{self.log} holds only the beginning of the output: it grew too large")

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self._path, flags, 0o600)
            self.log = str(self._path)
        except OSError as error:
            self.trouble = f"the whole output could not be kept in {self._path}: {error.strerror}"

    def _give_up(self, trouble: str) -> None:
        self.trouble = trouble
        if self._file is not None:
            os.close(self._file)
            self._file = None


class LiveOutput:
    """Hands what a command prints to `show`, as text without terminal control, a few times a second at most.

    An error of `show` goes to `failed`.
    """

    def __init__(self, show: Callable[[str], None], failed: Callable[[Exception], None]) -> None:
        self._show = show
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._skipped = 0
        self._timer: asyncio.TimerHandle | None = None
        self._fresh()

    def add(self, data: bytes) -> None:
        self._waiting += data
        extra = len(self._waiting) - LIVE_PIECE
        if extra > 0:
            del self._waiting[:extra]
            self._skipped += extra
        if self._timer is None:
            self._timer = self._loop.call_later(LIVE_PAUSE, self._tick)

    def close(self) -> None:
        """Show what is left."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flush(final=True)

    def _tick(self) -> None:
        self._timer = None
        try:
            self._flush(final=False)
        except Exception as error:  # noqa: BLE001  # there is no caller here that it could be raised to
            self._failed(error)

    def _flush(self, *, final: bool) -> None:
        skipped = ""
        if self._skipped:
            skipped = f"\n[… {self._skipped:,} bytes not shown …]\n"
            self._skipped = 0
            self._fresh()
        data = bytes(self._waiting)
        self._waiting.clear()
        if skipped:
            data = data[_character_start(data) :]
        text = skipped + self._stripper.feed(self._decoder.decode(data, final))
        if final:
            text += self._stripper.close()
        if text:
            self._show(text)

    def _fresh(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stripper = Stripper()


def shown_text(data: bytes) -> str:
    """Output as text: what is not UTF-8 replaced, terminal control removed, progress lines without their history."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(map(_without_history, text.split("\n")))
    return safe_text(text)


def _without_history(line: str) -> str:
    """A progress bar overwrites its line again and again; what stood there first and last is enough."""
    states = [state for state in line.split("\r") if state.strip()]
    if len(states) <= _STATES_KEPT:
        return line
    return f"{states[0]}\n[… {len(states) - 2:,} overwritten states of this line left out …]\n{states[-1]}"


def _character_end(data: bytes | bytearray) -> int:
    """Where the last whole UTF-8 character ends."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if length <= back else len(data) - back
    return len(data)


def _character_start(data: bytes | bytearray) -> int:
    """Where the first whole UTF-8 character begins."""
    return next((at for at in range(min(4, len(data))) if data[at] & 0xC0 != 0x80), 0)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
