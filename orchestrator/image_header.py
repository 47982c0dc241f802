"""What the header of a PNG, JPEG, GIF or WebP image says of it, without decoding it, and what it costs in tokens."""

from __future__ import annotations

import base64
import struct
from typing import NamedTuple

from orchestrator.messages import Attachment

PROVIDER_SIDE = 1568
"""Pixels of the longest side up to which providers look at an image; they scale larger ones themselves."""

_PIXELS_PER_TOKEN = 750
_LEAST_TOKENS = 85
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE_MARKERS = frozenset((0x01, *range(0xD0, 0xD8)))
"""JPEG markers that no length follows."""
_ORIENTATION = 0x0112


class ImageHeader(NamedTuple):
    """`turned`: the camera's note in a JPEG says that it must be turned to stand upright."""

    media_type: str
    width: int
    height: int
    animated: bool = False
    turned: bool = False


def read_header(data: bytes) -> ImageHeader | None:
    """The header of an image; `None` for other data and for a header that is broken or not all there."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return _png(data)
        if data.startswith((b"GIF87a", b"GIF89a")):
            return _gif(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
        if data.startswith(b"\xff\xd8\xff"):
            return _jpeg(data)
    except (struct.error, IndexError):
        pass
    return None


def image_tokens(width: int, height: int) -> int:
    """About how many tokens an image of this many pixels is. Providers differ; this is the figure of the dearest."""
    longest = max(width, height, 1)
    scale = min(1.0, PROVIDER_SIDE / longest)
    return max(_LEAST_TOKENS, round(width * scale * height * scale / _PIXELS_PER_TOKEN))


def attachment_tokens(attachment: Attachment) -> int:
    """`image_tokens` of an attachment; the most that an image can be when its size cannot be told."""
    try:
        header = read_header(base64.b64decode(attachment.data))
    except ValueError:
        header = None
    if header is None:
        return image_tokens(PROVIDER_SIDE, PROVIDER_SIDE)
    return image_tokens(header.width, header.height)


def _sized(
    media_type: str, width: int, height: int, *, animated: bool = False, turned: bool = False
) -> ImageHeader | None:
    return ImageHeader(media_type, width, height, animated, turned) if width > 0 and height > 0 else None


def _png(data: bytes) -> ImageHeader | None:
    if data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    start = data.find(b"IDAT")
    animated = b"acTL" in data[: start if start >= 0 else None]
    return _sized("image/png", width, height, animated=animated)


def _gif(data: bytes) -> ImageHeader | None:
    width, height = struct.unpack_from("<HH", data, 6)
    frames = data.count(b"\0\x21\xf9\x04")  # the end of a block and the start of a frame's own settings
    return _sized("image/gif", width, height, animated=frames > 1 or b"NETSCAPE2.0" in data[:1024])


def _webp(data: bytes) -> ImageHeader | None:
    match data[12:16]:
        case b"VP8X":
            width = int.from_bytes(data[24:27], "little") + 1
            height = int.from_bytes(data[27:30], "little") + 1
            return _sized("image/webp", width, height, animated=bool(data[20] & 2)) if len(data) >= 30 else None
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return _sized("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return _sized("image/webp", width & 0x3FFF, height & 0x3FFF)
        case _:
            return None


def _jpeg(data: bytes) -> ImageHeader | None:
    at, turned = 2, False
    while True:
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # a filling byte
            at += 1
        elif marker in _BARE_MARKERS:
            at += 2
        elif marker in _START_OF_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return _sized("image/jpeg", width, height, turned=turned)
        elif marker in (0xD9, 0xDA):  # the image itself begins, or ends
            return None
        else:
            (length,) = struct.unpack_from(">H", data, at + 2)
            if marker == 0xE1 and data[at + 4 : at + 10] == b"Exif\0\0":
                turned = turned or _is_turned(data[at + 10 : at + 2 + length])
            at += 2 + max(length, 2)


def _is_turned(exif: bytes) -> bool:
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None:
        return False
    try:
        (start,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, start)
        for index in range(count):
            tag, _, _, value = struct.unpack_from(f"{order}HHIH", exif, start + 2 + 12 * index)
            if tag == _ORIENTATION:
                return bool(2 <= value <= 8)
    except struct.error:
        pass
    return False
