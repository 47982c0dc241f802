"""The conversation in orch's own terms; the wires translate it, nothing else does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. `input_tokens` excludes what was read from or written to the cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens - other.input_tokens,
            self.output_tokens - other.output_tokens,
            self.cache_read_tokens - other.cache_read_tokens,
            self.cache_write_tokens - other.cache_write_tokens,
        )

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True)
class Reasoning:
    """One block of a model's reasoning, kept as it came so that it can be sent back to the same provider."""

    text: str = ""
    signature: str = ""
    redacted: str = ""
    """The provider's opaque data of a block whose text it does not show."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request of the model to run a tool; `arguments` is the JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image that goes with what a user says; `data` is base64 without line breaks, `media_type` as `image/png`."""

    media_type: str
    data: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. A `tool` message answers the call named by `tool_call_id`."""

    role: Literal["user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()
    tool_call_id: str = ""
    is_error: bool = False
    interrupted: bool = False
    """The stream was cut (abort, timeout) after this much had been said."""
    attachments: tuple[Attachment, ...] = ()
    """Of a user's message alone; the wires send them before its text."""


def user(text: str, attachments: Sequence[Attachment] = ()) -> Message:
    return Message("user", text, attachments=tuple(attachments))


def tool_result(call_id: str, text: str, *, is_error: bool = False) -> Message:
    return Message("tool", text, tool_call_id=call_id, is_error=is_error)


def unanswered(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls of the history that have no result yet, in order."""
    answered = {m.tool_call_id for m in messages if m.role == "tool"}
    return tuple(call for m in messages for call in m.tool_calls if call.id not in answered)


def scrub(text: str) -> str:
    """`text` without lone surrogates (each becomes U+FFFD), so that it can always be encoded as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
