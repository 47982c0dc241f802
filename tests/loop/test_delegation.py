"""The parent delegates, the children report, every citation is checked. Over real sockets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.events import AgentFinished, AgentStarted, Notice, Text
from tests.support.running import Ran, calls, delegates, first_user_text, reports, run, tool_texts

HANGS = {"text": "So far: 2 hits.", "stall": "forever"}
GOOD = {"path": "src/auth.py", "line": 4, "quote": "def legacy_auth(user):", "kind": "definition"}


def script(child: list[Any], parent: list[Any] | None = None, task: str = "find it") -> dict[str, Any]:
    """A parent that delegates `task` once and then answers; the child plays `child`."""
    return {"routes": [{"match": task, "turns": child}], "turns": parent or [delegates(task), "All done."]}


def handed_back(ran: Ran) -> str:
    """The tool result that the parent got for its delegate call."""
    return tool_texts(ran.bodies("the question")[-1])[0]


async def test_a_report_reaches_the_parent_with_verdicts(workspace: Path) -> None:
    child = [calls("read_file", path="src/auth.py"), reports("It is defined once.", GOOD)]
    ran = await run(workspace, script(child))
    assert ran.result.status == "ok"
    assert ran.result.answer == "All done."
    assert [(c.path, c.line, c.status, c.agent) for c in ran.result.citations] == [
        ("src/auth.py", 4, "verified", "explorer-1")
    ]
    text = handed_back(ran)
    assert text.startswith("status: ok (done)")
    assert "<summary>\nIt is defined once.\n</summary>" in text
    assert "verified src/auth.py:4 | def legacy_auth(user):" in text
    assert "src/big.txt" not in text, "a child's tool output must not reach the parent"


async def test_the_verdicts(workspace: Path) -> None:
    """Moved, white space, part of a line, invented, unread: each as the contract says."""
    findings = [
        {"path": "src/auth.py", "line": 2, "quote": "def  legacy_auth( user ):".replace("( ", "(").replace(" )", ")")},
        {"path": "src/auth.py", "line": 9, "quote": "legacy_auth(user)"},
        {"path": "src/auth.py", "line": 5, "quote": "return invented()"},
        {"path": "src/big.txt", "line": 3, "quote": "line 3 of a long file"},
        {"path": "src/gone.py", "line": 1, "quote": "x = 1"},
        {"path": "../outside.py", "line": 1, "quote": "x = 1"},
    ]
    child = [calls("read_file", path="src/auth.py"), reports("Found.", *findings)]
    ran = await run(workspace, script(child))
    assert [(c.path, c.line, c.status) for c in ran.result.citations] == [
        ("src/auth.py", 4, "moved"),
        ("src/auth.py", 9, "verified"),
        ("src/auth.py", 5, "unverified"),
        ("src/big.txt", 3, "unverified"),
        ("src/gone.py", 1, "unverified"),
        ("../outside.py", 1, "unverified"),
    ]
    assert "unverified src/big.txt:3 (explorer-1 was not shown this)" in handed_back(ran)


async def test_a_child_without_a_tool_call_verifies_nothing(workspace: Path) -> None:
    """The claude-code report of six children that invented their findings."""
    ran = await run(workspace, script([reports("I know this.", GOOD)]))
    assert [c.status for c in ran.result.citations] == ["unverified"]


async def test_a_file_that_changed_since_is_read_again(workspace: Path) -> None:
    auth = workspace / "src" / "auth.py"

    def prepend(event: Any, abort: Any) -> None:
        if event.type == "tool_finished" and event.tool == "read_file":
            auth.write_text("# new first line\n" + auth.read_text())

    child = [calls("read_file", path="src/auth.py"), reports("Found.", GOOD)]
    ran = await run(workspace, script(child), on_event=prepend)
    assert [(c.line, c.status) for c in ran.result.citations] == [(5, "moved")]


async def test_plain_text_is_the_summary_and_its_mentions_the_findings(workspace: Path) -> None:
    child = [calls("read_file", path="src/auth.py"), "See src/auth.py:4 and src/auth.py:400."]
    ran = await run(workspace, script(child))
    assert [(c.line, c.status) for c in ran.result.citations] == [(4, "verified"), (400, "unverified")]
    assert "<summary>\nSee src/auth.py:4 and src/auth.py:400.\n</summary>" in handed_back(ran)


async def test_the_parents_own_citations_are_checked(workspace: Path) -> None:
    turns = [calls("read_file", path="src/auth.py"), "It is at `src/auth.py:4`, and at src/big.txt:7."]
    ran = await run(workspace, turns)
    assert [(c.path, c.line, c.status, c.agent) for c in ran.result.citations] == [
        ("src/auth.py", 4, "verified", "parent"),
        ("src/big.txt", 7, "unverified", "parent"),
    ]


async def test_three_children_at_once(workspace: Path) -> None:
    """All three are asked before any has answered, and their reports come back in the order of the calls."""
    tasks = ["task one", "task two", "task three"]
    routes = [{"match": task, "turns": [{**reports(f"{task} done"), "delay": 0.2}]} for task in tasks]
    ran = await run(workspace, {"routes": routes, "turns": [delegates(*tasks), "Together."]})
    names = ["explorer-1", "explorer-2", "explorer-3"]
    assert [event.agent for event in ran.of(AgentStarted)] == ["parent", *names]
    first_end = next(i for i, e in enumerate(ran.events) if isinstance(e, AgentFinished))
    assert sum(isinstance(e, AgentStarted) for e in ran.events[:first_end]) == 4
    texts = tool_texts(ran.bodies("the question")[-1])
    assert [text.split("<summary>\n")[1].split("\n")[0] for text in texts] == [f"{task} done" for task in tasks]
    assert [agent.name for agent in ran.result.agents] == ["parent", *names]


async def test_more_than_max_parallel_wait_their_turn(workspace: Path) -> None:
    tasks = [f"job {n}." for n in range(5)]
    routes = [{"match": task, "turns": [{**reports(f"{task} done"), "delay": 0.05}]} for task in tasks]
    ran = await run(workspace, {"routes": routes, "turns": [delegates(*tasks), "Together."]}, max_parallel=2)
    running = most = 0
    for event in ran.events:
        running += (isinstance(event, AgentStarted) and event.parent is not None) - (
            isinstance(event, AgentFinished) and event.agent != "parent"
        )
        most = max(most, running)
    assert most == 2
    assert len(ran.result.agents) == 6


async def test_depth_is_one(workspace: Path) -> None:
    """B001: `delegate` is not offered to a child, and calling it anyway is a tool error; one child exists."""
    ran = await run(workspace, script([delegates("again"), reports("Gave up.")]))
    first, second = ran.bodies("find it")
    assert "delegate" not in [tool["function"]["name"] for tool in first["tools"]]
    assert tool_texts(second) == [
        "error: depth_limit: A sub-agent cannot delegate. Do the work yourself, or report what is left."
    ]
    assert len(ran.result.agents) == 2


async def test_a_role_that_lists_delegate_is_reported_and_not_used(workspace: Path) -> None:
    """B001, the role's side."""
    folder = workspace / ".orch" / "roles"
    folder.mkdir(parents=True)
    (folder / "looper.yaml").write_text(
        "name: looper\ndescription: Loops.\ntools: [read_file, delegate]\nprompt: Loop.\n"
    )
    ran = await run(workspace, [delegates("go", role="looper"), "No such role."])
    (notice,) = ran.of(Notice)
    assert "looper.yaml:3" in notice.message
    assert "delegate" in notice.message
    assert tool_texts(ran.bodies()[-1])[0].startswith("error: unknown_role:")


async def test_an_own_role_in_yaml(workspace: Path) -> None:
    folder = workspace / ".orch" / "roles"
    folder.mkdir(parents=True)
    (folder / "counter.yaml").write_text(
        "name: counter\ndescription: Counts lines.\ntools: [grep]\nprompt: You count lines, nothing else.\n"
    )
    routes = [{"match": "You count lines", "turns": [calls("read_file", path="src/auth.py"), reports("2000 lines.")]}]
    ran = await run(workspace, {"routes": routes, "turns": [delegates("count", role="counter"), "2000."]})
    child = ran.bodies("count")
    assert sorted(tool["function"]["name"] for tool in child[0]["tools"]) == ["grep", "report"]
    assert tool_texts(child[1])[0].startswith("error: not_allowed: Your role does not have the tool read_file.")
    assert "- counter: Counts lines." in ran.bodies("the question")[0]["messages"][0]["content"]


async def test_a_child_that_recovered_is_a_success(workspace: Path) -> None:
    """B009."""
    child = [calls("read_file", path="missing.py"), calls("read_file", path="src/auth.py"), "done"]
    ran = await run(workspace, script(child))
    assert ran.agent("explorer-1").status == "ok"
    assert "<summary>\ndone\n</summary>" in handed_back(ran)


async def test_a_long_summary_is_cut_with_a_mark(workspace: Path) -> None:
    """B011, B021: the cut is announced, and the whole text is where it says."""
    long = "word " * 5000
    ran = await run(workspace, script([calls("read_file", path="src/auth.py"), reports(long)]))
    text = handed_back(ran)
    assert "[summary cut: " in text
    assert len(text) < 12_000
    path = Path(text.rsplit("transcript: ", 1)[1].strip())
    assert long.strip()[-100:] in path.read_text("utf-8")
    assert path.stat().st_mode & 0o077 == 0


async def test_many_reports_together_fit_the_parents_window(workspace: Path) -> None:
    """B013: seven children, 37,000 characters each, a window of 16k tokens."""
    home = Path(os.environ["ORCH_HOME"])
    (home / "config.yaml").write_text("models:\n  openai/scripted: {window: 16000}\n")
    tasks = [f"part {n}." for n in range(7)]
    quote = "line {} of a long file"
    findings = [{"path": "src/big.txt", "line": n, "quote": quote.format(n), "note": "n" * 500} for n in range(1, 60)]
    turns = [calls("read_file", path="src/big.txt"), reports("long " * 7400, *findings)]
    routes = [{"match": task, "turns": turns} for task in tasks]
    ran = await run(workspace, {"routes": routes, "turns": [delegates(*tasks), "Together."]})
    texts = tool_texts(ran.bodies("the question")[-1])
    assert len(texts) == 7
    assert sum(map(len, texts)) / 4 < 9000
    assert all(text.startswith("status: ok") for text in texts)


@pytest.mark.parametrize(
    ("child", "status", "expected"),
    [
        (
            [calls("glob", pattern=f"*.{n}") for n in range(30)],
            "incomplete (max_turns)",
            "its limit of 30 turns was reached",
        ),
        ([calls("grep", pattern="x"), {"status": 401, "error": {"message": "bad key"}}], "failed (error)", "auth"),
        (["", ""], "failed (error)", "empty reply twice"),
        (
            [calls("grep", pattern="auth"), HANGS],
            "incomplete (timeout)",
            "2 hits",
        ),
    ],
    ids=["turns", "provider", "empty", "hangs"],
)
async def test_every_ending_gives_a_report(workspace: Path, child: list[Any], status: str, expected: str) -> None:
    """B005, B007, B020: why it stopped, what it had said, what it had done; the parent goes on."""
    folder = workspace / ".orch" / "roles"
    folder.mkdir(parents=True)
    limit = 1.5 if HANGS in child else 300
    role = f"name: quick\ndescription: Quick.\nextends: explorer\ntimeout: {limit}\nprompt: You are quick.\n"
    (folder / "quick.yaml").write_text(role)
    parent = [delegates("find it", role="quick"), "I go on."]
    ran = await run(workspace, script(child, parent))
    text = handed_back(ran)
    assert text.startswith(f"status: {status}")
    assert expected in text
    if child[0]:
        assert "Tool calls it had made" in text
    assert ran.result.status == "ok"
    assert ran.result.answer == "I go on."


async def test_an_abort_keeps_what_was_found(workspace: Path) -> None:
    """One token for the tree: every agent ends once, every call is answered, the partial result is there."""
    task_a, task_b = "first half", "second half"
    routes = [
        {"match": task_a, "turns": [calls("read_file", path="src/auth.py"), reports("Half is done.", GOOD)]},
        {
            "match": task_b,
            "turns": [calls("grep", pattern="auth"), {"text": ["so ", "far"], "stall": "forever", "stall_after": 2}],
        },
    ]

    def stop(event: Any, abort: Any) -> None:
        done = [e for e in seen if isinstance(e, AgentFinished)]
        seen.append(event)
        if done and any(isinstance(e, Text) and e.text == "far" for e in seen):
            abort.trigger("SIGINT")

    seen: list[Any] = []
    script = {"routes": routes, "turns": [delegates(task_a, task_b)]}
    ran = await run(workspace, script, on_event=stop)
    assert (ran.result.status, ran.exit_code) == ("aborted", 130)
    assert [(c.path, c.status) for c in ran.result.citations] == [("src/auth.py", "verified")]
    assert "Half is done." in ran.result.answer
    assert "so far" in ran.result.answer
    started, finished = ran.of(AgentStarted), ran.of(AgentFinished)
    assert sorted(e.agent for e in started) == sorted(e.agent for e in finished), "B028: one ending for each start"
    for record in ran.session.records:
        asked = [c.id for m in record.agent.history for c in m.tool_calls]
        answered = [m.tool_call_id for m in record.agent.history if m.role == "tool"]
        assert asked == answered, "every call is answered, exactly once"
    cut_off = ran.session.records[-1].agent.history[-1]
    assert (cut_off.content, cut_off.interrupted) == ("so far", True), "B031: what was seen is kept"


async def test_siblings_share_their_prefix(workspace: Path) -> None:
    """The prompt and the tools of a role are the same bytes for every child of it."""
    routes = [{"match": task, "turns": [reports("ok")]} for task in ("alpha", "beta")]
    ran = await run(workspace, {"routes": routes, "turns": [delegates("alpha", "beta"), "ok"]})
    first, second = (
        r.raw for task in ("alpha", "beta") for r in ran.server.requests if first_user_text(r.body) == task
    )
    at = first.index(b"alpha")
    assert first[:at] == second[:at]
    assert at > 2000


async def test_the_first_request_of_a_child_is_small(workspace: Path) -> None:
    """8 kB with all read-only tools, before the task."""
    ran = await run(workspace, script([reports("ok")]))
    request = next(r for r in ran.server.requests if r.body is ran.bodies("find it")[0])
    assert len(request.raw) - len("find it") <= 8192
    assert len(request.body["tools"]) == 9


async def test_a_childs_tool_output_is_cut_like_the_parents(workspace: Path) -> None:
    """B012: one way to truncate for all agents; head and tail stay, with a mark."""
    (workspace / "wide.txt").write_text("".join(f"{'x' * 900} {n}\n" for n in range(1, 1500)))
    child = [calls("read_file", path="wide.txt"), reports("Long.")]
    parent = [calls("read_file", path="wide.txt"), delegates("find it"), "Done."]
    ran = await run(workspace, script(child, parent))
    (of_child,) = tool_texts(ran.bodies("find it")[-1])
    of_parent = tool_texts(ran.bodies("the question")[-1])[0]
    assert of_child == of_parent
    assert len(of_child) < 60_000
    assert "offset" in of_child


async def test_the_parent_is_not_a_role_to_delegate_to(workspace: Path) -> None:
    ran = await run(workspace, [delegates("find it", role="parent"), "Done."])
    assert tool_texts(ran.bodies()[-1])[0].startswith("error: unknown_role: There is no role called 'parent'.")
