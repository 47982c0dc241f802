"""Reports of category 13 and the output contract, on real processes whose output is piped."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from orchestrator.events import Event
from orchestrator.headless import exit_code_for, json_line
from orchestrator.result import ErrorInfo, Result
from tests.support.command import ORCH, environment
from tests.support.event_source import EVENTS
from tests.support.run_events import RUN, Data, as_lines, citation, event, feed, notice, piped_environment, result
from tests.support.terminal import EVENT_SOURCE, PATIENCE, ROOT

ANSWER = "# Title\n\n| a | b |\n|---|---|\n\n  *kept* [bold]as[/bold] it is 你好\n"
HOSTILE = "a\x1b]52;c;ZXZpbA==\x07b\x1b]8;;http://x\x1b\\click\x1b]8;;\x1b\\ safe\rrm -rf \x9b2J\u202e \x1b]0;"
FORMATS = ["text", "json", "stream-json"]

RESULT_KEYS = {"schema", "session_id", "status", "stop_reason", "answer", "model", "citations", "agents", "usage"} | {
    "cost_usd",
    "duration_s",
    "denied",
    "error",
}


def objects(out: bytes) -> list[dict[str, Any]]:
    """Every line as JSON, with the strictness of a careful reader."""
    assert out.isascii() and out.endswith(b"\n")

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    found = [json.loads(line, parse_constant=refuse) for line in out.decode().splitlines()]
    assert all(isinstance(item, dict) for item in found)
    json.dumps(found, ensure_ascii=False).encode()  # no lone surrogate anywhere
    return found


# --- text ------------------------------------------------------------------------------------------------------------


def test_piped_text_is_the_markdown_as_it_is() -> None:
    run = feed([*RUN, result(ANSWER)])
    assert run.stdout.decode() == ANSWER
    assert run.stderr.decode() == "orch: scout, 0 tokens, $0, 0.5 s\n"
    assert run.returncode == 0


def test_the_footer_counts_and_goes_to_standard_error_only() -> None:
    agent: Data = {"name": "parent", "role": "parent", "parent": None, "status": "ok", "stop_reason": "done"}
    agent |= {"turns": 1, "tool_calls": 0, "usage": {}, "cost_usd": 0.0, "duration_s": 0.1}
    places = [citation("a.py", 1), citation("b.py", 2, "unverified")]
    usage = {"input_tokens": 1000, "output_tokens": 234, "cache_read_tokens": 1, "cache_write_tokens": 0}
    run = feed([result("x", agents=[agent], citations=places, usage=usage, cost_usd=None)])
    assert run.stdout == b"x\n"
    assert run.stderr.decode() == (
        "orch: scout, 1 agent, 1.2k tokens (1 cached), cost unknown, 0.5 s, 2 places cited, 1 unverified\n"
    )


def test_quiet_says_nothing_but_the_answer() -> None:
    run = feed(
        [*RUN, notice("by the way"), event("retry", attempt=1, attempts=2, delay_s=1.0, reason="x"), result("x")],
        "--quiet",
    )
    assert (run.stdout, run.stderr) == (b"x\n", b"")


def test_unverified_places_are_marked_in_piped_text() -> None:
    run = feed([result("See `src/a.py:3`.", citations=[citation("src/a.py", 3, "unverified")])])
    assert run.stdout.decode() == "See `src/a.py:3` [unverified].\n"


def test_notices_and_retries_go_to_standard_error() -> None:
    retry = event("retry", "explorer-1", attempt=2, attempts=5, delay_s=3.0, reason="rate \x1b[31mlimited")
    run = feed(
        [notice("one", "info"), notice("two", hint="do \x1b[1mit"), notice("three", "error"), retry, result("x")]
    )
    assert run.stdout == b"x\n"
    assert run.stderr.decode().splitlines()[:-1] == [
        "orch: one",
        "orch: warning: two",
        "  hint: do it",
        "orch: error: three",
        "explorer-1: attempt 2 of 5 failed, the next in 3.0 s: rate limited",
    ]


def test_verbose_follows_the_agents_without_control_sequences() -> None:
    run = feed([*RUN, result("x")], "--verbose")
    assert b"explorer-1: started (explorer, scout) find callers of legacy_auth\n" in run.stderr
    assert b"\x1b" not in run.stderr and run.stdout == b"x\n"


def test_force_color_draws_in_a_pipe_without_moving_the_cursor() -> None:
    run = feed([*RUN, result("**bold** `code`")], FORCE_COLOR="1")
    assert run.stdout == b"\x1b[1mbold\x1b[0m \x1b[1;36mcode\x1b[0m\n"
    assert b"\x1b" not in run.stderr


@pytest.mark.parametrize("output", FORMATS)
def test_text_is_stripped_of_control_and_json_escapes_it(output: str) -> None:
    """B157"""
    run = feed([notice(HOSTILE), result(HOSTILE)], "--output", output)
    for written in (run.stdout, run.stderr):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", written.decode())
    if output == "text":
        assert run.stdout.decode() == "abclick safe\nrm -rf <U+202E> \n"
    else:
        assert objects(run.stdout)[-1]["answer"] == HOSTILE


def test_markup_is_only_text() -> None:
    """B155"""
    answer = "ZLEXCOUNT z [b + should reply 3 [/b]"
    run = feed([notice(answer), result(answer)])
    assert run.stdout.decode() == answer + "\n"
    assert f"orch: warning: {answer}\n" in run.stderr.decode()


# --- json ------------------------------------------------------------------------------------------------------------


def test_json_is_one_object_with_the_fields_of_the_contract() -> None:
    run = feed([*RUN, result("Answer \u2028 你好", citations=[citation("a.py", 1)])], "--output", "json")
    (written,) = objects(run.stdout)
    assert set(written) == RESULT_KEYS
    assert written["schema"] == 1 and written["answer"] == "Answer \u2028 你好"
    assert set(written["citations"][0]) == {"path", "line", "end_line", "quote", "kind", "status", "agent"}
    assert run.stderr == b""


def test_stream_json_is_every_event_and_then_the_result() -> None:
    run = feed([*RUN, notice("a\u2028b\x85c"), result("x")], "--output", "stream-json")
    written = objects(run.stdout)
    assert [item["type"] for item in written] == [*(item["type"] for item in RUN), "notice", "result"]
    assert all({"type", "agent", "t"} <= set(item) for item in written[:-1])
    assert list(written[0])[:3] == ["type", "agent", "t"]
    assert written[-2]["message"] == "a\u2028b\x85c"
    assert set(written[-1]) == RESULT_KEYS | {"type"} and next(iter(written[-1])) == "type"


def test_events_are_written_as_they_happen() -> None:
    argv = [*EVENT_SOURCE, "--output", "stream-json"]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=piped_environment({}), cwd=ROOT
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for command in RUN:
            process.stdin.write(as_lines([command]))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["type"] == command["type"]
        process.stdin.write(as_lines([result("x")]))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["type"] == "result"


def test_a_reader_that_stands_still_does_not_hold_up_the_run(tmp_path: Path) -> None:
    """All events go in although nobody reads; then nothing of them is lost."""
    texts = [event("text", text=f"{number} " + "x" * 1000) for number in range(500)]  # far more than a pipe holds
    argv = [*EVENT_SOURCE, "--output", "stream-json"]
    error_log = tmp_path / "stderr"
    with (
        error_log.open("wb") as stderr,
        subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=piped_environment({}), cwd=ROOT
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        kill = threading.Timer(PATIENCE, process.kill)
        kill.start()
        process.stdin.write(as_lines([*texts, notice("all taken in")]))
        process.stdin.flush()
        while "all taken in" not in error_log.read_text():
            assert process.poll() is None, "the run waits for its reader"
        process.stdin.write(as_lines([result("x")]))
        process.stdin.close()
        written = objects(process.stdout.read())
        kill.cancel()
        assert process.wait() == 0
    assert [item["text"].split()[0] for item in written[:500]] == [str(number) for number in range(500)]
    assert written[-1]["type"] == "result"


@pytest.mark.parametrize("output", FORMATS)
def test_a_lone_surrogate_does_not_lose_the_answer(output: str) -> None:
    """B162"""
    run = feed([event("text", text="\ud800"), result("answer \ud800 boom 😀 \\ud800")], "--output", output)
    assert run.returncode == 0 and b"Traceback" not in run.stderr
    if output == "text":
        assert run.stdout.decode() == "answer \ufffd boom 😀 \\ud800\n"
    else:
        assert objects(run.stdout)[-1]["answer"] == "answer \ufffd boom 😀 \\ud800"


def test_numbers_that_json_lacks_are_a_bug_not_bad_output() -> None:
    with pytest.raises(ValueError, match="JSON"):
        json_line({"cost_usd": float("nan")})


# --- encodings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_a_poor_encoding_never_raises(output: str, env: dict[str, str]) -> None:
    """B161"""
    run = feed([*RUN, notice("你好 ✓"), result("done ✓ 你好 …")], "--output", output, "--verbose", **env)
    assert run.returncode == 0 and b"Traceback" not in run.stderr
    if output == "text":
        assert run.stdout.startswith(b"done ? ?? ")
    else:
        assert objects(run.stdout)[-1]["answer"] == "done ✓ 你好 …"


# --- streams that fail -----------------------------------------------------------------------------------------------


def shell(script: str, commands: list[Data], output: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script, "bash", *EVENT_SOURCE, "--output", output],
        input=as_lines(commands),
        capture_output=True,
        env=piped_environment({}),
        cwd=ROOT,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("output", FORMATS)
def test_a_closed_pipe_ends_quietly(output: str) -> None:
    big = "line\n" * 100_000
    run = shell('"$@" | head -c 10', [result(big)], output)
    assert len(run.stdout) == 10
    assert run.returncode == 0
    assert b"Traceback" not in run.stderr and b"BrokenPipe" not in run.stderr and b"error" not in run.stderr


def test_the_run_is_told_when_nobody_reads_its_events() -> None:
    run = shell('"$@" | true', [event("text", text="x" * 1000)] * 5000, "stream-json")
    assert run.returncode == 99  # the event source's own code for it
    assert run.stderr == b""


def test_a_closed_standard_error_changes_nothing() -> None:
    run = shell('"$@" 2> >(true)', [notice("x" * 1000)] * 500 + [result("x")], "text")
    assert (run.returncode, run.stdout) == (0, b"x\n")
    run = shell('"$@" 2>&-', [notice("x"), result("x")], "text")
    assert (run.returncode, run.stdout) == (0, b"x\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("output", FORMATS)
def test_a_full_disk_is_an_error(output: str) -> None:
    run = shell('"$@" > /dev/full', [result("x")], output)
    assert run.returncode == 1
    assert b"orch: error: cannot write the result to standard output: No space left on device\n  hint: " in run.stderr
    assert b"Traceback" not in run.stderr and b"Exception ignored" not in run.stderr


@pytest.mark.parametrize("output", FORMATS)
def test_a_missing_standard_output_is_an_error(output: str) -> None:
    run = shell('"$@" >&-', [result("x")], output)
    assert run.returncode == 1
    assert b"orch: error: cannot write the result to standard output" in run.stderr


# --- how a run ends --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        (
            result("part", "incomplete"),
            3,
            "orch: incomplete: the limit of turns was reached (max_turns); the answer is partial",
        ),
        (result("", "incomplete", stop_reason="budget"), 3, "orch: incomplete: the budget was used up (budget)"),
        (result("part", "denied", denied=["run_shell rm -rf x"]), 4, "orch: denied: run_shell rm -rf x"),
        (result("part", "aborted"), 130, "orch: aborted: stopped on request (aborted); the answer is partial"),
        (result("", "failed"), 1, "orch: failed: something failed (error)"),
        (
            result("", "failed", exit_code=75, error={"type": "server", "message": "no \x1b[1mroom", "hint": "wait"}),
            75,
            "orch: error: no room\n  hint: wait",
        ),
    ],
)
def test_why_it_ended_is_said_even_when_quiet(output: str, ending: Data, code: int, said: str) -> None:
    run = feed([ending], "--output", output, "--quiet")
    assert run.returncode == code
    assert said + "\n" in run.stderr.decode()
    if output == "text":
        assert run.stdout.decode().strip() == ending["answer"]


@pytest.mark.parametrize(
    ("status", "own", "code"),
    [
        ("ok", 0, 0),
        ("failed", 0, 1),
        ("failed", 2, 2),
        ("failed", 75, 75),
        ("incomplete", 0, 3),
        ("denied", 0, 4),
        ("aborted", 0, 130),
    ],
)
def test_exit_codes_are_those_of_the_contract(status: Any, own: int, code: int) -> None:
    error = ErrorInfo("x", "y", "") if status == "failed" else None
    assert exit_code_for(Result("s", status, "done", "", "m", error=error, exit_code=own)) == code


# --- what is documented and what is loaded ---------------------------------------------------------------------------


def test_the_documented_events_are_the_events() -> None:
    text = (ROOT / "docs" / "headless.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE)
    documented = {kind: re.findall(r"`(\w+)`", columns) for kind, columns in rows}
    own = {"type", "agent", "t"}
    actual = {
        cls.type: [f.name for f in fields(cls) if f.name not in own] for cls in EVENTS.values() if cls is not Event
    }
    assert {kind: documented.get(kind) for kind in actual} == actual


@pytest.mark.parametrize("output", FORMATS)
def test_rich_is_loaded_only_to_draw(output: str) -> None:
    script = (
        "import sys\nfrom tests.support import event_source\ncode = event_source.main()\n"
        "assert not {'rich', 'markdown_it', 'pygments', 'wcwidth'} & set(sys.modules)\nsys.exit(code)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, "--output", output],
        input=as_lines([*RUN, result("x")]),
        capture_output=True,
        env=piped_environment({"PATH": os.environ["PATH"]}),
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()


@pytest.mark.parametrize("arguments", [("--version",), ("doctor",), ("roles", "list")])
def test_output_that_cannot_be_written_is_an_error(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A full disk and a closed standard output: one sentence and exit code 1, never a traceback."""
    for redirect in (">/dev/full", ">&-"):
        command = f'"{ORCH}" {" ".join(arguments)} {redirect}'
        done = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "cannot write to standard output" in done.stderr
        assert "Traceback" not in done.stderr
