"""Images made ready for a model, with and without Pillow; what their headers say."""

from __future__ import annotations

import base64
import io
import random
import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from orchestrator.attached_images import MAX_BASE64, Picture, image_kind, prepare_image
from orchestrator.errors import UsageError
from orchestrator.image_header import ImageHeader, attachment_tokens, image_tokens, read_header
from orchestrator.messages import Attachment

RED, BLUE = (200, 0, 0), (0, 0, 200)


def saved(image: Image.Image, form: str, **extra: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **extra)
    return buffer.getvalue()


def picture(mode: str = "RGB", size: tuple[int, int] = (40, 20), color: object = RED) -> Image.Image:
    return Image.new(mode, size, color)  # type: ignore[arg-type]  # a colour of the mode


def halves(size: tuple[int, int] = (40, 20)) -> Image.Image:
    """The left half red, the right half blue."""
    image = picture(size=size)
    image.paste(BLUE, (size[0] // 2, 0, *size))
    return image


def noise(size: tuple[int, int]) -> Image.Image:
    return Image.frombytes("RGB", size, random.Random(5).randbytes(size[0] * size[1] * 3))


def animated(form: str) -> bytes:
    return saved(picture(), form, save_all=True, append_images=[picture(color=BLUE)], duration=50)


def bomb(side: int) -> bytes:
    """A PNG of some bytes that is `side` times `side` pixels."""
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(bytes(2000))), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def opened(sent: Picture) -> Image.Image:
    """What the model gets, checked for what every provider asks."""
    data = base64.b64decode(sent.attachment.data, validate=True)
    image = Image.open(io.BytesIO(data))
    image.load()
    assert image.format
    assert sent.attachment.media_type == f"image/{image.format.lower()}"
    assert sent.attachment.media_type in ("image/png", "image/jpeg", "image/gif", "image/webp")
    assert image.size == (sent.width, sent.height)
    assert max(image.size) <= 1568
    assert len(sent.attachment.data) <= MAX_BASE64
    return image


def near(pixel: object, wanted: tuple[int, ...]) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(one - two) < 30 for one, two in zip(pixel, wanted, strict=True))


async def refused(data: bytes, *, pillow: bool | None = None) -> UsageError:
    with pytest.raises(UsageError) as caught:
        await prepare_image(data, "logo.png", pillow=pillow)
    return caught.value


# --- headers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_the_header_tells_type_and_size(form: str) -> None:
    assert read_header(saved(picture(size=(300, 7)), form)) == ImageHeader(f"image/{form.lower()}", 300, 7)


def test_the_header_tells_every_kind_of_webp_and_jpeg() -> None:
    for extra in ({"lossless": True}, {"quality": 50}, {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0"}):
        header = read_header(saved(picture(size=(300, 7)), "WEBP", **extra))
        assert header == ImageHeader("image/webp", 300, 7)
    assert read_header(saved(picture(size=(300, 7)), "JPEG", progressive=True)) == ImageHeader("image/jpeg", 300, 7)


@pytest.mark.parametrize("form", ["PNG", "GIF", "WEBP"])
def test_the_header_tells_what_moves(form: str) -> None:
    header = read_header(animated(form))
    assert header
    assert header.animated


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_header_tells_what_is_turned(order: str) -> None:
    exif = Image.Exif()
    exif.endian = order
    exif[0x0112] = 6
    header = read_header(saved(halves(), "JPEG", exif=exif))
    assert header == ImageHeader("image/jpeg", 40, 20, turned=True)


@given(st.sampled_from(["PNG", "JPEG", "GIF", "WEBP"]), st.integers(0, 200), st.binary(max_size=30))
@settings(max_examples=60)
def test_a_broken_header_never_raises(form: str, at: int, noise: bytes) -> None:
    whole = saved(picture(), form)
    for data in (whole[:at], whole[:at] + noise + whole[at + len(noise) :], whole[:4] + noise):
        header = read_header(data)
        assert header is None or (header.width > 0 and header.height > 0)


def test_tokens_are_those_of_the_scaled_image() -> None:
    assert image_tokens(750, 100) == 100
    assert image_tokens(1, 1) == image_tokens(0, 0) == 85
    assert image_tokens(15_680, 7_840) == image_tokens(1568, 784) == 1639
    data = saved(picture(size=(300, 250)), "PNG")
    assert attachment_tokens(Attachment("image/png", base64.b64encode(data).decode())) == 100
    assert attachment_tokens(Attachment("image/png", "AAAA")) == image_tokens(1568, 1568)
    assert attachment_tokens(Attachment("image/png", "not base64")) == image_tokens(1568, 1568)


# --- with Pillow -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_what_can_be_sent_as_it_is_is_left_alone(form: str) -> None:
    data = saved(halves(), form)
    sent = await prepare_image(data, "logo.png")
    assert base64.b64decode(sent.attachment.data) == data
    assert sent.attachment.name == "logo.png"
    assert (sent.told, sent.notes) == ("40×20, about 85 tokens", ())
    opened(sent)


async def test_a_large_image_is_scaled_and_keeps_its_shape() -> None:
    sent = await prepare_image(saved(halves((3136, 1000)), "PNG"), "logo.png")
    image = opened(sent)
    assert image.size == (1568, 500)
    assert near(image.convert("RGB").getpixel((100, 250)), RED)
    assert near(image.convert("RGB").getpixel((1500, 250)), BLUE)
    assert sent.told.endswith("from 3136×1000")
    assert opened(await prepare_image(saved(picture(size=(1, 9000)), "PNG"), "logo.png")).size == (1, 1568)


async def test_an_image_with_too_many_bytes_is_made_smaller() -> None:
    data = saved(noise((1400, 1000)), "PNG", compress_level=0)
    assert len(data) > MAX_BASE64 // 4 * 3
    sent = await prepare_image(data, "logo.png")
    assert opened(sent).size == (1400, 1000)
    assert sent.attachment.media_type == "image/jpeg"


@pytest.mark.parametrize("form", ["BMP", "TIFF", "ICO", "AVIF"])
async def test_other_formats_are_converted(form: str) -> None:
    sent = await prepare_image(saved(halves((64, 64)), form), "logo.png")
    image = opened(sent).convert("RGB")
    assert near(image.getpixel((5, 5)), RED)
    assert near(image.getpixel((58, 5)), BLUE)


async def test_of_a_photo_with_a_preview_inside_the_photo_is_sent() -> None:
    data = saved(halves((400, 200)), "MPO", save_all=True, append_images=[picture(size=(40, 20), color=(0, 200, 0))])
    sent = await prepare_image(data, "logo.png")
    assert near(opened(sent).convert("RGB").getpixel((10, 10)), RED)
    assert (sent.width, sent.notes) == (400, ())


async def test_a_photo_is_set_upright_and_says_nothing_of_where_it_was_taken() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter: what is left comes up
    exif[0x010F] = "the camera of Ada"
    sent = await prepare_image(saved(halves(), "JPEG", exif=exif), "logo.png")
    image = opened(sent)
    assert image.size == (20, 40)
    assert near(image.getpixel((10, 3)), RED)
    assert near(image.getpixel((10, 36)), BLUE)
    assert b"Ada" not in base64.b64decode(sent.attachment.data)
    assert read_header(base64.b64decode(sent.attachment.data)) == ImageHeader("image/jpeg", 20, 40)


@pytest.mark.parametrize("form", ["PNG", "GIF", "WEBP"])
async def test_of_an_animation_the_first_frame_is_sent(form: str) -> None:
    sent = await prepare_image(animated(form), "logo.png")
    image = opened(sent)
    assert not getattr(image, "is_animated", False)
    assert near(image.convert("RGB").getpixel((5, 5)), RED)
    assert sent.notes == ("only its first frame is sent",)


async def test_of_several_pages_the_first_is_sent() -> None:
    sent = await prepare_image(animated("TIFF"), "logo.png")
    assert near(opened(sent).convert("RGB").getpixel((5, 5)), RED)
    assert sent.notes == ("only its first page is sent",)


@pytest.mark.parametrize(
    ("image", "form", "wanted"),
    [
        (picture("CMYK", color=(0, 255, 255, 40)), "JPEG", (215, 0, 0)),
        (picture("CMYK", color=(0, 255, 255, 40)), "TIFF", (215, 0, 0)),
        (Image.new("I;16", (40, 20), 0x8000), "PNG", (128, 128, 128)),
        (Image.new("I", (40, 20), 0x8000), "TIFF", (128, 128, 128)),
        (Image.new("F", (40, 20), 7.5), "TIFF", (0, 0, 0)),
        (picture("1", color=1), "TIFF", (255, 255, 255)),
        (picture("LA", color=(90, 255)), "TIFF", (90, 90, 90)),
        (picture().quantize(8), "BMP", RED),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "mode", ""),
)
async def test_every_mode_becomes_one_that_models_see_right(
    image: Image.Image, form: str, wanted: tuple[int, ...]
) -> None:
    got = opened(await prepare_image(saved(image, form), "logo.png"))
    assert got.mode in ("L", "RGB", "RGBA")
    assert near(got.convert("RGB").getpixel((5, 5)), wanted)


async def test_what_is_transparent_stays_so_or_becomes_white() -> None:
    clear = picture("RGBA", (2000, 20), (0, 0, 0, 0))
    clear.paste((*RED, 255), (0, 0, 1000, 20))
    sent = opened(await prepare_image(saved(clear, "PNG"), "logo.png"))
    assert sent.mode == "RGBA"
    assert sent.getpixel((1500, 5)) == (0, 0, 0, 0)
    large = noise((1350, 1000)).convert("RGBA")
    large.paste((0, 0, 0, 0), (0, 0, 200, 200))
    flat = opened(await prepare_image(saved(large, "PNG", compress_level=0), "logo.png"))
    assert flat.format == "JPEG"
    assert near(flat.getpixel((50, 50)), (255, 255, 255))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_broken_image_is_told(form: str) -> None:
    data = saved(noise((60, 60)), form)
    error = await refused(data[: len(data) // 3])
    assert "broken or not whole" in error.message
    assert error.message.startswith("logo.png looks like a ")


async def test_a_bomb_is_not_opened() -> None:
    assert "40,000×40,000 pixels; at most 100,000,000" in (await refused(bomb(40_000))).message
    tiff = saved(picture(), "TIFF").replace(
        struct.pack("<HHII", 256, 4, 1, 40), struct.pack("<HHII", 256, 4, 1, 900_000_000)
    )
    assert tiff != saved(picture(), "TIFF")
    assert "pixels are opened" in (await refused(tiff)).message


async def test_heic_is_told_from_avif() -> None:
    data = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(50)
    assert image_kind(data) == "a HEIC image"
    assert (await refused(data)).hint == "convert it to JPEG or PNG"
    assert image_kind(saved(picture(), "AVIF")) == "an AVIF image"
    assert image_kind(b"\0\0\0\x18ftypisom" + bytes(50)) == ""


# --- without Pillow --------------------------------------------------------------------------------------------------


async def test_without_pillow_what_fits_is_sent_as_it_is() -> None:
    for form in ("PNG", "JPEG", "GIF", "WEBP"):
        data = saved(picture(), form)
        sent = await prepare_image(data, "logo.png", pillow=False)
        assert base64.b64decode(sent.attachment.data) == data
        assert sent.attachment.media_type == f"image/{form.lower()}"
        assert (sent.width, sent.height, sent.notes) == (40, 20, ())


async def test_without_pillow_what_is_not_done_is_said() -> None:
    wide = await prepare_image(saved(picture(size=(2000, 10)), "PNG"), "logo.png", pillow=False)
    assert "sent as large as it is" in wide.notes[0]
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = await prepare_image(saved(halves(), "JPEG", exif=exif), "logo.png", pillow=False)
    assert "may look turned" in turned.notes[0]
    assert "orch-agents[images]" in wide.notes[0]
    assert "orch-agents[images]" in turned.notes[0]


async def test_without_pillow_what_cannot_be_sent_says_how_to_have_it_scaled() -> None:
    cases = {
        "9,000×1 pixels": saved(picture(size=(9000, 1)), "PNG"),
        "bytes, more than models take": saved(noise((1300, 1100)), "PNG", compress_level=0),
        "is animated": animated("GIF"),
        "is a BMP image, which must be converted": saved(picture(), "BMP"),
    }
    for words, data in cases.items():
        error = await refused(data, pillow=False)
        assert words in error.message
        assert "orch-agents[images]" in error.hint
    assert "broken or not whole" in (await refused(saved(picture(), "PNG")[:18], pillow=False)).message
