"""What both wires say in the same way when they write a history down for a provider."""

from __future__ import annotations

import hashlib
import re

from orchestrator.json_bytes import parse_object
from orchestrator.messages import Message, ToolCall
from orchestrator.model import ModelRequest
from orchestrator.tokens import estimate_tokens

EMPTY_RESULT = "(no output)"
_INTERRUPTED = "[The reply was interrupted here.]"
_NOT_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_SHOWN = 2000
_PER_MESSAGE = 4
"""Tokens that a provider adds round each message and call."""
_MIN_OUTPUT = 1024
"""The least that is asked for; when even this does not fit, the provider says so and the history is compacted."""


def said(message: Message) -> str:
    """The text of a message; empty when there is none worth sending, marked when it was cut."""
    if not message.content.strip():
        return ""
    return f"{message.content}\n\n{_INTERRUPTED}" if message.interrupted else message.content


def arguments_object(call: ToolCall) -> dict[str, object]:
    """The arguments as an object; those that are not one are shown to the model as they were, never as `{}`."""
    parsed = parse_object(call.arguments)
    return {"invalid_arguments": call.arguments[:_SHOWN]} if parsed is None else parsed


def valid_name(name: str) -> str:
    """A tool name that every provider takes back, also for a name that a model made up."""
    return _NOT_IN_NAME.sub("_", name)[:64] or "unknown"


def valid_id(call_id: str) -> str:
    """An id made of letters, digits, `_` and `-`; a changed one stays different from every other."""
    plain = _NOT_IN_NAME.sub("_", call_id)
    return plain if plain == call_id else f"{plain[:40]}_{_digest(call_id)[:8]}"


def short_id(call_id: str) -> str:
    """Nine letters and digits, always the same ones for an id."""
    fits = len(call_id) == 9 and call_id.isascii() and call_id.isalnum()
    return call_id if fits else _digest(call_id)[:9]


def output_room(wanted: int, window: int | None, body_bytes: int) -> int:
    """`wanted` output tokens, or what the window leaves beside a request of that many bytes (three to a token)."""
    if window is None:
        return wanted
    return min(wanted, max(_MIN_OUTPUT, window - body_bytes // 3))


def output_limit_in(message: str) -> int | None:
    """How many output tokens would have fitted, out of an error that gives the sum that did not."""
    anthropic = re.search(r"context limit: (\d+) \+ \d+ > (\d+)", message)
    if anthropic:
        room = int(anthropic[2]) - int(anthropic[1])
    else:
        openai = re.search(r"context length is (\d+) tokens.*?\((\d+) in the (?:messages|input|prompt)", message)
        if not openai:
            return None
        room = int(openai[1]) - int(openai[2])
    return room if room >= 256 else None


def estimate_request(request: ModelRequest) -> int:
    """The tokens of all that a request holds, for a provider that reports no usage."""
    total = estimate_tokens(request.system)
    for tool in request.tools:
        total += estimate_tokens(f"{tool.name} {tool.description} {tool.parameters}")
    for message in request.messages:
        total += _PER_MESSAGE + estimate_tokens(message.content)
        total += sum(estimate_tokens(block.text) for block in message.reasoning)
        total += sum(_PER_MESSAGE + estimate_tokens(call.name + call.arguments) for call in message.tool_calls)
    return total


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
