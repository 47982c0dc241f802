"""Any history at all is sent as one that the providers take; the server refuses what they refuse.

Histories come from what a conversation can be, cut at both ends, with parts lost, doubled, moved and emptied: what is
left after an abort, a compaction, a crash, a change of the provider or a fault of our own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.anthropic_wire import AnthropicModel
from orchestrator.http import HttpPool
from orchestrator.messages import Attachment, Message, Reasoning, ToolCall, tool_result, user
from orchestrator.model import Model, ModelInfo, ModelRequest, Think
from orchestrator.openai_wire import OpenAIModel
from tests.support.asking import reply_of, request_of
from tests.support.model_server import ModelServer

TEXTS = st.sampled_from(["", " \n", "Text.", "x\ud835y", "\x00", "世界"])
IDS = st.sampled_from(["", "a", "b", "call:1", "x" * 70, "é"])
NAMES = st.sampled_from(["grep", "old tool!", "", "n" * 200])
ARGUMENTS = st.sampled_from(["{}", '{"pattern": "x"}', "", "null", "[1]", '{"a":1}{"b":2}', '{"cut": "h', "NaN"])
REASONING = st.lists(
    st.sampled_from([Reasoning("hm", "sig"), Reasoning("hm"), Reasoning(redacted="b3Bh"), Reasoning()]), max_size=2
).map(tuple)
PICTURE = Attachment("image/png", "aGk=", "a.png")
CALLS = st.lists(st.builds(ToolCall, IDS, NAMES, ARGUMENTS), max_size=3).map(tuple)
MESSAGES = st.one_of(
    st.builds(user, TEXTS, st.sampled_from([(), (PICTURE,), (PICTURE, PICTURE)])),
    st.builds(Message, st.just("assistant"), TEXTS, tool_calls=CALLS, reasoning=REASONING, interrupted=st.booleans()),
    st.builds(tool_result, IDS, TEXTS, is_error=st.booleans()),
)
ANYTHING = st.lists(MESSAGES, max_size=8)


def conversation(turns: int, width: int, signed: bool) -> list[Message]:
    """A sound one: each turn has `width` calls and all their results."""
    history = [user("Where is it?")]
    for turn in range(turns):
        calls = tuple(ToolCall(f"c{turn}_{index}", "grep", '{"pattern": "x"}') for index in range(width))
        thoughts = (Reasoning("hm", "sig"),) if signed else ()
        history.append(Message("assistant", "Looking." if turn % 2 else "", calls, thoughts))
        history += [tool_result(call.id, f"result {call.id}") for call in calls]
    return [*history, Message("assistant", "Here."), user("And then?")]


@st.composite
def damaged(draw: st.DrawFn) -> list[Message]:
    """A sound conversation after something happened to it."""
    history = conversation(draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.booleans()))
    start = draw(st.integers(0, len(history) - 1))
    history = history[start : draw(st.integers(start + 1, len(history)))]
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(history) - 1))
        kind = draw(st.sampled_from(["lose", "double", "move", "empty", "cut"]))
        if kind == "lose" and len(history) > 1:
            del history[at]
        elif kind == "double":
            history.insert(draw(st.integers(0, len(history))), history[at])
        elif kind == "move":
            history.insert(draw(st.integers(0, len(history) - 1)), history.pop(at))
        elif kind == "empty":
            history[at] = replace(history[at], content="")
        else:
            history[at] = replace(history[at], interrupted=True)
    return history


THINKS: dict[str, ModelInfo] = {
    "unknown": ModelInfo(),
    "budget": ModelInfo(thinks=True, max_output=32_000),
    "adaptive": ModelInfo(thinks=True, thinking="adaptive default"),
    "blind": ModelInfo(thinks=False, vision=False),
}


def opened(wire: str, url: str, pool: HttpPool, info: ModelInfo) -> Model:
    native = OpenAIModel if wire == "openai" else AnthropicModel
    return native(wire, model_id="x", base_url=f"{url}/v1", api_key=None, pool=pool, info=info)


async def send(wire: str, info: ModelInfo, requests: Sequence[ModelRequest]) -> None:
    """Leaving the server fails for a request that it refused."""
    async with ModelServer({"turns": ["fine"], "repeat": True}) as server:
        pool = HttpPool()
        try:
            for request in requests:
                assert (await reply_of(opened(wire, server.url, pool, info), request)).message.content == "fine"
        finally:
            await pool.aclose()
        assert len(server.requests) == len(requests), "it was taken at once"


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@given(
    history=st.one_of(damaged(), ANYTHING),
    kind=st.sampled_from(sorted(THINKS)),
    think=st.sampled_from([None, "off", "high"]),
)
@settings(max_examples=60, deadline=None)
def test_any_history_is_taken(wire: str, history: list[Message], kind: str, think: Think | None) -> None:
    asyncio.run(send(wire, THINKS[kind], [request_of(*(history or [user("Hi")]), think=think)]))


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
@pytest.mark.parametrize("width", [1, 3])
def test_a_conversation_cut_anywhere_is_taken(wire: str, width: int) -> None:
    """At either end: a batch is cut in its middle as well."""
    whole = conversation(2, width, signed=True)
    cuts = [(start, end) for start in range(len(whole)) for end in range(start + 1, len(whole) + 1)]
    requests = [request_of(*whole[start:end], think="high") for start, end in cuts]
    asyncio.run(send(wire, THINKS["budget"], requests))
