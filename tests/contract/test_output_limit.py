"""A reply that reached its limit says so, and a limit that is too high is lowered to what the provider takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.messages import user
from orchestrator.model import ModelInfo
from tests.contract.conftest import MakeModel
from tests.support.asking import error_of, reply_of, request_of
from tests.support.model_server import ModelServer

CUT = '{"pattern": "x", "path": "sr'


async def test_a_text_that_was_cut(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"text": "The answer is", "finish_reason": "length"}]) as server:
        reply = await reply_of(make_model(wire, server.url), request_of(max_output_tokens=20))
    assert (reply.finish_reason, reply.message.content) == ("length", "The answer is")


async def test_a_call_that_was_cut(wire: str, make_model: MakeModel) -> None:
    """What was whole before it stays; the half call is no call that could be run."""
    calls = [{"name": "glob", "arguments": {}}, {"name": "grep", "arguments": CUT}]
    async with ModelServer([{"tool_calls": calls, "finish_reason": "length"}]) as server:
        reply = await reply_of(make_model(wire, server.url), request_of(max_output_tokens=20))
    assert reply.finish_reason == "length"
    for call in reply.message.tool_calls[1:]:
        with pytest.raises(ValueError, match=r"."):
            json.loads(call.arguments)


@pytest.mark.parametrize("reason", ["max_tokens", "length", "max_output_tokens", "MAX_TOKENS", "model_length"])
async def test_every_word_for_it(make_model: MakeModel, reason: str) -> None:
    async with ModelServer([{"text": "Half", "finish_reason": reason}]) as server:
        assert (await reply_of(make_model("openai", server.url))).finish_reason == "length"


async def test_a_full_window_is_a_limit_too(make_model: MakeModel) -> None:
    async with ModelServer([{"text": "Half", "finish_reason": "model_context_window_exceeded"}]) as server:
        assert (await reply_of(make_model("anthropic", server.url))).finish_reason == "length"


LYING: list[tuple[dict[str, Any], int, str]] = [
    ({"tool_calls": [{"name": "grep", "arguments": CUT}], "finish_reason": "tool_calls"}, 50, "length"),
    ({"tool_calls": [{"name": "grep", "arguments": CUT}], "finish_reason": "tool_calls"}, 49, "tool_calls"),
    ({"tool_calls": [{"name": "grep", "arguments": {}}], "finish_reason": "tool_calls"}, 50, "tool_calls"),
    ({"text": "Half", "finish_reason": "stop"}, 50, "length"),
    ({"text": "Whole", "finish_reason": "stop"}, 49, "stop"),
]


@pytest.mark.parametrize(("turn", "written", "reason"), LYING)
@pytest.mark.parametrize("way", ["openai", "anthropic"])
async def test_a_server_that_does_not_say_so(
    make_model: MakeModel, way: str, turn: dict[str, Any], written: int, reason: str
) -> None:
    """What was written is as long as it was allowed to be."""
    usage = {"input_tokens": 10, "output_tokens": written}
    async with ModelServer([{**turn, "usage": usage}]) as server:
        reply = await reply_of(make_model(way, server.url), request_of(max_output_tokens=50))
    assert reply.finish_reason == reason


async def test_a_limit_that_is_raised_is_sent(wire: str, make_model: MakeModel) -> None:
    async with ModelServer(["a", "b"]) as server:
        model = make_model(wire, server.url)
        for limit in (1000, 4000):
            await reply_of(model, request_of(max_output_tokens=limit))
        assert [request.body["max_tokens"] for request in server.requests] == [1000, 4000]


MOST = {
    "openai": "max_tokens is too large: 20000. This model supports at most 4096 completion tokens, whereas you",
    "anthropic": "max_tokens: 20000 > 4096, which is the maximum allowed number of output tokens for scripted",
}


async def test_a_limit_that_the_model_does_not_take_is_lowered_once(
    wire: str, provider: str, make_model: MakeModel
) -> None:
    """The model's own limit is remembered; no request is refused for it again."""
    async with ModelServer([{"status": 400, "error": {"message": MOST[provider]}}, "a", "b"]) as server:
        model = make_model(wire, server.url, info=ModelInfo(window=200_000))
        for _ in range(2):
            assert (await reply_of(model, request_of(max_output_tokens=20_000))).finish_reason == "stop"
        assert [request.body["max_tokens"] for request in server.requests] == [20_000, 4096, 4096]


async def test_what_one_conversation_leaves_is_not_remembered(make_model: MakeModel) -> None:
    left = "input length and `max_tokens` exceed context limit: 198000 + 4000 > 200000"
    async with ModelServer([{"status": 400, "error": {"message": left}}, "a", "b"]) as server:
        model = make_model("anthropic", server.url, info=ModelInfo())
        for _ in range(2):
            await reply_of(model, request_of(max_output_tokens=4000, think="high"))
        limits = [request.body["max_tokens"] for request in server.requests]
    assert limits[1] == 2000
    assert limits[0] == limits[2] > 4000


async def test_a_limit_that_is_refused_whatever_it_is_ends_in_the_refusal(wire: str, make_model: MakeModel) -> None:
    refusals = [{"status": 400, "error": {"message": message}} for message in MOST.values()]
    async with ModelServer({"turns": [refusals[0], refusals[1], refusals[0]], "repeat": True}) as server:
        error = await error_of(make_model(wire, server.url), request_of(user("Hi"), max_output_tokens=8000))
        assert len(server.requests) <= 3
    assert error.kind == "bad_request"
