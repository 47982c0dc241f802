"""What litellm is sent, in the OpenAI shape that it translates from, and what its chunks say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from orchestrator.json_bytes import parse_object
from orchestrator.messages import Message, Reasoning, ToolCall, scrub
from orchestrator.model import ModelRequest, Piece, Reply, ToolSchema
from orchestrator.openai_reply import DETAILS, OpenAIReply
from orchestrator.repair import repair
from orchestrator.wire_text import EMPTY_RESULT, arguments_object, said, valid_id, valid_name, without_images

SHORTENED = "(The conversation before this point was left out.)"
CONTINUE = "Continue."
FINISH_REASON = "orch_finish_reason"
"""The name, among the `extensions` of an HTTP response, of the finish reason in the provider's own word."""
NO_KEY = "orch-has-no-key"
"""Stands for the key where there is none, since litellm sends nothing without one; taken out before it is sent."""


class LitellmReply:
    """Feed it every chunk as a mapping: an OpenAI answer, and beside it the signed blocks of reasoning."""

    def __init__(self, request: ModelRequest) -> None:
        self._answer = OpenAIReply(request)
        self._blocks: list[Reasoning] = []
        self._open: int | None = None

    def feed(self, chunk: Mapping[str, Any], *, counted: bool) -> Iterator[Piece]:
        """The pieces that `chunk` adds; `counted` says that its usage is litellm's own count, which is passed over."""
        for choice in chunk.get("choices") or ():
            for block in choice.get("delta", {}).get("thinking_blocks") or ():
                self._thinking(block)
        yield from self._answer.feed({**chunk, "usage": None} if counted else chunk)

    def close(self) -> Iterator[Piece]:
        """After the last chunk: the calls that only now are certain."""
        return self._answer.close()

    def reply(self) -> Reply:
        """The whole answer, once `close` has been taken."""
        reply = self._answer.reply()
        signed = tuple(block for block in self._blocks if block.signature or block.redacted)
        if not signed:
            return reply
        return replace(reply, message=replace(reply.message, reasoning=tuple(self._blocks)))

    def _thinking(self, delta: Mapping[str, Any]) -> None:
        """A signature ends its block; a redacted block comes whole."""
        if delta.get("type") == "redacted_thinking":
            self._blocks.append(Reasoning(redacted=delta.get("data") or ""))
            self._open = None
            return
        if self._open is None:
            self._open = len(self._blocks)
            self._blocks.append(Reasoning())
        block = self._blocks[self._open]
        signature = delta.get("signature") or ""
        text = block.text + (delta.get("thinking") or "")
        self._blocks[self._open] = Reasoning(text, block.signature + signature)
        if signature:
            self._open = None


def with_own_reason(chunk: dict[str, Any], own: str | None) -> dict[str, Any]:
    """`chunk` with the provider's `own` finish reason for `stop`, which litellm says for all that it does not know."""
    for choice in chunk.get("choices") or ():
        if own and choice.get("finish_reason") == "stop":
            choice["finish_reason"] = own
    return chunk


def as_messages(
    request: ModelRequest, *, reasoning: str, claude: bool, thoughts: bool = True, images: bool = True
) -> list[dict[str, Any]]:
    """The conversation from a user's message to a user's, each call answered once.

    `reasoning` names the field in which the provider wants unsigned reasoning back; `claude` sends signed
    blocks of it (unless `thoughts` says that this request does not think), and ids in the letters that Claude takes:
    Gemini's hold a signature of their own. Without `images` a note stands in the place of each.
    """
    messages = [_message(message, reasoning, claude, thoughts, images) for message in repair(request.messages)]
    if messages and messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": SHORTENED})
    if not messages or messages[-1]["role"] == "assistant":
        messages.append({"role": "user", "content": CONTINUE})
    if request.system:
        messages.insert(0, {"role": "system", "content": scrub(request.system)})
    return messages


def as_tool(tool: ToolSchema) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def is_sent(block: Reasoning) -> bool:
    """Whether Claude gets this thought of its own back."""
    return bool(block.signature) or _is_opaque(block)


def _message(message: Message, reasoning: str, claude: bool, thoughts: bool, images: bool) -> dict[str, Any]:
    if message.role == "tool":
        content = message.content if message.content.strip() else EMPTY_RESULT
        return {"role": "tool", "tool_call_id": _id(message.tool_call_id, claude), "content": scrub(content)}
    if message.role == "user":
        return {"role": "user", "content": _said_by_user(message, images)}
    fields: dict[str, Any] = {"role": "assistant", "content": scrub(said(message)) or None}
    if message.tool_calls:
        fields["tool_calls"] = [_call(call, claude) for call in message.tool_calls]
    signed = [block for block in message.reasoning if is_sent(block)]
    own = "".join(block.text for block in message.reasoning if block not in signed)
    if reasoning == "reasoning_content" and own:
        fields["reasoning_content"] = scrub(own)
    if claude and signed and thoughts:
        fields["thinking_blocks"] = [_block(block) for block in signed]
    return fields


def _said_by_user(message: Message, images: bool) -> str | list[dict[str, Any]]:
    if not message.attachments:
        return scrub(message.content)
    if not images:
        return scrub(without_images(message))
    parts: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": f"data:{each.media_type};base64,{each.data}"}}
        for each in message.attachments
    ]
    return [*parts, {"type": "text", "text": scrub(message.content)}] if message.content.strip() else parts


def _call(call: ToolCall, claude: bool) -> dict[str, Any]:
    """Arguments that are not an object would come back as an error in disguise one turn later (B055)."""
    whole = parse_object(call.arguments) is not None
    arguments = call.arguments if whole else json.dumps(arguments_object(call), ensure_ascii=False)
    function = {"name": valid_name(call.name), "arguments": scrub(arguments)}
    return {"id": _id(call.id, claude), "type": "function", "function": function}


def _id(call_id: str, claude: bool) -> str:
    return valid_id(call_id) if claude else call_id


def _is_opaque(block: Reasoning) -> bool:
    """Whether it is a block that Claude gave without its text; other providers' details are kept in the same field."""
    return bool(block.redacted) and not block.redacted.startswith(DETAILS)


def _block(block: Reasoning) -> dict[str, Any]:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.redacted}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}
