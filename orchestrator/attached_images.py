"""Images made ready for a model: at most as large as providers take, upright, one frame, in a format that they know.

Pillow does it where it is installed (the extra `images`), in a process of its own. Without it, what can be sent as it
is still is.
"""

from __future__ import annotations

import base64
from typing import NamedTuple

from orchestrator.attached_process import Worked, library_folder, run_worker
from orchestrator.decoding import kind_of
from orchestrator.errors import UsageError
from orchestrator.image_header import PROVIDER_SIDE, ImageHeader, image_tokens, read_header
from orchestrator.messages import Attachment

MAX_BASE64 = 5_000_000
"""Characters of one image as it is sent."""
MAX_PIXELS = 100_000_000
"""Of an image that is opened: 400 MB decoded."""
TIME_LIMIT = 30.0

_LARGEST_SIDE = 8000
"""Pixels that no provider takes more of, even if it scales images itself."""
_INSTALL = "pip install 'orch-agents[images]'"
_FORMATS = {
    "a PNG image": ["PNG"],
    "a JPEG image": ["JPEG", "MPO"],
    "a GIF image": ["GIF"],
    "a WebP image": ["WEBP"],
    "a BMP image": ["BMP"],
    "a TIFF image": ["TIFF"],
    "an icon": ["ICO"],
    "an AVIF image": ["AVIF"],
}
_HEIC = frozenset((b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"))


class Picture(NamedTuple):
    """`told` says to the user what is sent; `notes` what else to know."""

    attachment: Attachment
    width: int
    height: int
    told: str
    notes: tuple[str, ...] = ()


def image_kind(data: bytes) -> str:
    """What image `data` is ("a PNG image"), empty when it is none. Tells HEIC from AVIF."""
    if data[4:8] == b"ftyp":
        brand = data[8:12]
        return "a HEIC image" if brand in _HEIC else "an AVIF image" if brand in (b"avif", b"avis") else ""
    kind = kind_of(data)
    return kind if kind in _FORMATS else ""


async def prepare_image(data: bytes, name: str, *, pillow: bool | None = None) -> Picture:
    """The image in `data` as it is sent. Raises `UsageError` that names it `name` and says what to do.

    `pillow=False` is for doing without Pillow although it is installed.
    """
    kind = image_kind(data)
    if kind == "a HEIC image":
        raise UsageError(f"{name} is a HEIC image, which models do not take", "convert it to JPEG or PNG")
    header = read_header(data)
    if header and header.width * header.height > MAX_PIXELS:
        raise _bomb(name, f"has {header.width:,}×{header.height:,} pixels")
    library = None if pillow is False else library_folder("PIL")
    if library is None:
        return _as_it_is(data, name, kind, header)
    settings = {
        "side": PROVIDER_SIDE,
        "bytes": MAX_BASE64 // 4 * 3,
        "pixels": MAX_PIXELS,
        "formats": _FORMATS[kind],
    }
    return _picture(await run_worker("image", settings, data, library, TIME_LIMIT), name, kind)


def _picture(worked: Worked, name: str, kind: str) -> Picture:
    said = worked.said[0] if worked.said else {}
    if worked.ended == "timeout":
        raise UsageError(f"{name} could not be opened within {TIME_LIMIT:g} seconds", "save it anew, or smaller")
    match said.get("failed"):
        case "bomb":
            raise _bomb(name, "is too large to open")
        case "large":
            raise UsageError(f"{name} stays over {MAX_BASE64:,} bytes even when it is scaled", "cut out what matters")
        case "broken":
            raise _broken(name, kind, f": {said['detail']}")
    if worked.ended or len(worked.data) != said.get("size"):
        raise _broken(name, kind, "")
    width, height = said["width"], said["height"]
    told = _told(width, height) + (
        "" if [width, height] == said["from"] else f", from {'×'.join(map(str, said['from']))}"
    )
    return Picture(_attachment(said["media_type"], worked.data, name), width, height, told, tuple(said["notes"]))


def _as_it_is(data: bytes, name: str, kind: str, header: ImageHeader | None) -> Picture:
    """Without Pillow."""
    if header is None and kind in ("a PNG image", "a JPEG image", "a GIF image", "a WebP image"):
        raise _broken(name, kind, "")
    if header is None:
        raise _needs_pillow(f"{name} is {kind}, which must be converted for a model")
    if header.animated:
        raise _needs_pillow(f"{name} is animated, and models take single images")
    if max(header.width, header.height) > _LARGEST_SIDE:
        raise _needs_pillow(f"{name} has {header.width:,}×{header.height:,} pixels, more than models take")
    if (len(data) + 2) // 3 * 4 > MAX_BASE64:
        raise _needs_pillow(f"{name} has {len(data):,} bytes, more than models take in one image")
    notes = []
    if max(header.width, header.height) > PROVIDER_SIDE:
        notes.append(f"sent as large as it is, since Pillow is not installed; {_INSTALL} to have it scaled")
    if header.turned:
        notes.append(f"may look turned to the model, since Pillow is not installed; {_INSTALL} to have it set upright")
    attachment = _attachment(header.media_type, data, name)
    return Picture(attachment, header.width, header.height, _told(header.width, header.height), tuple(notes))


def _attachment(media_type: str, data: bytes, name: str) -> Attachment:
    return Attachment(media_type, base64.b64encode(data).decode("ascii"), name)


def _told(width: int, height: int) -> str:
    return f"{width}×{height}, about {image_tokens(width, height):,} tokens"


def _needs_pillow(what: str) -> UsageError:
    return UsageError(what, f"{_INSTALL}, which can do it, or convert it yourself")


def _bomb(name: str, what: str) -> UsageError:
    return UsageError(f"{name} {what}; at most {MAX_PIXELS:,} pixels are opened", "save it smaller")


def _broken(name: str, kind: str, why: str) -> UsageError:
    return UsageError(f"{name} looks like {kind} but is broken or not whole{why}", "save it anew")
