"""The scout in this process: a whole session with it as the model, or one sub-agent with chosen tools."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.abort import AbortToken
from orchestrator.code.index import CodeIndex
from orchestrator.config import load_config
from orchestrator.deadline import Deadline
from orchestrator.gate import Gate
from orchestrator.messages import Message, ToolCall, user
from orchestrator.model import CallReady, Done, ModelRequest, Piece, TextDelta, ToolSchema
from orchestrator.paths import Places
from orchestrator.result import Result
from orchestrator.scout import ScoutModel
from orchestrator.search import find_ripgrep, open_search
from orchestrator.todos import TodoList
from orchestrator.tool import ToolContext
from orchestrator.tool_runner import ToolRunner
from orchestrator.toolbox import Toolbox
from orchestrator.wiring import Models, NobodyToAsk, open_session, read_setup
from orchestrator.workbench import Bench, Workbench
from orchestrator.workspace import WorkspaceFiles

ALL_TOOLS = frozenset({"read_file", "list_files", "glob", "grep", "symbols", "find_references", "report"})
_MOST_TURNS = 30


async def ask(workspace: Path, question: str) -> Result:
    """What `orch ask` comes to, with the scout as the model."""
    setup = read_setup(workspace, {**os.environ, "ORCH_MODEL": "scout"}, {})
    models = Models(setup)
    try:
        return await open_session(setup, models, lambda event: None).ask(question, AbortToken())
    finally:
        await models.aclose()


@dataclass(frozen=True)
class Explored:
    """How one sub-agent worked: the calls of each turn, and the report it handed in or the text it ended with."""

    turns: tuple[tuple[ToolCall, ...], ...]
    report: dict[str, Any]
    text: str

    @property
    def calls(self) -> list[ToolCall]:
        return [call for turn in self.turns for call in turn]

    @property
    def cited(self) -> set[str]:
        return {f"{finding['path']}:{finding['line']}" for finding in self.report["findings"]}


def _bench(workspace: Path, toolbox: Toolbox) -> Bench:
    """What a read-only run acts with: nothing."""
    env = dict(os.environ)
    config = load_config(workspace=workspace, env=env, flags={}, trusted=False).config
    places = Places.find(env)
    return Bench(
        workspace, places, env, config, False, toolbox, "s", "plan", NobodyToAsk(), lambda event: None, lambda: 0.0
    )


async def explore(workspace: Path, task: str, tools: Collection[str] = ALL_TOOLS) -> Explored:
    """Run the scout as a sub-agent on real tools over real files, until it reports or answers in text."""
    files = WorkspaceFiles(workspace)
    search = open_search(files, ripgrep=find_ripgrep())
    context = ToolContext(files, lambda: search, lambda: CodeIndex(files, search), agent="explorer-1")
    toolbox = Toolbox()
    safety = Workbench(_bench(workspace, toolbox)).safety
    runner = ToolRunner(
        toolbox,
        frozenset(tools),
        context,
        Gate(safety, read_only=True, emit=lambda event: None, clock=lambda: 0.0, deadline=Deadline(None)),
        TodoList("explorer-1", lambda items: None),
        max_output=50_000,
        emit=lambda event: None,
        clock=lambda: 0.0,
    )
    messages: list[Message] = [user(task)]
    turns: list[tuple[ToolCall, ...]] = []
    for _ in range(_MOST_TURNS):
        message = await reply_to(tuple(messages), toolbox.schemas(tools))
        turns.append(message.tool_calls)
        messages.append(message)
        outcomes = [await runner.run(call) for call in message.tool_calls]
        report = next((dict(outcome.report) for outcome in outcomes if outcome.report is not None), None)
        if report is not None or not outcomes:
            return Explored(tuple(turns), report or {}, message.content)
        messages += [outcome.message for outcome in outcomes]
    raise AssertionError(f"no end after {_MOST_TURNS} turns; last calls: {turns[-1]}")


async def reply_to(messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Message:
    """One reply of the scout, checked to be a proper stream: its pieces say what its message says, and it ends once."""
    pieces: list[Piece] = [piece async for piece in ScoutModel().stream(ModelRequest("", messages, tools))]
    done = pieces[-1]
    assert isinstance(done, Done)
    assert sum(isinstance(piece, Done) for piece in pieces) == 1
    message = done.reply.message
    assert tuple(piece.call for piece in pieces if isinstance(piece, CallReady)) == message.tool_calls
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == message.content
    assert all(isinstance(json.loads(call.arguments), dict) for call in message.tool_calls)
    return message
