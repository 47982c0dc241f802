"""What a model says arrives whole, the same over every wire, however the bytes are cut."""

from __future__ import annotations

import pytest

from orchestrator.messages import Message, Reasoning, ToolCall, Usage, tool_result, user
from orchestrator.model import CallReady, Done, ReasoningDelta, TextDelta
from tests.contract.conftest import MakeModel
from tests.support.asking import calls_of, first_piece, pieces_of, reply_of, request_of, text_of
from tests.support.model_server import ModelServer


async def test_text_streams_in_pieces_and_comes_whole_at_the_end(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"text": ["Hel", "lo, ", "wörld 世界 🌍"]}]) as server:
        pieces = await pieces_of(make_model(wire, server.url))
    assert [p.text for p in pieces if isinstance(p, TextDelta)] == ["Hel", "lo, ", "wörld 世界 🌍"]
    done = pieces[-1]
    assert isinstance(done, Done)
    assert done.reply.message.content == "Hello, wörld 世界 🌍"
    assert done.reply.finish_reason == "stop"


@pytest.mark.parametrize("size", [1, 2, 7, 64])
async def test_bytes_may_be_cut_anywhere(wire: str, make_model: MakeModel, size: int) -> None:
    turn = {"text": "naïve 世界 🌍", "tool_calls": [{"name": "grep", "arguments": {"pattern": "é🌍"}}], "chunk": size}
    async with ModelServer([turn]) as server:
        reply = await reply_of(make_model(wire, server.url))
    assert reply.message.content == "naïve 世界 🌍"
    assert [call.name for call in reply.message.tool_calls] == ["grep"]
    assert "é" in reply.message.tool_calls[0].arguments or "\\u00e9" in reply.message.tool_calls[0].arguments


async def test_a_call_is_ready_before_the_next_one_has_ended(wire: str, make_model: MakeModel) -> None:
    calls = [{"name": "grep", "arguments": {"pattern": "a"}, "id": "c1"}, {"name": "glob", "arguments": {}, "id": "c2"}]
    turn = {"tool_calls": calls, "stall": "forever", "stall_after": 4}
    async with ModelServer([turn]) as server, first_piece(make_model(wire, server.url)) as first:
        pass
    assert first == CallReady(ToolCall("c1", "grep", '{"pattern": "a"}'))


async def test_calls_keep_order_ids_and_arguments(wire: str, make_model: MakeModel) -> None:
    calls = [{"name": "grep", "arguments": {"pattern": str(n)}, "id": f"call_{n}"} for n in range(5)]
    async with ModelServer([{"text": "Looking.", "tool_calls": calls, "fragments": 3}]) as server:
        pieces = await pieces_of(make_model(wire, server.url))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert [call.id for call in done.reply.message.tool_calls] == [f"call_{n}" for n in range(5)]
    assert [call.arguments for call in calls_of(pieces)] == [f'{{"pattern": "{n}"}}' for n in range(5)]
    assert tuple(calls_of(pieces)) == done.reply.message.tool_calls
    assert done.reply.finish_reason == "tool_calls"


async def test_a_call_without_arguments_has_an_empty_object(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"tool_calls": [{"name": "glob", "arguments": ""}]}]) as server:
        pieces = await pieces_of(make_model(wire, server.url))
    assert [call.arguments for call in calls_of(pieces)] == ["{}"]


async def test_an_answer_that_is_not_streamed_is_the_same(wire: str, make_model: MakeModel) -> None:
    turn = {
        "text": "Hi",
        "reasoning": "hm",
        "tool_calls": [{"name": "grep", "arguments": {"pattern": "x"}, "id": "c1"}],
    }
    async with ModelServer([{**turn, "stream": False}, turn]) as server:
        model = make_model(wire, server.url)
        whole, streamed = await pieces_of(model), await pieces_of(model)
    assert whole == streamed
    assert text_of(whole) == "Hi"


@pytest.mark.parametrize("finish", ["stop", "length", "content_filter"])
async def test_finish_reasons(wire: str, make_model: MakeModel, finish: str) -> None:
    async with ModelServer([{"text": "Hi", "finish_reason": finish}]) as server:
        reply = await reply_of(make_model(wire, server.url))
    assert reply.finish_reason == finish


async def test_the_content_wins_over_the_finish_reason(wire: str, make_model: MakeModel) -> None:
    """Category 4: `stop` with calls, `tool_calls` with none, an unknown word."""
    call = {"name": "grep", "arguments": {"pattern": "x"}}
    script = [
        {"tool_calls": [call], "finish_reason": "stop"},
        {"text": "Hi", "finish_reason": "tool_calls"},
        {"tool_calls": [call], "finish_reason": "whatever"},
        {"text": "Hi", "finish_reason": "whatever"},
    ]
    async with ModelServer(script) as server:
        model = make_model(wire, server.url)
        found = [(await reply_of(model)).finish_reason for _ in script]
    assert found == ["tool_calls", "stop", "tool_calls", "unknown"]


@pytest.mark.parametrize("finish", ["tool_calls", "length"])
async def test_cut_arguments_are_passed_on_raw_and_never_ready(wire: str, make_model: MakeModel, finish: str) -> None:
    """B124: whatever the finish reason says, arguments that are cut are not a call that is ready."""
    cut = {"name": "run_shell", "arguments": '{"command":"rm -rf /tmp/a'}
    async with ModelServer([{"tool_calls": [cut], "finish_reason": finish}]) as server:
        pieces = await pieces_of(make_model(wire, server.url))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert calls_of(pieces) == []
    assert [call.arguments for call in done.reply.message.tool_calls] == ['{"command":"rm -rf /tmp/a']
    assert done.reply.finish_reason == finish


async def test_arguments_that_never_came_are_not_an_empty_object(wire: str, make_model: MakeModel) -> None:
    """B125: a call whose arguments fell to the output limit must not run with none."""
    turn = {"tool_calls": [{"name": "glob", "arguments": ""}], "finish_reason": "length"}
    async with ModelServer([turn]) as server:
        pieces = await pieces_of(make_model(wire, server.url))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert calls_of(pieces) == []
    assert [call.arguments for call in done.reply.message.tool_calls] == [""]


async def test_reasoning_is_kept_apart_from_the_text(wire: str, make_model: MakeModel) -> None:
    """B132: an answer that is all reasoning has no text, and the reasoning is not lost."""
    async with ModelServer([{"reasoning": "Let me think."}]) as server:
        pieces = await pieces_of(make_model(wire, server.url))
    done = pieces[-1]
    assert isinstance(done, Done)
    assert pieces[0] == ReasoningDelta("Let me think.")
    assert done.reply.message.content == ""
    assert [block.text for block in done.reply.message.reasoning] == ["Let me think."]


async def test_usage_counts_cached_tokens_once(wire: str, make_model: MakeModel) -> None:
    usage = {"input_tokens": 100, "output_tokens": 7, "cache_read_tokens": 900, "cache_write_tokens": 50}
    async with ModelServer([{"text": "Hi", "usage": usage}, {"text": "Hi", "usage": usage, "stream": False}]) as server:
        model = make_model(wire, server.url)
        for _ in range(2):
            reply = await reply_of(model)
            assert reply.usage == Usage(**usage)
            assert not reply.usage_estimated


async def test_usage_that_is_not_reported_is_estimated(wire: str, make_model: MakeModel) -> None:
    """B177: no usage is never a usage of nothing; Chinese counts about a token a character."""
    async with ModelServer([{"text": "汉" * 50, "usage": None}]) as server:
        reply = await reply_of(make_model(wire, server.url))
    assert reply.usage_estimated
    assert reply.usage.output_tokens == 50
    assert reply.usage.input_tokens > 10


async def test_ids_that_repeat_or_are_missing_become_unique(wire: str, make_model: MakeModel) -> None:
    """B040, and providers that count their ids from nought in every answer."""
    call = {"name": "grep", "arguments": {"pattern": "x"}}
    turns = [{"tool_calls": [{**call, "id": "c0"}, {**call, "id": "c0"}, {**call, "id": ""}]}]
    async with ModelServer(turns) as server:
        reply = await reply_of(make_model(wire, server.url))
    ids = [call.id for call in reply.message.tool_calls]
    assert len(set(ids)) == 3
    assert all(ids)


async def test_an_id_of_an_earlier_turn_is_not_used_again(wire: str, make_model: MakeModel) -> None:
    history = (
        user("Hi"),
        Message("assistant", tool_calls=(ToolCall("c0", "grep", "{}"),)),
        tool_result("c0", "nothing"),
    )
    async with ModelServer([{"tool_calls": [{"name": "glob", "arguments": {}, "id": "c0"}]}]) as server:
        reply = await reply_of(make_model(wire, server.url), request_of(*history))
    assert reply.message.tool_calls[0].id not in ("", "c0")


async def test_signed_and_redacted_thinking_comes_as_it_is(make_model: MakeModel) -> None:
    blocks = [
        {"text": "First.", "signature": "c2ln"},
        {"redacted": "b3BhcXVl"},
        {"text": "Then.", "signature": "bm9ja"},
    ]
    async with ModelServer([{"reasoning": blocks, "text": "Hi"}]) as server:
        reply = await reply_of(make_model("anthropic", server.url))
    expected = (Reasoning("First.", "c2ln"), Reasoning(redacted="b3BhcXVl"), Reasoning("Then.", "bm9ja"))
    assert reply.message.reasoning == expected


async def test_an_empty_text_block_is_not_content(make_model: MakeModel) -> None:
    """B042: the provider gives an empty text block that it would not take back."""
    events = [
        {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 5, "output_tokens": 0}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    async with ModelServer([{"raw": events}]) as server:
        pieces = await pieces_of(make_model("anthropic", server.url))
    assert len(pieces) == 1
    assert isinstance(pieces[0], Done)
    assert pieces[0].reply.message.content == ""


@pytest.mark.parametrize("early", [True, False])
async def test_usage_at_either_end_of_an_anthropic_stream(make_model: MakeModel, early: bool) -> None:
    """Compatible providers send the input count in the first event or in the last, and nought in the other."""
    counts = [{"input_tokens": 9, "output_tokens": 0}, {"input_tokens": 0, "output_tokens": 4}]
    first, last = (
        counts if early else ({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 9, "output_tokens": 4})
    )
    events = [
        {"type": "message_start", "message": {"content": [], "usage": first}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": last},
        {"type": "message_stop"},
    ]
    async with ModelServer([{"raw": events}]) as server:
        reply = await reply_of(make_model("anthropic", server.url))
    assert (reply.usage, reply.usage_estimated) == (Usage(9, 4), False)
