"""The top-level statements of Python source that hold certain bytes, so that a parser need not read all the others.

Where a statement begins is told by the lexical rules alone: a line that starts in the first column, outside strings and
comments, with a keyword that can stand neither inside brackets nor go on with the line before.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

WORTH_CUTTING = 2000
"""Bytes from which on finding the statements takes less time than parsing them all."""

_TOKEN = re.compile(
    rb'"""(?:[^"\\]++|\\.|"(?!""))*+"""'
    rb"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
    rb'|"(?:[^"\\\n]++|\\.)*+"'
    rb"|'(?:[^'\\\n]++|\\.)*+'"
    rb"|\"|'|#[^\n]*+"
    rb"|\n(?=@|(?:class|def|async|import|from|with|try)\b)(?<!\\\n)(?<!\\\r\n)",
    re.DOTALL,
)
"""Every alternative begins with a plain character, which lets the search skip all others quickly. A quote alone is one
of a string that does not end."""


class Statements(NamedTuple):
    """`data` is the statements one after the other; `moved` has each of the offsets asked for, as one into `data`."""

    data: bytes
    moved: list[int]


def statements_with(data: bytes, offsets: Iterable[int]) -> Statements | None:
    """The statements that hold the ascending `offsets`; `None` when the source has a string that does not end."""
    starts = _starts(data)
    if starts is None:
        return None
    kept: list[bytes] = []
    moved: list[int] = []
    newest, shift, size = -1, 0, 0
    for offset in offsets:
        at = bisect_right(starts, offset) - 1
        if at != newest:
            start, end = starts[at], starts[at + 1] if at + 1 < len(starts) else len(data)
            kept.append(data[start:end])
            newest, shift, size = at, size - start, size + end - start
        moved.append(offset + shift)
    return Statements(b"".join(kept), moved)


def _starts(data: bytes) -> list[int] | None:
    """Where statements begin; what is decorated begins with its first decorator."""
    starts = [0]
    decorated = data.startswith(b"@")
    for token in _TOKEN.finditer(data):
        text = token.group()
        if text in (b'"', b"'"):
            return None
        if text == b"\n":
            start = token.end()
            if not decorated:
                starts.append(start)
            decorated = data.startswith(b"@", start)
    return starts
