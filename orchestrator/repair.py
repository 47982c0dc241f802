"""Histories that a provider would refuse, made valid with the least change, just before they are sent."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from orchestrator.messages import Message, ToolCall, tool_result

NOT_EXECUTED = "This call was not executed."


def repair(messages: Sequence[Message]) -> tuple[Message, ...]:
    """`messages` in which every tool call has exactly one result, right after it, and nothing is empty.

    A call without a result gets one that says it was not executed; a result without a call is dropped; of two results
    with one id the first wins; a result found further down is moved up to its call; ids that are missing or used
    again are renamed, call and result alike; blank messages are dropped. A valid history comes back as it is.
    """
    history = tuple(messages)
    return history if is_valid(history) else _Repair(history).run()


def is_valid(messages: Sequence[Message]) -> bool:
    """Whether `repair` has nothing to do; one cheap pass."""
    used: set[str] = set()
    pending: set[str] = set()
    for message in messages:
        if message.role == "tool":
            if message.tool_call_id not in pending:
                return False
            pending.remove(message.tool_call_id)
        elif pending:
            return False
        elif message.tool_calls:
            for call in message.tool_calls:
                if not call.id or call.id in used:
                    return False
                used.add(call.id)
                pending.add(call.id)
        elif _is_blank(message):
            return False
    return not pending


def _is_blank(message: Message) -> bool:
    return (not message.content or message.content.isspace()) and not message.attachments


class _Repair:
    def __init__(self, messages: tuple[Message, ...]) -> None:
        self._messages = messages
        self._calls_at: defaultdict[str, list[int]] = defaultdict(list)
        self._results_at: defaultdict[str, list[int]] = defaultdict(list)
        for index, message in enumerate(messages):
            if message.role == "tool":
                self._results_at[message.tool_call_id].append(index)
            for call in message.tool_calls:
                self._calls_at[call.id].append(index)
        self._used: set[str] = set()
        self._out: list[Message] = []

    def run(self) -> tuple[Message, ...]:
        for index, message in enumerate(self._messages):
            if message.tool_calls:
                self._answered(index, message)
            elif message.role != "tool" and not _is_blank(message):
                self._out.append(message)
        return tuple(self._out)

    def _answered(self, index: int, message: Message) -> None:
        """Append `message` and one result for each of its calls."""
        calls: list[ToolCall] = []
        results: list[Message] = []
        seen: set[str] = set()
        for call in message.tool_calls:
            if call.id in seen:
                continue
            if call.id:
                seen.add(call.id)
            unique = self._unique(call)
            calls.append(unique)
            results.append(self._result(index, call.id, unique.id))
        if tuple(calls) != message.tool_calls:
            message = replace(message, tool_calls=tuple(calls))
        self._out += [message, *results]

    def _unique(self, call: ToolCall) -> ToolCall:
        name = call.id
        number = 1
        while not name or name in self._used or (name != call.id and name in self._calls_at):
            number += 1
            name = f"{call.id or 'call'}_{number}"
        self._used.add(name)
        return call if name == call.id else replace(call, id=name)

    def _result(self, index: int, old_id: str, new_id: str) -> Message:
        """The first result after `index` and before the id is used by a later message, under its new id."""
        uses = self._calls_at[old_id]
        following = bisect_right(uses, index)
        end = uses[following] if following < len(uses) else len(self._messages)
        places = self._results_at[old_id]
        first = bisect_right(places, index)
        if first == len(places) or places[first] >= end:
            return tool_result(new_id, NOT_EXECUTED, is_error=True)
        message = self._messages[places.pop(first)]
        return message if old_id == new_id else replace(message, tool_call_id=new_id)
