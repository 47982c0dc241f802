"""Everything that can go wrong at a provider becomes one of orch's own errors, the same over every wire."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from orchestrator.anthropic_wire import AnthropicModel
from orchestrator.errors import ConfigError
from orchestrator.http import HttpPool
from orchestrator.model import Done, ModelInfo
from orchestrator.openai_wire import OpenAIModel
from tests.contract.conftest import KEY, MakeModel
from tests.support.asking import error_of, pieces_of, reply_of, request_of, text_of
from tests.support.model_server import ModelServer

BY_STATUS = [
    (400, "bad_request", "invalid value"),
    (401, "auth", "Incorrect API key provided"),
    (402, "payment", "Payment required"),
    (403, "auth", "Your key may not use this model"),
    (404, "bad_request", "The model does not exist"),
    (413, "context_too_long", "Request exceeds the maximum size"),
    (429, "rate_limit", "Rate limit reached"),
    (500, "server", "Internal error"),
    (503, "overloaded", "Service unavailable"),
    (529, "overloaded", "Overloaded"),
]


@pytest.mark.parametrize(("status", "kind", "message"), BY_STATUS)
async def test_statuses(wire: str, make_model: MakeModel, status: int, kind: str, message: str) -> None:
    async with ModelServer([{"status": status, "error": {"type": "x", "message": message}}]) as server:
        error = await error_of(make_model(wire, server.url))
    assert (error.kind, error.status) == (kind, status)
    assert message in error.message
    assert "scripted" in error.message
    assert error.hint


MID_STREAM: list[tuple[dict[str, Any], str]] = [
    ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded"),
    ({"type": "rate_limit_error", "message": "Too many requests"}, "rate_limit"),
    ({"type": "api_error", "message": "Internal server error"}, "server"),
    ({"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000"}, "context_too_long"),
]


@pytest.mark.parametrize(("said", "kind"), MID_STREAM)
async def test_an_error_in_the_middle_of_a_stream(
    wire: str, make_model: MakeModel, said: dict[str, Any], kind: str
) -> None:
    async with ModelServer([{"text": "Hi", "error": said}]) as server:
        error = await error_of(make_model(wire, server.url))
    assert error.kind == kind
    assert said["message"] in error.message


async def test_a_dropped_connection_is_a_broken_stream(wire: str, make_model: MakeModel) -> None:
    """B127."""
    async with ModelServer([{"text": ["one", "two", "three"], "drop_after": 2}]) as server:
        error = await error_of(make_model(wire, server.url))
    assert error.kind == "connection"
    assert error.passing


async def test_a_connection_dropped_before_any_answer(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"text": "one", "drop_after": 0}]) as server:
        error = await error_of(make_model(wire, server.url))
    assert error.kind == "connection"


async def test_a_stream_that_ends_without_an_end_is_broken(wire: str, make_model: MakeModel) -> None:
    """B129: closed cleanly, but neither a finish reason nor the end mark was there."""
    async with ModelServer([{"text": "half", "finish_reason": None}, {"finish_reason": None}]) as server:
        model = make_model(wire, server.url)
        assert (await error_of(model)).kind == "connection"
        assert (await error_of(model)).kind == "connection"


async def test_a_missing_end_mark_after_the_finish_reason_is_forgiven(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"text": "whole", "end": False}]) as server:
        assert (await reply_of(make_model(wire, server.url))).message.content == "whole"


async def test_a_silent_stream_is_broken(wire: str, make_model: MakeModel) -> None:
    """B005: one piece, then nothing, for ever."""
    async with ModelServer([{"text": ["one", "two"], "stall": "forever"}]) as server:
        error = await error_of(make_model(wire, server.url, idle_timeout=0.2))
    assert error.kind == "connection"
    assert "0.2 s" in error.message


async def test_a_provider_that_never_begins_to_answer(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"text": "one", "delay": 30}]) as server:
        error = await error_of(make_model(wire, server.url, idle_timeout=0.2))
    assert error.kind == "connection"


async def test_nobody_listens(wire: str, make_model: MakeModel) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        error = await error_of(make_model(wire, f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert error.kind == "connection"
    assert "127.0.0.1" in error.message


async def test_the_key_is_never_shown(wire: str, make_model: MakeModel) -> None:
    message = f"Incorrect API key provided: {KEY}. You sent Bearer {KEY}"
    script = [
        {"status": 401, "error": {"message": message}},
        {"text": "Hi", "error": {"type": "authentication_error", "message": message}},
        {"status": 500, "body": message},
    ]
    async with ModelServer(script) as server:
        model = make_model(wire, server.url)
        for _ in script:
            error = await error_of(model)
            assert KEY not in f"{error!r} {error.message} {error.hint}"
            assert "[key]" in error.message


async def test_the_key_is_sent(wire: str, make_model: MakeModel) -> None:
    async with ModelServer({"turns": ["Hi"], "api_key": KEY}) as server:
        assert text_of(await pieces_of(make_model(wire, server.url))) == "Hi"


async def test_retry_after_is_read(wire: str, make_model: MakeModel) -> None:
    slow = {"status": 429, "error": {"message": "slow down"}}
    words = {"status": 429, "error": {"message": "Rate limit reached. Please try again in 1m2.5s."}}
    script = [
        {**slow, "headers": {"Retry-After": "7"}},
        {**slow, "headers": {"retry-after-ms": "250"}},
        {**slow, "headers": {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}},
        words,
    ]
    async with ModelServer(script) as server:
        model = make_model(wire, server.url)
        assert [(await error_of(model)).retry_after for _ in script] == [7.0, 0.25, 0.0, 62.5]


async def test_a_web_page_or_a_redirect_says_that_the_address_is_wrong(wire: str, make_model: MakeModel) -> None:
    page = "<html><head><title>Welcome</title></head></html>"
    script = [
        {"body": page},
        {"status": 301, "body": "", "headers": {"Location": "https://elsewhere.example/v1"}},
        {"status": 404, "body": page},
    ]
    async with ModelServer(script) as server:
        model = make_model(wire, server.url)
        first, second, third = [await error_of(model) for _ in script]
    assert first.kind == second.kind == third.kind == "bad_request"
    assert "web page: Welcome" in first.message
    assert "base URL" in first.hint
    assert "elsewhere.example" in second.message


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_neither_the_key_nor_the_prompt_follows_a_redirect(wire: str, make_model: MakeModel, status: int) -> None:
    """Another host would get both: no library takes `x-api-key` out, and 307 and 308 send the body again."""
    async with ModelServer([]) as elsewhere:
        location = f"{elsewhere.url.replace('127.0.0.1', 'localhost')}/v1/messages"
        script = [{"status": status, "body": "", "headers": {"Location": location}}]
        async with ModelServer(script) as server:
            error = await error_of(make_model(wire, server.url))
            assert len(server.requests) == 1
        assert elsewhere.connections == 0
    assert (error.kind, error.status) == ("bad_request", status)
    assert location in error.message


async def test_an_error_in_a_200_answer_that_is_not_streamed(wire: str, make_model: MakeModel) -> None:
    body = {"error": {"type": "overloaded_error", "message": "Overloaded"}, "type": "error"}
    async with ModelServer([{"body": body}]) as server:
        assert (await error_of(make_model(wire, server.url))).kind == "overloaded"


async def test_a_garbled_stream_is_broken(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"raw": ["data: {not json\n\n"]}]) as server:
        assert (await error_of(make_model(wire, server.url))).kind == "connection"


@pytest.mark.parametrize("key", ["sk-a\nsk-b", "sk-“quoted”"])
async def test_a_key_that_cannot_be_a_key_is_refused_at_once(wire: str, make_model: MakeModel, key: str) -> None:
    with pytest.raises(ConfigError, match="API key") as caught:
        make_model(wire, "http://127.0.0.1:9", api_key=key)
    assert key not in caught.value.message


@pytest.mark.parametrize(
    "url", ["", "localhost:11434/v1", "ftp://x/v1", "http://x:abc/v1", "http://[::1", "http:///v1", "http://a b"]
)
@pytest.mark.parametrize("native", [OpenAIModel, AnthropicModel])
def test_a_base_url_that_is_none_is_refused_at_once(native: type[OpenAIModel | AnthropicModel], url: str) -> None:
    with pytest.raises(ConfigError, match="base URL for x is not a web address"):
        native("x", model_id="x", base_url=url, api_key=None, pool=HttpPool(), info=ModelInfo())


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/messages"])
async def test_spellings_of_the_anthropic_base_url(suffix: str) -> None:
    pool = HttpPool()
    async with ModelServer(["fine"]) as server:
        address = server.url + suffix
        model = AnthropicModel("x", model_id="x", base_url=address, api_key=None, pool=pool, info=ModelInfo())
        await reply_of(model)
        assert server.requests[0].path == "/v1/messages"
    await pool.aclose()


async def test_an_unknown_quirk_is_named_with_a_near_one(make_model: MakeModel) -> None:
    with pytest.raises(ConfigError, match=r"stream_option`.*did you mean `stream_options`"):
        make_model("openai", "http://127.0.0.1:9", quirks={"stream_option": False})


async def test_a_refused_field_is_left_out_from_then_on(make_model: MakeModel) -> None:
    """B179: one more request, once; the second answer costs one request only."""
    async with ModelServer({"turns": ["one", "two"], "reject": ["stream_options"]}) as server:
        model = make_model("openai", server.url)
        assert text_of(await pieces_of(model)) == "one"
        assert text_of(await pieces_of(model)) == "two"
        assert ["stream_options" in request.body for request in server.requests] == [True, False, False]


async def test_a_refused_temperature_is_left_out(make_model: MakeModel) -> None:
    async with ModelServer({"turns": ["one"], "reject": ["temperature"]}) as server:
        assert text_of(await pieces_of(make_model("openai", server.url), request_of(temperature=0.0))) == "one"


async def test_the_output_limit_takes_the_name_that_the_model_wants(make_model: MakeModel) -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    async with ModelServer([{"status": 400, "error": {"message": message}}, "one"]) as server:
        assert text_of(await pieces_of(make_model("openai", server.url), request_of(max_output_tokens=99))) == "one"
        assert server.requests[1].body["max_completion_tokens"] == 99
        assert "max_tokens" not in server.requests[1].body


async def test_any_other_bad_request_is_sent_once(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"status": 400, "error": {"message": "nonsense"}}]) as server:
        assert (await error_of(make_model(wire, server.url))).kind == "bad_request"
        assert len(server.requests) == 1


async def test_an_output_limit_that_did_not_fit_is_lowered_to_what_does(wire: str, make_model: MakeModel) -> None:
    """B119, as the providers say it: the input fits, input and output together do not."""
    message = {
        "anthropic": "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000, decrease input",
        "openai": "This model's maximum context length is 200000 tokens. However, you requested 207000 tokens "
        "(199000 in the messages, 8000 in the completion).",
    }[wire.removeprefix("litellm-")]
    async with ModelServer([{"status": 400, "error": {"message": message}}, "one"]) as server:
        pieces = await pieces_of(make_model(wire, server.url), request_of(max_output_tokens=8000))
        assert isinstance(pieces[-1], Done)
        assert [request.body["max_tokens"] for request in server.requests] == [8000, 1000]
