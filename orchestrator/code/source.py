"""The text of one file, with the positions that tree-sitter (bytes) and people (lines, columns) use."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property

from orchestrator.decoding import NotText, decode
from orchestrator.text_cut import cut_line

LONG_LINE = 1000
"""Characters from which on a line is taken for generated or minified text."""


MAX_LINE = 200_000
"""Characters of a line that is carried along whole; of a longer one only the part around a place is."""
MAX_SHOWN = 200
"""Characters of a line that is shown whole."""


class Source:
    """Decoded text. Offsets count characters, lines and columns count from 1, a line ends at a line feed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._counted = (0, 1)
        """An offset and its line: places come in order, so that only what lies between two is counted."""
        self._newest_line = (0, -1)

    @cached_property
    def data(self) -> bytes:
        """The text in UTF-8, which is what the parser reads."""
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line_of(self, offset: int) -> int:
        at, number = self._counted
        if offset < at:
            return bisect_right(self._line_starts, offset)
        number += self.text.count("\n", at, offset)
        self._counted = (offset, number)
        return number

    def line(self, number: int) -> str:
        """The line with this number, without its end."""
        return self.line_at(self._line_starts[number - 1])

    def column_of(self, offset: int) -> int:
        return offset - self.bounds_of_line(offset)[0] + 1

    def bounds_of_line(self, offset: int) -> tuple[int, int]:
        """Where the line that holds `offset` begins and ends, without its line feed."""
        start, end = self._newest_line
        if not start <= offset <= end:
            start = self.text.rfind("\n", 0, offset) + 1
            found = self.text.find("\n", offset)
            end = len(self.text) if found < 0 else found
            self._newest_line = (start, end)
        return start, end

    def line_at(self, offset: int) -> str:
        """The whole line that holds `offset`, without its end."""
        start, end = self.bounds_of_line(offset)
        return self.text[start:end].removesuffix("\r")

    def around(self, offset: int, width: int) -> tuple[str, int]:
        """At most `width` characters before and after `offset` on its line, and where in them `offset` is."""
        start, end = self.bounds_of_line(offset)
        first = max(start, offset - width)
        return self.text[first : min(end, offset + width)].removesuffix("\r"), offset - first

    def shown_at(self, offset: int) -> tuple[str, str]:
        """The line that holds `offset`, and what to show of it: around the offset if it is long, "" if it is not."""
        line = self.line_at(offset)
        if len(line) <= MAX_SHOWN:
            return line, ""
        column = self.column_of(offset) - 1
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        preview = cut_line(text, MAX_SHOWN, max(0, column - indent)) if len(text) > MAX_SHOWN else ""
        return line if len(line) <= MAX_LINE else self.around(offset, LONG_LINE)[0], preview

    def byte_offsets(self, offsets: list[int]) -> Iterator[int]:
        """The byte offsets in `data` of ascending character offsets."""
        if len(self.data) == len(self.text):
            yield from offsets
            return
        at = byte = 0
        for offset in offsets:
            byte += len(self.text[at:offset].encode("utf-8", "surrogatepass"))
            at = offset
            yield byte


def read_source(data: bytes) -> Source | None:
    """The text in `data`, whatever its encoding; `None` if it is no text."""
    try:
        return Source(decode(data)[0])
    except NotText:
        return None
