"""What is known so far, and what to ask next. Made anew for every turn from the messages: the scout keeps nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orchestrator.messages import Message, ToolCall
from orchestrator.model import ToolSchema

_ERROR = re.compile(r"error: (\w+): (.*)")
_LAST_TURN = "[orch: one turn is left"


_FAILED = frozenset({"timeout", "search_failed", "special_file", "denied", "crashed"})
"""Codes of errors after which nothing can be said about where a name is."""


def failed_search(messages: Sequence[Message]) -> str:
    """The error of a search for a name that could not be done, in one line; empty when there is none."""
    searches = {call.id for message in messages for call in message.tool_calls if call.name == "find_references"}
    for message in messages:
        found = _ERROR.match(message.content) if message.is_error and message.tool_call_id in searches else None
        if found and found[1] in _FAILED:
            return found[2]
    return ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool call came to. `error` is the code of its error, empty when it succeeded."""

    text: str
    error: str = ""


class Notebook:
    """Results of earlier calls by their arguments; calls that are not answered yet are collected in `wanted`.

    An investigation is written as plain code that looks things up: what is known comes back, what is not is put on the
    list, and after the next turn the same code gets further.
    """

    def __init__(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> None:
        self._offered = frozenset(tool.name for tool in tools)
        self._known = dict(_answered(messages))
        self._used_ids = {call.id for message in messages for call in message.tool_calls}
        self._wanted: dict[tuple[str, str], None] = {}
        self.is_last_turn = any(m.role == "tool" and _LAST_TURN in m.content[-200:] for m in messages)

    def has(self, *tools: str) -> bool:
        """Whether all these tools are offered."""
        return self._offered.issuperset(tools)

    def look_up(self, tool: str, **arguments: object) -> Outcome | None:
        """The outcome of the call, or `None` while it is not known; then it is wanted."""
        key = tool, _canonical(arguments)
        known = self._known.get(key)
        if known is None:
            self._wanted[key] = None
        return known

    @property
    def wanted(self) -> tuple[ToolCall, ...]:
        """The calls to make next, each with an id of its own."""
        first = len(self._used_ids)
        ids = (f"scout_{number}" for number in range(first, first + 2 * len(self._wanted) + first + 1))
        free = (name for name in ids if name not in self._used_ids)
        return tuple(ToolCall(next(free), tool, arguments) for tool, arguments in self._wanted)

    @property
    def is_waiting(self) -> bool:
        return bool(self._wanted)


def _answered(messages: Sequence[Message]) -> Iterator[tuple[tuple[str, str], Outcome]]:
    results = {message.tool_call_id: message for message in messages if message.role == "tool"}
    for message in messages:
        for call in message.tool_calls:
            result = results.get(call.id)
            if result is not None:
                yield (call.name, _canonical(_arguments(call))), _outcome(result)


def _arguments(call: ToolCall) -> object:
    try:
        return json.loads(call.arguments)
    except ValueError:  # not a call that this engine made
        return call.arguments


def _canonical(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True)


def _outcome(result: Message) -> Outcome:
    text = result.content.partition(f"\n\n{_LAST_TURN}")[0]
    found = _ERROR.match(text) if result.is_error else None
    return Outcome(text, (found[1] if found else "failed") if result.is_error else "")
