"""The installed `orch` and its output: on a terminal and in pipes, with a model behind a real socket and the scout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.event_source import EVENTS
from tests.support.model_server import ServerThread
from tests.support.running import KEY, calls, delegates, reports
from tests.support.terminal import ScreenSession

ORCH = str(Path(sys.executable).with_name("orch"))
FINDING = {"path": "src/a.py", "line": 1, "quote": "def legacy_auth(user):", "note": "its definition"}
STALLED = {"text": ["So far ", "nothing."], "stall": "forever", "stall_after": 1}


def three_explorers(*, delay: float) -> dict[str, Any]:
    """A run in which the parent asks three explorers at once and names one place right and one wrong."""
    looks = [{**calls("read_file", path="src/a.py"), "delay": delay}, reports("It is defined there.", FINDING)]
    answer = "Defined in `src/a.py:1`, not in src/a.py:77.\x1b]0;owned\x07 [bold]Not[/bold] \x1b[31mred."
    return {
        "routes": [{"match": "needle ", "by": "depth", "turns": looks}],
        "turns": [delegates("needle one", "needle two", "needle three"), answer],
    }


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("def legacy_auth(user):\n    return user\n")
    return tmp_path


@pytest.fixture
def env(own_home: Path) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "ORCH_HOME": str(own_home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}


def asking(workspace: Path, *flags: str, server: ServerThread | None = None, question: str = "") -> list[str]:
    model = ["--model", "openai/scripted", "--base-url", f"{server.url}/v1"] if server else []
    return [ORCH, "ask", "-C", str(workspace), *model, *flags, question or "where is `legacy_auth` defined"]


def run(
    argv: list[str], env: Mapping[str, str], stdin: int = subprocess.DEVNULL, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(argv, env=env, stdin=stdin, cwd=cwd, capture_output=True, timeout=60, check=False)


@pytest.fixture
def with_key(env: Mapping[str, str]) -> Mapping[str, str]:
    return {**env, "OPENAI_API_KEY": KEY}


@pytest.fixture
def stalled() -> Iterator[ServerThread]:
    with ServerThread([STALLED]) as server:
        yield server


def test_three_explorers_at_once_are_seen_at_work_and_then_the_answer(
    workspace: Path, with_key: Mapping[str, str]
) -> None:
    with ServerThread(three_explorers(delay=1.0)) as server:
        argv = asking(workspace, server=server)
        with ScreenSession(argv, 100, 24, {**with_key, "VTE_VERSION": "7000"}) as session:
            session.wait_for("4 of 4 agents running")
            assert [re.sub(r"^\W+", "", line).split()[0] for line in session.lines[:4]] == [
                "parent",
                "explorer-1",
                "explorer-2",
                "explorer-3",
            ]
            assert "needle two" in session.lines[2]
            assert session.end() == 0
            assert session.lines[0] == "Defined in src/a.py:1, not in src/a.py:77 [unverified]. [bold]Not[/bold] red."
            assert session.lines[1].startswith("orch: openai/scripted, 4 agents, ")
            assert len(session.lines) == 2 and session.echo and not session.screen.cursor.hidden
            assert f"file://{workspace}/src/a.py".encode() in session.raw and b"owned" not in session.raw


def test_control_c_stops_the_run_and_leaves_a_clean_screen(
    workspace: Path, with_key: Mapping[str, str], stalled: ServerThread
) -> None:
    with ScreenSession(asking(workspace, server=stalled), 80, 24, with_key) as session:
        session.wait_for("So far")
        session.type(b"\x03")
        assert session.end() == 130
        assert session.lines[0] == "So far"
        assert session.lines[1] == "orch: aborted: stopped on request (aborted); the answer is partial"
        assert session.echo and not session.screen.cursor.hidden and "^C" not in session.text


def test_a_run_whose_events_nobody_reads_any_more_is_stopped(
    workspace: Path, with_key: Mapping[str, str], stalled: ServerThread
) -> None:
    argv = asking(workspace, "--output", "stream-json", server=stalled)
    script = '"$@" | head -1; echo ${PIPESTATUS[0]}'
    with subprocess.Popen(
        ["bash", "-c", script, "bash", *argv], env=with_key, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        out, err = process.communicate(timeout=60)
    assert json.loads(out.splitlines()[0])["type"] == "agent_started"
    assert out.splitlines()[1] == b"130"
    assert b"Traceback" not in err and b"Exception ignored" not in err


def test_every_event_of_a_real_run_is_documented_and_the_result_is_last(
    workspace: Path, with_key: Mapping[str, str]
) -> None:
    with ServerThread(three_explorers(delay=0)) as server:
        ran = run(asking(workspace, "--output", "stream-json", server=server), with_key)
    assert (ran.returncode, ran.stderr) == (0, b"")
    written = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {item["type"] for item in written[:-1]} <= set(EVENTS)
    assert written[-1]["type"] == "result" and len(written[-1]["agents"]) == 4
    assert [item["t"] for item in written[:-1]] == sorted(item["t"] for item in written[:-1])


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_lone_surrogate_from_a_model_does_not_lose_the_answer(
    workspace: Path, with_key: Mapping[str, str], output: str
) -> None:
    """B162"""
    chunk = {"choices": [{"index": 0, "delta": {"content": "answer \ud800 boom"}, "finish_reason": "stop"}]}
    with ServerThread([{"raw": [chunk, "data: [DONE]\n\n"]}]) as server:
        ran = run(asking(workspace, "--output", output, server=server), with_key)
    assert ran.returncode == 0
    said = json.loads(ran.stdout)["answer"] if output == "json" else ran.stdout.decode().rstrip()
    assert said == "answer \ufffd boom"


def test_piped_output_is_the_answer_alone(workspace: Path, env: Mapping[str, str]) -> None:
    ran = run(asking(workspace), env)
    assert ran.returncode == 0
    assert b"src/a.py:1" in ran.stdout and b"\x1b" not in ran.stdout + ran.stderr
    assert re.fullmatch(r"orch: scout, 2 agents, .*1 place cited, all verified\n", ran.stderr.decode())
    assert run(asking(workspace, "-q"), env).stderr == b""


def test_the_first_line_is_enough_for_head(workspace: Path, env: Mapping[str, str]) -> None:
    script = '"$@" | head -c 1 >/dev/null; echo ${PIPESTATUS[0]}'
    ran = run(["bash", "-c", script, "bash", *asking(workspace, "-q")], env)
    assert (ran.stdout, ran.stderr) == (b"0\n", b"")


def test_standard_input_is_not_waited_for(workspace: Path, env: Mapping[str, str]) -> None:
    """B159: a pipe that stays open and never says anything; no standard input at all."""
    silent, kept_open = os.pipe()
    try:
        ran = run(asking(workspace, "-q"), env, stdin=silent)
    finally:
        os.close(silent)
        os.close(kept_open)
    assert ran.returncode == 0 and b"src/a.py:1" in ran.stdout
    ran = run(["bash", "-c", '"$@" <&-', "bash", *asking(workspace, "-q")], env)
    assert ran.returncode == 0 and b"src/a.py:1" in ran.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["doctor"], ["roles", "list"]])
def test_every_text_can_be_printed_in_a_poor_encoding(
    workspace: Path, env: Mapping[str, str], encoding: str, arguments: list[str]
) -> None:
    """B161"""
    ran = run([ORCH, *arguments], {**env, "PYTHONIOENCODING": encoding}, cwd=workspace)
    assert ran.returncode == 0 and ran.stdout and b"Traceback" not in ran.stderr
