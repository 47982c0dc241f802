"""The outcome of a run as the json contract has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from orchestrator.messages import Usage

Status = Literal["ok", "incomplete", "denied", "failed", "aborted"]
StopReason = Literal["done", "max_turns", "budget", "timeout", "loop_guard", "denied", "error", "aborted"]
CitationStatus = Literal["verified", "moved", "unverified"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in the workspace that the answer rests on, with the verdict of the check."""

    path: str
    line: int
    end_line: int
    quote: str
    kind: str
    status: CitationStatus
    agent: str
    note: str = ""
    """Why it is not verified, or where it was moved from. Not part of the json result."""


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """What one agent of the tree did, in figures of its own."""

    name: str
    role: str
    parent: str | None
    status: Status
    stop_reason: StopReason
    turns: int
    tool_calls: int
    usage: Usage
    cost_usd: float | None
    duration_s: float


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """What failed the run, and what to do next."""

    type: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Result:
    """`cost_usd` is `None` when a price is unknown. `denied` lists every refused tool call in one line each."""

    session_id: str
    status: Status
    stop_reason: StopReason
    answer: str
    model: str
    citations: Sequence[Citation] = ()
    agents: Sequence[AgentSummary] = ()
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    duration_s: float = 0.0
    denied: Sequence[str] = ()
    error: ErrorInfo | None = None
    exit_code: int = 0
    """The error's own, where there is one; `headless.exit_code_for` has those of the other endings."""

    def to_dict(self) -> dict[str, Any]:
        """The object of the json contract, schema 1."""
        data = {name: getattr(self, name) for name in _FIELDS if name != "exit_code"}
        return {
            "schema": 1,
            **data,
            "citations": [{name: getattr(citation, name) for name in _CITED} for citation in self.citations],
            "agents": [asdict(agent) for agent in self.agents],
            "usage": asdict(self.usage),
            "error": None if self.error is None else asdict(self.error),
        }


_FIELDS = tuple(each.name for each in fields(Result))
_CITED = tuple(each.name for each in fields(Citation) if each.name != "note")
"""Read one by one, since `asdict` copies every text: with the places of a common name that takes a second."""
