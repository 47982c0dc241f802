"""Agents that change things: asked, refused, hooked, confined, stopped; over real files, processes and the kernel."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orchestrator.abort import AbortToken
from orchestrator.approval import PermissionReply, PermissionRequest
from orchestrator.events import Event, FilesChanged, PermissionAsked, PermissionSettled, TodosChanged, ToolOutput
from orchestrator.headless_approval import HeadlessApprover
from orchestrator.permissions import QueuedApprover
from orchestrator.sandbox import open_sandbox
from tests.support.command import orch
from tests.support.running import Ran, ScriptedApprover, calls, delegates, reports, run, tool_texts

READ = calls("read_file", path="src/auth.py")
EDIT = calls("edit_file", path="src/auth.py", edits=[{"old": "def legacy_auth(user):", "new": "def old_auth(user):"}])
WRITER = """\
name: writer
description: Writes files.
tools: [read_file, write_file, run_shell]
read_only: false
prompt: You write.
"""

confined = pytest.mark.skipif(
    open_sandbox(True, os.environ).name == "none", reason="this system has no sandbox that works"
)


@pytest.fixture
def writer(workspace: Path) -> Path:
    """A workspace with a role that may write."""
    roles = workspace / ".orch" / "roles"
    roles.mkdir(parents=True)
    (roles / "writer.yaml").write_text(WRITER)
    return workspace


def git_repository(folder: Path) -> None:
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(folder), *command], check=True)


def shell(command: str) -> dict[str, Any]:
    return calls("run_shell", command=command)


def results(ran: Ran, text: str = "") -> list[str]:
    """The tool results that the agent whose task holds `text` had read at its end."""
    return tool_texts(ran.bodies(text)[-1])


# --- permission ------------------------------------------------------------------------------------------------------


async def test_an_edit_is_asked_for_with_its_diff_and_then_made(workspace: Path) -> None:
    user = ScriptedApprover("once")
    ran = await run(workspace, [READ, EDIT, "done"], mode="default", approver=user)
    assert (ran.result.status, ran.exit_code, ran.result.denied) == ("ok", 0, [])
    assert "def old_auth(user):" in (workspace / "src/auth.py").read_text()
    (asked,) = user.requests
    assert (asked.agent, asked.role, asked.task, asked.tool) == ("parent", "parent", "the question", "edit_file")
    assert "-def legacy_auth(user):\n+def old_auth(user):" in asked.diff
    assert [e.paths for e in ran.of(FilesChanged)] == [("src/auth.py",)]
    assert [e.decision for e in ran.of(PermissionSettled)] == ["once"]
    assert len(ran.of(PermissionAsked)) == 1


async def test_a_refusal_is_a_result_that_gives_the_reason(workspace: Path) -> None:
    before = (workspace / "src/auth.py").read_bytes()
    user = ScriptedApprover(PermissionReply("no", "not before the release"))
    ran = await run(workspace, [READ, EDIT, "I may not."], mode="default", approver=user)
    assert (workspace / "src/auth.py").read_bytes() == before
    text = results(ran)[-1]
    assert text.startswith("error: denied: not before the release.")
    assert (ran.result.status, ran.result.stop_reason, ran.exit_code) == ("denied", "denied", 4)
    (line,) = ran.result.denied
    assert line == "parent: edit_file src/auth.py: not before the release"


async def test_reading_asks_nobody(workspace: Path) -> None:
    user = ScriptedApprover()
    await run(workspace, [READ, shell("ls src | wc -l"), "done"], mode="default", approver=user)
    assert user.requests == []


async def test_edits_pass_where_they_are_accepted_and_commands_are_asked_for(workspace: Path) -> None:
    user = ScriptedApprover("no")
    ran = await run(workspace, [READ, EDIT, shell("touch made"), "done"], mode="accept-edits", approver=user)
    assert [request.tool for request in user.requests] == ["run_shell"]
    assert user.requests[0].lines == ("touch made",)
    assert "old_auth" in (workspace / "src/auth.py").read_text()
    assert not (workspace / "made").exists()
    assert ran.exit_code == 4


async def test_what_is_always_allowed_is_not_asked_for_again(workspace: Path) -> None:
    """The grant holds for this pattern in this workspace, in the next session too, and for no other command."""
    script = [shell("mkdir -p out/a"), shell("mkdir -p out/a"), shell("mkdir -p out/a && rm -r out"), "done"]
    user = ScriptedApprover(PermissionReply("always", pattern="run_shell(mkdir *)"))
    await run(workspace, script, mode="default", approver=user)
    assert [request.lines[:2] for request in user.requests] == [("mkdir -p out/a",), ("mkdir -p out/a", "rm -r out")]
    later = ScriptedApprover()
    await run(workspace, [shell("mkdir -p out/b"), "done"], mode="default", approver=later)
    assert later.requests == []
    assert (workspace / "out/b").is_dir()


async def test_headless_says_how_it_could_be_allowed(workspace: Path) -> None:
    ran = await run(workspace, [READ, EDIT, "I may not."], mode="default", approver=HeadlessApprover("deny"))
    assert "error: denied:" in results(ran)[-1]
    assert "--mode accept-edits" in ran.result.denied[0]
    assert ran.exit_code == 4


async def test_headless_can_end_at_the_first_question(workspace: Path) -> None:
    script = {
        "routes": [{"match": "task-one", "turns": [READ, "never reached"]}],
        "turns": [READ, EDIT, "never reached"],
    }
    ran = await run(workspace, script, mode="default", approver=HeadlessApprover("fail"))
    assert (ran.result.status, ran.result.stop_reason, ran.exit_code) == ("denied", "denied", 4)
    assert len(ran.server.requests) == 2


async def test_protected_files_are_asked_for_whatever_the_mode_and_the_rules(workspace: Path) -> None:
    configure('permissions: {allow: ["write_file(**)", "read_file(**)"]}\n')
    (workspace / ".env").write_text("TOKEN=hunter2\n")
    user = ScriptedApprover("no", "once")
    ran = await run(
        workspace,
        [
            calls("write_file", path=".git/hooks/pre-commit", content="#!/bin/sh\n"),
            calls("read_file", path=".env"),
            "x",
        ],
        mode="accept-edits",
        approver=user,
    )
    assert [(request.tool, request.pattern) for request in user.requests] == [("write_file", ""), ("read_file", "")]
    assert not (workspace / ".git").exists()
    assert "TOKEN=hunter2" in results(ran)[-1], "the user allowed it"


async def test_rules_hold_for_reading_too(workspace: Path) -> None:
    configure('permissions: {deny: ["grep", "read_file(src/big*)"]}\n')
    script = [calls("grep", pattern="x"), calls("read_file", path="src/big.txt"), READ, "done"]
    ran = await run(workspace, script)
    first, second, third = results(ran)
    assert first.startswith("error: denied: the rule `grep` forbids it")
    assert second.startswith("error: denied: the rule `read_file(src/big*)` forbids it")
    assert "def legacy_auth" in third


# --- the mode is a ceiling; the whitelist is each agent's own -----------------------------------------------------


@pytest.mark.parametrize("mode", ["default", "plan"])
async def test_a_child_has_its_own_whitelist_under_the_mode_of_the_parent(writer: Path, mode: Any) -> None:
    """B004: a parent that cannot write may have a child that can; plan mode holds for all."""
    home = Path(os.environ["ORCH_HOME"]) / "roles"
    home.mkdir()
    (home / "parent.yaml").write_text("name: parent\nextends: parent\ndescription: d\ntools: [read_file]\n")
    write = calls("write_file", path="made.txt", content="hello\n")
    script = {
        "routes": [{"match": "task-w", "turns": [write, reports("Tried.")]}],
        "turns": [delegates("task-w", role="writer"), "done"],
    }
    user = ScriptedApprover("once")
    ran = await run(writer, script, mode=mode, approver=user)
    if mode == "default":
        assert (writer / "made.txt").read_text() == "hello\n"
        (asked,) = user.requests
        assert (asked.agent, asked.role, asked.task) == ("writer-1", "writer", "task-w")
        assert ran.exit_code == 0
    else:
        assert not (writer / "made.txt").exists()
        assert user.requests == []
        assert "error: read_only:" in results(ran, "task-w")[-1]
        assert ran.exit_code == 4
    offered = {tool["function"]["name"] for tool in ran.bodies("task-w")[0]["tools"]}
    assert ("write_file" in offered) == (mode == "default")


async def test_a_child_in_plan_mode_cannot_change_anything_outside_either(
    writer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B003: refused by the classifier inside the child; the global git configuration stays as it is."""
    monkeypatch.setenv("HOME", str(tmp_path))
    command = "git config --global --add safe.directory /somewhere"
    script = {
        "routes": [{"match": "task-l", "turns": [shell(command), reports("No.")]}],
        "turns": [delegates("task-l", role="writer"), "done"],
    }
    ran = await run(writer, script, mode="plan")
    (text,) = [text for text in results(ran, "task-l") if "error" in text]
    assert text.startswith("error: read_only:")
    assert "git config" in text
    assert not (tmp_path / ".gitconfig").exists()


@confined
async def test_a_command_that_only_reads_runs_where_nothing_can_be_written(workspace: Path) -> None:
    ran = await run(workspace, [shell("cat src/auth.py; pwd"), "done"], mode="plan")
    assert ran.exit_code == 0
    assert "def legacy_auth" in results(ran)[-1]
    assert any("def legacy_auth" in event.text for event in ran.of(ToolOutput))


@confined
async def test_a_command_that_the_sandbox_stopped_can_be_let_out_once(workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    command = f"echo hello > {outside}"
    user = ScriptedApprover("once", "once")
    ran = await run(workspace, [shell(command), "done"], mode="default", approver=user)
    assert outside.read_text() == "hello\n"
    assert any("sandbox" in why for why in user.requests[1].why)
    user = ScriptedApprover("once", "no")
    outside.unlink()
    ran = await run(workspace, [shell(command), "done"], mode="default", approver=user)
    assert not outside.exists()
    assert "sandbox" in results(ran)[-1]


# --- several agents that ask ------------------------------------------------------------------------------------------


class OneAtATime:
    """A user who notices when two questions are on the screen at once."""

    def __init__(self) -> None:
        self.open = 0
        self.agents: list[str] = []

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        self.open += 1
        assert self.open == 1
        self.agents.append(request.agent)
        await asyncio.sleep(0)
        self.open -= 1
        return PermissionReply("once")


async def test_questions_of_parallel_children_come_one_by_one(writer: Path) -> None:
    tasks = [f"task-{n}" for n in range(4)]
    routes = [
        {"match": task, "turns": [calls("write_file", path=f"{n}.txt", content="x"), reports("Done.")]}
        for n, task in enumerate(tasks)
    ]
    user = OneAtATime()
    script = {"routes": routes, "turns": [delegates(*tasks, role="writer"), "done"]}
    await run(writer, script, mode="default", approver=QueuedApprover(user))
    assert sorted(user.agents) == [f"writer-{n}" for n in range(1, 5)]
    assert all((writer / f"{n}.txt").exists() for n in range(4))


class NeverAnswers:
    def __init__(self) -> None:
        self.open = 0

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        self.open += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.open -= 1
        raise AssertionError


async def test_an_abort_clears_the_questions(writer: Path) -> None:
    routes = [
        {"match": f"task-{n}", "turns": [calls("write_file", path=f"{n}.txt", content="x"), reports("Done.")]}
        for n in range(2)
    ]
    user = NeverAnswers()

    def stop_when_both_ask(event: Event, abort: AbortToken) -> None:
        if isinstance(event, PermissionAsked):
            asked.append(event.agent)
            if len(asked) == 2:
                abort.trigger("the test")

    asked: list[str] = []
    script = {"routes": routes, "turns": [delegates("task-0", "task-1", role="writer"), "done"]}
    ran = await run(writer, script, mode="default", approver=QueuedApprover(user), on_event=stop_when_both_ask)
    assert (ran.result.status, ran.exit_code) == ("aborted", 130)
    assert user.open == 0
    assert not (writer / "0.txt").exists()


# --- hooks ------------------------------------------------------------------------------------------------------------


def configure(text: str) -> None:
    (Path(os.environ["ORCH_HOME"]) / "config.yaml").write_text(text)


def hooks(event: str, *commands: str, match: str = "") -> str:
    entries = [{"command": command, **({"match": match} if match else {})} for command in commands]
    return json.dumps({"hooks": {event: entries}})


async def test_permission_judges_what_a_hook_made_of_the_arguments(workspace: Path) -> None:
    reply = json.dumps({"arguments": {"path": ".git/config", "content": "x"}})
    configure(hooks("PreToolUse", f"cat > /dev/null; echo '{reply}'", match="write_file"))
    user = ScriptedApprover("no")
    script = [calls("write_file", path="harmless.txt", content="x"), "done"]
    await run(workspace, script, mode="accept-edits", approver=user)
    (asked,) = user.requests
    assert ".git/config" in " ".join(asked.lines)
    assert not (workspace / "harmless.txt").exists()


async def test_a_hook_that_fails_refuses(workspace: Path) -> None:
    configure(hooks("PreToolUse", "echo broken >&2; exit 1", match="write_file"))
    user = ScriptedApprover("once")
    ran = await run(workspace, [calls("write_file", path="a", content="x"), "no"], mode="accept-edits", approver=user)
    assert not (workspace / "a").exists()
    assert "broken" in results(ran)[-1]
    assert (ran.exit_code, len(ran.result.denied)) == (4, 1)


async def test_a_hook_changes_the_output_and_adds_context(workspace: Path) -> None:
    configure(hooks("PostToolUse", """echo '{"output": "all secret", "context": "mind the gap"}'""", match="read_file"))
    ran = await run(workspace, [READ, "done"], mode="default", approver=ScriptedApprover())
    assert results(ran) == ["all secret\n\n[hook: mind the gap]"]


async def test_a_stop_hook_sends_back_at_most_eight_times(workspace: Path) -> None:
    configure(hooks("Stop", """echo '{"again": "run the tests first"}'"""))
    ran = await run(workspace, {"turns": ["done"], "repeat": True}, mode="default", approver=ScriptedApprover())
    assert len(ran.server.requests) == 9
    assert ran.bodies()[-1]["messages"][-1]["content"] == "run the tests first"
    assert (ran.result.status, ran.result.answer) == ("ok", "done")


async def test_hooks_see_the_session_and_the_sub_agents(workspace: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    names = ["SessionStart", "UserPromptSubmit", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"]
    configure(json.dumps({"hooks": {name: [{"command": f"cat >> {log}; echo >> {log}"}] for name in names}}))
    script = {"routes": [{"match": "task-l", "turns": [reports("Found.")]}], "turns": [delegates("task-l"), "done"]}
    await run(workspace, script)
    seen = [json.loads(line) for line in log.read_text().splitlines() if line]
    assert [each["event"] for each in seen] == names
    assert seen[2]["task"] == "task-l"
    assert len({each["session_id"] for each in seen}) == 1


async def test_a_prompt_can_be_refused_by_a_hook(workspace: Path) -> None:
    configure(hooks("UserPromptSubmit", """echo '{"deny": "no questions today"}'"""))
    ran = await run(workspace, ["never"])
    assert (ran.result.status, ran.exit_code, len(ran.server.requests)) == ("denied", 4, 0)
    assert "no questions today" in ran.result.answer


async def test_the_hooks_of_a_folder_count_once_it_is_trusted(workspace: Path) -> None:
    (workspace / ".orch").mkdir()
    (workspace / ".orch/hooks.py").write_text(
        "from orchestrator.hooks import register_hook\n\n\n"
        "@register_hook('PreToolUse', match='read_file')\n"
        "def block(payload):\n    return {'deny': 'not this one'}\n"
    )
    assert "def legacy_auth" in results(await run(workspace, [READ, "done"]))[-1]
    ran = await run(workspace, [READ, "done"], trusted=True)
    assert "not this one" in results(ran)[-1]


# --- loop guard, todos --------------------------------------------------------------------------------------------


async def test_a_loop_is_pointed_out_and_then_ended(workspace: Path) -> None:
    """B007: headless, the agent ends with what it found; each repetition beyond the second was not run."""
    ran = await run(workspace, {"turns": [{**READ, "text": ""}], "repeat": True})
    assert (ran.result.status, ran.result.stop_reason, ran.exit_code) == ("incomplete", "loop_guard", 3)
    assert len(ran.server.requests) < 8
    assert "error: repeated" in results(ran)[-1] or "repeat" in results(ran)[-1]


async def test_a_child_has_a_guard_of_its_own(workspace: Path) -> None:
    script = {
        "routes": [{"match": "task-l", "turns": [READ], "repeat": True}],
        "turns": [delegates("task-l"), "It got nowhere."],
    }
    ran = await run(workspace, script)
    assert ran.agent("explorer-1").stop_reason == "loop_guard"
    assert ran.result.status == "ok"
    assert "loop guard" in results(ran)[-1]


async def test_the_list_is_told_and_a_reminder_follows_three_rounds_without_it(workspace: Path) -> None:
    todos = [{"content": "Look", "active_form": "Looking", "status": "in_progress"}]
    reads = [calls("read_file", path="src/big.txt", offset=n, limit=1) for n in (1, 2, 3)]
    ran = await run(workspace, [calls("todo_write", todos=todos), *reads, "done"], mode="default")
    assert [event.items for event in ran.of(TodosChanged)] == [(("Look", "Looking", "in_progress"),)]
    texts = results(ran)
    assert [("[orch:" in text and "todo_write" in text) for text in texts] == [False, False, False, True]


# --- undo ---------------------------------------------------------------------------------------------------------


async def test_what_a_tree_changed_is_kept_for_undo(writer: Path) -> None:
    """Edits of the parent and a child, and what a command changed in a git work tree."""
    git_repository(writer)
    before = {path: path.read_bytes() for path in writer.rglob("*") if path.is_file() and ".git/" not in str(path)}
    script = {
        "routes": [
            {"match": "task-c", "turns": [calls("write_file", path="child.txt", content="x"), reports("Done.")]}
        ],
        "turns": [
            READ,
            EDIT,
            delegates("task-c", role="writer"),
            shell("rm src/big.txt; echo new > other.txt"),
            "done",
        ],
    }
    ran = await run(writer, script, mode="default", approver=ScriptedApprover("once", "once", "once"))
    assert ran.exit_code == 0
    changed = {path for event in ran.of(FilesChanged) for path in event.paths}
    assert changed == {"src/auth.py", "child.txt", "src/big.txt", "other.txt"}
    undone = await asyncio.to_thread(lambda: orch("undo", "--yes", folder=writer))
    assert undone.returncode == 0, undone.stderr
    after = {path: path.read_bytes() for path in writer.rglob("*") if path.is_file() and ".git/" not in str(path)}
    assert after == before
