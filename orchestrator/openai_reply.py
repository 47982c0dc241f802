"""The answer of an OpenAI-compatible provider, chunk by chunk, turned into pieces and in the end into a `Reply`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orchestrator.assembly import CallAssembler, CallIds
from orchestrator.messages import Message, Reasoning, Usage
from orchestrator.model import CallReady, FinishReason, ModelRequest, Piece, ReasoningDelta, Reply, TextDelta
from orchestrator.tokens import estimate_tokens
from orchestrator.wire_text import estimate_request, was_cut

DETAILS: Final = "reasoning_details:"
"""Marks a `Reasoning.redacted` that holds such a provider's JSON, so that it is never sent to another kind."""

_FINISH: Final[Mapping[str, FinishReason]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "max_output_tokens": "length",
    "max_completion_tokens": "length",
    "max_new_tokens": "length",
    "token_limit": "length",
    "incomplete": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
}


class OpenAIReply:
    """Feed it every chunk in order; `chunk` is the JSON of one event, or a whole answer that was not streamed."""

    def __init__(self, request: ModelRequest) -> None:
        self._request = request
        self._calls = CallAssembler(CallIds(request.messages))
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._details: list[dict[str, Any]] = []
        self._usage: Usage | None = None
        self._refused = False
        self._finish = ""

    @property
    def finished(self) -> bool:
        """Whether the provider gave a finish reason: what is missing after that is not part of the answer."""
        return bool(self._finish)

    @property
    def empty(self) -> bool:
        return not (self._text or self._reasoning or self._details or self._calls.begun)

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[Piece]:
        """The pieces that `chunk` adds."""
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        choice = choice if isinstance(choice, dict) else {}
        self._take_usage(chunk, choice)
        if choice.get("index") not in (0, None):
            return
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._delta(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and not self._finish:
            self._finish = reason.lower()
            for call in self._calls.finish(truncated=self._reason() == "length"):
                yield CallReady(call)

    def close(self) -> Iterator[Piece]:
        """After the last chunk: the calls that only now are certain."""
        for call in self._calls.finish(truncated=self._reason() == "length"):
            yield CallReady(call)

    def reply(self) -> Reply:
        """The whole answer, once `close` has been taken."""
        calls = self._calls.calls
        message = Message("assistant", "".join(self._text), calls, self._blocks())
        finish = self._reason()
        if calls and finish in ("stop", "unknown"):
            finish = "tool_calls"
        elif not calls and finish == "tool_calls":
            finish = "stop"
        if self._usage is not None:
            cut = finish in ("stop", "tool_calls", "unknown") and was_cut(self._request, message, self._usage)
            return Reply(message, self._usage, "length" if cut else finish)
        said = [*self._text, *self._reasoning, *(call.name + call.arguments for call in calls)]
        usage = Usage(estimate_request(self._request), estimate_tokens("".join(said)))
        return Reply(message, usage, finish, usage_estimated=True)

    def _reason(self) -> FinishReason:
        if self._refused:
            return "content_filter"
        return _FINISH.get(self._finish, "unknown")

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Piece]:
        yield from self._reasoning_pieces(delta)
        for kind, text in _content(delta.get("content")):
            (self._text if kind is TextDelta else self._reasoning).append(text)
            yield kind(text)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._refused = True
            self._text.append(refusal)
            yield TextDelta(refusal)
        fragments = delta.get("tool_calls")
        legacy = delta.get("function_call")
        if not fragments and isinstance(legacy, dict):
            fragments = [{"index": 0, "function": legacy}]
        for call in self._calls.feed(fragments):
            yield CallReady(call)

    def _reasoning_pieces(self, delta: Mapping[str, Any]) -> Iterator[Piece]:
        details = [item for item in delta.get("reasoning_details") or () if isinstance(item, dict)]
        self._details += details
        plain = next((delta[key] for key in ("reasoning_content", "reasoning") if isinstance(delta.get(key), str)), "")
        text = plain or "".join(_text(item.get("text") or item.get("summary")) for item in details)
        if text:
            self._reasoning.append(text)
            yield ReasoningDelta(text)

    def _blocks(self) -> tuple[Reasoning, ...]:
        text = "".join(self._reasoning)
        if not text and not self._details:
            return ()
        opaque = DETAILS + json.dumps(_joined(self._details), ensure_ascii=False) if self._details else ""
        return (Reasoning(text, redacted=opaque),)

    def _take_usage(self, chunk: Mapping[str, Any], choice: Mapping[str, Any]) -> None:
        groq = chunk.get("x_groq")
        for holder in (chunk, choice, groq if isinstance(groq, dict) else {}):
            raw = holder.get("usage")
            if raw and (usage := _usage(raw)) is not None:
                self._usage = usage


def _content(content: object) -> Iterator[tuple[type[TextDelta] | type[ReasoningDelta], str]]:
    """Text, or a list of parts of which some are reasoning."""
    if isinstance(content, str):
        if content:
            yield TextDelta, content
        return
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "thinking":
            for _, text in _content(part.get("thinking")):
                yield ReasoningDelta, text
        elif _text(part.get("text")):
            yield TextDelta, _text(part.get("text"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _joined(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Streamed details of one block put together: the text of neighbours with one index and type is one text."""
    blocks: list[dict[str, Any]] = []
    for item in details:
        last = blocks[-1] if blocks else None
        if last is None or any(last.get(key) != item.get(key) for key in ("index", "type")):
            blocks.append(dict(item))
            continue
        for key, value in item.items():
            if key in ("text", "summary", "data") and isinstance(value, str):
                last[key] = _text(last.get(key)) + value
            elif value is not None:
                last[key] = value
    return blocks


def _usage(raw: object) -> Usage | None:
    """A provider's figures in orch's terms: what came from the cache is not counted as input again."""
    if not isinstance(raw, dict):
        return None
    prompt, output = _count(raw, "prompt_tokens", "input_tokens"), _count(raw, "completion_tokens", "output_tokens")
    if not prompt and not output:
        return None
    details = raw.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    read = _count(details, "cached_tokens") or _count(raw, "prompt_cache_hit_tokens", "cached_tokens")
    written = _count(details, "cache_write_tokens", "cache_creation_tokens")
    return Usage(max(0, prompt - read - written), output, read, written)


def _count(raw: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = raw.get(name)
        if isinstance(value, int | float) and value > 0:
            return int(value)
    return 0
