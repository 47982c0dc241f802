"""The view of a run while it goes on: the tree of agents, redrawn in place on a terminal.

The cursor rests at the start of the first line of the tree, so that clearing from there to the end of the screen
removes all of it, whatever a resize did to the lines. It is hidden only within a frame, and a frame is one write:
however the process ends, the terminal is left usable.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from orchestrator.events import Event
from orchestrator.ui.agent_tree import AgentTree, Line, Style, draw
from orchestrator.ui.sink import Sink
from orchestrator.ui.terminal import Terminal, terminal_size

FIRST_FRAME_SECONDS = 0.15
FRAME_SECONDS = 0.125
_CLEAR = "\r\x1b[J"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_SGR: dict[Style, str] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_COLORS = frozenset(("red", "green", "yellow", "cyan"))


class LiveView:
    """The tree of agents, redrawn in place by its own thread at most eight times a second."""

    def __init__(
        self, sink: Sink, stream: TextIO, terminal: Terminal, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sink = sink
        self._stream = stream
        self._terminal = terminal
        self._clock = clock
        self._lock = threading.Lock()
        self._tree = AgentTree()
        self._lines_to_stay: list[str] = []
        self._began: float | None = None
        self._frame = 0
        self._drawn = False
        self._suspended = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._keyboard: list[Any] | None = None

    def emit(self, event: Event) -> None:
        with self._lock:
            if self._began is None:
                self._began = self._clock() - event.t
                self._start()
            self._tree.apply(event)

    def print(self, text: str) -> None:
        with self._lock:
            self._lines_to_stay.append(text)
        if self._thread is None and not self._suspended:
            self._write(self._take_lines_to_stay())

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Clear the tree, give the keyboard back without what was typed so far, and go on drawing afterwards."""
        self.close()
        _forget_typed(self._stream)
        self._suspended = True
        try:
            yield
        finally:
            self._suspended = False
            if self._began is not None:
                self._start()

    def close(self) -> None:
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None
            _restore_echo(self._stream, self._keyboard)
            atexit.unregister(self.close)
        clear = _CLEAR if self._drawn else ""
        self._drawn = False
        self._write(clear + self._take_lines_to_stay())

    def _start(self) -> None:
        self._stop.clear()
        self._keyboard = _echo_off(self._stream)
        atexit.register(self.close)
        self._thread = threading.Thread(target=self._redraw_until_stopped, name="orch-live-view", daemon=True)
        self._thread.start()

    def _redraw_until_stopped(self) -> None:
        pause = FIRST_FRAME_SECONDS
        while not self._stop.wait(pause):
            pause = FRAME_SECONDS
            if _in_foreground(self._stream):
                self._draw_frame()

    def _draw_frame(self) -> None:
        """The state is read under the lock and written outside it: a stopped terminal must not stop the run."""
        size = terminal_size(self._stream)
        with self._lock:
            now = self._clock() - (self._began or 0.0)
            lines = draw(self._tree, now, size.columns - 1, size.lines - 1, self._terminal.glyphs, self._frame)
        self._frame += 1
        self._write(self._compose(lines, self._take_lines_to_stay()))
        self._drawn = True

    def _compose(self, lines: Sequence[Line], staying: str) -> str:
        body = "\x1b[K\n".join(paint(line, self._terminal.color) for line in lines)
        up = f"\x1b[{len(lines) - 1}A" if len(lines) > 1 else ""
        above = _CLEAR + staying if staying else "\r"
        return f"{_HIDE_CURSOR}{above}{_NO_WRAP}{body}\x1b[J\r{up}{_WRAP}{_SHOW_CURSOR}"

    def _take_lines_to_stay(self) -> str:
        with self._lock:
            text = "".join(line + "\n" for line in self._lines_to_stay)
            self._lines_to_stay.clear()
        return text

    def _write(self, text: str) -> None:
        if text:
            self._sink.write(text)


def paint(line: Line, color: bool) -> str:
    """The spans with their attributes; colours only if `color`."""
    parts = []
    for text, style in line:
        code = _SGR.get(style, "") if color or style not in _COLORS else ""
        parts.append(f"\x1b[{code}m{text}\x1b[0m" if code else text)
    return "".join(parts)


def _in_foreground(stream: TextIO) -> bool:
    """Whether the terminal is ours to draw on; not while the user has put us in the background."""
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except OSError:  # not our controlling terminal: nobody shares it with us
        return True


def _echo_off(stream: TextIO) -> list[Any] | None:
    """Keep keys typed meanwhile from being echoed into the tree; gives the settings to restore."""
    import termios

    if not _in_foreground(stream):
        return None
    try:
        before = termios.tcgetattr(stream.fileno())
        quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
        termios.tcsetattr(stream.fileno(), termios.TCSANOW, quiet)
    except (OSError, termios.error):
        return None
    return before


def _restore_echo(stream: TextIO, before: list[Any] | None) -> None:
    import termios

    if before is None or not _in_foreground(stream):
        return
    try:
        termios.tcsetattr(stream.fileno(), termios.TCSANOW, before)
    except (OSError, termios.error):
        return


def _forget_typed(stream: TextIO) -> None:
    """Keys pressed before a question was on the screen are no answer to it."""
    import termios

    try:
        termios.tcflush(stream.fileno(), termios.TCIFLUSH)
    except (OSError, termios.error):
        return
