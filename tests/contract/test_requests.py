"""What is sent: every history becomes a request that the provider takes, and the same bytes every time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.messages import Message, Reasoning, ToolCall, tool_result, user
from orchestrator.model import ModelInfo
from orchestrator.openai_reply import DETAILS
from orchestrator.repair import NOT_EXECUTED
from tests.contract.conftest import MakeModel
from tests.support.asking import reply_of, request_of
from tests.support.model_server import ModelServer


def asks(*names: str, text: str = "", **fields: Any) -> Message:
    return Message("assistant", text, tuple(ToolCall(name, "grep", '{"pattern": "x"}') for name in names), **fields)


SOUND = (user("Hi"), asks("c1", "c2", text="Looking."), tool_result("c1", "one"), tool_result("c2", "two"), user("So?"))

BROKEN: dict[str, tuple[Message, ...]] = {
    "B033 a result whose call was compacted away": (tool_result("c1", "one"), user("Hi")),
    "B034 a call without a result": (user("Hi"), asks("c9")),
    "B034 a call without a result in the middle": (user("Hi"), asks("c9"), user("And?")),
    "B035 a synthetic result outlives its call": (user("Hi"), Message("assistant", "Done"), tool_result("s1", "x")),
    "B038 two results for one call": (user("Hi"), asks("c1"), tool_result("c1", "a"), tool_result("c1", "b")),
    "B039 one id twice in a message": (user("Hi"), asks("t1", "t1"), tool_result("t1", "a")),
    "B040 empty ids": (user("Hi"), asks("", ""), tool_result("", "a"), tool_result("", "b")),
    "B043 a tool that is gone, with a name no provider takes": (
        user("Hi"),
        Message("assistant", tool_calls=(ToolCall("c1", "old tool!", "{}"),)),
        tool_result("c1", "x"),
    ),
    "B042 empty messages": (user("Hi"), Message("assistant", ""), user("  "), user("So?")),
    "B055 arguments that are not JSON": (
        user("Hi"),
        Message("assistant", tool_calls=(ToolCall("c1", "grep", '{"path":"a"}{"path":"b"}'),)),
        tool_result("c1", "refused"),
    ),
    "B059 lone surrogates": (user("x\ud835y"), asks("c1", text="\udc97"), tool_result("c1", "a\udc97b")),
    "an id used in two turns": (user("Hi"), asks("c1"), tool_result("c1", "a"), asks("c1"), tool_result("c1", "b")),
    "a result after the user spoke": (user("Hi"), asks("c1"), user("Wait"), tool_result("c1", "late")),
    "an id of another provider": (user("Hi"), asks("functions.grep:0"), tool_result("functions.grep:0", "a")),
    "B030 a message cut to nothing": (user("Hi"), Message("assistant", "", interrupted=True), user("Again")),
    "a history that begins with the assistant": (Message("assistant", "Earlier."), user("Hi")),
    "a history that ends with the assistant": (user("Hi"), Message("assistant", "Half a", interrupted=True)),
    "an empty result": (user("Hi"), asks("c1"), tool_result("c1", "")),
    "only reasoning": (user("Hi"), Message("assistant", reasoning=(Reasoning("hm", "sig"),)), user("So?")),
    "unsigned reasoning": (user("Hi"), asks("c1", reasoning=(Reasoning("hm"),)), tool_result("c1", "a")),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_history_is_sent_as_a_valid_one(wire: str, make_model: MakeModel, name: str) -> None:
    """The server refuses what the real providers refuse."""
    async with ModelServer(["fine"]) as server:
        reply = await reply_of(make_model(wire, server.url), request_of(*BROKEN[name]))
        assert reply.message.content == "fine"
        assert len(server.requests) == 1


async def test_a_call_without_a_result_is_said_not_to_have_run(wire: str, make_model: MakeModel) -> None:
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of(user("Hi"), asks("c9")))
        assert NOT_EXECUTED in json.dumps(server.requests[0].body["messages"][-1])


async def test_arguments_that_are_not_json_are_shown_to_the_model(wire: str, make_model: MakeModel) -> None:
    """B055: never sent back as `{}`, never sent back as something that is not JSON."""
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of(*BROKEN["B055 arguments that are not JSON"]))
        sent = json.dumps(server.requests[0].body["messages"])
    assert "invalid_arguments" in sent
    assert sent.count("path") == 2


async def test_lone_surrogates_become_the_replacement_character(wire: str, make_model: MakeModel) -> None:
    """B059."""
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of(*BROKEN["B059 lone surrogates"]))
        request = server.requests[0]
    assert b"\\ud" not in request.raw
    assert "x\ufffdy" in json.dumps(request.body, ensure_ascii=False)


async def test_an_interrupted_reply_is_marked(wire: str, make_model: MakeModel) -> None:
    """B031: what the user saw before the abort is sent, and the model is told that it was cut."""
    history = (user("Hi"), Message("assistant", "The answer is", interrupted=True), user("Go on"))
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of(*history))
        sent = json.dumps(server.requests[0].body["messages"])
    assert "The answer is" in sent
    assert "interrupted" in sent


async def test_equal_requests_are_equal_bytes(wire: str, make_model: MakeModel) -> None:
    async with ModelServer(["a", "b", "c"]) as server:
        await reply_of(make_model(wire, server.url), request_of(*SOUND))
        again = make_model(wire, server.url)
        await reply_of(again, request_of(*SOUND))
        await reply_of(again, request_of(*SOUND))
        assert len({request.raw for request in server.requests}) == 1


def without_marks(raw: bytes) -> bytes:
    return raw.replace(b',"cache_control":{"type":"ephemeral"}', b"")


async def test_a_longer_history_begins_with_the_bytes_of_the_shorter(wire: str, make_model: MakeModel) -> None:
    more = (*SOUND, asks("c3"), tool_result("c3", "three"))
    async with ModelServer(["a", "b"]) as server:
        model = make_model(wire, server.url)
        await reply_of(model, request_of(*SOUND))
        await reply_of(model, request_of(*more))
        short, long = (without_marks(request.raw) for request in server.requests)
    messages = short[: short.index(b'"So?"')]
    assert long.startswith(messages)


async def test_tools_and_system_prompt_are_sent(wire: str, make_model: MakeModel) -> None:
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of())
        (request,) = server.requests
    assert request.system == "You are a test."
    assert request.first_user == "Hello"
    assert [tool.get("name") or tool["function"]["name"] for tool in request.body["tools"]] == ["grep", "glob"]


async def test_no_tools_no_list(wire: str, make_model: MakeModel) -> None:
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of(tools=()))
        assert "tools" not in server.requests[0].body


async def test_the_output_limit_is_what_the_window_leaves(wire: str, make_model: MakeModel) -> None:
    """B119: a model whose output limit equals its window still gets a request that fits."""
    info = ModelInfo(window=20_000, max_output=20_000)
    async with ModelServer(["fine"]) as server:
        model = make_model(wire, server.url, info=info)
        await reply_of(model, request_of(user("x" * 15_000), max_output_tokens=20_000))
        limit = server.requests[0].body["max_tokens"]
    assert 10_000 < limit < 16_000


async def test_anthropic_always_names_an_output_limit(make_model: MakeModel) -> None:
    async with ModelServer(["a", "b"]) as server:
        await reply_of(make_model("anthropic", server.url, info=ModelInfo()))
        await reply_of(make_model("anthropic", server.url, info=ModelInfo(max_output=4000)))
        assert [request.body["max_tokens"] for request in server.requests] == [8192, 4000]


async def test_anthropic_marks_what_is_to_be_cached(make_model: MakeModel) -> None:
    """The system prompt, the last tool, and the last two turns of the user: the older one ended the request before."""
    history = (
        user("Hi"),
        asks("c1"),
        tool_result("c1", "one"),
        asks("c2", "c3"),
        *map(tool_result, ("c2", "c3"), "xy"),
    )
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model("anthropic", server.url), request_of(*history))
        body = server.requests[0].body
    assert "cache_control" in body["system"][-1]
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
    marks = [["cache_control" in block for block in message["content"]] for message in body["messages"]]
    assert marks == [[False], [False], [True], [False, False], [False, True]]


async def test_anthropic_results_of_one_turn_are_one_message(make_model: MakeModel) -> None:
    history = (user("Hi"), asks("c1", "c2"), tool_result("c1", "1", is_error=True), tool_result("c2", "2"), user("So?"))
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model("anthropic", server.url, quirks={"cache_control": False}), request_of(*history))
        last = server.requests[0].body["messages"][-1]
    assert last == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "1", "is_error": True},
            {"type": "tool_result", "tool_use_id": "c2", "content": "2"},
            {"type": "text", "text": "So?"},
        ],
    }


THINKING = (Reasoning("First.", "c2ln"), Reasoning(redacted="b3BhcXVl"))


async def test_anthropic_gets_its_thinking_back_unchanged(make_model: MakeModel) -> None:
    """B144."""
    async with ModelServer(["fine"]) as server:
        history = (user("Hi"), asks("c1", text="So.", reasoning=THINKING), tool_result("c1", "1"))
        await reply_of(make_model("anthropic", server.url), request_of(*history))
        blocks = server.requests[0].body["messages"][1]["content"]
    assert blocks[:2] == [
        {"type": "thinking", "thinking": "First.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
    ]
    assert [block["type"] for block in blocks[2:]] == ["text", "tool_use"]


async def test_thinking_of_another_account_is_left_out_after_it_was_refused(make_model: MakeModel) -> None:
    """B144: one bad signature does not poison the session, and later thinking is still sent back."""
    message = "messages.1.content.0: Invalid `signature` in `thinking` block"
    history = (user("Hi"), asks("c1", reasoning=THINKING), tool_result("c1", "1"))
    fresh = (*history, asks("c2", reasoning=(Reasoning("New.", "bmV1"),)), tool_result("c2", "2"))
    async with ModelServer([{"status": 400, "error": {"message": message}}, "one", "two"]) as server:
        model = make_model("anthropic", server.url)
        await reply_of(model, request_of(*history))
        await reply_of(model, request_of(*fresh))
        kinds = [[b["type"] for b in request.body["messages"][1]["content"]] for request in server.requests]
        assert kinds == [["thinking", "redacted_thinking", "tool_use"], ["tool_use"], ["tool_use"]]
        assert server.requests[2].body["messages"][3]["content"][0]["signature"] == "bmV1"


async def test_nobody_else_gets_signed_thinking(make_model: MakeModel) -> None:
    history = (user("Hi"), asks("c1", reasoning=THINKING), tool_result("c1", "1"))
    async with ModelServer(["a", "b"]) as server:
        await reply_of(make_model("openai", server.url), request_of(*history))
        await reply_of(make_model("openai", server.url, quirks={"send_reasoning": "reasoning"}), request_of(*history))
        for request in server.requests:
            assert b"First." not in request.raw
            assert b"c2ln" not in request.raw


async def test_anthropic_does_not_get_details_of_another_provider(make_model: MakeModel) -> None:
    history = (user("Hi"), asks("c1", reasoning=(Reasoning("hm", redacted=f"{DETAILS}[]"),)), tool_result("c1", "1"))
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model("anthropic", server.url), request_of(*history))
        assert b"thinking" not in server.requests[0].raw


async def test_a_provider_that_wants_its_reasoning_back_gets_it(make_model: MakeModel) -> None:
    details = [{"type": "reasoning.text", "text": "hm", "signature": "s", "index": 0}]
    block = Reasoning("hm", redacted=DETAILS + json.dumps(details))
    history = (user("Hi"), asks("c1", reasoning=(block,)), tool_result("c1", "1"))
    async with ModelServer(["a", "b", "c"]) as server:
        for field in ("reasoning_content", "reasoning_details"):
            model = make_model("openai", server.url, quirks={"send_reasoning": field})
            await reply_of(model, request_of(*history))
        await reply_of(make_model("openai", server.url), request_of(*history))
        first, second, third = (request.body["messages"][2] for request in server.requests)
    assert first["reasoning_content"] == "hm"
    assert second["reasoning_details"] == details
    assert not any("reasoning" in key for key in third)


async def test_openai_quirks(make_model: MakeModel) -> None:
    quirks = {
        "max_tokens_field": "max_completion_tokens",
        "system_role": "developer",
        "stream_options": False,
        "prompt_cache_key": True,
        "short_call_ids": True,
        "extra_body": {"reasoning_effort": "low"},
    }
    async with ModelServer(["fine"]) as server:
        request = request_of(*SOUND, max_output_tokens=50, temperature=0.5, cache_key="explorer-1")
        await reply_of(make_model("openai", server.url, quirks=quirks), request)
        body = server.requests[0].body
    assert body["messages"][0]["role"] == "developer"
    assert (body["max_completion_tokens"], body["temperature"]) == (50, 0.5)
    assert (body["prompt_cache_key"], body["reasoning_effort"]) == ("explorer-1", "low")
    assert "stream_options" not in body
    ids = [call["id"] for call in body["messages"][2]["tool_calls"]]
    assert [len(name) for name in ids] == [9, 9]
    assert [message["tool_call_id"] for message in body["messages"][3:5]] == ids


async def test_no_cache_key_unless_the_provider_has_one(make_model: MakeModel) -> None:
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model("openai", server.url), request_of(cache_key="explorer-1"))
        assert "prompt_cache_key" not in server.requests[0].body


async def test_a_body_of_several_megabytes_is_sent(wire: str, make_model: MakeModel) -> None:
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of(user("x" * 3_000_000)))
        assert len(server.requests[0].raw) > 3_000_000


async def test_without_a_key_none_is_sent(wire: str, make_model: MakeModel) -> None:
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url, api_key=None))
        assert not {"authorization", "x-api-key"} & set(server.requests[0].headers)
