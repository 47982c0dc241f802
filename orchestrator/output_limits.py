"""What providers say when more output was asked for than the model, or what is left of its window, allows."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_LEAST_ROOM: Final = 256
"""Tokens; where the window leaves less, the conversation is too long."""

_LEFT: Final = (
    r"context limit: (?P<input>\d+) \+ \d+ > (?P<window>\d+)",  # Anthropic
    r"context length is (?P<window>\d+) tokens.*?\((?P<input>\d+) (?:in the (?:messages|input|prompt)|of text input)",
    r"context length is (?P<window>\d+) tokens.*?\((?P<input>\d+) in your prompt",
    r"context length is (?P<window>\d+) tokens and your request has (?P<input>\d+) input tokens",  # vLLM
    r"context length is (?P<window>\d+) tokens.*?your prompt contains (?:at least )?(?P<input>\d+) input tokens",
    r"must be <= (?P<window>\d+)\. Given: (?P<input>\d+) `inputs` tokens",  # text-generation-inference
)
"""Sums that do not fit: what the window holds and what the conversation takes of it."""
_MOST: Final = (
    r"supports at most (?P<most>\d+) completion tokens",  # OpenAI
    r"max_tokens: \d+ > (?P<most>\d+), which is the maximum allowed number of output tokens",  # Anthropic
    r"valid range of max_tokens is \[1, ?(?P<most>\d+)\]",  # DeepSeek
    r"range of max_tokens should be \[1, ?(?P<most>\d+)\]",  # Qwen
    r"max_(?:completion_)?tokens`? must be less than or equal to `?(?P<most>\d+)",  # Groq
    r"maximum tokens you requested exceeds the model limit of (?P<most>\d+)",  # Bedrock
    r"maxoutputtokens.*?from 1 \(inclusive\) to (?P<below>\d+) \(exclusive\)",  # Google
    r"max_(?:completion_|output_)?tokens.*?(?:expected a value|less than or equal to|at most|<=) <?=? ?(?P<most>\d+)",
    r"max_(?:completion_|output_)?tokens.*?(?:maximum|limit)(?: value)?(?: is| of|:) (?P<most>\d+)",
)
"""What the model can write at most, whatever the conversation."""


class OutputLimit(NamedTuple):
    """`tokens` that a reply may have; `always` when that is the model's own limit and not what this request leaves."""

    tokens: int
    always: bool


def output_limit_in(message: str) -> OutputLimit | None:
    """How many output tokens would have been taken, out of the words of a refusal; `None` when it is about another
    thing, or when the conversation leaves no room that is worth asking for."""
    for pattern in _LEFT:
        found = re.search(pattern, message, re.IGNORECASE | re.DOTALL)
        if found:
            room = int(found["window"]) - int(found["input"])
            return OutputLimit(room, always=False) if room >= _LEAST_ROOM else None
    if re.search(r"context (?:length|window|limit)", message, re.IGNORECASE):
        return None
    for pattern in _MOST:
        found = re.search(pattern, message, re.IGNORECASE | re.DOTALL)
        if found:
            named = found.groupdict()
            return OutputLimit(int(named["most"]) if "most" in named else int(named["below"]) - 1, always=True)
    return None


def is_output_error(message: str) -> bool:
    """Whether a refusal is about the output that was asked for, and not about the conversation."""
    limit = output_limit_in(message)
    return limit is not None and limit.always
