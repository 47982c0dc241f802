"""The loop guard: what stops an agent that goes in circles, and what does not stop honest work."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sized
from itertools import cycle, islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.loop_guard import (
    ALIKE_STOP_AT,
    ALIKE_WARN_AT,
    SAID_STOP_AT,
    STOP_AT,
    WARN_AT,
    WINDOW,
    LoopGuard,
    fingerprint,
)
from orchestrator.messages import ToolCall
from orchestrator.tool import ShellJob
from orchestrator.toolbox import Toolbox

NOT_FOUND = "error: not_found: There is no file 'src/{}.py'.\npath: src/{}.py"


class Model:
    """An agent that makes one call in each turn, and obeys the guard as the runner does."""

    def __init__(self) -> None:
        self.guard = LoopGuard()
        self.turns = 0

    def turn(self, tool: str, outcome: str = "ok", *, error: bool = False, said: str = "", **arguments: Any) -> str:
        """What became of the call: `go`, `warn` or `stop`; `said: stop` when the text was the reason."""
        self.turns += 1
        call = ToolCall(f"c{self.turns}", tool, json.dumps(arguments))
        action = self.guard.before(call).action
        if action == "go":
            self.guard.after(call, outcome, is_error=error)
        spoken = self.guard.said(said).action
        return "said: stop" if spoken == "stop" and action != "stop" else action

    def turns_of(self, tool: str, outcomes: Iterable[str], **arguments: Any) -> list[str]:
        return [self.turn(tool, outcome, **arguments) for outcome in outcomes]


# --- the same call ---------------------------------------------------------------------------------------------------


def test_the_third_same_call_is_not_run_and_the_fifth_stops() -> None:
    assert (WARN_AT, STOP_AT) == (3, 5)
    assert Model().turns_of("read_file", ["same"] * 5, path="a") == ["go", "go", "warn", "warn", "stop"]


def test_the_same_error_again_is_the_same_outcome() -> None:
    texts = [NOT_FOUND.format("a", "a")] * 5
    assert Model().turns_of("read_file", texts, error=True, path="a") == ["go", "go", "warn", "warn", "stop"]


def test_the_warning_says_what_was_tried_what_came_of_it_and_what_to_do() -> None:
    guard, call = LoopGuard(), ToolCall("c", "grep", '{"pattern": "x"}')
    for _ in range(2):
        assert guard.before(call).text == ""
        guard.after(call, "src/a.py\n  3: x = 1\n" + "y" * 5000, is_error=False)
    text = guard.before(call).text
    assert text.startswith("error: repeated: This is call 3 of grep with the same arguments; the result was the same")
    assert "src/a.py 3: x = 1" in text
    assert "It was not run." in text
    assert "Go another way" in text
    assert len(text) < 700


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1, "b": [1, {"c": 2, "d": 3}]}', '{ "b":[1,{"d":3,"c":2}],\n"a":1 }'),
        ('{"a": "\\u00e4"}', '{"a": "ä"}'),
        ('{"a": 1, "b": null}', '{"a": 1}'),
        ("{}", ""),
        ("{}", " \n"),
        ('{"a": ', '{"a":  '),
    ],
)
def test_the_same_json_is_the_same_call(one: str, other: str) -> None:
    assert fingerprint(ToolCall("1", "t", one)) == fingerprint(ToolCall("2", "t", other))
    assert fingerprint(ToolCall("1", "t", one)) != fingerprint(ToolCall("1", "u", one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": "b"}', '{"a": "b "}'),
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
        ('{"a": 0}', '{"a": false}'),
        ('{"a"', '{"b"'),
        ("[" * 100_000, "[" * 100_001),
        ('{"a": "\\ud800"}', '{"a": "\\ud801"}'),
    ],
)
def test_other_arguments_are_another_call(one: str, other: str) -> None:
    assert fingerprint(ToolCall("1", "t", one)) != fingerprint(ToolCall("1", "t", other))


def test_a_call_whose_outcome_changes_does_not_count() -> None:
    grown = Model().turns_of("run_shell", ["line\n" * n for n in range(1, 40)], command="tail log")
    assert set(grown) == {"go"}
    to_and_fro = Model().turns_of("run_shell", islice(cycle(["yes", "no"]), 30), command="probe")
    assert set(to_and_fro) == {"go"}
    model = Model()
    outcomes = ["old", "old", "new"]
    assert model.turns_of("read_file", outcomes[:1] + outcomes[2:] + outcomes[:1], path="a") == ["go"] * 3


def test_when_the_outcome_stops_to_change_it_counts_from_there() -> None:
    outcomes = ["a", "b", "c", "d", "d", "d", "d", "d"]
    assert Model().turns_of("read_file", outcomes, path="a")[3:] == ["go", "go", "warn", "warn", "stop"]


def test_two_calls_in_turns_are_a_circle_too() -> None:
    model = Model()
    seen = [model.turn("read_file", name, path=name) for name in islice(cycle("ab"), 10)]
    assert seen == ["go"] * 4 + ["warn"] * 4 + ["stop"] * 2


@pytest.mark.parametrize("length", range(1, WINDOW // 2 + 1))
def test_a_longer_circle_of_looking_stops_as_well(length: int) -> None:
    model = Model()
    names = cycle(f"file{n}" for n in range(length))
    seen = [model.turn("read_file", name, path=name) for name in islice(names, 10 * WINDOW)]
    assert seen[: 2 * length] == ["go"] * (2 * length)
    assert "stop" in seen


@pytest.mark.parametrize("length", range(1, 6))
def test_a_circle_of_writing_stops_as_well(length: int) -> None:
    """Each call undoes the one before, and all of them succeed."""
    model = Model()
    contents = cycle(f"content {n}" for n in range(length))
    seen = [model.turn("write_file", "written", path="a", content=text) for text in islice(contents, 10 * WINDOW)]
    assert "stop" in seen


def test_what_is_far_back_does_not_count() -> None:
    model = Model()
    for n in range(10):
        assert model.turn("read_file", "same", path="again") == "go"
        assert {model.turn("read_file", f"{n} {m}", path=f"{n} {m}") for m in range(WINDOW)} == {"go"}


def test_looking_again_after_a_change_is_honest_work() -> None:
    for tool in ("edit_file", "write_file", "apply_patch", "run_shell", "delegate", "some_tool_of_a_server"):
        model = Model()
        for n in range(20):
            assert model.turn("run_shell", "1 failed", command="pytest -q") == "go"
            assert model.turn("read_file", "text", path="a") == "go"
            assert model.turn(tool, "done", task=f"change {n}", role="editor") == "go"


@pytest.mark.parametrize("tool", ["read_file", "grep", "todo_write"])
def test_looking_elsewhere_is_no_change(tool: str) -> None:
    model = Model()
    seen = []
    for n in range(5):
        seen.append(model.turn("run_shell", "1 failed", command="pytest -q"))
        model.turn(tool, f"{n}", path=f"{n}")
    assert seen == ["go", "go", "warn", "warn", "stop"]


def test_a_change_that_failed_is_no_change() -> None:
    model = Model()
    seen = []
    for n in range(3):
        seen.append(model.turn("run_shell", "1 failed", command="pytest -q"))
        model.turn("edit_file", f"error: no_match_{n}: x", error=True, path="a", old=f"{n}")
    assert seen == ["go", "go", "warn"]


def test_a_warned_model_that_changes_something_may_look_again() -> None:
    model = Model()
    assert model.turns_of("run_shell", ["1 failed"] * 3, command="pytest")[-1] == "warn"
    assert model.turn("edit_file", "done", path="a") == "go"
    assert model.turns_of("run_shell", ["1 failed"] * 3, command="pytest") == ["go", "go", "warn"]


def test_when_the_user_lets_it_go_on_it_counts_anew() -> None:
    model = Model()
    assert model.turns_of("read_file", ["same"] * 5, path="a")[-1] == "stop"
    call = ToolCall("again", "read_file", '{"path": "a"}')
    model.guard.after(call, "same", is_error=False)
    model.guard.said("")
    assert model.turns_of("read_file", ["same"] * 4, path="a") == ["go", "warn", "warn", "stop"]


# --- several calls in one message ------------------------------------------------------------------------------------


def test_calls_at_the_same_time_are_warned_and_never_stop() -> None:
    guard = LoopGuard()
    calls = [ToolCall(f"c{n}", "read_file", '{"path": "a"}') for n in range(8)]
    verdicts = [guard.before(call) for call in calls]
    assert [verdict.action for verdict in verdicts] == ["go", "go"] + ["warn"] * 6
    assert "the others are still running" in verdicts[2].text
    for call in calls[:2]:
        guard.after(call, "same", is_error=False)
    assert guard.said("").action == "go"
    assert guard.before(calls[0]).action == "stop", "now it has read the warning"


def test_calls_one_after_the_other_in_one_message_do_not_stop() -> None:
    guard = LoopGuard()
    actions = []
    for n in range(8):
        call = ToolCall(f"c{n}", "run_shell", '{"command": "make"}')
        actions.append(guard.before(call).action)
        if actions[-1] == "go":
            guard.after(call, "same", is_error=False)
    assert actions == ["go", "go"] + ["warn"] * 6


def test_different_outcomes_of_calls_at_the_same_time_do_not_count() -> None:
    guard = LoopGuard()
    for n in range(6):
        calls = [ToolCall(f"{n}{m}", "run_shell", '{"command": "next"}') for m in range(2)]
        assert [guard.before(call).action for call in calls] == ["go", "go"] if n == 0 else True
        for m, call in enumerate(calls):
            guard.after(call, "x" * (2 * n + m + 1), is_error=False)
        guard.said("")


def test_a_call_that_was_cut_off_is_forgotten_in_time() -> None:
    guard = LoopGuard()
    assert guard.before(ToolCall("c", "read_file", '{"path": "a"}')).action == "go"
    guard.said("")
    model = Model()
    model.guard = guard
    assert model.turns_of("read_file", ["x", "y", "z"], path="a") == ["go", "go", "go"]


# --- delegation ------------------------------------------------------------------------------------------------------


def test_the_same_task_for_a_sub_agent_counts_whatever_it_reported() -> None:
    model = Model()
    tasks = ["Find  the tests.", "Find the\ntests", "Find the tests!", "Find the tests", "Find the tests."]
    seen = [
        model.turn("delegate", f"explorer-{n} found {'x' * n}", role="explorer", task=task, context=f"try {n}")
        for n, task in enumerate(tasks)
    ]
    assert seen == ["go", "go", "warn", "warn", "stop"]


def test_other_tasks_and_other_roles_do_not_count() -> None:
    model = Model()
    for n in range(20):
        assert model.turn("delegate", "same", role="explorer", task=f"look at part {n}") == "go"
    for role in ("explorer", "planner", "reviewer", "auditor"):
        assert model.turn("delegate", "same", role=role, task="look") == "go"


# --- nearly the same outcome -----------------------------------------------------------------------------------------


def test_a_number_that_changes_is_believed_for_a_while() -> None:
    outcomes = [f"up {n} seconds" for n in range(30)]
    seen = Model().turns_of("run_shell", outcomes, command="uptime")
    assert seen.index("warn") + 1 == ALIKE_WARN_AT
    assert seen.index("stop") + 1 == ALIKE_STOP_AT


def test_waiting_for_a_silent_job_is_no_circle_for_long() -> None:
    (waits, ended) = [
        ShellJob("job-1", "make", running=running, exit_code=None if running else 0, signal="", output="", log="")
        for running in (True, False)
    ]
    Toolbox().get("shell_output")
    state = sys.modules["orchestrator.tools.shell_output"]._state
    seen = Model().turns_of("shell_output", [state(waits)] * 50, job="1", said="The build still runs; I wait.")
    assert seen.index("warn") + 1 == 2 * ALIKE_WARN_AT
    assert seen.index("stop") + 1 == 2 * ALIKE_STOP_AT
    assert Model().turns_of("shell_output", [state(ended)] * 5, job="1") == ["go", "go", "warn", "warn", "stop"]


# --- the same error --------------------------------------------------------------------------------------------------


def test_the_same_error_of_varied_calls_is_a_circle() -> None:
    model = Model()
    seen = [model.turn("read_file", NOT_FOUND.format(n, n), error=True, path=f"src/{n}.py") for n in range(8)]
    assert seen == ["go"] * 4 + ["warn", "go", "go", "stop"]


def test_the_warning_about_errors_names_the_error() -> None:
    model = Model()
    for n in range(4):
        model.turn("edit_file", f"error: no_match: `old` was not found in src/{n}.py, line {n}", error=True, old=f"{n}")
    text = model.guard.before(ToolCall("c", "edit_file", '{"old": "z"}')).text
    assert "error: repeated: edit_file failed again and again in the same way" in text
    assert "error: no_match: … was not found in … line …" in text


def test_errors_do_not_count_once_the_tool_succeeds_or_fails_in_another_way() -> None:
    model = Model()
    for n in range(30):
        error = NOT_FOUND.format(n, n) if n % 4 else "error: outside_workspace: That path leaves the workspace."
        assert model.turn("read_file", error, error=True, path=f"src/{n}.py") == "go"
    model = Model()
    for n in range(30):
        good = n % 4 == 3
        assert model.turn("read_file", f"{n}" if good else NOT_FOUND.format(n, n), error=not good, path=f"{n}") == "go"


def test_errors_count_half_while_something_else_gets_further() -> None:
    model = Model()
    seen = []
    for n in range(20):
        seen.append(model.turn("read_file", NOT_FOUND.format(n, n), error=True, path=f"{n}"))
        model.turn("list_files", f"{n}", path=f"{n}")
    assert 7 <= seen.index("warn") <= 9
    assert 11 <= seen.index("stop") <= 14


def test_many_failures_in_one_message_count_as_one() -> None:
    guard = LoopGuard()
    for n in range(12):
        call = ToolCall(f"{n}", "read_file", json.dumps({"path": f"{n}"}))
        assert guard.before(call).action == "go"
        guard.after(call, NOT_FOUND.format(n, n), is_error=True)
    guard.said("")
    assert guard.before(ToolCall("x", "read_file", '{"path": "x"}')).action == "go"


# --- the same words --------------------------------------------------------------------------------------------------

WORDS = "Let me look at this from another side."


def test_the_same_words_with_new_calls_that_succeed_are_no_circle() -> None:
    model = Model()
    assert {model.turn("read_file", f"{n}", path=f"{n}", said=WORDS) for n in range(40)} == {"go"}


def test_the_same_words_over_and_over_that_lead_to_nothing_stop() -> None:
    model = Model()
    tools = [f"tool{n}" for n in range(SAID_STOP_AT + 1)]
    seen = [model.turn(tool, f"error: e{tool}: x", error=True, said=f"  {WORDS}\n") for tool in tools]
    assert seen == ["go"] * (SAID_STOP_AT - 1) + ["said: stop"] * 2


def test_short_words_may_be_said_twice_as_often() -> None:
    model = Model()
    seen = [model.turn(f"tool{n}", f"error: e{n}x: x", error=True, said="Hm.") for n in range(2 * SAID_STOP_AT)]
    assert seen.index("said: stop") + 1 == 2 * SAID_STOP_AT


def test_saying_nothing_is_no_repetition() -> None:
    model = Model()
    assert {model.turn(f"tool{n}", f"error: e{n}x: x", error=True) for n in range(30)} == {"go"}


def test_an_answer_given_again_to_a_stop_hook_is_not_counted() -> None:
    """Such a reply has no calls, and how often the hook may send it back is limited elsewhere."""
    guard = LoopGuard()
    assert {guard.said("All is done, and the tests pass.").action for _ in range(20)} == {"go"}


# --- for any agent ---------------------------------------------------------------------------------------------------

TOOLS = st.sampled_from(["read_file", "grep", "run_shell", "edit_file", "delegate", "shell_output", "other"])
TEXTS = st.text(st.characters(codec=None), max_size=8)


@given(st.lists(st.tuples(TOOLS, TEXTS), unique=True, max_size=60), TEXTS)
@settings(max_examples=60)
def test_calls_that_are_all_different_and_succeed_are_never_held_up(calls: list[tuple[str, str]], said: str) -> None:
    model = Model()
    for tool, text in calls:
        arguments: dict[str, Any] = {"role": "r", "task": f"{text!r}x"} if tool == "delegate" else {"text": text}
        assert model.turn(tool, "ok", said=said, **arguments) == "go"


@given(TOOLS, TEXTS, TEXTS, st.booleans(), st.sampled_from(["", "Again."]))
@settings(max_examples=60)
def test_the_same_call_for_ever_is_always_stopped(tool: str, text: str, outcome: str, error: bool, said: str) -> None:
    model = Model()
    seen = model.turns_of(tool, [outcome] * (2 * ALIKE_STOP_AT), error=error, said=said, text=text)
    assert "stop" in seen


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), max_size=60), TEXTS)
@settings(max_examples=60)
def test_any_order_of_events_is_understood(events: list[tuple[str, bool, bool]], text: str) -> None:
    """Also results that nobody asked about, questions that were never answered, and turns that never end."""
    guard = LoopGuard()
    for name, asked, told in events:
        call = ToolCall("c", "run_shell", text + name)
        if asked:
            guard.before(call)
        if told:
            guard.after(call, text, is_error=False)
        if asked and told:
            guard.said(text)


def test_without_any_end_of_a_turn_it_stops_too() -> None:
    guard, call = LoopGuard(), ToolCall("c", "read_file", "{}")
    actions = []
    for _ in range(2 * WINDOW):
        actions.append(guard.before(call).action)
        if actions[-1] == "go":
            guard.after(call, "same", is_error=False)
    assert actions.index("stop") + 1 == WINDOW


def test_it_does_not_grow_with_the_run() -> None:
    model = Model()
    for n in range(2000):
        model.turn("read_file", f"{n}" * 100, path=f"{n}")
    kept: list[Sized] = [model.guard._known, model.guard._alike._series, model.guard._same._window]
    assert [len(each) for each in kept] == [256, 256, WINDOW]
