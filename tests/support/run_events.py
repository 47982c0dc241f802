"""A small recorded run as plain data, for the writers and the live view."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.terminal import EVENT_SOURCE, ROOT

Data = dict[str, Any]


def event(kind: str, agent: str = "parent", t: float = 0.0, **fields: Any) -> Data:
    return {"type": kind, "agent": agent, "t": t, **fields}


def started(agent: str = "parent", parent: str | None = None, task: str = "where is legacy_auth used") -> Data:
    role = agent.partition("-")[0]
    return event("agent_started", agent, role=role, parent=parent, task=task, model="scout")


def finished(agent: str, status: str = "ok", reason: str = "done") -> Data:
    return event(
        "agent_finished",
        agent,
        1.0,
        status=status,
        stop_reason=reason,
        turns=2,
        tool_calls=3,
        tokens=4000,
        cost_usd=0.01,
    )


def notice(message: str, level: str = "warning", hint: str = "") -> Data:
    return event("notice", level=level, message=message, hint=hint)


def citation(path: str, line: int, status: str = "verified", end_line: int | None = None) -> Data:
    return {
        "path": path,
        "line": line,
        "end_line": end_line or line,
        "quote": "legacy_auth(user)",
        "kind": "call",
        "status": status,
        "agent": "explorer-1",
    }


def result(answer: str = "It is used in `src/a.py:12`.", status: str = "ok", **fields: Any) -> Data:
    reason = {"ok": "done", "failed": "error", "incomplete": "max_turns"}.get(status, status)
    return {
        "type": "result",
        "session_id": "s1",
        "status": status,
        "stop_reason": reason,
        "answer": answer,
        "model": "scout",
        "duration_s": 0.5,
        **fields,
    }


RUN: Sequence[Data] = (
    started(),
    event("turn_started", t=0.1, turn=1),
    event("text", t=0.2, text="Let me look."),
    event("turn_finished", t=0.3, turn=1, input_tokens=1000, output_tokens=200, cost_usd=0.02),
    started("explorer-1", "parent", "find callers of legacy_auth"),
    event("tool_started", "explorer-1", 0.4, call_id="c1", tool="grep", summary='"legacy_auth" in src'),
    event("tool_finished", "explorer-1", 0.5, call_id="c1", tool="grep", ok=True, summary="2 matches", duration_s=0.1),
    finished("explorer-1"),
    finished("parent"),
)


def feed(commands: Sequence[Data], *arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Give `commands` to the writer of a process whose output is piped."""
    return subprocess.run(
        [*EVENT_SOURCE, *arguments],
        input=as_lines(commands),
        capture_output=True,
        env=piped_environment(env),
        cwd=ROOT,
        timeout=60,
        check=False,
    )


def as_lines(commands: Sequence[Data]) -> bytes:
    return b"".join(json.dumps(command).encode() + b"\n" for command in commands)


def piped_environment(more: Mapping[str, str]) -> dict[str, str]:
    base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    return {**base, **more}
