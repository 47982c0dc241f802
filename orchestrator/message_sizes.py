"""About how many tokens messages and tool schemas are, for what no provider has counted yet."""

from __future__ import annotations

import json
from collections.abc import Iterable

from orchestrator.messages import Message, ToolCall
from orchestrator.model import ToolSchema
from orchestrator.tokens import estimate_tokens

PER_MESSAGE = 4
"""Tokens that a provider adds round each message and call."""


def message_tokens(message: Message) -> int:
    """All of one message: text, calls, images, and the reasoning that is sent back."""
    parts = estimate_tokens(message.content) + reasoning_tokens(message) + sum(map(call_tokens, message.tool_calls))
    return PER_MESSAGE + parts + image_tokens_of(message)


def messages_tokens(messages: Iterable[Message]) -> int:
    return sum(map(message_tokens, messages))


def call_tokens(call: ToolCall) -> int:
    return PER_MESSAGE + estimate_tokens(call.name) + estimate_tokens(call.arguments)


def reasoning_tokens(message: Message) -> int:
    """Of the blocks that are signed: others do not go back to their provider, with rare exceptions."""
    return sum(
        estimate_tokens(block.text) + estimate_tokens(block.redacted)
        for block in message.reasoning
        if block.signature or block.redacted
    )


def image_tokens_of(message: Message) -> int:
    if not message.attachments:
        return 0
    from orchestrator.image_header import attachment_tokens  # late: most conversations have no image

    return sum(map(attachment_tokens, message.attachments))


def schema_tokens(schema: ToolSchema) -> int:
    text = json.dumps(schema.parameters, ensure_ascii=False, default=str)
    return PER_MESSAGE + estimate_tokens(schema.name) + estimate_tokens(schema.description) + estimate_tokens(text)
