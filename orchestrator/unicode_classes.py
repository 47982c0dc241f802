"""What `\\w`, `\\d` and `\\s` mean to ripgrep in text that is not plain ASCII, as ranges of code points."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache

Ranges = tuple[tuple[int, int], ...]

LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D))
UNDECODED: Ranges = ((0xDC80, 0xDCFF),)
"""Bytes that are not UTF-8, as `surrogateescape` carries them: part of no character."""

_WORD_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Mn", "Mc", "Me", "Nd", "Pc"})
_OTHER_WORD = frozenset(
    (
        0x200C,
        0x200D,
        *range(0x24B6, 0x24EA),
        *range(0x1F130, 0x1F14A),
        *range(0x1F150, 0x1F16A),
        *range(0x1F170, 0x1F18A),
    )
)
_ASSIGNED = (range(0x323B0), range(0xE0100, 0xE01F0))
_SPACES = frozenset(
    (*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F)
)


@cache
def word_ranges() -> Ranges:
    return _ranges(lambda code: unicodedata.category(chr(code)) in _WORD_CATEGORIES or code in _OTHER_WORD)


@cache
def digit_ranges() -> Ranges:
    return _ranges(lambda code: unicodedata.category(chr(code)) == "Nd")


@cache
def space_ranges() -> Ranges:
    return _ranges(lambda code: code in _SPACES or code == 0x3000)


def complement(ranges: Ranges) -> Ranges:
    """All other code points."""
    out: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted(ranges):
        if start < low:
            out.append((start, low - 1))
        start = max(start, high + 1)
    if start <= 0x10FFFF:
        out.append((start, 0x10FFFF))
    return tuple(out)


def without(ranges: Ranges, removed: Ranges) -> Ranges:
    return complement(complement(ranges) + removed)


def class_body(ranges: Ranges) -> str:
    """The inside of a Python character class."""
    return "".join(_escape(low) if low == high else f"{_escape(low)}-{_escape(high)}" for low, high in ranges)


def _escape(code: int) -> str:
    return f"\\U{code:08x}"


def _ranges(belongs: Callable[[int], bool]) -> Ranges:
    out: list[tuple[int, int]] = []
    for codes in _ASSIGNED:
        for code in codes:
            if not belongs(code):
                continue
            if out and out[-1][1] == code - 1:
                out[-1] = (out[-1][0], code)
            else:
                out.append((code, code))
    return tuple(out)
