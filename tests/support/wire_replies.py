"""A turn of the script as a provider would answer it: a list of events, or one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.model_script import Turn

OPENAI_FINISH = {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "content_filter": "content_filter"}
ANTHROPIC_FINISH = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Bytes of the stream; `content` marks a piece of text, reasoning or a tool call."""

    data: bytes
    content: bool = False


def stream_of(turn: Turn, wire: str, serial: int, *, include_usage: bool) -> list[Event]:
    """The events of a streamed answer."""
    if turn.raw is not None:
        raw = turn.raw[wire] if isinstance(turn.raw, Mapping) else turn.raw
        return [_raw(each, wire) for each in raw]
    if wire == "openai":
        return list(_openai_stream(turn, serial, include_usage))
    return list(_anthropic_stream(turn, serial))


def whole_of(turn: Turn, wire: str, serial: int) -> dict[str, Any]:
    """The body of an answer that is not streamed."""
    return _openai_whole(turn, serial) if wire == "openai" else _anthropic_whole(turn, serial)


def error_body(wire: str, error: Mapping[str, Any]) -> dict[str, Any]:
    kind, message = error.get("type", "invalid_request_error"), error.get("message", "")
    if wire == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return {"error": {"message": message, "type": kind, "param": error.get("param"), "code": error.get("code")}}


def _raw(each: Any, wire: str) -> Event:
    if isinstance(each, str):
        return Event(each.encode("utf-8", "surrogateescape"), content=True)
    return _sse(each, each.get("type", "") if wire == "anthropic" else "", content=True)


def _sse(data: Mapping[str, Any], event: str = "", *, content: bool = False) -> Event:
    text = json.dumps(data, separators=(",", ":"))
    head = f"event: {event}\n" if event else ""
    return Event(f"{head}data: {text}\n\n".encode(), content)


def _finish(turn: Turn) -> str | None:
    return turn.finish_reason if turn.finish_reason != "" else "tool_calls" if turn.tool_calls else "stop"


def _text_pieces(turn: Turn) -> Sequence[str]:
    pieces = [turn.text] if isinstance(turn.text, str) else turn.text
    return [piece for piece in pieces if piece]


def _reasoning_blocks(turn: Turn) -> list[Mapping[str, str]]:
    given = turn.reasoning
    items = given if isinstance(given, list | tuple) else [given]
    return [{"text": item} if isinstance(item, str) else item for item in items if item]


def _calls(turn: Turn, serial: int) -> Iterator[tuple[str, str, str]]:
    """Id, name and arguments text of each call."""
    for index, call in enumerate(turn.tool_calls):
        arguments = call.get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        yield call.get("id", f"call_{serial}_{index}"), call["name"], text


def _cut(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, pieces)))
    return [text[start : start + size] for start in range(0, len(text), size)]


# --- OpenAI ----------------------------------------------------------------------------------------------------------


def _openai_stream(turn: Turn, serial: int, include_usage: bool) -> Iterator[Event]:
    def chunk(delta: Mapping[str, Any], finish: str | None = None, *, content: bool = False) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _sse({**_openai_head(serial, "chat.completion.chunk"), "choices": [choice]}, content=content)

    yield chunk({"role": "assistant", "content": ""})
    for delta in _openai_deltas(turn, serial):
        yield chunk(delta, content=True)
    if turn.error is not None:
        yield _sse(error_body("openai", turn.error))
        return
    finish = _finish(turn)
    if finish is None:
        return
    yield chunk({}, OPENAI_FINISH.get(finish, finish))
    if include_usage and turn.usage is not None:
        yield _sse({**_openai_head(serial, "chat.completion.chunk"), "choices": [], "usage": _openai_usage(turn.usage)})
    if turn.end:
        yield Event(b"data: [DONE]\n\n")


def _openai_deltas(turn: Turn, serial: int) -> Iterator[dict[str, Any]]:
    for block in _reasoning_blocks(turn):
        yield {turn.reasoning_field: block.get("text", "")}
    for piece in _text_pieces(turn):
        yield {"content": piece}
    for index, (call_id, name, arguments) in enumerate(_calls(turn, serial)):
        function = {"name": name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]}
        for piece in _cut(arguments, turn.fragments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _openai_whole(turn: Turn, serial: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(_text_pieces(turn)) or None}
    reasoning = "".join(block.get("text", "") for block in _reasoning_blocks(turn))
    if reasoning:
        message[turn.reasoning_field] = reasoning
    calls = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in _calls(turn, serial)
    ]
    if calls:
        message["tool_calls"] = calls
    finish = _finish(turn)
    choice = {"index": 0, "message": message, "finish_reason": finish and OPENAI_FINISH.get(finish, finish)}
    body = {**_openai_head(serial, "chat.completion"), "choices": [choice]}
    return body if turn.usage is None else {**body, "usage": _openai_usage(turn.usage)}


def _openai_head(serial: int, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{serial}", "object": kind, "created": 1_700_000_000, "model": "scripted"}


def _openai_usage(usage: Mapping[str, int]) -> dict[str, Any]:
    read, written = usage.get("cache_read_tokens", 0), usage.get("cache_write_tokens", 0)
    prompt, output = usage.get("input_tokens", 0) + read + written, usage.get("output_tokens", 0)
    details = {"cached_tokens": read} | ({"cache_write_tokens": written} if written else {})
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": details,
    }


# --- Anthropic -------------------------------------------------------------------------------------------------------


def _anthropic_stream(turn: Turn, serial: int) -> Iterator[Event]:
    usage = _anthropic_usage(turn.usage or {})
    message = {**_anthropic_head(serial), "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 0}}
    if turn.usage is None:
        del message["usage"]
    yield _sse({"type": "message_start", "message": message}, "message_start")
    yield _sse({"type": "ping"}, "ping")
    for index, (block, deltas) in enumerate(_anthropic_blocks(turn, serial)):
        opened = block["type"] in ("tool_use", "redacted_thinking")
        yield _sse(
            {"type": "content_block_start", "index": index, "content_block": block},
            "content_block_start",
            content=opened,
        )
        for delta in deltas:
            counted = delta["type"] != "signature_delta"
            event = {"type": "content_block_delta", "index": index, "delta": delta}
            yield _sse(event, "content_block_delta", content=counted)
        yield _sse({"type": "content_block_stop", "index": index}, "content_block_stop")
    yield from _anthropic_end(turn, usage)


def _anthropic_end(turn: Turn, usage: Mapping[str, int]) -> Iterator[Event]:
    if turn.error is not None:
        yield _sse(error_body("anthropic", turn.error), "error")
        return
    finish = _finish(turn)
    if finish is None:
        return
    delta: dict[str, Any] = {
        "type": "message_delta",
        "delta": {"stop_reason": ANTHROPIC_FINISH.get(finish, finish), "stop_sequence": None},
    }
    if turn.usage is not None:
        delta["usage"] = {"output_tokens": usage["output_tokens"]}
    yield _sse(delta, "message_delta")
    if turn.end:
        yield _sse({"type": "message_stop"}, "message_stop")


def _anthropic_blocks(turn: Turn, serial: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block as it begins, and the deltas that follow."""
    for block in _reasoning_blocks(turn):
        if "redacted" in block:
            yield {"type": "redacted_thinking", "data": block["redacted"]}, []
            continue
        deltas = [{"type": "thinking_delta", "thinking": block.get("text", "")}]
        if block.get("signature"):
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    texts = _text_pieces(turn)
    if texts:
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in texts]
    for call_id, name, arguments in _calls(turn, serial):
        pieces = _cut(arguments, turn.fragments)
        yield (
            {"type": "tool_use", "id": call_id, "name": name, "input": {}},
            [{"type": "input_json_delta", "partial_json": piece} for piece in pieces],
        )


def _anthropic_whole(turn: Turn, serial: int) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for block, deltas in _anthropic_blocks(turn, serial):
        for delta in deltas:
            for key in ("text", "thinking", "signature"):
                if key in delta:
                    block[key] = block.get(key, "") + delta[key]
        if block["type"] == "tool_use":
            block["input"] = json.loads("".join(delta["partial_json"] for delta in deltas))
        content.append(block)
    finish = _finish(turn)
    body = {**_anthropic_head(serial), "content": content}
    body["stop_reason"] = finish and ANTHROPIC_FINISH.get(finish, finish)
    return body if turn.usage is None else {**body, "usage": _anthropic_usage(turn.usage)}


def _anthropic_head(serial: int) -> dict[str, Any]:
    return {"id": f"msg_{serial}", "type": "message", "role": "assistant", "model": "scripted", "stop_sequence": None}


def _anthropic_usage(usage: Mapping[str, int]) -> dict[str, int]:
    return {
        "input_tokens": usage.get("input_tokens", 0),
        "cache_creation_input_tokens": usage.get("cache_write_tokens", 0),
        "cache_read_input_tokens": usage.get("cache_read_tokens", 0),
        "output_tokens": usage.get("output_tokens", 0),
    }
