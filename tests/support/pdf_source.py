"""PDFs written by hand, as small as they can be."""

from __future__ import annotations

import io
from collections.abc import Sequence

FONT = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


def make_pdf(pages: Sequence[str | bytes], *, trailer: str = "") -> bytes:
    """A document with a page for each of `pages`: text of several lines, or the bytes of a content stream."""
    streams = [page if isinstance(page, bytes) else _drawn(page) for page in pages]
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        FONT.encode(),
    ]
    for index, stream in enumerate(streams):
        content = 5 + 2 * index
        box = "/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{box}/Contents {content} 0 R>>".encode())
        objects.append(b"<</Length %d>>\nstream\n%s\nendstream" % (len(stream), stream))
    return _filed(objects, trailer)


def locked_pdf(pages: Sequence[str], password: str) -> bytes:
    """Encrypted so that `password`, which may be empty, opens it."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf(pages))))
    writer.encrypt(password, "the owner's", algorithm="RC4-128")
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def _drawn(text: str) -> bytes:
    rows = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in text.split("\n")]
    shown = " T* ".join(f"({row}) Tj" for row in rows)
    return f"BT /F 12 Tf 14 TL 72 720 Td {shown} ET".encode("latin-1")


def _filed(objects: Sequence[bytes], trailer: str) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(out)
