"""Opens PDFs and images from anywhere, in a process of its own with little memory and time, so that a hostile one
can end nothing but that process.

Writes lines of JSON to descriptor 1; after the line of an image come its bytes. Imports only what the job needs.
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from PIL import Image
    from pypdf import PdfReader

_MEMORY = 2 << 30
_MAX_COMPLAINTS = 1 << 20
"""Bytes; standard error is a file."""
_SENT_AS_THEY_ARE = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_PLAIN_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA"})
_MOVING = frozenset({"GIF", "PNG", "WEBP"})
_QUALITIES = (90, 80, 65, 45)


def main() -> None:
    """The process: arguments are the kind of job, its settings as JSON, and the file."""
    kind, settings, path = sys.argv[1:4]
    _confine()
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get into the answer
    data = Path(path).read_bytes()
    (_pdf if kind == "pdf" else _image)(data, json.loads(settings), out)
    out.flush()
    os._exit(0)  # nothing is left to tidy up, and a large heap takes long to


def _confine() -> None:
    import resource
    from contextlib import suppress

    limits = ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_FSIZE, _MAX_COMPLAINTS), (resource.RLIMIT_CORE, 0))
    for limit, value in limits:
        with suppress(ValueError, OSError):  # not every system has every limit
            resource.setrlimit(limit, (value, value))


def _say(out: BinaryIO, **said: object) -> None:
    out.write(json.dumps(said).encode() + b"\n")
    out.flush()


# --- PDF -------------------------------------------------------------------------------------------------------------


def _pdf(data: bytes, settings: Mapping[str, Any], out: BinaryIO) -> None:
    import logging

    logging.disable()
    try:
        reader = _opened(data)
        count = 0 if reader is None else len(reader.pages)
    except Exception as error:  # noqa: BLE001  # a broken PDF makes the library raise anything; it is told
        _say(out, failed="broken", detail=f"{type(error).__name__}: {error}"[:200])
        return
    if reader is None:
        _say(out, failed="encrypted")
        return
    _say(out, pages=count)
    room = settings["characters"]
    last = min(count, settings["last"] or count, settings["first"] + settings["most"] - 1)
    for number in range(settings["first"], last + 1):
        text = _page(reader, number, out)
        room -= len(text)
        if room < 0:
            break
    _say(out, done=True)


def _opened(data: bytes) -> PdfReader | None:
    """`None` when it needs a password that is not empty."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    reader = PdfReader(io.BytesIO(data), strict=False)
    if not reader.is_encrypted:
        return reader
    try:
        return reader if reader.decrypt("") else None
    except DependencyError:  # a cipher that the library needs another library for
        return None


def _page(reader: PdfReader, number: int, out: BinaryIO) -> str:
    try:
        text = reader.pages[number - 1].extract_text()
    except Exception as error:  # noqa: BLE001  # one broken page leaves the others; it is told
        _say(out, page=number, text="", error=type(error).__name__)
        return ""
    _say(out, page=number, text=text)
    return text


# --- images ----------------------------------------------------------------------------------------------------------


class _Encoded(NamedTuple):
    media_type: str
    data: bytes


def _image(data: bytes, settings: Mapping[str, Any], out: BinaryIO) -> None:
    from PIL import Image

    warnings.simplefilter("error", Image.DecompressionBombWarning)
    Image.MAX_IMAGE_PIXELS = settings["pixels"]
    try:
        image: Image.Image = Image.open(io.BytesIO(data), formats=settings["formats"])
        width, height = image.size
        encoded, image, notes = _prepared(image, data, settings)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError, MemoryError):
        _say(out, failed="bomb")
    except Exception as error:  # noqa: BLE001  # a broken image makes the library raise anything; it is told
        _say(out, failed="broken", detail=f"{type(error).__name__}: {error}"[:200])
    else:
        if encoded is None:
            _say(out, failed="large")
            return
        size = {"width": image.width, "height": image.height, "from": [width, height]}
        _say(out, media_type=encoded.media_type, size=len(encoded.data), notes=notes, **size)
        out.write(encoded.data)


def _prepared(
    image: Image.Image, data: bytes, settings: Mapping[str, Any]
) -> tuple[_Encoded | None, Image.Image, list[str]]:
    """The image as it is sent (`None`: too large even so), and what was done to it that the user should know."""
    from PIL import ImageOps

    side, limit, form = settings["side"], settings["bytes"], image.format or ""
    if form == "JPEG":
        image.draft("RGB", (side * 2, side * 2))
    notes = ["only its first frame is sent"] * (form in _MOVING and getattr(image, "is_animated", False))
    if form == "TIFF" and getattr(image, "is_animated", False):
        notes = ["only its first page is sent"]
    image.seek(0)
    image.load()
    marked = bool(image.getexif())  # also where it was taken: that goes to nobody
    plain = form in _SENT_AS_THEY_ARE and image.mode in _PLAIN_MODES and not (marked or notes)
    if plain and max(image.size) <= side and len(data) <= limit:
        return _Encoded(_SENT_AS_THEY_ARE[form], data), image, notes
    photo = form in ("JPEG", "MPO", "AVIF", "WEBP")
    image = _eight_bits(ImageOps.exif_transpose(image))
    image.thumbnail((side, side))
    return _encoded(image, limit, photo=photo), image, notes


def _eight_bits(image: Image.Image) -> Image.Image:
    """In one of the modes that both PNG and every provider have: L, RGB, RGBA."""
    mode = image.mode
    if mode in ("L", "RGB", "RGBA"):
        return image.convert("RGBA") if "transparency" in image.info else image
    if mode == "1":
        return image.convert("L")
    if mode == "F" or mode.startswith("I"):
        return _gray(image)
    if mode in ("LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return image.convert("LA").convert("RGBA") if mode == "La" else image.convert("RGBA")
    return image.convert("RGB")


def _gray(image: Image.Image) -> Image.Image:
    """Gray of 16 bits by its upper 8; of numbers beyond that, from the least to the greatest that it holds."""
    wide = image.convert("F")
    low, high = wide.getextrema()
    assert isinstance(low, float) and isinstance(high, float)
    if image.mode != "F" and low >= 0 and high <= 0xFFFF:
        low, high = 0.0, 65535.0
    scale = 255.0 / (high - low) if high > low else 0.0
    return wide.point(lambda value: value * scale + -low * scale).convert("L")


def _encoded(image: Image.Image, limit: int, *, photo: bool) -> _Encoded | None:
    return next((each for each in _encodings(image, photo=photo) if len(each.data) <= limit), None)


def _encodings(image: Image.Image, *, photo: bool) -> Iterator[_Encoded]:
    """Exact first for drawings, then smaller and smaller; what is transparent becomes white where it must."""
    clear = image.mode == "RGBA" and image.getchannel("A").getextrema() != (255, 255)
    if clear or not photo:
        yield _Encoded("image/png", _saved(image, "PNG"))
    flat = _on_white(image) if image.mode == "RGBA" else image
    for quality in _QUALITIES:
        yield _Encoded("image/jpeg", _saved(flat, "JPEG", quality=quality))


def _on_white(image: Image.Image) -> Image.Image:
    from PIL import Image

    flat = Image.new("RGB", image.size, "white")
    flat.paste(image, mask=image.getchannel("A"))
    return flat


def _saved(image: Image.Image, form: str, **settings: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **settings)
    return buffer.getvalue()
