"""The examples of docs/hooks.md, run exactly as they are written there."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.config import load_config
from orchestrator.hook_answers import CAN_SAY, EVENTS
from orchestrator.hooks import HookOutcome, Hooks, open_hooks
from tests.packaging.test_docs import blocks, document

TEXT = document("hooks.md")
EXAMPLES = TEXT.split("## Three examples")[1]
FORMAT, BLOCK, LOG = EXAMPLES.split("\n### ")[1:]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a configuration folder, and a `python3` that is the one of the tests."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ORCH_HOME", str(tmp_path / "orch"))
    (tmp_path / "orch").mkdir()
    return tmp_path


@pytest.fixture
def project(home: Path) -> Path:
    root = home / "project"
    (root / ".orch").mkdir(parents=True)
    return root.resolve()


def hooks_of(project: Path) -> Hooks:
    """The hooks of a trusted folder and of the user, as a session opens them; any notice fails the test."""
    env = dict(os.environ)
    config = load_config(workspace=project, env=env, flags={}, trusted=True).config
    files = [path for path in (project / ".orch" / "hooks.py",) if path.exists()]

    def notice(level: str, message: str, hint: str) -> None:
        raise AssertionError(f"{level}: {message} ({hint})")

    return open_hooks(config.hooks, workspace=project, session_id="s1", env=env, files=files, notice=notice)


def edited(path: str, tool: str = "edit_file", **arguments: Any) -> dict[str, Any]:
    return {
        "agent": "parent",
        "role": "parent",
        "tool_name": tool,
        "tool_input": {"path": path, **arguments},
        "tool_call_id": "c1",
        "tool_output": "edited",
        "is_error": False,
    }


async def test_format_after_each_edit(project: Path) -> None:
    (config,), (script,) = blocks(FORMAT, "yaml"), blocks(FORMAT, "python")
    (project / ".orch" / "config.yaml").write_text(config)
    (project / ".orch" / "format.py").write_text(script)
    (project / "a.py").write_text("x = 1   \n\ny = 2")
    (project / "a.txt").write_text("x   \n")
    hooks = hooks_of(project)
    outcome = await hooks.fire("PostToolUse", edited("a.py"))
    assert outcome == HookOutcome(context="The file was formatted. Read it again before you edit it again.")
    assert (project / "a.py").read_text() == "x = 1\n\ny = 2\n"
    assert await hooks.fire("PostToolUse", edited("a.py")) == HookOutcome()
    assert await hooks.fire("PostToolUse", edited("a.txt")) == HookOutcome()
    assert (project / "a.txt").read_text() == "x   \n"
    (project / "a.py").write_text("x = 1   \n")
    assert await hooks.fire("PostToolUse", {**edited("a.py"), "is_error": True}) == HookOutcome()
    assert await hooks.fire("PostToolUse", edited("a.py", "read_file")) == HookOutcome()
    assert (project / "a.py").read_text() == "x = 1   \n"


PATCH = """\
--- a/src/app.py
+++ b/src/app.py
@@ -1 +1 @@
-a
+b
--- a/{0}
+++ b/{0}
@@ -1 +1 @@
-a
+b
"""


async def test_block_paths(project: Path) -> None:
    (script,) = blocks(BLOCK, "python")
    (project / ".orch" / "hooks.py").write_text(script)
    (project / "vendor").mkdir()
    (project / "link").symlink_to("vendor")
    hooks = hooks_of(project)
    for path in ("vendor/x.py", "./vendor/x.py", "src/../vendor/x.py", str(project / "vendor/a/b.py"), "link/x.py"):
        for tool in ("edit_file", "write_file"):
            outcome = await hooks.fire("PreToolUse", edited(path, tool))
            assert "is not edited by hand. Change what it is made from." in outcome.deny, path
    for path in ("src/app.py", "vendors/x.py", "a.lockfile"):
        assert await hooks.fire("PreToolUse", edited(path)) == HookOutcome()
    patched = {**edited(""), "tool_name": "apply_patch"}
    for path, is_denied in (("poetry.lock", True), ("src/b.py", False)):
        outcome = await hooks.fire("PreToolUse", {**patched, "tool_input": {"patch": PATCH.format(path)}})
        assert bool(outcome.deny) is is_denied
    assert await hooks.fire("PreToolUse", edited("vendor/x.py", "read_file")) == HookOutcome()


async def test_log_to_a_file(home: Path, project: Path) -> None:
    (config,) = blocks(LOG, "yaml")
    (home / "orch" / "config.yaml").write_text(config)
    hooks = hooks_of(project)
    for event in ("PreToolUse", "PostToolUse", "SubagentStop", "SessionEnd"):
        assert await hooks.fire(event, edited("a.py")) == HookOutcome()
    lines = [json.loads(line) for line in (home / "orch-log.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["PostToolUse", "SubagentStop", "SessionEnd"]
    assert lines[0]["tool_input"] == {"path": "a.py"}


async def test_the_other_examples(project: Path) -> None:
    (project / ".orch" / "config.yaml").write_text(blocks(TEXT, "yaml")[0])
    (project / ".orch" / "check.py").write_text("")
    (project / ".orch" / "hooks.py").write_text(blocks(TEXT, "python")[0])
    hooks = hooks_of(project)
    assert await hooks.fire("PreToolUse", edited("a", "run_shell")) == HookOutcome()
    assert (await hooks.fire("Stop", {"role": "parent", "answer": "Done."})).again
    assert not (await hooks.fire("Stop", {"role": "parent", "answer": "Done; the tests pass."})).again


def test_the_table_of_events_is_the_truth() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| (?:role|tool) \|$", TEXT, re.M))
    assert list(rows) == list(EVENTS)
    for event in EVENTS:
        assert tuple(re.findall(r"`(\w+)`", rows[event])) == CAN_SAY[event]
