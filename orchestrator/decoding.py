"""Bytes of a file to text and back: which encoding it is, and whether it is text at all.

UTF-8, UTF-16 with or without a byte-order mark, else line by line: a line that is not UTF-8 is read as Windows-1252
(the superset of Latin-1 that such files mostly are). ripgrep's output is decoded by the same rule for lines, so that
`read_file` and `grep` show the same text.
"""

from __future__ import annotations

import codecs

_SIGNED = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16-le-sig"),
    (codecs.BOM_UTF16_BE, "utf-16-be-sig"),
)
"""Encodings that begin with a byte-order mark, by that mark."""

_CP1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"
_TO_CP1252 = {0x80 + index: char for index, char in enumerate(_CP1252)}
_FROM_CP1252 = {ord(char): 0x80 + index for index, char in enumerate(_CP1252)}
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x1b\b") + b"\x7f"
_CONTROL_CHARS = frozenset(_CONTROLS.decode("ascii"))

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\0\0\x01\0", "an icon"),
)
_OTHERS = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"\xfd7zXZ\0", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or Mach-O file"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"MZ", "a Windows program or library"),
    (b"\0asm", "a WebAssembly module"),
    (b"SQLite format 3\0", "an SQLite database"),
)


class NotText(ValueError):
    """The bytes are no text; `kind` says what they seem to be ("a PNG image", "binary data")."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind

    @property
    def is_image(self) -> bool:
        return self.kind.endswith(("image", "icon"))


def decode(data: bytes) -> tuple[str, str]:
    """The text (without byte-order mark, line endings as they are) and the name of its encoding for `encode`.

    Raises `NotText`. The encoding is `mixed` where some lines are UTF-8 and some are not.
    """
    for mark, encoding in _SIGNED:
        if data.startswith(mark) and not data.startswith(codecs.BOM_UTF32_LE):
            return _decode_signed(data[len(mark) :], encoding)
    if data.startswith(b"%PDF-"):
        raise NotText(kind_of(data))
    if b"\0" in data:
        return _decode_utf16(data)
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return _decode_lines(data)


def encode(text: str, encoding: str) -> bytes:
    """The inverse of `decode`. Raises `UnicodeEncodeError` for characters that the encoding lacks."""
    for mark, name in _SIGNED:
        if name == encoding:
            return mark + text.encode(_plain(encoding))
    if encoding == "cp1252":
        return text.translate(_FROM_CP1252).encode("latin-1")
    if encoding == "mixed":
        raise UnicodeEncodeError("mixed", text, 0, len(text), "some lines of the file are UTF-8 and some are not")
    return text.encode(encoding)


def decode_line(raw: bytes) -> str:
    """One line, by the same rule as in `decode`; never fails."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1").translate(_TO_CP1252)


def kind_of(data: bytes) -> str:
    """What data that is no text seems to be, by its first bytes."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "a WebP image"
    if data[:2] == b"BM" and data[6:10] == bytes(4):
        return "a BMP image"
    if data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"heic"):
        return "an AVIF or HEIC image"
    return next((kind for magic, kind in (*_IMAGES, *_OTHERS) if data.startswith(magic)), "binary data")


def _plain(signed: str) -> str:
    return signed.removesuffix("-sig")


def _decode_signed(body: bytes, encoding: str) -> tuple[str, str]:
    try:
        text = body.decode(_plain(encoding))
    except UnicodeDecodeError:
        damaged = _decode_lines(body)[0] if encoding == "utf-8-sig" else body.decode(_plain(encoding), "replace")
        text, encoding = damaged, "mixed"
    if "\0" in text:
        raise NotText(kind_of(body))
    return text, encoding


def _decode_utf16(data: bytes) -> tuple[str, str]:
    """Text with zero bytes is UTF-16 without a mark if the zeros are nearly all in one half of the pairs."""
    sample = data[:4096]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    lopsided = max(even, odd) * 3 > len(sample) // 2 and min(even, odd) * 20 < max(even, odd)
    if not lopsided or len(data) % 2:
        raise NotText(kind_of(data))
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise NotText(kind_of(data)) from None
    if _CONTROL_CHARS.intersection(text[:2048]):
        raise NotText(kind_of(data))
    return text, encoding


def _decode_lines(data: bytes) -> tuple[str, str]:
    sample = data[:8192]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls * 20 > len(sample) or (kind_of(data) != "binary data" and not data[:1].isalpha()):
        raise NotText(kind_of(data))
    lines = [decode_line(line) for line in data.split(b"\n")]
    text = "\n".join(lines)
    mixed = text.translate(_FROM_CP1252).encode("latin-1", "replace") != data
    return text, "mixed" if mixed else "cp1252"
