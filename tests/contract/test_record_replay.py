"""A run is recorded against the scripted server and replayed without it: the same to the byte, or it says where not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.recorded_run import KEY, lasting, recorded, replayed
from tests.support.running import calls, delegates, reports

QUOTE = "def legacy_auth(user):"


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "home-1", tmp_path / "home-2"


def explorer(task: str, pattern: str, delay: float = 0.0) -> dict[str, Any]:
    """A child that looks for `pattern`, reads the file and reports; `delay` puts the children out of step."""
    finding = {"path": "src/auth.py", "line": 4, "quote": QUOTE}
    turns = [calls("grep", pattern=pattern), calls("read_file", path="src/auth.py"), reports(f"{task}: done", finding)]
    return {"match": task, "turns": [{**turn, "delay": delay} for turn in turns]}


def three_children(answer: str) -> dict[str, Any]:
    tasks = {"find the first": "legacy_auth", "find the second": "login", "find the third": "environ"}
    routes = [explorer(task, pattern, 0.04 - 0.02 * n) for n, (task, pattern) in enumerate(tasks.items())]
    return {"routes": routes, "turns": [delegates(*tasks), answer]}


async def test_three_children_at_once_are_replayed_to_the_byte(
    workspace: Path, tmp_path: Path, homes: tuple[Path, Path]
) -> None:
    file = tmp_path / "run.jsonl"
    first = await recorded(workspace, three_children("It is at src/auth.py:4."), file, homes[0])
    again, replay = await replayed(workspace, file, homes[1])
    assert first.status == "ok"
    assert len(first.agents) == 4
    assert [citation.status for citation in first.citations] == ["verified"]
    assert json.dumps(lasting(again)) == json.dumps(lasting(first))
    assert again.session_id != first.session_id
    assert replay.leftover == ()
    assert replay.note == ""


async def test_a_copy_of_the_workspace_replays_with_its_own_paths(
    workspace: Path, tmp_path: Path, homes: tuple[Path, Path]
) -> None:
    file = tmp_path / "run.jsonl"
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(workspace, copy)
    script = three_children(f"It is in {workspace.resolve()}/src/auth.py.")
    script["turns"].insert(1, calls("read_file", path=f"{workspace.resolve()}/src/auth.py"))
    first = await recorded(workspace, script, file, homes[0])
    again, replay = await replayed(copy, file, homes[1])
    assert again.answer == f"It is in {copy.resolve()}/src/auth.py."
    assert lasting(again) == {**lasting(first), "answer": again.answer}
    assert replay.leftover == ()
    assert str(workspace) not in file.read_text()


async def test_children_with_one_task_get_their_own_replies_again(
    workspace: Path, tmp_path: Path, homes: tuple[Path, Path]
) -> None:
    """The same request three times, answered in three ways: the order of the requests tells whose reply is whose."""
    file = tmp_path / "run.jsonl"
    turns = [{**reports(f"summary {n}"), "delay": 0.06 - 0.03 * n} for n in range(3)]
    script = {"routes": [{"match": "count them", "turns": turns}], "turns": [delegates(*["count them"] * 3), "Done."]}
    first = await recorded(workspace, script, file, homes[0])
    again, replay = await replayed(workspace, file, homes[1])
    assert lasting(again) == lasting(first)
    assert again.status == "ok"
    assert replay.leftover == ()


async def test_a_changed_file_is_named_by_the_message_that_shows_it(
    workspace: Path, tmp_path: Path, homes: tuple[Path, Path]
) -> None:
    file = tmp_path / "run.jsonl"
    script = {"turns": [calls("grep", pattern="legacy_auth"), "It is used once."]}
    await recorded(workspace, script, file, homes[0])
    source = workspace / "src" / "auth.py"
    source.write_text(source.read_text().replace("return legacy_auth(user)", "return legacy_auth(None)"))
    again, replay = await replayed(workspace, file, homes[1])
    assert again.status == "failed"
    assert again.error is not None
    assert "the recording run.jsonl has no reply to this request of parent." in again.error.message
    assert (
        "differs from exchange 2 of parent in message 3 of 3 (the result of grep), its content" in again.error.message
    )
    assert "legacy_auth(user)" in again.error.message.split("now")[0]
    assert "legacy_auth(None)" in again.error.message.split("now")[1]
    assert again.exit_code == 1
    assert replay.leftover == ("exchange 2 of parent",)
    assert replay.note == "1 of 2 recorded replies were not asked for: exchange 2 of parent"


async def test_another_question_is_told_from_the_recorded_one(
    workspace: Path, tmp_path: Path, homes: tuple[Path, Path]
) -> None:
    file = tmp_path / "run.jsonl"
    await recorded(workspace, ["Yes."], file, homes[0], "is it red?")
    again, _ = await replayed(workspace, file, homes[1], "is it blue?")
    assert again.error is not None
    expected = "message 1 of 1 (user), its content, at character 7: recorded “is it red?”, now “is it blue?”"
    assert again.error.message.endswith(expected)


async def test_a_failing_run_fails_again_in_the_same_way(
    workspace: Path, tmp_path: Path, homes: tuple[Path, Path]
) -> None:
    file = tmp_path / "run.jsonl"
    refused = {"status": 401, "error": {"type": "authentication_error", "message": f"Incorrect API key {KEY}."}}
    first = await recorded(workspace, {"turns": [calls("grep", pattern="login"), refused]}, file, homes[0])
    again, replay = await replayed(workspace, file, homes[1])
    assert first.error is not None
    assert first.error.type == "auth"
    assert lasting(again) == lasting(first)
    assert replay.leftover == ()


async def test_a_key_that_a_tool_and_the_model_show_is_not_kept(
    workspace: Path, tmp_path: Path, homes: tuple[Path, Path]
) -> None:
    file = tmp_path / "run.jsonl"
    (workspace / "notes.txt").write_text(f"the key is {KEY}, the other AKIAABCDEFGHIJ234567\n")
    script = {"turns": [calls("read_file", path="notes.txt"), {"text": ["the key: sk-te", "st-0123456789", "abcdef"]}]}
    first = await recorded(workspace, script, file, homes[0])
    again, replay = await replayed(workspace, file, homes[1])
    assert KEY in first.answer
    assert "0123456789" not in file.read_text()
    assert "AKIA" not in file.read_text()
    assert again.answer == "the key: [key]"
    assert replay.leftover == ()
