"""Runs a whole session in this process against the scripted model server, over real sockets."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.abort import AbortToken
from orchestrator.approval import Approver, Choice, PermissionReply, PermissionRequest
from orchestrator.events import Event
from orchestrator.headless import exit_code_for
from orchestrator.permissions import Mode
from orchestrator.result import AgentSummary, Result
from orchestrator.session import Session
from orchestrator.toolbox import Toolbox
from orchestrator.wiring import Models, open_session, read_setup
from tests.support.model_server import ModelServer

E = TypeVar("E", bound=Event)
KEY = "sk-test-0123456789abcdef"


@dataclass(frozen=True)
class Ran:
    """What a run came to, and everything that happened on the way."""

    result: Result
    events: Sequence[Event]
    server: ModelServer
    session: Session

    @property
    def exit_code(self) -> int:
        return exit_code_for(self.result)

    def of(self, kind: type[E], agent: str | None = None) -> list[E]:
        return [e for e in self.events if isinstance(e, kind) and agent in (None, e.agent)]

    def agent(self, name: str) -> AgentSummary:
        return next(agent for agent in self.result.agents if agent.name == name)

    def bodies(self, text: str = "") -> list[dict[str, Any]]:
        """The bodies of the requests whose first user message holds `text`, in order."""
        return [r.body for r in self.server.requests if text in first_user_text(r.body)]


def first_user_text(body: dict[str, Any]) -> str:
    return str(next(m["content"] for m in body["messages"] if m["role"] == "user"))


def tool_texts(body: dict[str, Any]) -> list[str]:
    """The tool results that a request carries (OpenAI wire)."""
    return [m["content"] for m in body["messages"] if m["role"] == "tool"]


async def run(
    workspace: Path,
    script: Any,
    question: str = "the question",
    *,
    during: Callable[[ModelServer, AbortToken], Any] | None = None,
    on_event: Callable[[Event, AbortToken], None] = lambda event, abort: None,
    tools: Path | None = None,
    mode: Mode = "plan",
    approver: Approver | None = None,
    trusted: bool = False,
    **flags: object,
) -> Ran:
    """Ask `question` with the scripted model and the tools of a folder (default: orch's own).

    `during` is a coroutine function that runs beside the session.
    """
    async with ModelServer(script) as server:
        env = {**os.environ, "OPENAI_API_KEY": KEY}
        given = {"model": "openai/scripted", "base_url": f"{server.url}/v1", "retries": 2, **flags}
        setup = replace(read_setup(workspace, env, given, trust_folder=trusted), toolbox=Toolbox(tools))
        events: list[Event] = []
        abort = AbortToken()

        def emit(event: Event) -> None:
            events.append(event)
            on_event(event, abort)

        models = Models(setup)
        session = None
        try:
            session = open_session(setup, models, emit, mode=mode, approver=approver)
            beside = asyncio.create_task(during(server, abort)) if during else None
            result = await session.ask(question, abort)
            if beside is not None:
                await beside
        finally:
            if session is not None:
                await session.aclose()
            await models.aclose()
        return Ran(result, events, server, session)


class ScriptedApprover:
    """A user who gives these answers in order (then "no") and remembers what was asked."""

    def __init__(self, *replies: PermissionReply | Choice) -> None:
        self.requests: list[PermissionRequest] = []
        self._replies = [PermissionReply(each) if isinstance(each, str) else each for each in replies]

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        self.requests.append(request)
        return self._replies.pop(0) if self._replies else PermissionReply("no", "there is no answer left")


def delegates(*tasks: str, role: str = "explorer") -> dict[str, Any]:
    """A turn that delegates each of `tasks`, in one message."""
    return {"tool_calls": [{"name": "delegate", "arguments": {"role": role, "task": task}} for task in tasks]}


def calls(name: str, /, **arguments: object) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def reports(summary: str, *findings: dict[str, Any]) -> dict[str, Any]:
    return calls("report", summary=summary, findings=list(findings))
