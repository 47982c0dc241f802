"""Old tool results made short: a stub says what was called and how to get its result back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from orchestrator.json_bytes import parse_object
from orchestrator.message_sizes import message_tokens
from orchestrator.messages import Message, ToolCall, scrub

KEPT = frozenset(
    ("delegate", "report", "todo_write", "edit_file", "write_file", "apply_patch", "propose_plan", "update_plan")
)
"""Tools whose results are never left out: they say what was found, what is to be done and what was changed."""

_RECENT = 3
"""Replies with calls whose results stay, counted from the end."""
_LEAST = 100
"""Tokens of a result that is worth a stub."""
_NUMBERED = re.compile(r"^(\d+)\t", re.MULTILINE)
_LOG = re.compile(r"\[all of the output is kept in [^\]\n]+\]")
_WIDTH = 200


def with_stubs(history: Sequence[Message]) -> tuple[Message, ...]:
    """A valid `history` with stubs for the old results; every other message is the same object."""
    calls = {call.id: call for message in history for call in message.tool_calls}
    end = _start_of_recent(history)
    return tuple(
        _shortened(message, calls[message.tool_call_id]) if index < end and message.role == "tool" else message
        for index, message in enumerate(history)
    )


def describe(call: ToolCall) -> str:
    """A call in one short line: `grep pattern="legacy" path="src"`."""
    arguments = parse_object(call.arguments)
    if arguments is None:
        return _short(f"{call.name} {call.arguments}")
    said = (f"{key}={json.dumps(value, ensure_ascii=False, default=str)}" for key, value in arguments.items())
    return _short(" ".join([call.name, *said]))


def stub_of(call: ToolCall, content: str) -> str:
    """What stands for `content`, the result of `call`."""
    match call.name:
        case "read_file":
            return f"[{_reading(call, content)}: left out to save room; read it again if needed]"
        case "run_shell":
            return _command(call, content)
        case _:
            return f"[{describe(call)}: left out to save room; call it again if needed]"


def _start_of_recent(history: Sequence[Message]) -> int:
    """The index of the first message whose results stay."""
    left = _RECENT
    for index in range(len(history) - 1, -1, -1):
        left -= bool(history[index].tool_calls)
        if not left:
            return index
    return 0


def _shortened(message: Message, call: ToolCall) -> Message:
    if call.name in KEPT:
        return message
    size = message_tokens(message)
    if size < _LEAST:
        return message
    stub = replace(message, content=stub_of(call, message.content))
    return stub if 2 * message_tokens(stub) <= size else message


def _reading(call: ToolCall, content: str) -> str:
    arguments = parse_object(call.arguments) or {}
    numbers = _NUMBERED.findall(content)
    lines = f" lines {numbers[0]}–{numbers[-1]}" if numbers else ""
    return _short(f"read_file {arguments.get('path', call.arguments)}") + lines


def _command(call: ToolCall, content: str) -> str:
    """How it ended stays, and where all of its output is; a command is not run again without thought."""
    command = (parse_object(call.arguments) or {}).get("command", call.arguments)
    ended = _short(content.split("\n", 1)[0])
    log = _LOG.search(content)
    note = f"\n{log[0]}" if log else ""
    again = "run it again only if that changes nothing"
    return f"[run_shell {_short(str(command))}: {ended}; its output was left out to save room; {again}]{note}"


def _short(text: str) -> str:
    line = " ".join(scrub(text[: 4 * _WIDTH]).split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
