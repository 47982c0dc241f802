"""What the tests shared by all wires cannot say of litellm: on its way both wires are OpenAI-shaped."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.http import HttpPool
from orchestrator.litellm_model import LitellmModel
from orchestrator.litellm_text import as_messages
from orchestrator.messages import Message, Reasoning, ToolCall, Usage, tool_result, user
from orchestrator.model import ModelInfo, ToolSchema
from orchestrator.models import choose_model, open_model
from orchestrator.openai_reply import DETAILS
from orchestrator.providers import load_providers
from tests.contract.conftest import KEY, LITELLM, MakeModel
from tests.support.asking import error_of, pieces_of, reply_of, request_of, text_of
from tests.support.model_server import ModelServer

pytestmark = list(LITELLM)
BOTH = ("litellm-openai", "litellm-anthropic")
USAGE = {"input_tokens": 100, "output_tokens": 7, "cache_read_tokens": 900, "cache_write_tokens": 50}
SIGNED = (Reasoning("First.", "c2ln"), Reasoning(redacted="b3BhcXVl"), Reasoning("Then.", "bm9ja"))


def asked(*reasoning: Reasoning, call_id: str = "c1") -> tuple[Message, ...]:
    call = ToolCall(call_id, "grep", '{"pattern": "x"}')
    return (user("Hi"), Message("assistant", tool_calls=(call,), reasoning=reasoning), tool_result(call_id, "1"))


@pytest.mark.parametrize("way", BOTH)
async def test_usage_of_a_stream_counts_cached_tokens_once(make_model: MakeModel, way: str) -> None:
    async with ModelServer([{"text": "Hi", "usage": USAGE}]) as server:
        reply = await reply_of(make_model(way, server.url))
    assert reply.usage == Usage(**USAGE)
    assert not reply.usage_estimated


@pytest.mark.parametrize("way", BOTH)
async def test_a_stream_dropped_in_the_middle_is_litellms_own_error(make_model: MakeModel, way: str) -> None:
    """B128: it comes as MidStreamFallbackError round APIConnectionError, and is a broken connection all the same."""
    async with ModelServer([{"text": ["one", "two"], "drop_after": 1}]) as server:
        error = await error_of(make_model(way, server.url))
    assert type(error.__cause__).__name__ == "MidStreamFallbackError"
    assert (error.kind, error.passing) == ("connection", True)


async def test_a_request_that_litellm_cannot_build_is_not_network_trouble(make_model: MakeModel) -> None:
    """B055: it calls its own TypeError a connection error; trying again would not help."""
    broken = ToolSchema("grep", "Search.", {"type": "object", "properties": {"x": object()}})
    async with ModelServer([]) as server:
        error = await error_of(make_model("litellm-openai", server.url), request_of(tools=(broken,)))
    assert "APIConnectionError" in repr(error.__cause__) or "InternalServerError" in repr(error.__cause__)
    assert (error.kind, error.passing) == ("bad_request", False)
    assert "litellm" in error.hint


async def test_a_provider_that_litellm_does_not_know_is_a_bad_request() -> None:
    model = LitellmModel("nonsense/x", model="nonsense/x", base_url=None, api_key=None, info=ModelInfo())
    error = await error_of(model)
    assert error.kind == "bad_request"
    assert "LLM Provider NOT provided" in error.message


async def test_a_refused_field_is_left_out_from_then_on(make_model: MakeModel) -> None:
    """B179."""
    async with ModelServer({"turns": ["one", "two"], "reject": ["stream_options"]}) as server:
        model = make_model("litellm-openai", server.url)
        assert text_of(await pieces_of(model)) == "one"
        assert text_of(await pieces_of(model)) == "two"
        assert ["stream_options" in request.body for request in server.requests] == [True, False, False]


async def test_signed_thinking_comes_and_goes_back_as_it_is(make_model: MakeModel) -> None:
    blocks = [
        {"text": "First.", "signature": "c2ln"},
        {"redacted": "b3BhcXVl"},
        {"text": "Then.", "signature": "bm9ja"},
    ]
    async with ModelServer([{"reasoning": blocks, "text": "Hi"}, "fine"]) as server:
        model = make_model("litellm-anthropic", server.url)
        reply = await reply_of(model)
        assert reply.message.reasoning == SIGNED
        await reply_of(model, request_of(*asked(*reply.message.reasoning)))
        sent = server.requests[1].body["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["thinking", "redacted_thinking", "thinking", "tool_use"]
    assert [block.get("signature") or block.get("data") for block in sent[:3]] == ["c2ln", "b3BhcXVl", "bm9ja"]


async def test_nobody_else_gets_signed_thinking(make_model: MakeModel) -> None:
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model("litellm-openai", server.url), request_of(*asked(*SIGNED)))
        assert b"First." not in server.requests[0].raw
        assert b"c2ln" not in server.requests[0].raw


def test_claude_does_not_get_details_of_another_provider() -> None:
    request = request_of(*asked(Reasoning("hm", redacted=f"{DETAILS}[]")))
    assert "thinking_blocks" not in as_messages(request, reasoning="", claude=True)[2]
    assert as_messages(request, reasoning="reasoning_content", claude=False)[2]["reasoning_content"] == "hm"


async def test_a_provider_that_wants_its_reasoning_back_gets_it(make_model: MakeModel) -> None:
    async with ModelServer(["a", "b"]) as server:
        for quirks in ({"send_reasoning": "reasoning_content"}, {}):
            await reply_of(make_model("litellm-openai", server.url, quirks=quirks), request_of(*asked(Reasoning("hm"))))
        first, second = (request.body["messages"][2] for request in server.requests)
    assert first["reasoning_content"] == "hm"
    assert "reasoning_content" not in second


async def test_quirks_that_add_to_the_request(make_model: MakeModel) -> None:
    quirks = {"prompt_cache_key": True, "extra_body": {"reasoning_split": True}}
    async with ModelServer(["fine"]) as server:
        model = make_model("litellm-openai", server.url, quirks=quirks)
        await reply_of(model, request_of(cache_key="explorer-1", temperature=0.5))
        body = server.requests[0].body
    assert (body["prompt_cache_key"], body["reasoning_split"], body["temperature"]) == ("explorer-1", True, 0.5)


def test_an_id_that_holds_a_signature_stays_whole() -> None:
    """Gemini's signature travels in the id of the call, in letters that Claude would not take."""
    request = request_of(*asked(call_id="call_1__thought__ab+/c=="))
    for claude in (False, True):
        _, _, calls, result = as_messages(request, reasoning="", claude=claude)
        assert calls["tool_calls"][0]["id"] == result["tool_call_id"]
        assert (result["tool_call_id"] == "call_1__thought__ab+/c==") is not claude


async def test_claude_is_told_what_to_keep_in_its_cache(make_model: MakeModel) -> None:
    async with ModelServer(["a", "b"]) as server:
        for way in BOTH:
            await reply_of(make_model(way, server.url), request_of(*asked()))
        other, claude = (request.body for request in server.requests)
    assert claude["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" in str(claude["messages"][-1])
    assert "cache_control" not in str(claude["messages"][0])
    assert "cache_control" not in str(other)


async def test_the_address_is_in_what_is_said_of_a_lost_connection(make_model: MakeModel) -> None:
    error = await error_of(make_model("litellm-openai", "http://127.0.0.1:9"))
    assert error.kind == "connection"
    assert "http://127.0.0.1:9/v1" in error.message
    assert "litellm." not in error.message


@pytest.mark.parametrize("way", BOTH)
async def test_a_finish_reason_that_litellm_does_not_know_is_seen_however_it_is_cut(
    make_model: MakeModel, way: str
) -> None:
    async with ModelServer([{"text": 'say "stop_reason": "x"', "finish_reason": "whatever", "chunk": 3}]) as server:
        assert (await reply_of(make_model(way, server.url))).finish_reason == "unknown"


# --- chosen by name --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["openai/m", "anthropic/m", "deepseek/m", "mistral/m", "minimax/m", "together_ai/m"])
@pytest.mark.parametrize("via", [None, "litellm"])
async def test_a_model_chosen_by_name_answers_on_either_way(name: str, via: str | None, tmp_path: Path) -> None:
    """The address of each provider's own variable, with its quirks; the tool call of a turn and its result."""
    providers = load_providers()
    provider = providers[name.partition("/")[0]]
    call = {"name": "grep", "arguments": {"pattern": "x"}, "id": "abcdefgh1"}
    async with ModelServer({"turns": [{"tool_calls": [call]}, "fine"], "api_key": KEY}) as server:
        base = server.url if provider.wire == "anthropic" else f"{server.url}/v1"
        env = {provider.key_env[0]: KEY, provider.base_url_env[0]: base}
        choice = choose_model(flag=name, env=env, configured=None, base_url=None, via=via, providers=providers)
        assert choice.wire == (via or provider.wire)
        pool = HttpPool()
        model = open_model(choice, env=env, pool=pool, cache_folder=tmp_path, retries=0)
        reply = await reply_of(model)
        history = (user("Hello"), reply.message, tool_result(reply.message.tool_calls[0].id, "1"))
        assert text_of(await pieces_of(model, request_of(*history))) == "fine"
        assert {request.body["model"] for request in server.requests} == {"m"}
        await model.aclose()
        await pool.aclose()
