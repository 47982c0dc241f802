"""A whole run in this process that is recorded, or that is replayed from a recording, with nothing else to ask."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.abort import AbortToken
from orchestrator.events import Event
from orchestrator.model import Model
from orchestrator.providers import load_providers
from orchestrator.recording import Recorder
from orchestrator.replay import Replay, read_recording
from orchestrator.result import Result
from orchestrator.roles import Role
from orchestrator.run_text import RunText, secret_values
from orchestrator.wiring import Models, open_session, read_setup
from tests.support.model_server import ModelServer

KEY = "sk-test-0123456789abcdef"


class _OneModel(Models):
    """The same model for every role, in place of those that the configuration names."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def for_role(self, role: Role) -> Model:
        return self._model

    async def aclose(self) -> None:
        await self._model.aclose()


def run_text(workspace: Path, home: Path) -> RunText:
    secrets = secret_values({"OPENAI_API_KEY": KEY}, load_providers().values())
    return RunText(workspace=workspace.resolve(), state=home / "state", secrets=secrets)


async def recorded(workspace: Path, script: Any, file: Path, home: Path, question: str = "the question") -> Result:
    """Run against the scripted server and record it."""
    async with ModelServer(script) as server:
        env = {**os.environ, "ORCH_HOME": str(home), "OPENAI_API_KEY": KEY}
        flags = {"model": "openai/scripted", "base_url": f"{server.url}/v1"}
        recorder = Recorder(file, run_text(workspace, home), notice=_unexpected)
        opened = Models(read_setup(workspace, env, flags))
        role = read_setup(workspace, env, flags).roles().get("parent")
        try:
            return await _asked(workspace, env, _OneModel(recorder.wrap(opened.for_role(role))), question)
        finally:
            await opened.aclose()
            recorder.close()


async def replayed(workspace: Path, file: Path, home: Path, question: str = "the question") -> tuple[Result, Replay]:
    """Run from the recording: no server, no key, no address."""
    replay = Replay(read_recording(file), run_text(workspace, home))
    env = {**os.environ, "ORCH_HOME": str(home)}
    return await _asked(workspace, env, _OneModel(replay.model()), question), replay


def lasting(result: Result) -> dict[str, Any]:
    """The json result without what differs from run to run: the session's id, and times."""
    data = result.to_dict()
    agents = [{**agent, "duration_s": 0} for agent in data["agents"]]
    return {**data, "session_id": "", "duration_s": 0, "agents": agents}


async def _asked(
    workspace: Path,
    env: dict[str, str],
    models: Models,
    question: str,
    emit: Callable[[Event], None] = lambda event: None,
) -> Result:
    session = open_session(read_setup(workspace, env, {}), models, emit)
    try:
        return await session.ask(question, AbortToken())
    finally:
        await session.aclose()
        await models.aclose()


def _unexpected(level: str, message: str, hint: str) -> None:
    raise AssertionError(f"{level}: {message}")
