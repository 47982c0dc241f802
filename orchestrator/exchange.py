"""One request to a provider: bytes out, decoded JSON back, everything that can go wrong as `ModelError`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, NamedTuple, NoReturn, Protocol
from urllib.parse import urlsplit

from orchestrator.errors import ConfigError, ModelError
from orchestrator.http import HttpAnswer, HttpPool
from orchestrator.model import Done, Piece, Reply
from orchestrator.sse import ServerEvent, SSEParser

_ERROR_BODY_LIMIT = 64 * 1024


class Endpoint(NamedTuple):
    """Where one model is asked; `model` is its name for the user, `secret` what must never be shown."""

    model: str
    url: str
    headers: Mapping[str, str]
    secret: str | None
    idle_timeout: float


class Frame(NamedTuple):
    """One JSON object of the answer; `whole` when the server did not stream and this is all of it."""

    data: Mapping[str, Any]
    whole: bool = False


END = Frame({})
"""The provider said that the stream is complete."""


class Answer(Protocol):
    """What a wire makes of the frames of one answer."""

    @property
    def finished(self) -> bool:
        """The provider said why it stopped."""

    @property
    def empty(self) -> bool:
        """Nothing was said."""

    def feed(self, data: Mapping[str, Any]) -> Iterator[Piece]: ...

    def close(self) -> Iterator[Piece]: ...

    def reply(self) -> Reply: ...


async def converse(pool: HttpPool, endpoint: Endpoint, body: bytes, answer: Answer) -> AsyncGenerator[Piece, None]:
    """POST `body` and give the pieces of the answer, `Done` last.

    A stream that breaks off, or ends with neither a finish reason nor the wire's end mark, is a `connection` error; one
    that breaks after its finish reason is complete.
    """
    ended = False
    try:
        async with aclosing(exchange(pool, endpoint, body)) as frames:
            async for frame in frames:
                ended = ended or frame.whole or frame is END
                for piece in answer.feed(frame.data):
                    yield piece
    except ModelError as error:
        if error.kind != "connection" or not answer.finished:
            raise
    if not answer.finished and (answer.empty or not ended):
        from orchestrator.model_errors import HINTS

        raise ModelError("connection", f"{endpoint.model}: the answer broke off before its end.", HINTS["connection"])
    for piece in answer.close():
        yield piece
    yield Done(answer.reply())


def header_safe(name: str, key: str | None) -> str | None:
    """The API key without surrounding blanks; raises `ConfigError` when it cannot stand in an HTTP header."""
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"The API key for {name} holds characters that no key has (a line break, a typographic quote, …).",
            "Copy the key again from the provider's page.",
        )
    return key or None


def web_address(name: str, base_url: str) -> str:
    """The base URL without a slash at its end; raises `ConfigError` when it is not one."""
    url = base_url.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or any(character.isspace() for character in url):
        raise ConfigError(
            f"The base URL for {name} is not a web address: {base_url!r}.", "Write it like http://host:8000/v1."
        )
    return url


async def exchange(pool: HttpPool, endpoint: Endpoint, body: bytes) -> AsyncGenerator[Frame, None]:
    """POST `body` and give the answer frame by frame; `END` is the last one when the provider marks its end."""
    post = pool.post(endpoint.url, headers=endpoint.headers, body=body, idle_timeout=endpoint.idle_timeout)
    async with post as answer:
        if not 200 <= answer.status < 300:
            await _refused(endpoint, answer)
        async with aclosing(_frames(endpoint, answer)) as frames:
            async for frame in frames:
                yield frame


async def _frames(endpoint: Endpoint, answer: HttpAnswer) -> AsyncGenerator[Frame, None]:
    start = await first_bytes(answer.chunks)
    if start[:1] in (b"{", b"<"):
        yield whole_frame(endpoint, start + b"".join([chunk async for chunk in answer.chunks]))
        return
    parser = SSEParser()
    events: list[ServerEvent] | None = parser.feed(start)
    while events is not None:
        for event in events:
            frame = _frame(endpoint, event)
            if frame is END:
                await answer.drain()
                yield END
                return
            if frame is not None:
                yield frame
        events = await _next_events(parser, answer.chunks)
    for event in parser.close():
        frame = _frame(endpoint, event)
        if frame is not None:
            yield frame


async def _next_events(parser: SSEParser, chunks: AsyncIterator[bytes]) -> list[ServerEvent] | None:
    """The events of the next chunk, or `None` at the end of the body."""
    async for chunk in chunks:
        return parser.feed(chunk)
    return None


async def first_bytes(chunks: AsyncIterator[bytes]) -> bytes:
    """The first bytes that tell a whole JSON answer from a stream, without the blanks before them."""
    start = b""
    async for chunk in chunks:
        start = (start + chunk).lstrip(b" \t\r\n")
        if start:
            break
    return start


def _frame(endpoint: Endpoint, event: ServerEvent) -> Frame | None:
    text = event.data.strip()
    if text == "[DONE]":
        return END
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        if event.event == "error":
            _failed(endpoint, text)
        return None if not text else _garbled(endpoint, text)
    if event.event == "error" or _is_error(data):
        _failed(endpoint, data)
    if not isinstance(data, dict):
        return None
    return END if data.get("type") == "message_stop" else Frame(data)


def _is_error(data: object) -> bool:
    if not isinstance(data, dict):
        return False
    return bool(data.get("error")) or data.get("type") == "error" or data.get("object") == "error"


def whole_frame(endpoint: Endpoint, body: bytes) -> Frame:
    """The one frame of an answer that was not streamed; raises `ModelError` when it is an error or no JSON object."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or _is_error(data):
        from orchestrator.model_errors import failure_of, model_error

        status = None if data is not None else 404 if body.startswith(b"<") else 502
        raise model_error(endpoint.model, failure_of(data or body, status=status), secret=endpoint.secret)
    return Frame(data, whole=True)


async def _refused(endpoint: Endpoint, answer: HttpAnswer) -> NoReturn:
    from orchestrator.model_errors import Failure, failure_of, model_error

    location = answer.headers.get("Location", "")
    if 300 <= answer.status < 400 and location:
        failure = Failure(f"{endpoint.url} redirects to {location}", answer.status)
        raise model_error(endpoint.model, failure, secret=endpoint.secret)
    body = b""
    async for chunk in answer.chunks:
        body += chunk
        if len(body) > _ERROR_BODY_LIMIT:
            break
    failure = failure_of(body, status=answer.status, headers=answer.headers)
    raise model_error(endpoint.model, failure, secret=endpoint.secret)


def _failed(endpoint: Endpoint, data: object) -> NoReturn:
    """An error in the middle of an answer that began well."""
    from orchestrator.model_errors import failure_of, model_error

    raise model_error(endpoint.model, failure_of(data), secret=endpoint.secret)


def _garbled(endpoint: Endpoint, text: str) -> NoReturn:
    from orchestrator.model_errors import HINTS, mask

    shown = mask(ascii(text[:80]), endpoint.secret)
    raise ModelError(
        "connection", f"{endpoint.model}: the stream held something that is not JSON: {shown}", HINTS["connection"]
    )
