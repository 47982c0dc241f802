"""How litellm's HTTP clients behave: like our own they follow no redirect, send no made-up key, and see a whole answer.

Imported with litellm, never before: it stands on litellm's own store of clients, through which every client goes.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx
from litellm.caching.llm_caching_handler import LLMClientCache

from orchestrator.exchange import first_bytes
from orchestrator.litellm_errors import NotStreamed
from orchestrator.litellm_text import FINISH_REASON, NO_KEY

_WIRES: Final = {"/chat/completions": "openai", "/messages": "anthropic"}
"""By the end of the path: what a whole answer looks like there."""
_REASON: Final = re.compile(rb'"(?:finish|stop)_reason":\s*"([\w-]{1,64})"')
"""The last one counts; the text of a model cannot look like this, since its quotes are escaped."""
_REASON_LENGTH: Final = 100
"""Bytes of what came before that are looked at again, where the name or the word was cut."""
_WANTS_STREAM: Final = re.compile(rb'"stream":\s*true')


class WatchedClients(LLMClientCache):
    """litellm's store of HTTP clients, which is told of each as it is made."""

    def set_cache(self, key: str, value: object, *rest: Any, **named: Any) -> Any:
        _watch(value)
        return super().set_cache(key, value, *rest, **named)


def _watch(owner: Any) -> None:
    """Set up the client of `owner`: litellm's wrapper, which makes itself new clients, or a provider's library."""
    client = getattr(owner, "client", None) or getattr(owner, "_client", None)
    if isinstance(client, httpx.Client | httpx.AsyncClient):
        client.follow_redirects = False  # else headers with a key would go to another host
    if hasattr(owner, "follow_redirects"):
        owner.follow_redirects = False
    if not isinstance(client, httpx.AsyncClient) or _after in client.event_hooks["response"]:
        return
    own = client.event_hooks
    hooks: dict[str, list[Any]] = {"request": [*own["request"], _before], "response": [_after, *own["response"]]}
    client.event_hooks = hooks
    if hasattr(owner, "event_hooks"):
        owner.event_hooks = hooks


async def _before(request: httpx.Request) -> None:
    for name in [name for name, value in request.headers.items() if NO_KEY in value]:
        del request.headers[name]
    if _wire(request):
        request.headers["accept-encoding"] = "identity"  # so that `_after` can read what begins to come


async def _after(response: httpx.Response) -> None:
    """Raise `NotStreamed` when a whole object or a web page comes where a stream was asked for."""
    wire = _wire(response.request)
    if not (wire and response.is_success) or response.headers.get("content-encoding", "identity") != "identity":
        return
    stream = response.stream
    assert isinstance(stream, httpx.AsyncByteStream)
    rest = aiter(stream)
    try:
        start = await first_bytes(rest)
        if start[:1] in (b"{", b"<"):
            raise NotStreamed(wire, start + b"".join([chunk async for chunk in rest]))
    except httpx.RequestError as error:
        error.request = response.request
        raise
    response.stream = _Resumed(start, rest, response, stream)


def _wire(request: httpx.Request) -> str:
    """The wire of a request for a stream, or nothing for any other request."""
    wire = next((wire for end, wire in _WIRES.items() if request.url.path.endswith(end)), "")
    return wire if wire and _WANTS_STREAM.search(request.content) else ""


class _Resumed(httpx.AsyncByteStream):
    """A body whose first bytes have been read already; what it gives as the finish reason goes to `extensions`."""

    def __init__(
        self, start: bytes, rest: AsyncIterator[bytes], response: httpx.Response, stream: httpx.AsyncByteStream
    ) -> None:
        self._start = start
        self._rest = rest
        self._response = response
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._start
        before = self._start
        async for chunk in self._rest:
            seen = before[-_REASON_LENGTH:] + chunk
            if b"_reason" in seen:
                for reason in _REASON.findall(seen):
                    self._response.extensions[FINISH_REASON] = reason.decode()
            before = seen
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
