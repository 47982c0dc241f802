"""What a hook may answer to each event, and how its answer is read. Whatever is not exactly that is a failed hook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, get_args

from orchestrator.config import HookEvent
from orchestrator.json_bytes import dumps
from orchestrator.messages import scrub
from orchestrator.text_cut import cut_middle

CAN_SAY: Mapping[HookEvent, tuple[str, ...]] = {
    "SessionStart": ("deny", "context"),
    "UserPromptSubmit": ("deny", "context"),
    "PreToolUse": ("deny", "arguments", "context"),
    "PostToolUse": ("output", "context"),
    "SubagentStart": ("deny", "context"),
    "SubagentStop": ("again",),
    "PreCompact": ("context",),
    "Stop": ("again",),
    "SessionEnd": (),
}
"""The keys that the answer to an event may have."""

GATING: frozenset[HookEvent] = frozenset(event for event, keys in CAN_SAY.items() if "deny" in keys)
"""The events at which a hook decides whether something may be done; there a hook that fails denies."""

EVENTS: tuple[HookEvent, ...] = get_args(HookEvent)

MAX_TEXT = 20_000
"""Characters of a hook's `context` or `again` that reach the model."""
MAX_REASON = 2_000
"""Characters of its reason to deny."""


class HookOutcome(NamedTuple):
    """What the hooks want of an event. Empty texts and `None`: nothing.

    `deny` says why it may not be done, `arguments` replace those of the call, `context` is added for the model,
    `output` replaces the result of the call, `again` is what an agent that says it is done still has to do.
    """

    deny: str = ""
    arguments: Mapping[str, Any] | None = None
    context: str = ""
    output: str | None = None
    again: str = ""


class HookFailed(Exception):
    """A hook did not do what a hook does; the text says what it did instead, in one phrase."""


def read_answer(event: HookEvent, answer: object) -> HookOutcome:
    """The answer of one hook: `None`, a mapping with the keys of `CAN_SAY`, or an outcome. Raises `HookFailed`."""
    if answer is None:
        return HookOutcome()
    if isinstance(answer, HookOutcome):
        given = answer._asdict().items()
        answer = {key: value for key, value in given if value is not None and (value != "" or key == "output")}
    if not isinstance(answer, Mapping):
        raise HookFailed(f"its answer is of the type {type(answer).__name__}; it must be an object, or nothing")
    return HookOutcome(**{key: _value(event, key, value) for key, value in answer.items()})


def _value(event: HookEvent, key: object, value: object) -> Any:
    if key not in CAN_SAY[event]:
        can = ", ".join(f"`{each}`" for each in CAN_SAY[event]) or "nothing"
        raise HookFailed(f"it answered with `{str(key)[:40]}`; a hook of {event} can answer with {can}")
    if key == "arguments":
        return _arguments(value)
    if not isinstance(value, str):
        raise HookFailed(f"its `{key}` is of the type {type(value).__name__}; it must be a text")
    if key == "deny" and not value.strip():
        raise HookFailed("its `deny` is empty; it must say why")
    limit = {"deny": MAX_REASON, "output": len(value)}.get(str(key), MAX_TEXT)
    return cut_middle(scrub(value), limit, "let the hook say less")


def _arguments(value: object) -> dict[str, Any]:
    """The arguments as plain JSON of our own, which nobody else can change any more."""
    if not isinstance(value, Mapping):
        raise HookFailed(f"its `arguments` are of the type {type(value).__name__}; they must be an object")
    try:
        read: dict[str, Any] = json.loads(dumps(dict(value)))
    except (TypeError, ValueError, RecursionError) as error:
        raise HookFailed(f"its `arguments` are no JSON: {error}") from None
    return read
