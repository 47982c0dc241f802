"""Commands that look as if they only read and run or write something: found by attack, each shown to be real first."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.command_rules import Surroundings, judge_command
from tests.loop.test_acting import configure, shell
from tests.support.running import ScriptedApprover, run

REAL = [
    "jobs -x touch HIT",
    "declare -a 'x=($(touch HIT))'",
    "readonly -a x='($(touch HIT))'",
    "x=(1); declare x='($(touch HIT))'",
    "typeset -A x='([a]=$(touch HIT))'",
    "sleep 0 & wait -p 'a[$(touch HIT)]' $!",
    "cat 3<keep >/dev/fd/3",
    "echo x 1<keep >/dev/fd/1",
    "echo x <keep >/dev/fd/0",
    "exec 3<keep; ls >/dev/fd/3",
]


def level(command: str, folder: Path) -> str:
    around = Surroundings(folder, folder, folder, {"PATH": os.environ["PATH"], "HOME": str(folder)})
    return judge_command(command, around).level


@pytest.mark.parametrize("command", REAL)
def test_what_runs_or_writes_something_is_not_reading(command: str, tmp_path: Path) -> None:
    (tmp_path / "keep").write_text("kept\n")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=False, capture_output=True)
    assert (tmp_path / "HIT").exists() or (tmp_path / "keep").read_text() != "kept\n", "it is real"
    assert level(command, tmp_path) != "read-only"


def test_a_script_is_read_as_its_shell_reads_it(tmp_path: Path) -> None:
    assert level("sh -c '[[ x || ./evil.sh ]]'", tmp_path) != "read-only"
    assert level("bash -c '[[ x == y ]]'", tmp_path) == "read-only"


@pytest.mark.parametrize("command", ["jobs -l", "wait $!", "export LANG=C", "wc -l <keep", "ls 2>/dev/null"])
def test_the_harmless_forms_still_only_read(command: str, tmp_path: Path) -> None:
    assert level(command, tmp_path) == "read-only"


# --- git -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("form", ["%G?", "%+G?", "%-G?", "% G?"])
def test_formats_that_check_signatures_run_a_program(repository: Path, form: str) -> None:
    assert level(f"git log --format='{form}'", repository) != "read-only"
    git(repository, "config", "format.pretty", form)
    assert level("git log", repository) != "read-only"


def test_submodules_shown_in_differences_have_settings_of_their_own(repository: Path) -> None:
    assert level("git log -p --submodule=diff", repository) != "read-only"
    assert level("git show", repository) == "read-only"
    git(repository, "config", "diff.submodule", "diff")
    assert level("git show", repository) != "read-only"


def test_an_index_that_is_not_understood_is_not_taken_for_one_without_submodules(tmp_path: Path) -> None:
    other = tmp_path / "sha256"
    other.mkdir()
    git(other, "init", "-q", "--object-format=sha256")
    assert level("git status", other) != "read-only"
    split = tmp_path / "split"
    split.mkdir()
    git(split, "init", "-q")
    (split / "a").write_text("a\n")
    git(split, "add", "a")
    git(split, "update-index", "--split-index")
    assert level("git status", split) != "read-only"


def test_a_pipe_in_the_place_of_the_index_is_not_waited_for(repository: Path) -> None:
    (repository / ".git" / "index").unlink(missing_ok=True)
    os.mkfifo(repository / ".git" / "index")
    assert level("git status", repository) != "read-only"


# --- lines that do both ----------------------------------------------------------------------------------------------


async def test_what_expands_does_not_pass_as_reading_beside_a_command_that_is_allowed(workspace: Path) -> None:
    """The whole line runs where the allowed command may write."""
    configure('permissions: {allow: ["run_shell(true)", "run_shell(touch made)"]}\n')
    user = ScriptedApprover()
    script = [shell("touch made; x=src/auth.py; cat $x"), shell("touch made; cat src/auth.py"), "done"]
    await run(workspace, script, mode="default", approver=user)
    assert [request.lines[0] for request in user.requests] == ["touch made"]
    assert len(user.requests) == 1
