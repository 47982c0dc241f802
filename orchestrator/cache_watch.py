"""Tells where a request stops being what the one before it began with: from there on the provider's cache is lost.

A provider keeps the beginning of a request, tools first, then the system prompt, then the messages, and takes it at a
tenth of the price when the next request begins in the same way. What is compared is what a request says, in one
encoding for all wires: the wires themselves write equal parts as equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from itertools import zip_longest
from typing import NamedTuple

from orchestrator.json_bytes import dumps
from orchestrator.messages import Message
from orchestrator.model import ModelRequest, Think, ToolSchema
from orchestrator.repair import repair

_SHOWN = 40
"""Bytes of what was and of what is that are shown from the first difference on."""


class CacheBreak(NamedTuple):
    """`where` in words, a `field` of it, and the first byte that differs: of the whole request, and of the field."""

    where: str
    field: str
    byte: int
    byte_in_field: int
    before: bytes
    after: bytes

    def __str__(self) -> str:
        was, now = (_shown(each[self.byte_in_field :]) for each in (self.before, self.after))
        place = f"byte {self.byte_in_field} of {self.field}" if self.field else f"byte {self.byte_in_field}"
        return f"the prompt cache breaks at byte {self.byte}: {self.where}, {place}: {was} became {now}"


class CacheWatch:
    """Compares each request of a conversation with the one before. It holds on to the last request of each."""

    def __init__(self) -> None:
        self._last: dict[str, _Prefix] = {}

    def saw(self, conversation: str, request: ModelRequest, model: str = "") -> CacheBreak | None:
        """Where `request` departs from the last one of `conversation`; `None` when it only says more (or less).

        `model` is the name of the one that is asked: each has a cache of its own. `str()` of what is returned is a
        sentence for the log. Messages that are the same objects are not looked into.
        """
        prefix = _Prefix(model, request.tools, request.system, request.think, repair(request.messages))
        last = self._last.get(conversation)
        self._last[conversation] = prefix
        return _first_break(last, prefix) if last else None

    def forget(self, conversation: str) -> None:
        """It is over, or begins anew on purpose, as after a compaction: the next request is not compared."""
        self._last.pop(conversation, None)


class _Prefix(NamedTuple):
    model: str
    tools: Sequence[ToolSchema]
    system: str
    think: Think | None
    messages: Sequence[Message]


def _first_break(last: _Prefix, now: _Prefix) -> CacheBreak | None:
    offset = 0
    if last.model != now.model:
        return _compared("the model", [("", dumps(last.model), dumps(now.model))], offset)
    for index, (was, tool) in enumerate(zip_longest(last.tools, now.tools), 1):
        if was is not tool and was != tool:
            name = tool.name if tool else was.name
            return _compared(f"tool {index} ({name})", _tool_fields(was, tool), offset + _size(last.tools[: index - 1]))
    if last.system != now.system:
        pair = [("", last.system.encode("utf-8", "replace"), now.system.encode("utf-8", "replace"))]
        return _compared("the system prompt", pair, _size(last.tools))
    if last.think != now.think:
        said = [("", dumps(last.think), dumps(now.think))]
        return _compared("how much to think", said, _size(last.tools) + len(dumps(last.system)))
    return _message_break(last, now)


def _message_break(last: _Prefix, now: _Prefix) -> CacheBreak | None:
    for index, (was, message) in enumerate(zip(last.messages, now.messages, strict=False)):
        if was is not message and was != message:
            before = _size(last.tools) + len(dumps(last.system)) + _size(last.messages[:index])
            return _compared(_named(index, was), _message_fields(was, message), before)
    return None


def _compared(where: str, pairs: Sequence[tuple[str, bytes, bytes]], offset: int) -> CacheBreak | None:
    """The first of the fields (name, former bytes, new bytes) that differs; `offset` bytes come before them all."""
    for field, was, now in pairs:
        if was != now:
            at = _first_difference(was, now)
            return CacheBreak(where, field, offset + at, at, was, now)
        offset += len(was)
    return None


def _first_difference(was: bytes, now: bytes) -> int:
    """By halves: a comparison of two slices is much faster than one byte by byte."""
    low, high = 0, min(len(was), len(now))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if was[low:middle] == now[low:middle] else (low, middle - 1)
    return low


def _named(index: int, message: Message) -> str:
    who = {"user": "the user's", "assistant": "the assistant's", "tool": f"the result of {message.tool_call_id}"}
    return f"message {index + 1} ({who[message.role]})"


def _tool_fields(was: ToolSchema | None, now: ToolSchema | None) -> list[tuple[str, bytes, bytes]]:
    old, new = (each._asdict() if each else dict.fromkeys(ToolSchema._fields) for each in (was, now))
    return [(f"its {name}", dumps(old[name]), dumps(new[name])) for name in ToolSchema._fields]


def _message_fields(was: Message, now: Message) -> list[tuple[str, bytes, bytes]]:
    old, new = (dict(_encoded(each)) for each in (was, now))
    return [(f"its {name}", old[name], new[name]) for name in old]


def _encoded(message: Message) -> Iterator[tuple[str, bytes]]:
    values = asdict(message)
    for field in fields(Message):
        value = values[field.name]
        yield field.name, value.encode("utf-8", "replace") if field.name == "content" else dumps(value)


def _size(parts: Sequence[ToolSchema] | Sequence[Message]) -> int:
    return sum(
        sum(len(data) for _, data in _encoded(part)) if isinstance(part, Message) else len(dumps(part))
        for part in parts
    )


def _shown(data: bytes) -> str:
    """The beginning of it as text on one line, or `the end`."""
    return ascii(data[:_SHOWN].decode("utf-8", "replace")) if data else "the end"
