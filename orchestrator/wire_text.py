"""What both wires say in the same way when they write a history down for a provider."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from orchestrator.errors import ModelError
from orchestrator.json_bytes import parse_object
from orchestrator.messages import Message, ToolCall, Usage
from orchestrator.model import ModelRequest
from orchestrator.tokens import estimate_tokens

EMPTY_RESULT = "(no output)"
_INTERRUPTED = "[The reply was interrupted here.]"
_NOT_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_SHOWN = 2000
_PER_MESSAGE = 4
"""Tokens that a provider adds round each message and call."""
_IMAGE_TOKENS = 3300
"""What a provider counts for an image at most; its bytes say nothing of that."""
_NO_IMAGES = re.compile(
    r"image|multi-?modal|vision|content.{0,40}must be a string|content type|unknown variant", re.IGNORECASE
)
_MIN_OUTPUT = 1024
"""The least that is asked for; when even this does not fit, the provider says so and the history is compacted."""


def said(message: Message) -> str:
    """The text of a message; empty when there is none worth sending, marked when it was cut."""
    if not message.content.strip():
        return ""
    return f"{message.content}\n\n{_INTERRUPTED}" if message.interrupted else message.content


def without_images(message: Message) -> str:
    """The text of a user's message for a model that takes no images, with a note in the place of each."""
    notes = [
        f"[The image {each.name or 'above'} was left out: this model takes no images.]" for each in message.attachments
    ]
    return "\n\n".join(filter(str.strip, (*notes, message.content)))


def refuses_images(error: ModelError, messages: Sequence[Message]) -> bool:
    """Whether `error` may well mean that the model takes no images, and there are some."""
    sent = any(message.attachments for message in messages)
    return (
        sent
        and error.status in (400, 404, 422)
        and error.kind == "bad_request"
        and bool(_NO_IMAGES.search(error.message))
    )


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


def output_room(wanted: int, window: int | None, body_bytes: int, messages: Sequence[Message] = ()) -> int:
    """`wanted` output tokens, or what the window leaves beside a request of that many bytes (three to a token).

    The bytes of the images in `messages` are among them and count for what an image costs.
    """
    if window is None:
        return wanted
    images = [each for message in messages for each in message.attachments]
    tokens = (body_bytes - sum(len(each.data) for each in images)) // 3 + _IMAGE_TOKENS * len(images)
    return min(wanted, max(_MIN_OUTPUT, window - tokens))


def estimate_request(request: ModelRequest) -> int:
    """The tokens of all that a request holds, for a provider that reports no usage."""
    total = estimate_tokens(request.system)
    for tool in request.tools:
        total += estimate_tokens(f"{tool.name} {tool.description} {tool.parameters}")
    for message in request.messages:
        total += _PER_MESSAGE + estimate_tokens(message.content) + _image_tokens(message)
        total += sum(estimate_tokens(block.text) for block in message.reasoning)
        total += sum(_PER_MESSAGE + estimate_tokens(call.name + call.arguments) for call in message.tool_calls)
    return total


def _image_tokens(message: Message) -> int:
    if not message.attachments:
        return 0
    from orchestrator.message_sizes import image_tokens_of

    return image_tokens_of(message)


def was_cut(request: ModelRequest, message: Message, usage: Usage) -> bool:
    """Whether a reply reached the output limit although its finish reason does not say so.

    It did when it wrote as many tokens as were allowed and what it wrote last is half a call, or exactly as many.
    """
    limit = request.max_output_tokens
    if not limit or usage.output_tokens < limit:
        return False
    half = bool(message.tool_calls) and parse_object(message.tool_calls[-1].arguments) is None
    return half or (usage.output_tokens == limit and not message.tool_calls)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
