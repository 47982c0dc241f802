"""What happens in a session, as frozen plain data. Every subscriber (terminal, log, JSON) gets the same events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """`agent` is the name of the agent it is about, `t` the seconds since the session began."""

    type: ClassVar[str] = "event"
    agent: str
    t: float


@dataclass(frozen=True, slots=True)
class AgentStarted(Event):
    """`parent` is `None` for the agent that the user talks to."""

    type: ClassVar[str] = "agent_started"
    role: str
    parent: str | None
    task: str
    model: str


@dataclass(frozen=True, slots=True)
class AgentFinished(Event):
    """`status` and `stop_reason` as in the result; figures are totals of this agent alone."""

    type: ClassVar[str] = "agent_finished"
    status: str
    stop_reason: str
    turns: int
    tool_calls: int
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """A model call begins; turns count from 1."""

    type: ClassVar[str] = "turn_started"
    turn: int


@dataclass(frozen=True, slots=True)
class TurnFinished(Event):
    """After each model call: the agent's totals so far."""

    type: ClassVar[str] = "turn_finished"
    turn: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Text(Event):
    """A piece of the reply as it streams."""

    type: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class Thinking(Event):
    """A piece of the model's reasoning as it streams."""

    type: ClassVar[str] = "thinking"
    text: str


@dataclass(frozen=True, slots=True)
class ReplyVoided(Event):
    """The text streamed since the turn began does not count; the request is sent again."""

    type: ClassVar[str] = "reply_voided"
    reason: str


@dataclass(frozen=True, slots=True)
class ToolStarted(Event):
    """`summary` is one line of the call's arguments."""

    type: ClassVar[str] = "tool_started"
    call_id: str
    tool: str
    summary: str


@dataclass(frozen=True, slots=True)
class ToolFinished(Event):
    """`ok` is false for a call that gave the model an error; `summary` is one line of the result."""

    type: ClassVar[str] = "tool_finished"
    call_id: str
    tool: str
    ok: bool
    summary: str
    duration_s: float


@dataclass(frozen=True, slots=True)
class ToolOutput(Event):
    """A piece of what a running command prints, as it comes; throttled, so not every byte."""

    type: ClassVar[str] = "tool_output"
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class PermissionAsked(Event):
    """The user is asked whether a call may run; `why` says what made it necessary."""

    type: ClassVar[str] = "permission_asked"
    call_id: str
    tool: str
    summary: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PermissionSettled(Event):
    """How a question ended, or that a rule refused: `decision` is `once`, `always` or `no`; `by` who decided:
    `user`, `rule`, `mode`, `hook`, `headless`, `sandbox`."""

    type: ClassVar[str] = "permission_settled"
    call_id: str
    tool: str
    decision: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class FilesChanged(Event):
    """Files that a tool call wrote, made or took away, relative to the workspace."""

    type: ClassVar[str] = "files_changed"
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TodosChanged(Event):
    """The agent's whole list of what is to do, as (content, active form, status)."""

    type: ClassVar[str] = "todos_changed"
    items: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Retry(Event):
    """A model request failed in a way that can pass and is tried again after `delay_s` seconds."""

    type: ClassVar[str] = "retry"
    attempt: int
    attempts: int
    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class CacheBroken(Event):
    """A request does not begin as the one before it, so the provider's cache of prompts is of no use from there on."""

    type: ClassVar[str] = "cache_broken"
    where: str


@dataclass(frozen=True, slots=True)
class Compacted(Event):
    """The agent's conversation was shortened: `kind` is `light`, `full` or `emergency`; estimates in tokens."""

    type: ClassVar[str] = "compacted"
    kind: str
    before_tokens: int
    after_tokens: int


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """A slow step says where it is; the newest replaces the one before."""

    type: ClassVar[str] = "progress"
    text: str


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """Something the user should know: `level` is `info`, `warning` or `error`."""

    type: ClassVar[str] = "notice"
    level: str
    message: str
    hint: str = ""


Emit = Callable[[Event], None]


def as_dict(event: Event) -> dict[str, Any]:
    """The event as one JSON object, its type first."""
    return {"type": event.type, **asdict(event)}
