"""The words for "too long" of every provider, told from rate limits, from output limits and from other things."""

from __future__ import annotations

import pytest

from orchestrator.errors import ModelErrorKind
from orchestrator.model_errors import Failure, classify
from orchestrator.output_limits import OutputLimit, output_limit_in

BY_WORDS = [
    "This model's maximum context length is 4097 tokens, however you requested 4130 tokens (130 in your prompt; 4000 "
    "for the completion). Please reduce your prompt; or completion length.",
    "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt "
    "contains at least 262145 input tokens, for a total of at least 262145 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "prompt: length: 1..200000 expected",
    "Input is too long for requested model.",
    "ValidationException: Malformed input request: expected maxLength: 200000, actual: 210000",
    "Too many input tokens. Max input tokens: 8192, request input token count: 12000",
    "The model returned the following errors: Input is too long for requested model",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "Unable to submit request because the input token count is 40000 but the model only supports up to 32768.",
    "400 Request payload size exceeds the limit: 20971520 bytes.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
    "Prompt has too many tokens: 140000",
    "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)",
    "invalid params, context window exceeds limit (2013)",
    "Range of input length should be [1, 129024]",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]",
    "prompt token count of 150000 exceeds the limit of 128000",
    "Request body too large for gpt-4o model. Max size: 8000 tokens.",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 8190 `inputs` tokens and 100",
    "The input (140000 tokens) is longer than the model's context length (131072 tokens).",
    "This is longer than the model's maximum context length of 4096",
    "the request exceeds the available context size. try increasing the context size or enable context shift",
    "request (16500 tokens) exceeds the available context size (16384 tokens)",
    "tokens to keep from the initial prompt is greater than the context length",
    "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length "
    "of only 8192 tokens, which is not enough: the prompt exceeds the context length",
    "llm: input length exceeds the context length",
    "The estimated number of input and maximum output tokens (30000) exceeded this model context window limit (24000).",
    "prompt tokens (1200008) exceed model maximum (1050000) for openai.gpt-5.6-terra",
    "too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 140000",
    "Input text length should not exceed 8192 tokens",
    "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000, decrease input length or `max_tokens`",
    "Requested token count exceeds the model's maximum context length of 131072 tokens.",
    "Error code: 1261 - Prompt exceeds max length",
    "输入内容过长，请减少后重试",
    "上下文长度超出模型限制",
    "Model context window is 128k tokens, you requested 256k tokens",
    "Prompt too large for this model",
    "tokens in request more than max tokens allowed",
]


def test_there_are_many() -> None:
    assert len(set(BY_WORDS)) >= 25


@pytest.mark.parametrize("message", BY_WORDS)
@pytest.mark.parametrize("status", [400, 422, 500, None])
def test_too_long_by_its_words(message: str, status: int | None) -> None:
    """Some servers give it a status of their own fault, and in the middle of a stream there is none."""
    assert classify(Failure(message, status)) == "context_too_long"


CODES = [
    "context_length_exceeded",
    "context_window_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "model_max_prompt_tokens_exceeded",
    "tokens_limit_reached",
    "string_above_max_length invalid_request_error",
    "context_overflow",
]


@pytest.mark.parametrize("code", CODES)
def test_too_long_by_its_code(code: str) -> None:
    assert classify(Failure("Something is wrong with this request", 400, code)) == "context_too_long"


OTHERS: list[tuple[int | None, str, str, ModelErrorKind]] = [
    (
        429,
        "",
        "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000, Used 29000, Requested 4500",
        "rate_limit",
    ),
    (429, "", "Too many tokens, please wait before trying again.", "rate_limit"),
    (
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 40,000 input tokens",
        "rate_limit",
    ),
    (400, "", "Too many tokens per day, please wait before trying again.", "bad_request"),
    (429, "", "request reached organization TPD rate limit, current: 1506556, limit: 1500000", "rate_limit"),
    (429, "", "Resource has been exhausted (e.g. check quota).", "rate_limit"),
    (400, "", "max_tokens is too large: 20480. This model supports at most 16384 completion tokens", "bad_request"),
    (400, "", "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for x", "bad_request"),
    (400, "", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "bad_request"),
    (400, "", "<400> InvalidParameter: Range of max_tokens should be [1, 8192]", "bad_request"),
    (400, "", "`max_tokens` must be less than or equal to `32768`, the maximum value for this model", "bad_request"),
    (400, "", "The maximum tokens you requested exceeds the model limit of 4096. Try again.", "bad_request"),
    (
        400,
        "string_above_max_length",
        "Invalid 'user': string too long. Expected a string with maximum length 64",
        "bad_request",
    ),
    (
        400,
        "string_above_max_length",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
        "bad_request",
    ),
    (400, "", "Model context window too small (minimum is 128k tokens)", "bad_request"),
    (400, "", "tools: too many tools, at most 128", "bad_request"),
    (404, "", "The model `long-context` does not exist", "bad_request"),
]


@pytest.mark.parametrize(("status", "code", "message", "kind"), OTHERS)
def test_what_sounds_alike_and_is_not(status: int | None, code: str, message: str, kind: str) -> None:
    assert classify(Failure(message, status, code)) == kind


@pytest.mark.parametrize("status", [413, 429])
def test_a_request_that_alone_is_above_the_limit_per_minute_must_become_shorter(status: int) -> None:
    """To wait would never help."""
    said = (
        "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 61337. The "
        "input or output tokens must be reduced in order to run successfully."
    )
    assert classify(Failure(said, status, "rate_limit_exceeded")) == "context_too_long"
    said = (
        "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce "
        "your message size and try again."
    )
    assert classify(Failure(said, status, "rate_limit_exceeded")) == "context_too_long"


# --- output limits ---------------------------------------------------------------------------------------------------

ALWAYS = [
    ("max_tokens is too large: 20480. This model supports at most 16384 completion tokens, whereas you", 16384),
    ("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude", 64000),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
    ("<400> InvalidParameter: Range of max_tokens should be [1, 8192]", 8192),
    ("`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens`", 32768),
    ("`max_completion_tokens` must be less than or equal to `65536`, the maximum", 65536),
    ("The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower", 4096),
    (
        "it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)",
        65536,
    ),
    (
        "The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, "
        "expected a value <= 12288, but got 32000 instead.",
        12288,
    ),
]


@pytest.mark.parametrize(("message", "tokens"), ALWAYS)
def test_the_most_that_a_model_writes(message: str, tokens: int) -> None:
    assert output_limit_in(message) == OutputLimit(tokens, always=True)


LEFT = [
    ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 10000),
    ("maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in", 3192),
    ("maximum context length is 4097 tokens, however you requested 4130 tokens (130 in your prompt; 4000 for", 3967),
    (
        "maximum context length is 8192 tokens. However, you requested about 10000 tokens (5000 of text input, 5000",
        3192,
    ),
    (
        "'max_tokens' is too large: 8000. This model's maximum context length is 8192 tokens and your request has 5000 "
        "input tokens (8000 > 8192 - 5000).",
        3192,
    ),
    ("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 4000 `inputs` tokens and 5000", 4193),
]


@pytest.mark.parametrize(("message", "tokens"), LEFT)
def test_what_the_conversation_leaves(message: str, tokens: int) -> None:
    assert output_limit_in(message) == OutputLimit(tokens, always=False)


def test_what_the_conversation_leaves_by_the_newer_words() -> None:
    said = (
        "This model's maximum context length is 8192 tokens. However, you requested 8000 output tokens and your prompt "
    )
    assert output_limit_in(f"{said}contains at least 5000 input tokens") == OutputLimit(3192, always=False)


def test_no_room_is_no_output_limit() -> None:
    assert output_limit_in("exceed context limit: 199900 + 20000 > 200000") is None
    for message in BY_WORDS:
        found = output_limit_in(message)
        assert found is None or not found.always
