"""File names as text that can always be shown, logged and sent, and turned back into the same name.

A name may hold line breaks, control characters and bytes that are not UTF-8. Shown, those are written `\\n`, `\\x1b`
and `\\xe9` (for the byte), and a backslash is doubled. All other names are shown as they are.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00-\x1f\\\\\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(?:(\\)|([nrt])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))")
_LETTERS = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_FROM_LETTER = {"n": "\n", "r": "\r", "t": "\t"}


def shown_path(raw: str) -> str:
    """`raw`, as `os.fsdecode` gives it, in the form that is shown."""
    return _UNSAFE.sub(_escape, raw)


def raw_path(shown: str) -> str:
    """The name that `shown_path` made `shown` from; any other text is decoded as far as it holds escapes."""
    return _ESCAPE.sub(_unescape, shown)


def _escape(found: re.Match[str]) -> str:
    char = found.group()
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # how os.fsdecode carries a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return _LETTERS.get(char) or (f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}")


def _unescape(found: re.Match[str]) -> str:
    backslash, letter, byte, char = found.groups()
    if backslash:
        return "\\"
    if letter:
        return _FROM_LETTER[letter]
    code = int(byte or char, 16)
    return chr(0xDC00 + code) if byte and code >= 0x80 else chr(code)
