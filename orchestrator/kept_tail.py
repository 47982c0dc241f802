"""The end of a conversation that is kept when the rest is compacted. A call and its results are never parted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

from orchestrator.compacted_text import cut_tokens
from orchestrator.json_bytes import parse_object
from orchestrator.message_sizes import PER_MESSAGE, messages_tokens
from orchestrator.messages import Message, ToolCall
from orchestrator.result_batch import SHARE, fit_batch
from orchestrator.result_stubs import stub_of

TURNS = 3
"""Replies that are kept whole where there is room for them."""
_MARK = 40
"""Tokens of the note where a result was cut."""
_LONG_ARGUMENT = 60
"""Tokens of a text in the arguments of a call that may be cut when nothing else helps."""

Messages = tuple[Message, ...]


def units_of(history: Sequence[Message]) -> list[Messages]:
    """A valid history in pieces that stay whole: a reply with the results of its calls, or a message of the user."""
    starts = [index for index, message in enumerate(history) if message.role != "tool"]
    return [tuple(history[start:end]) for start, end in pairwise([*starts, len(history)])]


def split(history: Sequence[Message], room: int) -> tuple[Messages, Messages]:
    """What is older, and the last turns within `room` tokens (estimated).

    The last unit is always kept, whatever its size, and so is all that the user said last.
    """
    units = units_of(history)
    first = len(units)
    size = turns = 0
    for index in range(len(units) - 1, -1, -1):
        unit = units[index]
        size += messages_tokens(unit)
        of_user = unit[0].role == "user"
        must = first == len(units) or (not turns and of_user)
        if not must and (size > room or turns >= TURNS):
            break
        turns += not of_user
        first = index
    return tuple(chain(*units[:first])), tuple(chain(*units[first:]))


def fit(kept: Messages, room: int) -> Messages | None:
    """`kept` in `room` tokens (estimated): results are cut, then left out, then long arguments are cut; else `None`.

    What the user said stays as it is.
    """
    if messages_tokens(kept) <= room:
        return kept
    cut = _with_cut_results(kept, room)
    if messages_tokens(cut) <= room:
        return cut
    bare = _bare(kept)
    return bare if messages_tokens(bare) <= room else None


def _with_cut_results(kept: Messages, room: int) -> Messages:
    results = [message for message in kept if message.role == "tool"]
    others = messages_tokens(message for message in kept if message.role != "tool")
    limit = max(1, room - others - (PER_MESSAGE + _MARK) * len(results))
    cut = iter(fit_batch(results, int(limit / SHARE)))
    return tuple(next(cut) if message.role == "tool" else message for message in kept)


def _bare(kept: Messages) -> Messages:
    """Stubs in the place of all results, and nothing long in the arguments."""
    calls = {call.id: call for message in kept for call in message.tool_calls}
    return tuple(_bared(message, calls) for message in kept)


def _bared(message: Message, calls: dict[str, ToolCall]) -> Message:
    if message.role == "tool":
        stub = stub_of(calls[message.tool_call_id], message.content)
        return replace(message, content=min(message.content, stub, key=len))
    if not message.tool_calls:
        return message
    return replace(message, tool_calls=tuple(map(_with_short_arguments, message.tool_calls)))


def _with_short_arguments(call: ToolCall) -> ToolCall:
    arguments = parse_object(call.arguments)
    if arguments is None:
        return replace(call, arguments=json.dumps({"left_out": cut_tokens(call.arguments, _LONG_ARGUMENT)}))
    return replace(call, arguments=json.dumps(_short(arguments), ensure_ascii=False))


def _short(value: object) -> object:
    match value:
        case str():
            return cut_tokens(value, _LONG_ARGUMENT)
        case list():
            return [_short(each) for each in value]
        case dict():
            return {key: _short(each) for key, each in value.items()}
        case _:
            return value
