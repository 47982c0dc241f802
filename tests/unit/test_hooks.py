"""Hooks on real processes, real threads and real files."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.config import HookEvent
from orchestrator.errors import ConfigError
from orchestrator.hook_answers import CAN_SAY, EVENTS, GATING, HookFailed, read_answer
from orchestrator.hook_process import MAX_OUTPUT, hook_environment
from orchestrator.hooks import HookOutcome, matches, register_hook
from orchestrator.providers import load_providers
from tests.support.hooking import Opened, alive, call, eventually, hook_file, opened, python

OTHERS = sorted(set(EVENTS) - GATING)


def says(answer: object, **more: Any) -> dict[str, Any]:
    """A hook that prints this."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return {"command": f"printf '%s' '{text}'", **more}


async def asked(hooks: Opened, event: HookEvent = "PreToolUse", **payload: Any) -> HookOutcome:
    return await hooks.hooks.fire(event, {**call(), **payload})


# --- what a command is given, and what it may answer -----------------------------------------------------------------


async def test_a_command_reads_the_event_on_one_line_and_runs_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    hooks = opened(tmp_path / "workspace", {"PreToolUse": [{"command": "cat > given; pwd > where"}]})
    assert await asked(hooks, tool_input={"path": "a\n\ud800ä"}) == HookOutcome()
    (line,) = (tmp_path / "workspace" / "given").read_text("utf-8").splitlines()
    given = json.loads(line)
    assert given == {
        "event": "PreToolUse",
        "session_id": "s1",
        "workspace": str(tmp_path / "workspace"),
        **call(),
        "tool_input": {"path": "a\n�ä"},
    }
    assert (tmp_path / "workspace" / "where").read_text().strip() == str((tmp_path / "workspace").resolve())


async def test_every_answer_of_every_event(tmp_path: Path) -> None:
    answers: dict[str, Any] = {
        "deny": "no",
        "arguments": {"path": "b"},
        "context": "more",
        "output": "other",
        "again": "go on",
    }
    for event, keys in CAN_SAY.items():
        for key in keys:
            outcome = await asked(opened(tmp_path, {event: [says({key: answers[key]})]}), event)
            assert outcome == HookOutcome(**{key: answers[key]}), event
    assert {key for keys in CAN_SAY.values() for key in keys} == set(answers)


async def test_nothing_said_is_nothing_wanted(tmp_path: Path) -> None:
    for command in ("true", "printf ' \\n'", "printf '{}'"):
        hooks = opened(tmp_path, {"PreToolUse": [{"command": command}]})
        assert await asked(hooks) == HookOutcome()
        assert hooks.notices == []


async def test_exit_code_2_denies_with_what_is_on_standard_error(tmp_path: Path) -> None:
    hooks = opened(tmp_path, {"PreToolUse": [{"command": "echo 'not on a Friday' >&2; echo ignored; exit 2"}]})
    assert await asked(hooks) == HookOutcome(deny="not on a Friday")
    assert hooks.notices == []
    silent = opened(tmp_path, {"PreToolUse": [{"command": "exit 2"}]})
    assert "`exit 2` said no and gave no reason" in (await asked(silent)).deny


async def test_long_texts_are_cut_with_a_mark(tmp_path: Path) -> None:
    command = python(tmp_path, "print('{\"context\": \"' + 'x' * 500_000 + '\"}')")
    outcome = await asked(opened(tmp_path, {"PreToolUse": [{"command": command}]}))
    assert len(outcome.context) < 21_000
    assert "let the hook say less" in outcome.context


async def test_a_result_may_be_replaced_by_a_long_one(tmp_path: Path) -> None:
    """The runner cuts it to the tool's limit, as any result."""
    command = python(tmp_path, "print('{\"output\": \"' + 'x' * 500_000 + '\"}')")
    outcome = await asked(opened(tmp_path, {"PostToolUse": [{"command": command}]}), "PostToolUse")
    assert outcome.output == "x" * 500_000


# --- several hooks ---------------------------------------------------------------------------------------------------


async def test_hooks_are_asked_in_order_and_see_what_was_changed(tmp_path: Path) -> None:
    hooks = opened(
        tmp_path,
        {
            "PreToolUse": [
                says({"arguments": {"path": "b"}, "context": "one"}),
                {"command": "cat > seen"},
                says({"context": "two"}),
            ]
        },
    )
    assert await asked(hooks, tool_input={"path": "a"}) == HookOutcome(arguments={"path": "b"}, context="one\n\ntwo")
    assert json.loads((tmp_path / "seen").read_text())["tool_input"] == {"path": "b"}


async def test_results_are_handed_on_and_reasons_to_go_on_add_up(tmp_path: Path) -> None:
    hooks = opened(
        tmp_path,
        {
            "PostToolUse": [says({"output": ""}), {"command": "cat > seen"}],
            "Stop": [says({"again": "test it"}), says({"again": ""}), says({"again": "document it"})],
        },
    )
    assert (await asked(hooks, "PostToolUse", tool_output="secret")).output == ""
    assert json.loads((tmp_path / "seen").read_text())["tool_output"] == ""
    assert (await asked(hooks, "Stop")).again == "test it\n\ndocument it"


async def test_the_first_that_denies_is_the_last_that_is_asked(tmp_path: Path) -> None:
    hooks = opened(
        tmp_path,
        {"PreToolUse": [says({"context": "kept from the model"}), says({"deny": "no"}), {"command": "touch asked"}]},
    )
    assert await asked(hooks) == HookOutcome(deny="no")
    assert not (tmp_path / "asked").exists()


async def test_commands_are_asked_before_functions(tmp_path: Path) -> None:
    path = hook_file(
        tmp_path,
        """
        @register_hook("PreToolUse")
        def second(payload):
            return {"context": payload["tool_input"]["path"]}
        """,
    )
    hooks = opened(tmp_path, {"PreToolUse": [says({"arguments": {"path": "from the command"}})]}, files=[path])
    assert (await asked(hooks)).context == "from the command"


@pytest.mark.parametrize(
    ("pattern", "name", "is_meant"),
    [
        (None, "edit_file", True),
        ("edit_file", "edit_file", True),
        ("edit_file", "edit_files", False),
        ("Edit_file", "edit_file", False),
        ("write_file | edit_file", "edit_file", True),
        ("*_file", "edit_file", True),
        ("|", "edit_file", False),
        ("[!e]*", "edit_file", False),
        ("edit_file", "", False),
        ("*", "", True),
    ],
)
def test_match_is_a_pattern_for_the_whole_name(pattern: str | None, name: str, is_meant: bool) -> None:
    assert matches(pattern, name) is is_meant


async def test_match_looks_at_the_tool_of_calls_and_at_the_role_of_all_else(tmp_path: Path) -> None:
    keys: dict[HookEvent, str] = {"SubagentStart": "context", "SubagentStop": "again", "PostToolUse": "context"}
    hooks = opened(tmp_path, {event: [says({key: "x"}, match="explorer")] for event, key in keys.items()})
    assert await asked(hooks, "SubagentStart", role="explorer") == HookOutcome(context="x")
    assert await asked(hooks, "SubagentStop", role="explorer") == HookOutcome(again="x")
    assert await asked(hooks, "SubagentStart", role="planner") == HookOutcome()
    assert await asked(hooks, "PostToolUse", role="explorer") == HookOutcome()


def test_without_hooks_there_is_nothing_to_ask(tmp_path: Path) -> None:
    assert not any(opened(tmp_path).hooks.has(event) for event in EVENTS)
    hooks = opened(tmp_path, {"Stop": [{"command": "true"}], "PreToolUse": []}).hooks
    assert [event for event in EVENTS if hooks.has(event)] == ["Stop"]


# --- failures --------------------------------------------------------------------------------------------------------

FAULTS = {
    "exit 1": "it ended with exit code 1",
    "echo oh >&2; exit 3": "it ended with exit code 3: oh",
    "kill -9 $$": "it was ended by SIGKILL",
    "echo hello": "it printed 'hello', which is not one JSON object",
    "printf '{}{}'": "it printed '{}{}', which is not one JSON object",
    "printf '[1]'": "it printed '[1]', which is not one JSON object",
    "printf null": "it printed 'null', which is not one JSON object",
    "printf '\\377'": "which is not one JSON object",
    'printf \'{"contxt": "x"}\'': "it answered with `contxt`; a hook of ",
    "x=1; no-such-command": "it could not run (exit code 127)",
    "no-such-command": "it could not run: there is no command no-such-command",
    "./none.sh": "it could not run: ./none.sh does not exist",
}


@pytest.mark.parametrize("command", FAULTS)
async def test_a_hook_that_decides_and_fails_denies(command: str, tmp_path: Path) -> None:
    for event in sorted(GATING):
        hooks = opened(tmp_path, {event: [{"command": command}, {"command": "touch asked"}]})
        hooks.notices.clear()
        outcome = await asked(hooks, event)
        assert outcome.deny.startswith(f"the {event} hook `{command}` failed: ")
        assert FAULTS[command] in outcome.deny
        assert hooks.told("error") == [outcome.deny]
        assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("command", FAULTS)
async def test_a_failure_elsewhere_changes_nothing_and_is_told(command: str, tmp_path: Path) -> None:
    for event in OTHERS:
        hooks = opened(tmp_path, {event: [{"command": command}, {"command": "touch asked"}]})
        hooks.notices.clear()
        assert await asked(hooks, event) == HookOutcome()
        (message,) = hooks.told("warning")
        assert message.startswith(f"the {event} hook `{command}` failed: ")
        assert FAULTS[command] in message
        (tmp_path / "asked").unlink()
        assert hooks.notices[0][2]


ANSWERS: list[tuple[HookEvent, object, str]] = [
    ("PreToolUse", {"deny": ""}, "its `deny` is empty"),
    ("PreToolUse", {"deny": " \n"}, "its `deny` is empty"),
    ("PreToolUse", {"deny": True}, "its `deny` is of the type bool"),
    ("PreToolUse", {"deny": None}, "its `deny` is of the type NoneType"),
    ("PreToolUse", {"arguments": "{}"}, "its `arguments` are of the type str"),
    ("PreToolUse", {"arguments": {"a": {1, 2}}}, "its `arguments` are no JSON"),
    ("PreToolUse", {"context": ["a"]}, "its `context` is of the type list"),
    ("PreToolUse", {"output": "x"}, "can answer with `deny`, `arguments`, `context`"),
    ("PostToolUse", {"deny": "x"}, "can answer with `output`, `context`"),
    ("PostToolUse", {"output": None}, "its `output` is of the type NoneType"),
    ("SessionEnd", {"context": "x"}, "can answer with nothing"),
    ("Stop", {1: "x"}, "it answered with `1`"),
    ("Stop", "again", "its answer is of the type str"),
    ("Stop", False, "its answer is of the type bool"),
    ("Stop", HookOutcome(deny="x"), "it answered with `deny`"),
    ("Stop", HookOutcome(output=""), "it answered with `output`"),
]


@pytest.mark.parametrize(("event", "answer", "fault"), ANSWERS)
def test_what_an_event_cannot_do_is_no_answer(event: HookEvent, answer: object, fault: str) -> None:
    with pytest.raises(HookFailed) as raised:
        read_answer(event, answer)
    assert fault in str(raised.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*HookOutcome._fields, "other"])


@given(st.sampled_from(EVENTS), JSON | st.dictionaries(KEYS, JSON, max_size=2))
@settings(max_examples=60)
def test_any_answer_is_understood_or_refused(event: HookEvent, answer: object) -> None:
    try:
        outcome = read_answer(event, answer)
    except HookFailed:
        return
    given = {key for key, value in outcome._asdict().items() if value not in ("", None)}
    assert given <= set(CAN_SAY[event])
    json.dumps(outcome, ensure_ascii=False).encode()  # no lone surrogate comes through


def test_what_was_answered_cannot_be_changed_afterwards() -> None:
    arguments = {"paths": ["a"]}
    outcome = read_answer("PreToolUse", {"arguments": arguments})
    arguments["paths"].append("b")
    assert outcome.arguments == {"paths": ["a"]}


# --- processes -------------------------------------------------------------------------------------------------------


async def test_a_late_hook_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    command = "trap '' TERM; sleep 600 & echo $! > child; echo $$ > self; wait"
    for timeout in (0.2, 1.0, 5.0, 30.0):  # a busy machine may take a while to come to the second file
        hooks = opened(tmp_path, {"PreToolUse": [{"command": command, "timeout": timeout}]})
        assert f"took longer than {timeout:g} s and was stopped" in (await asked(hooks)).deny
        if (tmp_path / "self").exists():
            break
    for name in ("self", "child"):
        pid = int((tmp_path / name).read_text())
        assert eventually(lambda pid=pid: not alive(pid))  # type: ignore[misc]  # a default that binds the loop variable


async def test_what_is_left_in_the_background_ends_and_is_not_waited_for(tmp_path: Path) -> None:
    command = 'sleep 600 & echo $! > child; printf \'{"context": "done"}\''
    hooks = opened(tmp_path, {"PreToolUse": [{"command": command, "timeout": 30.0}]})
    assert await asked(hooks) == HookOutcome(context="done")
    assert eventually(lambda: not alive(int((tmp_path / "child").read_text())))


@pytest.mark.skipif(sys.platform != "linux", reason="setsid is a Linux command")
async def test_one_that_left_the_group_may_hold_the_pipe_and_write_without_end(tmp_path: Path) -> None:
    writing = "echo $$ > writer; yes '{}' | head -c 200000; echo > full; while :; do echo '{}'; done"
    command = f'setsid sh -c "{writing}" & while [ ! -s full ]; do :; done'.replace("$$", r"\$\$")
    hooks = opened(tmp_path, {"PostToolUse": [{"command": command, "timeout": 30.0}]})
    try:
        assert await asked(hooks, "PostToolUse") == HookOutcome()
        assert hooks.told("warning")[0].split("failed: ")[1][:10] == "it printed"
    finally:
        writer = int((tmp_path / "writer").read_text())
        assert eventually(lambda: not alive(writer)), "a closed pipe ends it"


async def test_input_that_nobody_reads_is_no_problem(tmp_path: Path) -> None:
    hooks = opened(tmp_path, {"PostToolUse": [{"command": "exec <&-; true"}, says({"context": "read nothing"})]})
    outcome = await asked(hooks, "PostToolUse", tool_output="x" * 3_000_000)
    assert outcome == HookOutcome(context="read nothing")
    assert hooks.notices == []


async def test_input_of_any_size_arrives_whole(tmp_path: Path) -> None:
    hooks = opened(tmp_path, {"PostToolUse": [{"command": "wc -c > size"}]})
    await asked(hooks, "PostToolUse", tool_output="x" * 3_000_000)
    assert int((tmp_path / "size").read_text()) > 3_000_000


async def test_a_hook_that_prints_without_end_has_failed(tmp_path: Path) -> None:
    hooks = opened(tmp_path, {"PreToolUse": [{"command": "yes", "timeout": 30.0}]})
    assert f"it printed more than {MAX_OUTPUT // 1024:,} KiB" in (await asked(hooks)).deny
    complaining = opened(tmp_path, {"PreToolUse": [{"command": "yes | head -c 3000000 >&2; echo '{}'"}]})
    assert await asked(complaining) == HookOutcome()


async def test_as_much_as_is_allowed_arrives_also_in_the_last_moment(tmp_path: Path) -> None:
    frame = '{"output": ""}'
    command = python(tmp_path, f"print('{frame[:-2]}' + 'x' * {MAX_OUTPUT - len(frame)} + '\"}}', end='')")
    outcome = await asked(opened(tmp_path, {"PostToolUse": [{"command": command}]}), "PostToolUse")
    assert outcome.output is not None
    assert len(outcome.output) == MAX_OUTPUT - len(frame)


async def test_stopping_the_run_stops_the_hook(tmp_path: Path) -> None:
    """B026."""
    command = "trap '' TERM INT; sleep 600 & echo $! > child; echo $$ > self; mv self started; wait"
    hooks = opened(tmp_path, {"PreToolUse": [{"command": command, "timeout": 30.0}]})
    task = asyncio.create_task(asked(hooks))
    assert await asyncio.to_thread(eventually, (tmp_path / "started").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for name in ("started", "child"):
        pid = int((tmp_path / name).read_text())
        assert eventually(lambda pid=pid: not alive(pid))  # type: ignore[misc]  # a default that binds the loop variable


async def test_many_at_a_time_leave_nothing_open(tmp_path: Path) -> None:
    hooks = opened(tmp_path, {"PreToolUse": [says({"context": "x"})]})
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208  # only the number counts
    outcomes = await asyncio.gather(*(asked(hooks) for _ in range(20)))
    assert set(outcomes) == {HookOutcome(context="x")}
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208


async def test_where_the_kernel_gives_no_handle_on_a_process_a_thread_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.delattr(os, "memfd_create", raising=False)
    quick = opened(tmp_path, {"PreToolUse": [{"command": "sleep 600 & echo $! > child; cat > seen; exit 2"}]})
    assert "said no" in (await asked(quick)).deny
    assert json.loads((tmp_path / "seen").read_text())["event"] == "PreToolUse"
    assert eventually(lambda: not alive(int((tmp_path / "child").read_text())))
    late = opened(tmp_path, {"PreToolUse": [{"command": "sleep 600", "timeout": 0.2}]})
    assert "took longer" in (await asked(late)).deny


async def test_a_workspace_that_is_gone_is_a_failure_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    hooks = opened(tmp_path / "gone", {"PreToolUse": [{"command": "exit 0"}]})
    (tmp_path / "gone").rmdir()
    assert "could not run" in (await asked(hooks)).deny
    with_nul = opened(tmp_path, {"PreToolUse": [{"command": "true \0"}]})
    assert "could not run" in (await asked(with_nul)).deny


async def test_a_command_sees_where_it_is_and_no_key_of_a_provider(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "sk-1", "GITHUB_TOKEN": "kept"}
    hooks = opened(tmp_path, {"Stop": [{"command": "env > seen"}]}, env=env)
    await asked(hooks, "Stop")
    seen = (tmp_path / "seen").read_text()
    assert "OPENAI_API_KEY" not in seen
    for line in ("GITHUB_TOKEN=kept", "ORCH_HOOK_EVENT=Stop", f"ORCH_WORKSPACE={tmp_path}", "ORCH_SESSION_ID=s1"):
        assert line in seen.splitlines()


def test_the_key_of_no_known_provider_is_handed_on() -> None:
    """B172."""
    names = [name for provider in load_providers().values() for name in (*provider.key_env, *provider.bearer_env)]
    assert len(names) > 30
    kept = hook_environment(dict.fromkeys([*names, "PATH", "HOME", "API_KEYS_FILE"], "x"), Path("/w"), "s")
    assert set(kept) == {"PATH", "HOME", "API_KEYS_FILE", "ORCH_WORKSPACE", "ORCH_SESSION_ID"}


# --- what is told at the start ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("/none/python3 hook.py", "/none/python3 does not exist"),
        ("python3 /none.py", "/none.py does not exist"),
        ("python3 -u /none.py", "/none.py does not exist"),
        ("sh -e none.sh", ""),
        ("sh none.sh", "none.sh does not exist"),
        ("./plain.txt", "./plain.txt is not an executable file"),
        ("A=b no-such-command x", "there is no command no-such-command"),
        ("~/none.sh", "~/none.sh does not exist"),
        ("PATH=/x no-such-command", ""),
        ("python3 -c 'import sys'", ""),
        ("python3 -m none", ""),
        ("exit 0", ""),
        ("no-such-command | cat", ""),
        ("$TOOL x", ""),
        ("echo 'open", ""),
    ],
)
def test_a_command_that_cannot_run_is_told_at_the_start(command: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("x")
    hooks = opened(tmp_path, {"PostToolUse": [{"command": command}]})
    expected = [f"the PostToolUse hook `{command}` could not run: {fault}"] if fault else []
    assert hooks.told("error") == expected


# --- Python ----------------------------------------------------------------------------------------------------------


async def test_functions_answer_like_commands(tmp_path: Path) -> None:
    path = hook_file(
        tmp_path,
        """
        from dataclasses import dataclass

        @dataclass
        class Seen:
            paths: list

        seen = Seen([])

        @register_hook("PreToolUse", match="edit_file")
        def changed(payload):
            seen.paths.append(payload["tool_input"].pop("path"))
            return {"arguments": {"path": "b"}}

        @register_hook("PreToolUse", "edit_file", 3)
        async def added(payload):
            return HookOutcome(context=f"{seen.paths} became {payload['tool_input']['path']}")

        @register_hook("PreToolUse")
        @register_hook("Stop")
        def silent(payload):
            return None

        register_hook("Stop")(lambda payload: answer(payload))

        async def answer(payload):
            return HookOutcome(again=payload["event"])
        """,
    )
    hooks = opened(tmp_path, files=[path])
    payload = call(path="a")
    outcome = await hooks.hooks.fire("PreToolUse", payload)
    assert outcome == HookOutcome(arguments={"path": "b"}, context="['a'] became b")
    assert payload == call(path="a"), "a hook has its own copy"
    assert await asked(hooks, "Stop") == HookOutcome(again="Stop")
    assert hooks.notices == []


PYTHON_FAULTS = {
    "raise ValueError('oh')": "it raised ValueError: oh (line 5)",
    "import sys; sys.exit(2)": "it raised SystemExit: 2 (line 5)",
    "return ['a']": "its answer is of the type list",
    "return {'deny': ''}": "its `deny` is empty",
    "raise StopIteration": "it raised StopIteration (line 5)",
    "raise TimeoutError": "it raised TimeoutError (line 5)",
}


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("body", PYTHON_FAULTS)
async def test_a_function_that_fails_denies(body: str, kind: str, tmp_path: Path) -> None:
    path = hook_file(tmp_path, f'\n@register_hook("PreToolUse")\n{kind} check(payload):\n    {body}\n')
    expected = PYTHON_FAULTS[body]
    if kind == "async def" and "StopIteration" in body:
        expected = "it raised RuntimeError: coroutine raised StopIteration"
    hooks = opened(tmp_path, files=[path])
    outcome = await asked(hooks)
    assert outcome.deny.startswith(f"the PreToolUse hook `check` of {path} failed: {expected}")
    assert hooks.told("error") == [outcome.deny]


async def test_a_function_that_hangs_does_not_hold_up_anything_else(tmp_path: Path) -> None:
    path = hook_file(
        tmp_path,
        """
        import asyncio, threading
        gate = threading.Event()

        @register_hook("PreToolUse", match="edit_file", timeout=0.2)
        def hangs(payload):
            gate.wait()

        @register_hook("PreToolUse", match="write_file", timeout=0.2)
        async def waits(payload):
            while True:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    await asyncio.get_running_loop().create_future()

        @register_hook("PreToolUse", match="open_gate")
        def opens(payload):
            gate.set()
        """,
    )
    hooks = opened(tmp_path, files=[path])
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    assert "took longer than 0.2 s; its thread is left behind" in (await asked(hooks)).deny
    assert "took longer than 0.2 s and was stopped" in (await asked(hooks, tool_name="write_file")).deny
    ticking.cancel()
    assert ticks > 1
    assert await asked(hooks, tool_name="open_gate") == HookOutcome()
    assert await asyncio.to_thread(eventually, lambda: "orch-hook" not in {each.name for each in threading.enumerate()})


async def test_stopping_the_run_stops_an_async_function_and_leaves_a_thread(tmp_path: Path) -> None:
    path = hook_file(
        tmp_path,
        """
        import asyncio, threading, pathlib
        gate = threading.Event()
        here = pathlib.Path(__file__).parent

        @register_hook("PreToolUse", match="async")
        async def waits(payload):
            (here / "waits").touch()
            try:
                await asyncio.sleep(60)
            finally:
                (here / "cleaned").touch()

        @register_hook("PreToolUse", match="sync")
        def hangs(payload):
            (here / "hangs").touch()
            gate.wait(30)

        @register_hook("Stop")
        def opens(payload):
            gate.set()
        """,
    )
    hooks = opened(tmp_path, files=[path])
    for tool, mark in (("async", "waits"), ("sync", "hangs")):
        task = asyncio.create_task(asked(hooks, tool_name=tool))
        assert await asyncio.to_thread(eventually, (tmp_path / mark).exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (tmp_path / "cleaned").exists()
    await asked(hooks, "Stop")


BAD_FILES = {
    "def broken(:\n    pass\n": ":2: invalid syntax",
    "\nimport not_there\n": ":3: the hooks cannot be loaded: ModuleNotFoundError: No module named 'not_there'",
    "\nraise SystemExit(0)\n": ":3: the hooks cannot be loaded: SystemExit: 0",
    "\n\n@register_hook('PreToolUs')\ndef f(p): ...\n": ":4: there is no event 'PreToolUs'",
    "@register_hook('Stop', timeout=31)\ndef f(p): ...\n": ":2: `timeout` is 31",
    "@register_hook('Stop', timeout=float('nan'))\ndef f(p): ...\n": ":2: `timeout` is nan",
    "@register_hook('Stop', timeout=True)\ndef f(p): ...\n": ":2: `timeout` is True",
    "@register_hook('Stop', match='')\ndef f(p): ...\n": ":2: `match` is ''",
    "@register_hook\ndef f(p): ...\n": ":2: there is no event <function f",
    "@register_hook('Stop')\ndef f(p): yield\n": "is no function that gives an answer",
}


@pytest.mark.parametrize("text", BAD_FILES)
def test_a_file_that_does_not_load_is_an_error_with_its_line(text: str, tmp_path: Path) -> None:
    path = hook_file(tmp_path, text)
    with pytest.raises(ConfigError) as raised:
        opened(tmp_path, files=[path])
    assert raised.value.message.startswith(str(path))
    assert BAD_FILES[text] in raised.value.message
    assert raised.value.hint


def test_an_error_in_a_name_says_what_was_probably_meant(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        opened(tmp_path, files=[hook_file(tmp_path, "@register_hook('PreToolUs')\ndef f(p): ...\n")])
    assert raised.value.hint == "did you mean `PreToolUse`?"


def test_a_pipe_in_place_of_the_file_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hooks.py")
    with pytest.raises(ConfigError, match=r"hooks\.py: a named pipe, not a regular file"):
        opened(tmp_path, files=[tmp_path / "hooks.py"])


def test_nothing_is_written_beside_the_file_and_nothing_stays_registered(tmp_path: Path) -> None:
    """Bytecode in `.orch` would end the trust in the folder."""
    path = hook_file(tmp_path, "@register_hook('Stop')\ndef f(p): ...\n")
    first, second = opened(tmp_path, files=[path]).hooks, opened(tmp_path, files=[path]).hooks
    assert [path.name for path in tmp_path.iterdir()] == ["hooks.py"]
    assert first.has("Stop")
    assert second.has("Stop")

    @register_hook("PreToolUse")
    def unheard(payload: dict[str, Any]) -> None:
        raise AssertionError

    assert callable(unheard)
    assert not opened(tmp_path).hooks.has("PreToolUse")
    path.write_text("")
    assert not opened(tmp_path, files=[path]).hooks.has("Stop")


async def test_a_hook_that_is_not_meant_is_not_run(tmp_path: Path) -> None:
    hooks = opened(tmp_path, {"PreToolUse": [{"command": "touch asked", "match": "other"}]}).hooks
    assert await hooks.fire("PreToolUse", call()) == HookOutcome()
    assert await hooks.fire("Stop", {}) == HookOutcome()
    assert not (tmp_path / "asked").exists()
    await hooks.fire("PreToolUse", call("other"))
    assert (tmp_path / "asked").exists()


@pytest.mark.parametrize("event", sorted(set(EVENTS) - GATING))
async def test_exit_code_2_is_a_failure_where_nothing_can_be_denied(event: HookEvent, tmp_path: Path) -> None:
    hooks = opened(tmp_path, {event: [{"command": "echo no >&2; exit 2"}]})
    assert await asked(hooks, event) == HookOutcome()
    assert hooks.told("warning") == [f"the {event} hook `echo no >&2; exit 2` failed: it ended with exit code 2: no"]
