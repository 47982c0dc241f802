"""Which encoding a file has, what is no text, and the way back to the same bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.decoding import NotText, decode, decode_line, encode

TEXT = "naïve café\r\nzweite Zeile\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (TEXT.encode("utf-8-sig"), "utf-8-sig"),
        (b"\xff\xfe" + TEXT.encode("utf-16-le"), "utf-16-le-sig"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16-be-sig"),
        (TEXT.encode("utf-16-le"), "utf-16-le"),
        (TEXT.encode("utf-16-be"), "utf-16-be"),
        (TEXT.encode("latin-1"), "cp1252"),
    ],
)
def test_text_is_read_in_its_encoding_and_can_be_written_back(data: bytes, encoding: str) -> None:
    assert decode(data) == (TEXT, encoding)
    assert encode(TEXT, encoding) == data


def test_windows_quotes_and_dashes_are_read_as_such() -> None:
    assert decode("“quoted” – text".encode("cp1252")) == ("“quoted” – text", "cp1252")


def test_one_broken_line_does_not_garble_the_others() -> None:
    text, encoding = decode("héllo\n".encode() + b"caf\xe9\n")
    assert text == "héllo\ncafé\n"
    assert encoding == "mixed"
    with pytest.raises(UnicodeEncodeError):
        encode(text, encoding)


def test_damaged_utf16_is_read_but_not_written_back() -> None:
    text, encoding = decode(b"\xff\xfea\0b\0\x00")
    assert (text, encoding) == ("ab\ufffd", "mixed")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
        (b"GIF89a\x01\0\x01\0", "a GIF image"),
        (b"BM\x36\x10\0\0\0\0\0\0\x36\0", "a BMP image"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "a WebP image"),
        (b"%PDF-1.7\n%text only", "a PDF document"),
        (b"\x7fELF\x02\x01\x01\0", "an ELF program or library"),
        (b"PK\x03\x04\x14\0", "a zip archive"),
        (b"\x1f\x8b\x08\x08\x01\x02\x03\xf1\xf2\x80\x81", "gzip-compressed data"),
        (b"abc\0def", "binary data"),
        (bytes(range(1, 256)), "binary data"),
        (b"\xff\xfea\0\0\0", "binary data"),
    ],
)
def test_binary_files_are_told_apart(data: bytes, kind: str) -> None:
    with pytest.raises(NotText) as caught:
        decode(data)
    assert caught.value.kind == kind
    assert caught.value.is_image == kind.endswith("image")


def test_text_that_begins_like_a_magic_number_is_text() -> None:
    assert decode(b"MZ caf\xe9")[0] == "MZ café"
    assert decode("BM und ähnliches".encode("latin-1"))[0] == "BM und ähnliches"


def test_terminal_escapes_do_not_make_a_log_binary() -> None:
    assert decode(b"\x1b[31mred\x1b[0m\n" * 50)[1] == "utf-8"


@given(st.binary())
def test_whatever_is_decoded_has_no_lone_surrogates_and_returns_to_its_bytes(data: bytes) -> None:
    """B059: an undecodable byte must not become a surrogate that no later request can encode."""
    try:
        text, encoding = decode(data)
    except NotText:
        return
    text.encode()
    if encoding != "mixed":
        assert encode(text, encoding) == data


@given(st.binary())
def test_any_line_can_be_decoded(raw: bytes) -> None:
    decode_line(raw).encode()
