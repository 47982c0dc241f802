"""What the real providers refuse in a request, in their own words."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_ANTHROPIC_FIELDS = (
    "model max_tokens messages system tools tool_choice stream temperature top_p top_k stop_sequences metadata "
    "thinking output_config service_tier cache_control context_management container mcp_servers"
)


def complaint(wire: str, body: Any, raw: bytes, headers: Mapping[str, str]) -> str:
    """The provider's message for the first thing that is wrong, or an empty text."""
    if not isinstance(body, dict) or (b"\\ud" in raw.lower() and not _encodable(body)):
        return "We could not parse the JSON body of your request."
    found = _openai(body) if wire == "openai" else _anthropic(body, headers)
    return next(found, "")


def _encodable(body: Any) -> bool:
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


# --- OpenAI ----------------------------------------------------------------------------------------------------------


def _openai(body: Mapping[str, Any]) -> Iterator[str]:
    if not body.get("model"):
        yield "you must provide a model parameter"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "Invalid 'messages': empty array. Expected an array with minimum length 1."
        return
    yield from _duplicate_tools([tool["function"]["name"] for tool in body.get("tools", ())])
    if body.get("reasoning_effort", "low") not in _EFFORTS:
        yield f"Invalid value: {body['reasoning_effort']!r}. Supported values are: {', '.join(_EFFORTS)}."
    pending: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            yield from _openai_result(index, message, pending)
            continue
        if pending:
            yield _unanswered(pending)
        if message["role"] == "assistant":
            pending = []
            yield from _openai_assistant(index, message, pending)
        else:
            yield from _openai_said(index, message)
    if pending:
        yield _unanswered(pending)


def _openai_said(index: int, message: Mapping[str, Any]) -> Iterator[str]:
    """What a user or the system says; a blank text is what several of the compatible providers refuse."""
    if message["role"] not in ("system", "developer", "user"):
        yield f"Invalid value: '{message['role']}'. Supported values are: 'system', 'assistant', 'user', and 'tool'."
    content = message.get("content")
    if not isinstance(content, str | list):
        yield f"Invalid value for 'content': expected a string, got null. (messages[{index}])"
    elif not content or (isinstance(content, str) and not content.strip()):
        yield f"Invalid request: the message at position {index} with role '{message['role']}' must not be empty"
    elif isinstance(content, list):
        for part in content:
            yield from _openai_part(f"messages[{index}].content", part)


def _openai_part(where: str, part: Mapping[str, Any]) -> Iterator[str]:
    if part.get("type") == "text":
        if not part.get("text", "").strip():
            yield f"Invalid '{where}': text must not be empty."
    elif part.get("type") == "image_url":
        found = re.fullmatch(r"data:([a-z/]+);base64,(.+)", part["image_url"]["url"])
        if found is None or found[1] not in _IMAGES or not _is_base64(found[2]):
            yield f"Invalid '{where}[].image_url': expected a base64-encoded data URL with an image MIME type."
    else:
        yield f"Invalid value: '{part.get('type')}'. Supported values are: 'text', 'image_url'. ({where})"


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except binascii.Error:
        return False


def _openai_result(index: int, message: Mapping[str, Any], pending: list[str]) -> Iterator[str]:
    if message.get("tool_call_id") not in pending:
        yield (
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
            f"'tool_calls'. (messages[{index}])"
        )
        return
    pending.remove(message["tool_call_id"])
    if not message.get("content"):
        yield f"Missing required parameter: 'messages[{index}].content'."


def _openai_assistant(index: int, message: Mapping[str, Any], pending: list[str]) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls is None:
        if not isinstance(message.get("content"), str | list):
            yield "Invalid value for 'content': expected a string, got null."
        elif not message["content"]:
            yield f"Invalid request: the message at position {index} with role 'assistant' must not be empty"
        return
    if not calls:
        yield f"Invalid 'messages[{index}].tool_calls': empty array."
    for position, call in enumerate(calls):
        where = f"messages[{index}].tool_calls[{position}]"
        if not call.get("id"):
            yield f"Missing required parameter: '{where}.id'."
        if call["id"] in pending:
            yield f"Duplicate value for 'tool_call_id' of '{call['id']}' in '{where}'."
        pending.append(call["id"])
        if not _ID.fullmatch(call["function"]["name"]) or len(call["function"]["name"]) > 64:
            yield f"Invalid '{where}.function.name': string does not match pattern '^[a-zA-Z0-9_-]{{1,64}}$'."
        if not isinstance(call["function"].get("arguments"), str):
            yield f"Invalid type for '{where}.function.arguments': expected a string, but got an object instead."
        elif not _is_object(call["function"]["arguments"]):
            yield f"Invalid '{where}.function.arguments': expected the JSON text of an object."


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _unanswered(pending: Sequence[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(pending)}"
    )


# --- Anthropic -------------------------------------------------------------------------------------------------------


def _anthropic(body: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[str]:
    if "anthropic-version" not in headers:
        yield "anthropic-version: header is required"
    for name in ("model", "max_tokens", "messages"):
        if not body.get(name):
            yield f"{name}: Field required"
            return
    for name in sorted(set(body) - set(_ANTHROPIC_FIELDS.split())):
        yield f"{name}: Extra inputs are not permitted"
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    yield from _duplicate_tools([tool["name"] for tool in body.get("tools", ())])
    for block in _blocks(body.get("system", [])):
        if not block.get("text", "").strip():
            yield "system: text content blocks must contain non-whitespace text"
    yield from _breakpoints(body)
    yield from _thinking(body)
    yield from _anthropic_messages(body["messages"])


def _breakpoints(body: Mapping[str, Any]) -> Iterator[str]:
    marked = [block for block in [*_blocks(body.get("system", [])), *body.get("tools", ())] if "cache_control" in block]
    for message in body["messages"]:
        marked += [block for block in _blocks(message["content"]) if "cache_control" in block]
    if len(marked) > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marked)}."
    if any(block.get("type") in ("thinking", "redacted_thinking") for block in marked):
        yield "cache_control cannot be set on thinking blocks"


def _thinking(body: Mapping[str, Any]) -> Iterator[str]:
    """What goes together with a request to think, and what does not."""
    thinking = body.get("thinking") or {}
    kind = thinking.get("type", "none")
    if kind not in ("none", "enabled", "adaptive", "disabled"):
        yield f"thinking: Input tag '{kind}' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'"
    if body.get("output_config", {}).get("effort", "low") not in ("low", "medium", "high", "xhigh", "max"):
        yield "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    if kind in ("enabled", "adaptive"):
        if body.get("temperature", 1) != 1:
            yield "`temperature` may only be set to 1 when thinking is enabled."
        if body.get("tool_choice", {}).get("type", "auto") not in ("auto", "none"):
            yield "Thinking may not be enabled when tool_choice forces tool use."
    if kind == "enabled":
        yield from _budget(body["max_tokens"], thinking.get("budget_tokens", 0))
        yield from _begins_with_thinking(body["messages"])
    if kind == "disabled":
        for block in _blocks(_last_answer(body["messages"])[0]):
            if block["type"] in ("thinking", "redacted_thinking"):
                yield "When thinking is disabled, an `assistant` message in the final position cannot contain it."


def _budget(limit: int, budget: int) -> Iterator[str]:
    if budget < 1024:
        yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
    if limit <= budget:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."


def _begins_with_thinking(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The answer in the making, over all its calls and results, must begin with a thought."""
    content, open_calls = _last_answer(messages)
    kind = next((block["type"] for block in _blocks(content)), "thinking")
    if open_calls and kind not in ("thinking", "redacted_thinking"):
        yield (
            f"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block."
        )


def _last_answer(messages: Sequence[Mapping[str, Any]]) -> tuple[Any, bool]:
    """What the last answer began with, and whether it is still waiting for what its calls gave."""
    first: Any = []
    for message in reversed(messages):
        results = [block for block in _blocks(message["content"]) if block["type"] == "tool_result"]
        if message["role"] == "assistant":
            first = message["content"]
        elif not results:
            break
    last = _blocks(messages[-1]["content"])
    return first, any(block["type"] == "tool_result" for block in last)


def _anthropic_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if messages[0]["role"] != "user":
        yield 'messages: first message must use the "user" role'
    used: set[str] = set()
    pending: list[str] = []
    last = ""
    for index, message in enumerate(messages):
        if message["role"] == last:
            yield f'messages: roles must alternate between "user" and "assistant"; found "{last}" twice in a row'
        last = message["role"]
        blocks = _blocks(message["content"])
        if not blocks:
            yield f"messages.{index}: all messages must have non-empty content"
        yield from _texts(blocks)
        if last == "user":
            yield from _anthropic_results(index, blocks, pending)
            pending = []
        else:
            pending = []
            yield from _anthropic_calls(index, blocks, pending, used)
    if last == "assistant":
        yield "This model does not support assistant message prefill. The conversation must end with a user message."


def _texts(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        if block["type"] == "image":
            yield from _image(block["source"])
        if block["type"] == "text" and not block["text"]:
            yield "messages: text content blocks must be non-empty"
        if block["type"] == "text" and not block["text"].strip():
            yield "messages: text content blocks must contain non-whitespace text"


def _image(source: Mapping[str, Any]) -> Iterator[str]:
    if source.get("type") != "base64" or not _is_base64(source.get("data", "")):
        yield "messages: image.source.base64.data: Input should be valid base64"
    if source.get("media_type") not in _IMAGES:
        yield f"messages: image.source.base64.media_type: Input should be {', '.join(map(repr, _IMAGES))}"


def _anthropic_results(index: int, blocks: Sequence[Mapping[str, Any]], pending: Sequence[str]) -> Iterator[str]:
    kinds = [block["type"] for block in blocks]
    ids = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for position, name in enumerate(ids):
        where = f"messages.{index}.content.{position}"
        if name in ids[:position]:
            yield f"{where}: each tool_use must have a single result. Found multiple `tool_result` blocks with {name}"
        if name not in pending:
            yield (
                f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {name}. Each `tool_result` block "
                "must have a corresponding `tool_use` block in the previous message."
            )
    missing = [name for name in pending if name not in ids]
    if missing or (ids and "tool_result" in kinds[len(ids) :]):
        yield (
            f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _anthropic_calls(
    index: int, blocks: Sequence[Mapping[str, Any]], pending: list[str], used: set[str]
) -> Iterator[str]:
    for position, block in enumerate(blocks):
        where = f"messages.{index}.content.{position}"
        if block["type"] == "thinking" and not block.get("signature"):
            yield f"{where}.thinking.signature: Field required"
        if block["type"] != "tool_use":
            continue
        if not _ID.fullmatch(block["id"]):
            yield f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        if not _ID.fullmatch(block["name"]) or len(block["name"]) > 128:
            yield f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if not isinstance(block["input"], dict):
            yield f"{where}.tool_use.input: Input should be a valid dictionary"
        if block["id"] in used:
            yield f"{where}: `tool_use` ids must be unique"
        used.add(block["id"])
        pending.append(block["id"])


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content)


def _duplicate_tools(names: Sequence[str]) -> Iterator[str]:
    if len(set(names)) < len(names):
        yield "tools: Tool names must be unique."
