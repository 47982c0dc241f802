"""A whole run that is far longer than its window ends with its facts intact; the server counts and refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.abort import AbortToken
from orchestrator.events import Compacted, Event
from orchestrator.result import Result
from orchestrator.wiring import Models, open_session, read_setup
from tests.support.model_script import Turn
from tests.support.plain_http import Request
from tests.support.running import KEY
from tests.support.summarising import FACT, SummarisingServer

WINDOW = 8000
TURNS = int(os.environ.get("LONG_RUN_TURNS", "60"))
"""300 in the long form: LONG_RUN_TURNS=300."""


class WorkingServer(SummarisingServer):
    """Reads another part of a file in each turn; every tenth it says a fact; at the end it answers with all it sees."""

    def __init__(self, window: int, turns: int) -> None:
        super().__init__(window)
        self.turns = turns
        self.played = 0

    def _answer_to(self, request: Request) -> Turn:
        turn = super()._answer_to(request)
        if turn.status != 200 or turn.text != "ok":
            return turn
        number, self.played = self.played, self.played + 1
        if number >= self.turns:
            facts = dict.fromkeys(FACT.findall(str(request.body["messages"])))
            return Turn(text="All facts: " + " ".join(facts), usage=turn.usage)
        said = f"Found FACT-{number}=v{number}x." if number % 10 == 0 else ""
        arguments = {"path": "src/big.txt", "offset": 1 + 6 * number, "limit": 30 + 7 * number % 40}
        call = {"name": "read_file", "arguments": arguments, "id": f"call_{number}"}
        return Turn(text=said, tool_calls=[call], usage=turn.usage)


async def ask(workspace: Path, server: WorkingServer, wire: str) -> tuple[Result, list[Event]]:
    """Ask a question in a window of `WINDOW` tokens."""
    settings = f"models: {{{wire}/scripted: {{window: {WINDOW}, max_output: 1000}}}}\n"
    (Path(os.environ["ORCH_HOME"]) / "config.yaml").write_text(settings)
    env = {**os.environ, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    address = f"{server.url}/v1" if wire == "openai" else server.url
    given = {"model": f"{wire}/scripted", "base_url": address, "retries": 1, "max_turns": 1000}
    setup = read_setup(workspace, env, given)
    models = Models(setup)
    events: list[Event] = []
    session = open_session(setup, models, events.append)
    try:
        return await session.ask("Collect every fact.", AbortToken()), events
    finally:
        await session.aclose()
        await models.aclose()


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_run_longer_than_its_window_keeps_its_facts(workspace: Path, wire: str) -> None:
    server = WorkingServer(WINDOW, TURNS)
    async with server:
        result, events = await ask(workspace, server, wire)
    assert result.status == "ok", result
    assert sorted(FACT.findall(result.answer)) == sorted(f"FACT-{n}=v{n}x" for n in range(0, TURNS, 10))
    kinds = [event.kind for event in events if isinstance(event, Compacted)]
    assert "full" in kinds
    assert server.largest <= WINDOW
    assert result.agents[0].tool_calls == TURNS
    assert result.usage.total > WINDOW, "summaries are counted too"
