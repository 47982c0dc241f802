"""The answer of the Anthropic messages wire, event by event, turned into pieces and in the end into a `Reply`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from orchestrator.assembly import CallIds
from orchestrator.json_bytes import parse_object
from orchestrator.messages import Message, Reasoning, ToolCall, Usage
from orchestrator.model import CallReady, FinishReason, ModelRequest, Piece, ReasoningDelta, Reply, TextDelta
from orchestrator.tokens import estimate_tokens
from orchestrator.wire_text import estimate_request, was_cut

_FINISH: Final[Mapping[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


@dataclass(slots=True)
class _Block:
    """One content block in the making."""

    kind: str
    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    signature: str = ""
    data: str = ""
    call: ToolCall | None = None

    @property
    def text(self) -> str:
        return "".join(self.parts)


class AnthropicReply:
    """Feed it the data of every event in order, or the one message of an answer that was not streamed."""

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._ids = CallIds(request.messages)
        self._blocks: list[_Block] = []
        self._at: dict[object, _Block] = {}
        self._usage: dict[str, int] = {}
        self._stop = ""

    @property
    def finished(self) -> bool:
        """Whether the provider gave a stop reason: what is missing after that is not part of the answer."""
        return bool(self._stop)

    @property
    def empty(self) -> bool:
        return not self._blocks

    def feed(self, event: Mapping[str, Any]) -> Iterator[Piece]:
        """The pieces that `event` adds."""
        match event.get("type"):
            case "message_start":
                self._take_usage(_mapping(event.get("message")).get("usage"))
            case "content_block_start":
                yield from self._start(event.get("index"), _mapping(event.get("content_block")))
            case "content_block_delta":
                yield from self._delta(event.get("index"), _mapping(event.get("delta")))
            case "content_block_stop":
                yield from self._certain(self._at.pop(event.get("index"), None))
            case "message_delta":
                self._take_usage(event.get("usage"))
                self._stop = _mapping(event.get("delta")).get("stop_reason") or self._stop
            case "message":
                yield from self._message(event)

    def close(self) -> Iterator[Piece]:
        """After the last event: the calls that only now are certain."""
        empty = "" if self._reason() == "length" else "{}"
        for block in self._blocks:
            if block.kind == "tool_use" and block.call is None:
                whole = parse_object(block.text or empty) is not None
                call = self._call(block, block.text or empty)
                if whole:
                    yield CallReady(call)

    def reply(self) -> Reply:
        """The whole answer, once `close` has been taken."""
        text = "".join(block.text for block in self._blocks if block.kind == "text")
        calls = tuple(block.call for block in self._blocks if block.call is not None)
        message = Message("assistant", text, calls, self._reasoning())
        finish = self._reason()
        if calls and finish in ("stop", "unknown"):
            finish = "tool_calls"
        elif not calls and finish == "tool_calls":
            finish = "stop"
        if any(self._usage.values()):
            usage = self._counted()
            cut = finish in ("stop", "tool_calls", "unknown") and was_cut(self._request, message, usage)
            return Reply(message, usage, "length" if cut else finish)
        written = "".join(block.name + block.text for block in self._blocks)
        usage = Usage(estimate_request(self._request), estimate_tokens(written))
        return Reply(message, usage, finish, usage_estimated=True)

    def _reason(self) -> FinishReason:
        return _FINISH.get(self._stop, "unknown")

    def _message(self, message: Mapping[str, Any]) -> Iterator[Piece]:
        """A whole answer is the same blocks, each begun and ended at once."""
        self._take_usage(message.get("usage"))
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            yield from self._start(index, _mapping(block))
            yield from self._certain(self._at.pop(index, None))
        self._stop = message.get("stop_reason") or ""

    def _start(self, index: object, raw: Mapping[str, Any]) -> Iterator[Piece]:
        block = _Block(str(raw.get("type", "")), id=_text(raw.get("id")), name=_text(raw.get("name")))
        block.data = _text(raw.get("data"))
        block.signature = _text(raw.get("signature"))
        self._blocks.append(block)
        self._at[index] = block
        given = raw.get("input")
        if block.kind == "tool_use" and given:
            block.parts.append(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))
        yield from _say(block, _text(raw.get("text")) or _text(raw.get("thinking")))

    def _delta(self, index: object, delta: Mapping[str, Any]) -> Iterator[Piece]:
        block = self._at.get(index)
        if block is None:
            return
        match delta.get("type"):
            case "text_delta":
                yield from _say(block, _text(delta.get("text")))
            case "thinking_delta":
                yield from _say(block, _text(delta.get("thinking")))
            case "signature_delta":
                block.signature += _text(delta.get("signature"))
            case "input_json_delta":
                block.parts.append(_text(delta.get("partial_json")))

    def _certain(self, block: _Block | None) -> Iterator[Piece]:
        """A block has ended: its call is ready, unless its arguments are missing or cut, which the end will tell."""
        if block is not None and block.kind == "tool_use" and parse_object(block.text) is not None:
            yield CallReady(self._call(block, block.text))

    def _call(self, block: _Block, arguments: str) -> ToolCall:
        block.call = ToolCall(self._ids.unique(block.id), block.name, arguments)
        return block.call

    def _reasoning(self) -> tuple[Reasoning, ...]:
        blocks = [block for block in self._blocks if block.kind in ("thinking", "redacted_thinking")]
        return tuple(Reasoning(block.text, block.signature, block.data) for block in blocks)

    def _take_usage(self, raw: object) -> None:
        """Later figures replace earlier ones; a zero never replaces a figure."""
        for name, value in _mapping(raw).items():
            if isinstance(value, int) and (value or name not in self._usage):
                self._usage[name] = value

    def _counted(self) -> Usage:
        count = self._usage.get
        return Usage(
            count("input_tokens", 0),
            count("output_tokens", 0),
            count("cache_read_input_tokens", 0),
            count("cache_creation_input_tokens", 0),
        )


def _say(block: _Block, text: str) -> Iterator[Piece]:
    if text:
        block.parts.append(text)
        yield ReasoningDelta(text) if block.kind == "thinking" else TextDelta(text)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
