"""Ways in which OpenAI-compatible providers depart from OpenAI, over the wire; how they cut calls is a unit test."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.messages import Usage
from orchestrator.model import Done
from tests.contract.conftest import MakeModel
from tests.support.asking import calls_of, error_of, pieces_of, reply_of, text_of
from tests.support.model_server import ModelServer

DONE = "data: [DONE]\n\n"


def chunk(delta: dict[str, Any] | None, finish: str | None = None, **rest: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "choices": [choice], **rest}


async def reply_to(make_model: MakeModel, *events: Any) -> Done:
    async with ModelServer([{"raw": list(events)}]) as server:
        pieces = await pieces_of(make_model("openai", server.url))
    assert isinstance(pieces[-1], Done)
    return pieces[-1]


async def test_comments_carriage_returns_and_a_missing_blank_line_at_the_end(make_model: MakeModel) -> None:
    raw = (
        ': PROCESSING\r\n\r\ndata: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\r\n\r\ndata: [DONE]'
    )
    assert (await reply_to(make_model, raw)).reply.message.content == "Hi"


async def test_null_deltas_empty_choices_and_other_choices_are_passed_over(make_model: MakeModel) -> None:
    done = await reply_to(
        make_model,
        {"id": "x", "choices": []},
        chunk(None),
        chunk({"content": None, "tool_calls": None, "reasoning_content": None}),
        chunk({"content": "one"}),
        {"id": "x", "choices": [{"index": 1, "delta": {"content": "two"}, "finish_reason": "stop"}]},
        chunk({}, "stop"),
        DONE,
    )
    assert done.reply.message.content == "one"


async def test_the_legacy_function_call(make_model: MakeModel) -> None:
    done = await reply_to(
        make_model,
        chunk({"function_call": {"name": "grep", "arguments": ""}}),
        chunk({"function_call": {"arguments": '{"pattern":'}}),
        chunk({"function_call": {"arguments": '"x"}'}}),
        chunk({}, "function_call"),
        DONE,
    )
    assert [(c.name, c.arguments) for c in done.reply.message.tool_calls] == [("grep", '{"pattern":"x"}')]
    assert done.reply.message.tool_calls[0].id
    assert done.reply.finish_reason == "tool_calls"


async def test_two_calls_in_one_chunk_without_an_index(make_model: MakeModel) -> None:
    """B045."""
    calls = [
        {"index": None, "id": "a", "function": {"name": "glob", "arguments": "{}"}},
        {"index": None, "id": "b", "function": {"name": "grep", "arguments": '{"pattern":"x"}'}},
    ]
    async with ModelServer([{"raw": [chunk({"tool_calls": calls}), chunk({}, "tool_calls"), DONE]}]) as server:
        pieces = await pieces_of(make_model("openai", server.url))
    assert [(call.id, call.name) for call in calls_of(pieces)] == [("a", "glob"), ("b", "grep")]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_names_of_the_reasoning(make_model: MakeModel, field: str) -> None:
    async with ModelServer([{"reasoning": "hm", "reasoning_field": field, "text": "Hi"}]) as server:
        reply = await reply_of(make_model("openai", server.url))
    assert reply.message.reasoning[0].text == "hm"
    assert reply.message.content == "Hi"


async def test_reasoning_details_are_kept_once_beside_their_text(make_model: MakeModel) -> None:
    detail = {"type": "reasoning.text", "index": 0, "format": "x"}
    done = await reply_to(
        make_model,
        chunk({"reasoning": "Let ", "reasoning_details": [{**detail, "text": "Let "}]}),
        chunk({"reasoning": "me.", "reasoning_details": [{**detail, "text": "me.", "signature": "s"}]}),
        chunk({"content": "Hi"}, "stop"),
        DONE,
    )
    (block,) = done.reply.message.reasoning
    assert block.text == "Let me."
    assert block.redacted.count("Let me.") == 1
    assert block.signature == ""


async def test_content_in_parts(make_model: MakeModel) -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Hi"}]
    done = await reply_to(make_model, chunk({"content": parts}), chunk({}, "stop"), DONE)
    assert (done.reply.message.content, done.reply.message.reasoning[0].text) == ("Hi", "hm")


async def test_a_refusal_is_text_and_a_filtered_answer(make_model: MakeModel) -> None:
    done = await reply_to(make_model, chunk({"refusal": "I cannot."}), chunk({}, "stop"), DONE)
    assert (done.reply.message.content, done.reply.finish_reason) == ("I cannot.", "content_filter")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 2}}, Usage(10, 2)),
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 8}}, Usage(2, 2, 8)),
        ({"x_groq": {"usage": {"prompt_tokens": 10, "completion_tokens": 2}}}, Usage(10, 2)),
        ({"usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": None}}, Usage(10, 2)),
    ],
)
async def test_places_of_the_usage(make_model: MakeModel, usage: dict[str, Any], expected: Usage) -> None:
    done = await reply_to(make_model, chunk({"content": "Hi"}), chunk({}, "stop", **usage), DONE)
    assert done.reply.usage == expected


@pytest.mark.parametrize("gap", [0, 0.001])
async def test_the_connection_is_used_again(make_model: MakeModel, gap: float) -> None:
    """Also when the bytes that end the body come after the end mark."""
    async with ModelServer([{"text": "one", "gap": gap}, "two"]) as server:
        model = make_model("openai", server.url)
        assert text_of(await pieces_of(model)) == "one"
        assert text_of(await pieces_of(model)) == "two"
        assert server.connections == 1


async def test_a_connection_lost_after_the_finish_reason_does_no_harm(make_model: MakeModel) -> None:
    turn = {"raw": [chunk({"content": "Hi"}), chunk({}, "stop"), "never sent"], "drop_after": 2}
    async with ModelServer([turn]) as server:
        assert (await reply_of(make_model("openai", server.url))).message.content == "Hi"


async def test_an_end_mark_alone_is_not_an_answer_but_after_some_text_it_is(make_model: MakeModel) -> None:
    """B129: no finish reason in either."""
    async with ModelServer([{"raw": [DONE]}, {"raw": [chunk({"content": "Hi"}), DONE]}]) as server:
        model = make_model("openai", server.url)
        assert (await error_of(model)).kind == "connection"
        assert (await reply_of(model)).finish_reason == "unknown"
