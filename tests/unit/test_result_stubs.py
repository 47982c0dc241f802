"""Light compaction: what an old result is replaced by, and which results stay."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orchestrator.messages import Message, ToolCall, tool_result, user
from orchestrator.repair import is_valid
from orchestrator.result_stubs import KEPT, describe, stub_of, with_stubs
from tests.support.compacting import lines, step, steps


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("c1", name, json.dumps(arguments))


@pytest.mark.parametrize(
    ("asked", "content", "stub"),
    [
        (
            call("read_file", path="src/a.py"),
            "1\timport os\n2\t\n200\tpass",
            "[read_file src/a.py lines 1–200: left out to save room; read it again if needed]",
        ),
        (
            call("read_file", path="src/a.py", offset=900),
            "900\tx\n901\ty\n[lines 900-901 of 1000; go on with offset=902]",
            "[read_file src/a.py lines 900–901: left out to save room; read it again if needed]",
        ),
        (
            call("grep", pattern="legacy_auth", path="src"),
            "src/a.py\n3:legacy_auth",
            '[grep pattern="legacy_auth" path="src": left out to save room; call it again if needed]',
        ),
        (
            call("run_shell", command="pytest -q"),
            "exit code 1\nFAILED test_a\n[all of the output is kept in .orch/1.log]",
            "[run_shell pytest -q: exit code 1; its output was left out to save room; run it again only if that "
            "changes nothing]\n[all of the output is kept in .orch/1.log]",
        ),
        (ToolCall("c1", "odd", "no json"), "x", "[odd no json: left out to save room; call it again if needed]"),
    ],
)
def test_a_stub_says_how_to_get_the_result_back(asked: ToolCall, content: str, stub: str) -> None:
    assert stub_of(asked, content) == stub


def test_a_call_is_described_in_one_short_line() -> None:
    line = describe(call("write_file", path="a.py", content="x\n" * 4000))
    assert line.startswith('write_file path="a.py" content="x')
    assert len(line) <= 200
    assert "\n" not in line


def test_old_results_are_left_out_and_recent_ones_stay() -> None:
    history = steps(6, 400)
    short = with_stubs(history)
    stubbed = [index for index, message in enumerate(short) if "left out to save room" in message.content]
    assert stubbed == [2, 4, 6]
    assert all(a is b for index, (a, b) in enumerate(zip(short, history, strict=True)) if index not in stubbed)
    assert is_valid(short)


def test_a_batch_of_calls_keeps_all_its_results() -> None:
    history = [*steps(0, 0), *step(1, 2000, calls=4), *(m for n in range(2, 5) for m in step(n, 10))]
    short = with_stubs(history)
    assert [m.tool_call_id for m in short] == [m.tool_call_id for m in history]
    assert sum("left out" in m.content for m in short) == 4
    assert is_valid(short)


@pytest.mark.parametrize("tool", sorted(KEPT))
def test_reports_lists_plans_and_edits_are_never_left_out(tool: str) -> None:
    history = steps(8, 400, tool)
    assert with_stubs(history) == tuple(history)


def test_a_short_result_is_not_worth_a_stub() -> None:
    history = steps(8, 60)
    assert with_stubs(history) == tuple(history)


def test_a_stub_that_is_nearly_as_long_as_the_result_is_none() -> None:
    command = json.dumps({"command": "查" * 150}, ensure_ascii=False)
    history = [*step(1, 200, "run_shell", arguments=command), *(m for n in range(2, 6) for m in step(n, 9))]
    assert with_stubs(history) == tuple(history)


def test_a_stub_is_left_as_it_is() -> None:
    once = with_stubs(steps(8, 400))
    again = with_stubs(once)
    assert all(a is b for a, b in zip(once, again, strict=True))


def test_a_failed_call_stays_one() -> None:
    history = steps(6, 400)
    history[2] = replace(history[2], is_error=True)
    assert with_stubs(history)[2].is_error


def test_lone_surrogates_and_line_breaks_do_not_get_into_a_stub() -> None:
    odd = call("read_file", path="a\ud800\nb")
    history = [
        user("Hi"),
        Message("assistant", "", (odd,)),
        tool_result("c1", lines(400)),
        *(m for n in range(3) for m in step(n, 9)),
    ]
    stub = with_stubs(history)[2].content
    assert stub.startswith("[read_file a\ufffd b lines 1–50:")
    stub.encode()
