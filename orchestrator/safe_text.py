"""Text from models, files and commands made safe to draw: no terminal control gets through, and widths are in cells.

Nothing visible is lost: escape sequences are removed, a lone carriage return (which would let later text overwrite
earlier text) becomes a line break, and bidi controls (which would let text read in another order than it is) are
written out as `<U+202E>`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

_SPECIAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_CONTROL_PARAMETERS = re.compile("[\x20-\x3f]*")
_INTERMEDIATES = re.compile("[\x20-\x2f]*")
_STRING_END = re.compile("[\x07\x18\x1a\x1b\x9c\n\r]")
_BREAKS = frozenset("\x0b\x0c\x85\u2028\u2029")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_STRING_OPENERS = frozenset("\x90\x98\x9d\x9e\x9f")
_STRING_OPENERS_AFTER_ESCAPE = frozenset("]PX^_k")
"""OSC, DCS, SOS, PM, APC, and the window title of screen and tmux."""

_WIDE_SINCE_UNICODE_16 = (
    range(0x2630, 0x2638),
    range(0x268A, 0x2690),
    range(0x4DC0, 0x4E00),
    range(0x1D300, 0x1D357),
    range(0x1D360, 0x1D377),
)
"""Symbols that newer terminals draw wide, while the tables of the oldest Python that we run on do not know it."""

_ZWJ, _VS16 = "\u200d", "\ufe0f"


class Stripper:
    """Removes terminal control from a stream of chunks; a sequence may be split anywhere between chunks.

    A string sequence (OSC and its like) that is never closed ends with its line, so it cannot hide what follows.
    """

    def __init__(self) -> None:
        self._ground: Callable[[str, int, list[str]], int] = self._in_text
        self._state: Callable[[str, int, list[str]], int] = self._ground
        self._high = ""

    def feed(self, chunk: str) -> str:
        """The part of `chunk` that is safe to draw."""
        if self._state is self._ground and not _SPECIAL.search(chunk):
            return chunk
        out: list[str] = []
        position = 0
        while position < len(chunk):
            position = self._state(chunk, position, out)
        return "".join(out)

    def close(self) -> str:
        """What was held back at the end of the stream; the stripper is ready for another one."""
        rest = "\ufffd" if self._high else ""
        self._state, self._high = self._ground, ""
        return rest

    def _in_text(self, chunk: str, position: int, out: list[str]) -> int:
        found = _SPECIAL.search(chunk, position)
        if found is None:
            out.append(chunk[position:])
            return len(chunk)
        out.append(chunk[position : found.start()])
        self._meet(found.group(), out)
        return found.end()

    def _meet(self, char: str, out: list[str]) -> None:
        if char == "\x1b":
            self._state = self._after_escape
        elif char == "\x9b":
            self._state = self._in_control
        elif char in _STRING_OPENERS:
            self._state = self._in_string
        elif char == "\r":
            self._state = self._after_return
        elif "\ud800" <= char <= "\udbff":
            self._state, self._high = self._after_high, char
        elif char in _BREAKS:
            out.append("\n")
        elif char in _BIDI:
            out.append(f"<U+{ord(char):04X}>")
        elif "\udc00" <= char <= "\udfff":
            out.append("\ufffd")

    def _after_escape(self, chunk: str, position: int, out: list[str]) -> int:
        char = chunk[position]
        if char == "[":
            self._state = self._in_control
        elif char in _STRING_OPENERS_AFTER_ESCAPE:
            self._state = self._in_string
        elif "\x20" <= char <= "\x2f":
            self._state = self._in_intermediates
        else:
            self._state = self._ground
            return position + ("\x30" <= char <= "\x7e")
        return position + 1

    def _in_control(self, chunk: str, position: int, out: list[str]) -> int:
        return self._until_final(_CONTROL_PARAMETERS, "\x40", chunk, position)

    def _in_intermediates(self, chunk: str, position: int, out: list[str]) -> int:
        return self._until_final(_INTERMEDIATES, "\x30", chunk, position)

    def _until_final(self, body: re.Pattern[str], first_final: str, chunk: str, position: int) -> int:
        found = body.match(chunk, position)
        end = found.end() if found else position
        if end < len(chunk):
            self._state = self._ground
            return end + (first_final <= chunk[end] <= "\x7e")
        return end

    def _in_string(self, chunk: str, position: int, out: list[str]) -> int:
        found = _STRING_END.search(chunk, position)
        if found is None:
            return len(chunk)
        if found.group() == "\x1b":
            self._state = self._after_string_escape
            return found.end()
        self._state = self._ground
        return found.start() + (found.group() not in "\r\n")

    def _after_string_escape(self, chunk: str, position: int, out: list[str]) -> int:
        if chunk[position] == "\\":
            self._state = self._ground
            return position + 1
        self._state = self._after_escape
        return position

    def _after_return(self, chunk: str, position: int, out: list[str]) -> int:
        if chunk[position] != "\n":
            out.append("\n")
        self._state = self._ground
        return position

    def _after_high(self, chunk: str, position: int, out: list[str]) -> int:
        """Two halves of one character may come in two chunks."""
        high, low = self._high, chunk[position]
        self._state, self._high = self._ground, ""
        if "\udc00" <= low <= "\udfff":
            out.append((high + low).encode("utf-16-le", "surrogatepass").decode("utf-16-le"))
            return position + 1
        out.append("\ufffd")
        return position


def safe_text(text: str) -> str:
    """`text` without terminal control; line breaks and tabs are kept."""
    if not _SPECIAL.search(text):
        return text
    stripper = Stripper()
    return stripper.feed(text) + stripper.close()


def safe_line(text: str) -> str:
    """`text` without terminal control, on one line."""
    safe = safe_text(text)
    return " ".join(safe.split()) if "\n" in safe or "\t" in safe else safe.strip()


def cell_width(text: str) -> int:
    """How many terminal columns `text` (one line, without control characters) takes."""
    if text.isascii():
        return len(text)
    return sum(cells for _, cells in _clusters(text))


def cut_cells(text: str, width: int, mark: str = "") -> str:
    """The longest start of `text` that fits in `width` columns, never half a character.

    Where something is cut, the result ends with `mark` if there is room for it.
    """
    if (text.isascii() and len(text) <= width) or cell_width(text) <= width:
        return text
    if cell_width(mark) > width:
        mark = ""
    room = width - cell_width(mark)
    kept: list[str] = []
    for cluster, cells in _clusters(text):
        room -= cells
        if room < 0:
            break
        kept.append(cluster)
    return "".join(kept) + mark


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Each character with all that is drawn onto it (accents, joined emoji, skin tones, flag pairs), and its cells."""
    start = cells = 0
    joined = flag = False
    for index, char in enumerate(text):
        own = _char_cells(char)
        half_flag = "\U0001f1e6" <= char <= "\U0001f1ff"
        skin_tone = "\U0001f3fb" <= char <= "\U0001f3ff"
        if index and (own == 0 or joined or (flag and half_flag) or (skin_tone and cells == 2)):
            if char == _VS16 and cells == 1:
                cells = 2
            flag = False
        else:
            if index:
                yield text[start:index], cells
            start, cells, flag = index, own, half_flag
        joined = char == _ZWJ and cells == 2
    if text:
        yield text[start:], cells


@lru_cache(maxsize=4096)
def _char_cells(char: str) -> int:
    """Columns of one character alone. Where terminals differ, the larger figure, so that a line never overflows."""
    code = ord(char)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return 0
    category = unicodedata.category(char)
    drawn_format = code < 0x180E or code in (0x110BD, 0x110CD)  # a soft hyphen, the number signs of some scripts
    if category in ("Mn", "Me", "Zl", "Zp") or (category == "Cf" and not drawn_format):
        return 0
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF:  # Hangul vowels and finals sit on the syllable before
        return 0
    newer_emoji = category == "Cn" and 0x1F000 <= code <= 0x1FAFF
    half_flag = 0x1F1E6 <= code <= 0x1F1FF
    wide = unicodedata.east_asian_width(char) in ("W", "F") or newer_emoji or half_flag
    return 2 if wide or any(code in widened for widened in _WIDE_SINCE_UNICODE_16) else 1
