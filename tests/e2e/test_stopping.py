"""One stop for the whole tree: real signals, real processes, real connections. Category 2 of the reports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from tests.support.command import model_flags, orch, result_of, start
from tests.support.model_server import ServerThread
from tests.support.running import calls, delegates, reports

FINDING = {"path": "src/auth.py", "line": 4, "quote": "def legacy_auth(user):"}
STUCK = {"text": "thinking about it", "stall": "forever"}


def script() -> dict[str, Any]:
    """One explorer ends, two hang in the middle of a reply."""
    done = [calls("read_file", path="src/auth.py"), reports("Found the definition.", FINDING)]
    routes = [
        {"match": "task-one", "turns": done},
        {"match": "task-two", "turns": [STUCK]},
        {"match": "task-three", "turns": [STUCK]},
    ]
    return {"routes": routes, "turns": [delegates("task-one", "task-two", "task-three")]}


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = monotonic() + 30
    while not condition():
        assert process.poll() is None, process.communicate()
        assert monotonic() < deadline
        sleep(0.01)


def has_reported(agent: str) -> bool:
    """Whether the transcript of this session's agent holds the answer to its `report`."""
    kept = Path(os.environ["ORCH_HOME"]).glob(f"state/sessions/*/{agent}.jsonl")
    return any("Report handed in." in path.read_text() for path in kept)


def children_of(pid: int) -> list[str]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    return found.read_text().split() if found.exists() else []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_tree_and_keeps_what_was_found(workspace: Path, number: signal.Signals) -> None:
    with ServerThread(script()) as server:
        process = start("ask", "--output", "json", *model_flags(server.url), "go", folder=workspace)
        until(lambda: len(server.requests) == 5 and has_reported("explorer-1"), process)
        os.kill(process.pid, number)
        out, err = process.communicate(timeout=20)
        deadline = monotonic() + 10
        while sum(r.disconnected for r in server.requests) < 2 and monotonic() < deadline:
            sleep(0.01)
        assert sum(r.disconnected for r in server.requests) == 2, "both hanging streams are closed"
    assert process.returncode == 130, err
    result = json.loads(out)
    assert (result["status"], result["stop_reason"]) == ("aborted", "aborted")
    assert [(a["name"], a["status"]) for a in result["agents"]] == [
        ("parent", "aborted"),
        ("explorer-1", "ok"),
        ("explorer-2", "aborted"),
        ("explorer-3", "aborted"),
    ]
    assert [(c["path"], c["line"], c["status"]) for c in result["citations"]] == [("src/auth.py", 4, "verified")]
    assert "Found the definition." in result["answer"]
    assert "Traceback" not in err
    assert "never awaited" not in err
    transcripts = Path(os.environ["ORCH_HOME"]) / "state" / "sessions" / result["session_id"]
    kept = [json.loads(line) for line in (transcripts / "explorer-2.jsonl").read_text().splitlines()]
    assert kept[-1] == {"role": "assistant", "content": "thinking about it", "interrupted": True}, "B031"


def test_a_second_signal_leaves_at_once(workspace: Path) -> None:
    with ServerThread([STUCK]) as server:
        process = start("ask", *model_flags(server.url), "go", folder=workspace)
        until(lambda: len(server.requests) == 1, process)
        os.kill(process.pid, signal.SIGINT)
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 130


def test_a_deadline_for_the_tree(workspace: Path) -> None:
    with ServerThread(script()) as server:
        run = orch("ask", "--output", "json", "--timeout", "2", *model_flags(server.url), "go", folder=workspace)
    result = result_of(run)
    assert run.returncode == 3
    assert (result["status"], result["stop_reason"]) == ("incomplete", "timeout")
    assert "Found the definition." in result["answer"]


def test_a_search_that_runs_is_ended_with_its_process(workspace: Path) -> None:
    """B026: the stop reaches the tools. The file is a pipe that nobody writes to, so that ripgrep never ends."""
    os.mkfifo(workspace / "src" / ".gitignore")
    with ServerThread([calls("grep", pattern="legacy_auth")]) as server:
        process = start("ask", "--output", "json", *model_flags(server.url), "go", folder=workspace)
        until(lambda: bool(children_of(process.pid)), process)
        (searcher,) = children_of(process.pid)
        os.kill(process.pid, signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(out)["status"] == "aborted"
    assert not Path(f"/proc/{searcher}").exists()


def test_a_reader_that_leaves_ends_it_quietly(workspace: Path) -> None:
    many = workspace / "many.py"
    many.write_text("".join(f"legacy_auth({n})\n" for n in range(5000)))
    process = start("ask", "--model", "scout", "--output", "json", "where is legacy_auth used", folder=workspace)
    assert process.stdout is not None
    assert process.stdout.read(1) == "{"
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        err = process.stderr.read()
    process.wait(timeout=20)
    assert "Traceback" not in err
    assert "BrokenPipe" not in err
    assert process.returncode == 0
