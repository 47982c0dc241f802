"""The fault reports about hooks."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.abort import AbortToken
from orchestrator.config import HookEvent
from orchestrator.errors import ConfigError
from orchestrator.events import Event, Notice
from orchestrator.hook_answers import GATING
from orchestrator.hooks import HookOutcome
from tests.support.hooking import alive, call, eventually, opened
from tests.support.model_server import ModelServer
from tests.support.running import ScriptedApprover, calls, delegates, reports, run, tool_texts

READ = calls("read_file", path="src/auth.py")


def configure(hooks: dict[str, list[dict[str, Any]]]) -> None:
    home = Path(os.environ["ORCH_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(json.dumps({"hooks": hooks}))


# --- B170 ------------------------------------------------------------------------------------------------------------

CANNOT_RUN = [
    f"{sys.executable} /none.py",
    "/none/python3 hook.py",
    "python3 -u /none.py",
    "no-such-program --check",
    "./none.sh",
]


@pytest.mark.parametrize("command", CANNOT_RUN)
async def test_b170_a_hook_that_cannot_run_is_told_at_the_start_and_neither_denies_nor_allows_by_chance(
    command: str, tmp_path: Path
) -> None:
    """A missing script makes some interpreters end with 2, the code that denies; a missing program gives 127."""
    events: list[HookEvent] = ["PreToolUse", "PostToolUse", "Stop"]
    hooks = opened(tmp_path, {event: [{"command": command}] for event in events})
    at_the_start = hooks.told("error")
    assert len(at_the_start) == len(events)
    assert all(f"hook `{command}` could not run: " in message for message in at_the_start)
    hooks.notices.clear()
    for event in events:
        outcome = await hooks.hooks.fire(event, call())
        (_, message, _) = hooks.notices.pop()
        assert "failed: it could not run: " in message
        assert outcome == HookOutcome(deny=message if event in GATING else "")


async def test_b170_a_script_that_vanishes_later_is_no_deliberate_refusal(tmp_path: Path) -> None:
    script = tmp_path / "hook.py"
    script.write_text("")
    hooks = opened(tmp_path, {"PreToolUse": [{"command": f"{sys.executable} hook.py"}]})
    assert hooks.notices == []
    assert await hooks.hooks.fire("PreToolUse", call()) == HookOutcome()
    script.unlink()
    assert "it could not run: hook.py does not exist" in (await hooks.hooks.fire("PreToolUse", call())).deny


async def test_b170_the_user_and_the_model_are_told_which_hook_it_is(workspace: Path) -> None:
    configure({"PreToolUse": [{"command": "python3 /none.py", "match": "read_file"}]})
    ran = await run(workspace, [READ, "I may not read it."], mode="default", approver=ScriptedApprover())
    (text,) = tool_texts(ran.bodies()[-1])
    assert text.startswith("error: denied: the PreToolUse hook `python3 /none.py` failed: it could not run: /none.py")
    notices = [each.message for each in ran.of(Notice) if each.level == "error"]
    assert notices[0] == "the PreToolUse hook `python3 /none.py` could not run: /none.py does not exist"
    assert (ran.result.status, ran.exit_code) == ("denied", 4)


async def test_a_python_file_that_does_not_load_lets_nothing_begin(workspace: Path) -> None:
    (workspace / ".orch").mkdir()
    (workspace / ".orch" / "hooks.py").write_text("from orchestrator.hooks import register_hook\n1 / 0\n")
    with pytest.raises(ConfigError, match=r"hooks\.py:2: .*ZeroDivisionError"):
        await run(workspace, ["never asked"], trusted=True)


# --- B172 ------------------------------------------------------------------------------------------------------------


async def test_b172_a_hook_is_not_given_the_key_of_the_provider(workspace: Path, tmp_path: Path) -> None:
    configure({"PreToolUse": [{"command": f"env > {tmp_path}/seen"}]})
    await run(workspace, [READ, "done"])
    seen = (tmp_path / "seen").read_text()
    assert "OPENAI_API_KEY" not in seen
    assert f"ORCH_WORKSPACE={workspace}" in seen


# --- B026 ------------------------------------------------------------------------------------------------------------


async def test_b026_an_abort_ends_a_hook_of_a_child_with_all_its_processes(workspace: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = f"trap '' TERM INT; sleep 600 & echo $$ $! > {started}.new; mv {started}.new {started}; wait"
    configure({"PreToolUse": [{"command": command, "match": "read_file", "timeout": 30}]})
    script = {"routes": [{"match": "look at it", "turns": [READ]}], "turns": [delegates("look at it")]}

    async def stop(server: ModelServer, abort: AbortToken) -> None:
        assert await asyncio.to_thread(eventually, started.exists)
        abort.trigger("SIGINT")

    ran = await run(workspace, script, during=stop)
    assert (ran.result.status, ran.exit_code) == ("aborted", 130)
    for pid in started.read_text().split():
        assert eventually(lambda pid=pid: not alive(int(pid)))  # type: ignore[misc]  # a default that binds the variable


# --- B028 ------------------------------------------------------------------------------------------------------------


async def test_b028_every_child_that_was_started_is_told_to_have_stopped_once(workspace: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    configure({name: [{"command": f"cat >> {log}"}] for name in ("SubagentStart", "SubagentStop")})
    routes = [
        {"match": "first part", "turns": [reports("Found.")]},
        {"match": "second part", "turns": [reports("Found too.")]},
        {"match": "third part", "turns": [{"text": ["so ", "far"], "stall": "forever", "stall_after": 2}]},
    ]
    script = {"routes": routes, "turns": [delegates("first part", "second part", "third part")]}

    def stop(event: Event, abort: AbortToken) -> None:
        if getattr(event, "text", "") == "far":
            abort.trigger("SIGINT")

    await run(workspace, script, on_event=stop)
    told = [json.loads(line) for line in log.read_text().splitlines()]
    agents = {
        event: sorted(each["agent"] for each in told if each["event"] == event)
        for event in ("SubagentStart", "SubagentStop")
    }
    assert agents["SubagentStart"] == agents["SubagentStop"] == ["explorer-1", "explorer-2", "explorer-3"]
