"""Asking a model in a test and looking at what came."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

from orchestrator.errors import ModelError
from orchestrator.messages import Message, ToolCall, user
from orchestrator.model import CallReady, Done, Model, ModelRequest, Piece, Reply, TextDelta, ToolSchema

GREP = ToolSchema(
    "grep", "Search files.", {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]}
)
GLOB = ToolSchema("glob", "Find files.", {"type": "object", "properties": {}})


def request_of(*messages: Message, **fields: object) -> ModelRequest:
    """A request with a system prompt and two tools; `Hello` when no message is given."""
    settings = {"system": "You are a test.", "tools": (GREP, GLOB), **fields}
    return ModelRequest(messages=messages or (user("Hello"),), **settings)  # type: ignore[arg-type]  # test data


async def pieces_of(model: Model, request: ModelRequest | None = None) -> list[Piece]:
    """Every piece of one answer; a test fails rather than waits for ever."""
    async with asyncio.timeout(60):
        return [piece async for piece in model.stream(request or request_of())]


async def reply_of(model: Model, request: ModelRequest | None = None) -> Reply:
    """The whole answer; checks that it came once and last."""
    pieces = await pieces_of(model, request)
    assert [type(piece) for piece in pieces].count(Done) == 1
    last = pieces[-1]
    assert isinstance(last, Done)
    return last.reply


async def error_of(model: Model, request: ModelRequest | None = None) -> ModelError:
    """The error that the request ends in."""
    try:
        pieces = await pieces_of(model, request)
    except ModelError as error:
        return error
    raise AssertionError(f"no error, but {pieces}")


def text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))


def calls_of(pieces: Sequence[Piece]) -> list[ToolCall]:
    return [piece.call for piece in pieces if isinstance(piece, CallReady)]


@asynccontextmanager
async def first_piece(model: Model, request: ModelRequest | None = None) -> AsyncIterator[Piece]:
    """The first piece of an answer; leaving the block gives up the rest."""
    stream = model.stream(request or request_of())
    assert isinstance(stream, AsyncGenerator)
    try:
        yield await anext(stream)
    finally:
        await stream.aclose()
