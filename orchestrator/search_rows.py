"""The rows that a search engine writes, read from a stream of chunks and cut to what is asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

from orchestrator.decoding import decode_line
from orchestrator.path_names import shown_path
from orchestrator.text_cut import cut_line
from orchestrator.tool import Match

PREVIEW_WIDTH = 250
"""Characters of a line that are shown; of a longer one the part around its match."""

_MAX_LINE = 20_000
"""Characters of a line that are kept at all (a bundled script may be one line of megabytes)."""

_PLACE = re.compile(rb"(\d+)(?::(\d+):|-)")


class RowReader:
    """Collects the rows of the files in `wanted` (raw paths), by file."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = wanted
        self._pending = bytearray()
        self.rows: dict[str, list[Match]] = {}

    def feed(self, chunk: bytes) -> None:
        """Take the next piece of an engine's output."""
        pending = self._pending
        pending += chunk
        done = 0
        while (name_end := pending.find(b"\0", done)) >= 0 and (line_end := pending.find(b"\n", name_end)) >= 0:
            self._add(bytes(pending[done:name_end]), bytes(pending[name_end + 1 : line_end]))
            done = line_end + 1
        del pending[:done]

    def _add(self, name: bytes, row: bytes) -> None:
        path = os.fsdecode(name.removeprefix(b"./"))
        place = _PLACE.match(row)
        if path in self._wanted and place:
            column = int(place[2]) if place[2] else 0
            self.rows.setdefault(path, []).append(_match(path, int(place[1]), row[place.end() :], column))


def _match(path: str, line: int, raw: bytes, column: int) -> Match:
    raw = raw.removesuffix(b"\r")
    text = decode_line(raw)
    preview = ""
    if len(text) > PREVIEW_WIDTH:
        at = _index(raw, text, max(column - 1, 0))
        preview = cut_line(text, PREVIEW_WIDTH, at)
        if len(text) > _MAX_LINE:
            start = max(0, at - _MAX_LINE // 2)
            text = text[start : start + _MAX_LINE]
    return Match(shown_path(path), line, text, is_context=not column, preview=preview)


def _index(raw: bytes, text: str, offset: int) -> int:
    """The character of `text`, decoded from `raw`, that begins at the byte `offset`."""
    return offset if len(text) == len(raw) else len(raw[:offset].decode("utf-8", "replace"))


def capped(rows: Sequence[Match], matches: int, context: int) -> list[Match]:
    """The rows of one file up to the given number of matches, with the context of the last one.

    A match within that context, beyond the number, is context too.
    """
    out: list[Match] = []
    last = 0
    for row in rows:
        if matches:
            out.append(row)
            if not row.is_context:
                matches -= 1
                last = row.line
        elif row.line <= last + context:
            out.append(Match(row.path, row.line, row.text, is_context=True, preview=row.preview))
        else:
            break
    return out
