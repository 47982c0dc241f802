"""A search that takes long says how far it has come, as an event of the agent that waits for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.abort import AbortToken
from orchestrator.code import pace
from orchestrator.code.facts_cache import WORTH_KEEPING
from orchestrator.code.pace import INTERVAL, Pace
from orchestrator.code.tasks import occurrences_task
from orchestrator.code.workers import run_over
from orchestrator.events import Event, Progress
from orchestrator.wiring import Models, open_session, read_setup

FILES = {f"m{number}.py": b"key = 1\n" * 50 for number in range(WORTH_KEEPING + 2)}


async def progress_of(workspace: Path, home: Path) -> list[tuple[str, str]]:
    """Who says what while the scout answers where `key` is used."""
    events: list[Event] = []
    setup = read_setup(workspace, {**os.environ, "ORCH_HOME": str(home), "ORCH_MODEL": "scout"}, {})
    models = Models(setup)
    try:
        await open_session(setup, models, events.append).ask("where is key used", AbortToken())
    finally:
        await models.aclose()
    return [(event.agent, event.text) for event in events if isinstance(event, Progress)]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    return folder


async def test_the_sub_agent_says_how_many_files_are_read(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "INTERVAL", 0.0)
    said = await progress_of(workspace, tmp_path / "home")
    assert said[0] == ("explorer-1", f"read 1 of {len(FILES)} files")
    assert said[-1] == ("explorer-1", f"read {len(FILES)} of {len(FILES)} files")


async def test_what_is_quick_says_nothing(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "INTERVAL", 1e9)
    assert await progress_of(workspace, tmp_path / "home") == []


def test_it_is_said_a_few_times_a_second() -> None:
    now = 0.0
    said: list[str] = []
    step = Pace(said.append, 12_000, clock=lambda: now)
    for done in range(0, 12_000, 1000):
        step(done)
        now += INTERVAL * 0.3
    assert said == ["read 4,000 of 12,000 files", "read 8,000 of 12,000 files"]


@pytest.mark.parametrize("processes", [0, 1])
async def test_files_are_counted_wherever_they_are_read(processes: int) -> None:
    counts: list[int] = []
    await run_over(occurrences_task("key"), list(FILES), FILES.get, processes=processes, progress=counts.append)
    assert counts == sorted(counts)
    assert counts[-1] == len(FILES)
