"""Server-sent events out of a stream of bytes that may be cut anywhere."""

from __future__ import annotations

from typing import NamedTuple


class ServerEvent(NamedTuple):
    """One event: its `event` field (empty when there was none) and its `data` lines joined by newlines."""

    event: str
    data: str


class SSEParser:
    """Incremental: feed it bytes, take the events that became complete.

    Lines end in LF, CRLF or CR. Only whole lines are decoded, so a character split over two chunks comes out whole.
    """

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._skip_lf = False
        self._at_start = True
        self._event = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events completed by `chunk`, in order."""
        events: list[ServerEvent] = []
        for line in self._lines(chunk):
            self._line(line.decode("utf-8", "replace"), events)
        return events

    def close(self) -> list[ServerEvent]:
        """At the end of the stream: the last event even when the blank line after it never came."""
        events = self.feed(b"\n\n")
        self._pending = []
        return events

    def _lines(self, chunk: bytes) -> list[bytes]:
        if self._skip_lf and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_lf = False
        if b"\r" in chunk:
            self._skip_lf = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._pending.append(chunk)
            return []
        first, *lines = chunk.split(b"\n")
        lines.insert(0, b"".join([*self._pending, first]))
        self._pending = [lines.pop()]
        return lines

    def _line(self, line: str, events: list[ServerEvent]) -> None:
        if self._at_start:
            line = line.removeprefix("\ufeff")
            self._at_start = False
        if not line:
            self._dispatch(events)
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value

    def _dispatch(self, events: list[ServerEvent]) -> None:
        if self._data:
            events.append(ServerEvent(self._event, "\n".join(self._data)))
            self._data = []
        self._event = ""
