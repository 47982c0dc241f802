"""The model that ships for people's own tests."""

from __future__ import annotations

import asyncio

import pytest

from orchestrator.errors import ModelError
from orchestrator.messages import Message, Reasoning, ToolCall
from orchestrator.model import CallReady, Done, Reply, TextDelta
from orchestrator.testing import ScriptedModel, ScriptedTurn, ScriptExhausted, Turn, call
from tests.support.asking import error_of, pieces_of, reply_of, request_of


async def test_it_plays_its_turns_in_order() -> None:
    turn = ScriptedTurn("Looking.", (call("grep", pattern="é"),), (Reasoning("hm"),))
    model = ScriptedModel([turn, "Done."])
    pieces = await pieces_of(model)
    expected = ToolCall("scripted_1", "grep", '{"pattern": "é"}')
    assert pieces[1:3] == [TextDelta("Looking."), CallReady(expected)]
    message = Message("assistant", "Looking.", (expected,), (Reasoning("hm"),))
    assert pieces[-1] == Done(Reply(message, turn.usage, "tool_calls"))
    assert (await reply_of(model)).finish_reason == "stop"
    assert len(model.requests) == 2
    model.assert_finished()


async def test_a_request_beyond_the_script_is_an_error_and_so_is_a_turn_left_over() -> None:
    model = ScriptedModel(["one", "two"])
    await reply_of(model)
    with pytest.raises(AssertionError, match="1 of the script"):
        model.assert_finished()
    await reply_of(model)
    with pytest.raises(ScriptExhausted, match="request 3 is beyond its script; it ends in 'Hello'"):
        await reply_of(model)


async def test_routes_by_system_prompt_or_first_message() -> None:
    routes: dict[str, list[Turn]] = {"an explorer": ["found"], "Plan": [lambda request: f"plan for {request.system}"]}
    model = ScriptedModel(["main"], routes=routes)
    assert (await reply_of(model, request_of(system="You are an explorer."))).message.content == "found"
    assert (await reply_of(model, request_of(system="Plan it."))).message.content == "plan for Plan it."
    assert (await reply_of(model)).message.content == "main"
    with pytest.raises(ScriptExhausted, match="'an explorer'"):
        await reply_of(model, request_of(system="You are an explorer."))


async def test_errors_and_hanging() -> None:
    model = ScriptedModel([ScriptedTurn(error=ModelError("server", "boom")), ScriptedTurn("half", hangs=True)])
    assert (await error_of(model)).message == "boom"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await pieces_of(model)
