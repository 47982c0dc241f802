"""The built-in model that needs no key and no network: a deterministic engine that answers what code answers exactly.

It is a `Model` like any other and runs in the same loop. As the parent (a request that offers `delegate`) it hands the
question to the explorer and passes the report on; as a sub-agent (a request that offers `report`) it plans tool calls,
reads their results out of the messages, and reports. It keeps no state: a request holds all that it needs.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence

from orchestrator.errors import ModelError
from orchestrator.messages import Message, ToolCall, Usage
from orchestrator.model import CallReady, Done, ModelInfo, ModelRequest, Piece, Reply, TextDelta

EXPLORER = "explorer"
_WINDOW = 1_000_000_000
"""Tokens. Nothing is sent anywhere, so no history is too long."""
_INFO = ModelInfo(
    window=_WINDOW,
    max_output=_WINDOW,
    input_price=0.0,
    output_price=0.0,
    cache_read_price=0.0,
    cache_write_price=0.0,
)


class ScoutModel:
    """The scout. Its usage is zero tokens: there is no language model behind it."""

    @property
    def name(self) -> str:
        return "scout"

    @property
    def info(self) -> ModelInfo:
        return _INFO

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """The next step as one reply: tool calls, or the answer.

        Raises `ModelError` after the text for a question that could not be answered.
        """
        text, calls = _step(request)
        if text:
            yield TextDelta(text)
        for call in calls:
            yield CallReady(call)
        if text and (reason := _unanswered(request)):
            raise ModelError("bad_request", *reason)
        message = Message("assistant", text, calls)
        yield Done(Reply(message, Usage(), "tool_calls" if calls else "stop"))

    async def aclose(self) -> None:
        """Nothing to close."""


def _unanswered(request: ModelRequest) -> tuple[str, str] | None:
    """What happened and what to do next, when the sub-agent could not answer."""
    from orchestrator.scouting.parent import newest_turn, unanswered

    question, _, results = newest_turn(request.messages)
    return unanswered(question, results) if _is_parent(request) else None


def _is_parent(request: ModelRequest) -> bool:
    return any(tool.name == "delegate" for tool in request.tools)


def _step(request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
    if _is_parent(request):
        return _as_parent(request.messages)
    return _as_sub_agent(request)


def _as_parent(messages: Sequence[Message]) -> tuple[str, tuple[ToolCall, ...]]:
    """Delegate the newest question; once its report is there, pass it on."""
    from orchestrator.scouting.parent import final_answer, newest_turn

    question, context, results = newest_turn(messages)
    if results or not question.strip():
        return final_answer(question, results), ()
    arguments = {"role": EXPLORER, "task": question, **({"context": context} if context else {})}
    number = sum(len(message.tool_calls) for message in messages)
    return "", (ToolCall(f"scout_{number}", "delegate", json.dumps(arguments, ensure_ascii=False)),)


def _as_sub_agent(request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
    """Look things up until the answer is known, then report it; in plain text where there is no `report`."""
    from orchestrator.scouting.explorer import investigated

    return investigated(request)
