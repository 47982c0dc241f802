"""The fault reports about agents that repeat themselves, and about those that only seem to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.approval import PermissionReply, PermissionRequest
from orchestrator.loop_guard import ALIKE_STOP_AT, LoopGuard
from orchestrator.messages import ToolCall
from tests.support.running import Ran, ScriptedApprover, calls, delegates, run, tool_texts


class Allows:
    """A user who allows every call, but does not let an agent go on in circles."""

    def __init__(self) -> None:
        self.circles: list[PermissionRequest] = []

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        if not re.search(r"with the same arguments|again and again", " ".join(request.why)):
            return PermissionReply("once")
        self.circles.append(request)
        return PermissionReply("no")


def shell(*commands: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": "run_shell", "arguments": {"command": command}} for command in commands]}


async def acting(workspace: Path, script: Any) -> tuple[Ran, Allows]:
    user = Allows()
    return await run(workspace, script, mode="default", approver=user), user


async def test_b007_the_parent_is_told_why_a_child_was_stopped(workspace: Path) -> None:
    child = {"text": "The file should be there.", **calls("read_file", path="src/gone.py")}
    script = {
        "routes": [{"match": "look it up", "turns": [child], "repeat": True}],
        "turns": [delegates("look it up"), "It could not be found."],
    }
    ran = await run(workspace, script)
    (text,) = tool_texts(ran.bodies("the question")[-1])
    assert text.startswith("status: incomplete (loop_guard)")
    assert "it repeated itself without getting further (loop guard)" in text
    assert "The file should be there." in text
    assert (ran.agent("explorer-1").status, ran.agent("explorer-1").stop_reason) == ("incomplete", "loop_guard")
    read = tool_texts(ran.bodies("look it up")[-1])
    assert [each.split(": ")[1] for each in read] == ["not_found", "not_found", "repeated", "repeated"]


async def test_b018_equal_calls_in_one_message_are_answered_and_ask_nobody(workspace: Path) -> None:
    ran, user = await acting(workspace, [shell(*["echo made >> made; echo made"] * 3), "done"])
    texts = tool_texts(ran.bodies()[-1])
    assert len(texts) == 3
    assert ["made" in text.split("repeated")[0] for text in texts] == [True, True, False]
    assert texts[2].startswith("error: repeated")
    assert (workspace / "made").read_text() == "made\n" * 2
    assert user.circles == []
    assert ran.result.status == "ok"


@pytest.mark.parametrize("text", ["x\ud835y", "\udc97", "\ud800" * 3])
def test_b060_half_a_character_is_counted_like_any_other(text: str) -> None:
    guard = LoopGuard()
    call = ToolCall("c", "read_file" + text, json.dumps({"path": text}))
    raw = ToolCall("c", "read_file" + text, f'{{"path": "{text}", broken')
    for each in (call, raw):
        for _ in range(2):
            assert guard.before(each).action == "go"
            guard.after(each, text, is_error=False)
            guard.said(text)
        warned = guard.before(each)
        assert warned.action == "warn"
        assert warned.text.replace(each.name, "").encode()


async def test_b125_an_oversized_call_again_and_again_ends(workspace: Path) -> None:
    """Each time cut somewhere else, so that no two calls are the same."""
    turns = [
        {
            "tool_calls": [{"name": "write_file", "arguments": '{"path": "a", "content": "' + "x" * size}],
            "finish_reason": "length",
        }
        for size in range(100, 130)
    ]
    ran, user = await acting(workspace, turns)
    assert (ran.result.stop_reason, ran.exit_code) == ("loop_guard", 3)
    texts = tool_texts(ran.bodies()[-1])
    assert texts[0].startswith("error: truncated: The reply was cut at the output limit")
    assert "error: repeated: write_file failed again and again in the same way" in texts[4]
    assert len(texts) < 10
    assert len(user.circles) == 1


async def test_b189_polling_what_changes_goes_on(workspace: Path) -> None:
    look = shell("echo more >> log; cat log")
    ran, _ = await acting(workspace, [*[look] * 8, "done"])
    texts = tool_texts(ran.bodies()[-1])
    assert len(set(texts)) == 8
    assert not any("repeated" in text for text in texts)
    assert ran.result.status == "ok"


async def test_b190_an_outcome_that_differs_only_by_the_time_does_not_go_on_for_ever(workspace: Path) -> None:
    ran, user = await acting(workspace, {"turns": [shell("date +%H:%M:%S.%N")], "repeat": True})
    assert (ran.result.stop_reason, ran.exit_code) == ("loop_guard", 3)
    assert len(ran.server.requests) == ALIKE_STOP_AT
    assert [request.lines for request in user.circles] == [("run_shell date +%H:%M:%S.%N",)]


async def test_the_user_may_let_an_agent_go_on(workspace: Path) -> None:
    """Asked with the call and the reason; what it did before does not count any more then."""
    read = calls("read_file", path="src/auth.py")
    user = ScriptedApprover("once", "no")
    ran = await run(workspace, {"turns": [read], "repeat": True}, mode="default", approver=user)
    first, second = user.requests
    assert first.tool == "read_file"
    assert "called 5 times with the same arguments" in " ".join(first.why)
    assert (second.tool, ran.result.stop_reason, ran.exit_code) == ("read_file", "loop_guard", 3)
    ran_at = [n for n, text in enumerate(tool_texts(ran.bodies()[-1])) if "legacy_auth" in text.split("the result")[0]]
    assert ran_at == [0, 1, 4, 5]
