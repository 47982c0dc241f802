"""The words of the providers, as they come, and the kind of error that each is."""

from __future__ import annotations

import pytest

from orchestrator.model_errors import Failure, classify, failure_of, mask, model_error

TOO_LONG = [
    (400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."),
    (400, "Your input exceeds the context window of this model. Please adjust your input and try again."),
    (400, "prompt is too long: 213462 tokens > 200000 maximum"),
    (400, "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000"),
    (413, "Request exceeds the maximum allowed number of bytes."),
    (400, "Input is too long for requested model."),
    (400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)"),
    (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens"),
    (400, "Please reduce the length of the messages or completion."),
    (400, "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens"),
    (400, "The input (140000 tokens) is longer than the model's context length (131072 tokens)."),
    (400, "the request exceeds the available context size, try increasing it"),
    (400, "tokens to keep from the initial prompt is greater than the context length"),
    (400, "prompt token count of 150000 exceeds the limit of 128000"),
    (400, "invalid params, context window exceeds limit"),
    (400, "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)"),
    (400, "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length"),
    (400, "Range of input length should be [1, 98304]"),
    (400, "'max_tokens' is too large: 4096. This model's maximum context length is 8192 tokens"),
    (500, "llm: input length exceeds the context length"),
    (400, "Requested token count exceeds the model's maximum context length of 131072 tokens."),
    (422, "inputs tokens + max_new_tokens must be <= 8192; the prompt exceeds max length"),
    (None, "model_context_window_exceeded"),
]


@pytest.mark.parametrize(("status", "message"), TOO_LONG)
def test_context_too_long(status: int | None, message: str) -> None:
    assert classify(Failure(message, status)) == "context_too_long"


OTHERS = [
    (429, "", "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Requested 45000", "rate_limit"),
    (413, "", "Request too large for model on tokens per minute (TPM): Limit 6000", "context_too_long"),
    (429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing.", "payment"),
    (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "payment"),
    (402, "", "Insufficient Balance", "payment"),
    (401, "invalid_api_key", "Incorrect API key provided", "auth"),
    (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "auth"),
    (403, "permission_error", "Your API key does not have permission to use the specified resource.", "auth"),
    (400, "content_filter", "The response was filtered due to the content management policy.", "content_filter"),
    (400, "", "Content Exists Risk", "content_filter"),
    (403, "", "Your chosen model requires moderation and your input was flagged", "content_filter"),
    (400, "", "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens", "bad_request"),
    (404, "model_not_found", "The model `gpt-9` does not exist", "bad_request"),
    (422, "", "extra fields not permitted", "bad_request"),
    (500, "", "The server had an error", "server"),
    (502, "", "Bad gateway", "server"),
    (500, "", "The engine is currently overloaded, please try again later", "overloaded"),
    (529, "overloaded_error", "Overloaded", "overloaded"),
    (408, "", "Request timeout", "server"),
    (None, "rate_limit_error", "Slow down", "rate_limit"),
    (None, "timeout_error", "Upstream timed out", "connection"),
    (None, "", "something", "server"),
]


@pytest.mark.parametrize(("status", "code", "message", "kind"), OTHERS)
def test_other_kinds(status: int | None, code: str, message: str, kind: str) -> None:
    assert classify(Failure(message, status, code)) == kind


SHAPES: list[object] = [
    {"error": {"message": "No such thing", "type": "x", "code": None}},
    {"type": "error", "error": {"type": "x", "message": "No such thing"}},
    {"error": "No such thing"},
    {"message": "No such thing"},
    {"detail": "No such thing"},
    {"object": "error", "message": "No such thing", "code": 40001},
    [{"error": {"code": 400, "message": "No such thing", "status": "INVALID_ARGUMENT"}}],
    b'{"error": {"message": "No such thing"}}',
    "No such thing",
    b"No such thing",
]


@pytest.mark.parametrize("body", SHAPES)
def test_every_shape_of_an_error_body_is_read(body: object) -> None:
    assert failure_of(body, status=400).message == "No such thing"


def test_what_the_provider_behind_a_router_said_is_kept() -> None:
    body = {"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": "upstream exploded"}}}
    failure = failure_of(body)
    assert failure.message == "Provider returned error: upstream exploded"
    assert failure.status == 502


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 20s.", 20),
        ("Please try again in 6m0.5s", 360.5),
        ("try again in 150ms", 0.15),
        ("retry after 1h2m3s", 3723),
        ("no such words", None),
        ("Please try again later", None),
    ],
)
def test_the_pause_that_the_words_ask_for(text: str, seconds: float | None) -> None:
    assert failure_of({"error": {"message": text}}, status=429).retry_after == seconds


def test_a_body_with_nothing_in_it() -> None:
    error = model_error("openai/x", failure_of(b"", status=500))
    assert error.message == "openai/x: no explanation given (HTTP 500)"


def test_a_long_message_is_cut_and_its_control_characters_are_gone() -> None:
    error = model_error("m", Failure("\x1b[31m" + "x" * 5_000_000, 500))
    assert len(error.message) < 700
    assert "\x1b" not in error.message


def test_keys_are_masked() -> None:
    text = "sent hunter2-secret as Bearer abcdef and sk-proj-abcdefgh12345678"
    assert mask(text, "hunter2-secret") == "sent [key] as Bearer [key] and [key]"


@pytest.mark.parametrize("kind_status", [400, 401, 402, 404, 413, 429, 500, 503])
def test_every_error_says_what_to_do_next(kind_status: int) -> None:
    assert model_error("m", Failure("x", kind_status)).hint
