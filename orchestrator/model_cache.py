"""Replies kept between runs: the same request to the same model gets the reply that it got before, at no cost.

For users who switch it on (`cache: {model: on}`). A model at temperature 0 is meant to say the same again, so a request
that sets no temperature is sent with 0, and one that sets another is passed on as it is. A request counts as the same
when it is so to the letter, but for the folders of workspace and session and for times that tools took.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol

from orchestrator.exchanges import Requests, asked_of, pieces_from_data, pieces_to_data
from orchestrator.messages import Usage
from orchestrator.model import Done, Model, ModelInfo, ModelRequest, Piece, Retrying
from orchestrator.run_text import RunText

_VERSION = 1
"""Of the form in which replies are kept; part of every key."""


class Store(Protocol):
    """JSON values by key, from any thread; what cannot be read is absent, what cannot be written is lost."""

    def get(self, keys: list[str]) -> list[Any]: ...

    def set(self, values: Mapping[str, Any]) -> None: ...


class CachedModel:
    """`inner`, asked only for what `store` does not hold. Only whole replies that ended well are kept.

    A reply from the store has a usage of zero, since nothing was paid for it; `hits` counts them.
    """

    def __init__(self, inner: Model, store: Store, text: RunText) -> None:
        self.hits = 0
        self._inner = inner
        self._store = store
        self._text = text
        self._requests = Requests(text, whole_system=True)

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def info(self) -> ModelInfo:
        return self._inner.info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        if request.temperature is None:
            request = request._replace(temperature=0.0)
        if request.temperature != 0.0:
            async with aclosing(asked_of(self._inner, request)) as stream:
                async for piece in stream:
                    yield piece
            return
        key = f"{_VERSION}:{self._requests.parts(self.name, request).asked.key}"
        kept = await self._kept(key)
        if kept is not None:
            self.hits += 1
            for piece in kept:
                yield piece
                await asyncio.sleep(0)  # tools that start while a reply streams get their turn
            return
        async with aclosing(self._asked(key, request)) as stream:
            async for piece in stream:
                yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _asked(self, key: str, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        pieces: list[Piece] = []
        async with aclosing(asked_of(self._inner, request)) as stream:
            async for piece in stream:
                if isinstance(piece, Retrying):
                    pieces.clear()
                else:
                    pieces.append(piece)
                if isinstance(piece, Done):  # kept first: whoever asked may not come back for more
                    await self._keep(key, pieces)
                yield piece

    async def _kept(self, key: str) -> list[Piece] | None:
        (value,) = await asyncio.to_thread(self._store.get, [key])
        try:
            pieces = pieces_from_data(value, self._text.restored) if value else []
        except (ValueError, TypeError, KeyError, AttributeError):  # not written by us
            return None
        return [*map(_unpaid, pieces)] if _ended_well(pieces) else None

    async def _keep(self, key: str, pieces: Sequence[Piece]) -> None:
        if not _ended_well(pieces) or self._text.has_secret(repr(pieces)):
            return
        await asyncio.to_thread(self._store.set, {key: pieces_to_data(pieces, self._text.message)})


def _ended_well(pieces: Sequence[Piece]) -> bool:
    if not pieces or not isinstance(pieces[-1], Done):
        return False
    reply = pieces[-1].reply
    said = reply.message.content.strip() or reply.message.tool_calls
    return bool(said) and reply.finish_reason in ("stop", "tool_calls") and not reply.message.interrupted


def _unpaid(piece: Piece) -> Piece:
    return Done(replace(piece.reply, usage=Usage(), usage_estimated=False)) if isinstance(piece, Done) else piece
