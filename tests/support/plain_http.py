"""Just enough HTTP/1.1 for the scripted model server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_REASONS = {200: "OK", 301: "Moved Permanently", 400: "Bad Request", 401: "Unauthorized", 429: "Too Many Requests"}


@dataclass(slots=True)
class Request:
    """What came in. `received` (its head) and `responded` (the last bytes are sent) are of `time.monotonic()`."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Any
    received: float
    responded: float = 0.0
    disconnected: bool = False
    """The client closed the connection before the answer was complete."""

    @property
    def wire(self) -> str:
        """`openai`, `anthropic`, or empty for another path."""
        path = self.path.partition("?")[0]
        return "openai" if path.endswith("/chat/completions") else "anthropic" if path.endswith("/messages") else ""

    @property
    def system(self) -> str:
        """The system prompt as text."""
        if self.wire == "anthropic":
            return _text_of(self.body.get("system", ""))
        roles = ("system", "developer")
        return "".join(_text_of(m.get("content")) for m in self.body.get("messages", ()) if m.get("role") in roles)

    @property
    def first_user(self) -> str:
        """The first user message as text."""
        texts = (_text_of(m.get("content")) for m in self.body.get("messages", ()) if m.get("role") == "user")
        return next(texts, "")

    @property
    def depth(self) -> int:
        """Assistant messages in the history."""
        return sum(message.get("role") == "assistant" for message in self.body.get("messages", ()))


def _text_of(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    received = time.monotonic()
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    if headers.get("expect", "").lower() == "100-continue":
        raise ConnectionResetError("the server does not know Expect")
    if headers.get("transfer-encoding") == "chunked":
        raw = await _read_chunks(reader)
    else:
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
    try:
        body = json.loads(raw) if raw else {}
    except ValueError:
        body = None
    return Request(first.split(" ")[1], headers, raw, body, received)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


async def send(
    writer: asyncio.StreamWriter, status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> None:
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    writer.write(head_of(status, fields) + body)
    await writer.drain()


def head_of(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)] if size else [data]
