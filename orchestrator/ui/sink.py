"""An output stream written as bytes, so that nothing stays in a buffer to fail again when the interpreter exits."""

from __future__ import annotations

import os
import select
from typing import TextIO

_ALWAYS_FITS = min(select.PIPE_BUF, 4096)
"""Bytes that a pipe takes without blocking once `poll` calls it writable."""


class Sink:
    """Writes text to `stream`; characters that its encoding lacks become `?`.

    `write` raises `OSError` (a closed pipe, a full disk). A `lossy` sink never raises: after a failure it drops
    everything, which is right for diagnostics that nobody can read any more.
    """

    def __init__(self, stream: TextIO | None, *, lossy: bool = False) -> None:
        self._stream = stream
        self._lossy = lossy
        self._broken = False
        self._waiting = bytearray()
        self._fd = _descriptor(stream)

    def write(self, text: str) -> None:
        """Write all of `text`, and what waits before it, however long that takes."""
        self._do(text, wait=True)

    def offer(self, text: str) -> None:
        """Write what the reader has room for; the rest waits for the next call. Never blocks on a pipe."""
        self._do(text, wait=False)

    def _do(self, text: str, *, wait: bool) -> None:
        if self._broken:
            return
        try:
            self._put(text, wait=wait)
        except OSError:
            self._broken = True
            if not self._lossy:
                raise

    def _put(self, text: str, *, wait: bool) -> None:
        if self._stream is None:
            raise OSError("the stream is closed")
        if self._fd is None:
            self._stream.write(text)
            self._stream.flush()
            return
        self._waiting += text.encode(self._stream.encoding or "utf-8", "replace")
        self._drain(self._fd, wait=wait)

    def _drain(self, fd: int, *, wait: bool) -> None:
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        while self._waiting and (wait or poll.poll(0)):
            try:
                written = os.write(fd, self._waiting if wait else self._waiting[:_ALWAYS_FITS])
            except BlockingIOError:  # somebody made the stream non-blocking
                if not wait:
                    return
                poll.poll()
                continue
            del self._waiting[:written]


def _descriptor(stream: TextIO | None) -> int | None:
    """The file descriptor behind `stream`, with all written earlier flushed; `None` for an in-memory stream."""
    if stream is None:
        return None
    try:
        fd = stream.fileno()
    except (OSError, ValueError):
        return None
    stream.flush()
    return fd
