"""Grants: kept for one workspace, by several processes at once, never believed when others could have written them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.grants import Grants

ROOT = Path(__file__).resolve().parents[2]
PUSH = "run_shell(git push *)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "grants"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


def file_in(folder: Path) -> Path:
    (found,) = folder.glob("*.json")
    return found


def test_nothing_is_made_before_the_first_grant(folder: Path, workspace: Path) -> None:
    grants = Grants(folder, workspace)
    assert grants.rules() == ()
    assert grants.remove(PUSH) is False
    assert grants.clear() == 0
    assert not folder.parent.exists()


def test_a_grant_is_kept_for_later_sessions_of_this_workspace_alone(
    folder: Path, workspace: Path, tmp_path: Path
) -> None:
    Grants(folder, workspace).add(PUSH)
    assert Grants(folder, workspace).rules() == (PUSH,)
    (tmp_path / "other").mkdir()
    assert Grants(folder, tmp_path / "other").rules() == ()


def test_the_workspace_is_known_by_its_real_path(folder: Path, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(workspace)
    Grants(folder, tmp_path / "link").add(PUSH)
    assert Grants(folder, workspace).rules() == (PUSH,)


def test_only_the_user_may_read_and_write_it_whatever_the_umask(folder: Path, workspace: Path) -> None:
    before = os.umask(0)
    try:
        Grants(folder, workspace).add(PUSH)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file_in(folder).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert Grants(folder, workspace).rules() == (PUSH,)


def test_a_rule_is_kept_once_and_forgotten_by_its_name(folder: Path, workspace: Path) -> None:
    grants = Grants(folder, workspace)
    for rule in (PUSH, "edit_file(src/*)", PUSH):
        grants.add(rule)
    assert grants.rules() == (PUSH, "edit_file(src/*)")
    assert grants.remove(PUSH) is True
    assert grants.remove(PUSH) is False
    assert Grants(folder, workspace).rules() == ("edit_file(src/*)",)
    assert grants.clear() == 1
    assert grants.rules() == ()


def test_what_another_session_grants_or_forgets_is_in_force_at_once(folder: Path, workspace: Path) -> None:
    here, there = Grants(folder, workspace), Grants(folder, workspace)
    assert here.rules() == ()
    there.add(PUSH)
    assert here.rules() == (PUSH,)
    there.remove(PUSH)
    assert here.rules() == ()


_ADD = """
import sys
from pathlib import Path
from orchestrator.grants import Grants
grants = Grants(Path(sys.argv[1]), Path(sys.argv[2]))
for number in range(20):
    grants.add(f"run_shell(make {sys.argv[3]}{number})")
"""


def test_processes_that_grant_at_the_same_time_lose_nothing(folder: Path, workspace: Path) -> None:
    command = [sys.executable, "-c", _ADD, str(folder), str(workspace)]
    running = [subprocess.Popen([*command, name], env={**os.environ, "PYTHONPATH": str(ROOT)}) for name in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert set(Grants(folder, workspace).rules()) == {f"run_shell(make {n}{i})" for n in "abc" for i in range(20)}
    assert [path.name for path in folder.iterdir() if path.suffix == ".tmp"] == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\x00\xff",
        b"[]",
        b"null",
        b'{"path": "/elsewhere", "rules": ["run_shell"]}',
        b"[" * 100_000,
        b'"' + b"x" * 300_000 + b'"',
    ],
)
def test_a_damaged_file_grants_nothing_and_is_told_once(folder: Path, workspace: Path, content: bytes) -> None:
    Grants(folder, workspace).add(PUSH)
    file_in(folder).write_bytes(content)
    told: list[str] = []
    grants = Grants(folder, workspace, told.append)
    assert grants.rules() == ()
    assert grants.rules() == ()
    assert len(told) == 1
    assert str(file_in(folder)) in told[0]
    grants.add(PUSH)
    assert Grants(folder, workspace).rules() == (PUSH,)
    assert grants.problem == ""


@pytest.mark.parametrize("rules", [["run_shell(git push *)", 7], "run_shell", {"run_shell": 1}, ["rm -rf /"], [None]])
def test_a_file_with_anything_but_rules_grants_nothing(folder: Path, workspace: Path, rules: object) -> None:
    Grants(folder, workspace).add(PUSH)
    record = json.loads(file_in(folder).read_text())
    file_in(folder).write_text(json.dumps({**record, "rules": rules}))
    grants = Grants(folder, workspace)
    assert grants.rules() == ()
    assert grants.problem == "it is damaged"


def test_a_file_that_others_can_write_is_not_believed(folder: Path, workspace: Path) -> None:
    Grants(folder, workspace).add(PUSH)
    file_in(folder).chmod(0o666)
    grants = Grants(folder, workspace)
    assert grants.rules() == ()
    assert grants.problem == "it can be written by others"


def test_neither_is_one_in_a_folder_that_others_can_write(folder: Path, workspace: Path) -> None:
    Grants(folder, workspace).add(PUSH)
    folder.chmod(0o777)
    grants = Grants(folder, workspace)
    assert grants.rules() == ()
    assert "its folder can be written by others" in grants.problem
    with pytest.raises(OSError, match="can be written by others"):
        grants.add("run_shell(make)")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_nor_one_of_another_user(folder: Path, workspace: Path) -> None:
    Grants(folder, workspace).add(PUSH)
    os.chown(file_in(folder), 12345, -1)
    grants = Grants(folder, workspace)
    assert grants.rules() == ()
    assert grants.problem == "it belongs to another user"


@pytest.mark.parametrize("make", ["link", "pipe", "folder"])
def test_something_else_in_its_place_neither_hangs_nor_grants(folder: Path, workspace: Path, make: str) -> None:
    Grants(folder, workspace).add(PUSH)
    path = file_in(folder)
    kept = path.rename(folder / "elsewhere")
    if make == "link":
        path.symlink_to(kept)
    elif make == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    grants = Grants(folder, workspace)
    assert grants.rules() == ()
    assert "not what it should be" in grants.problem


def test_a_change_that_fails_leaves_the_file_as_it_was(folder: Path, workspace: Path) -> None:
    grants = Grants(folder, workspace)
    grants.add(PUSH)
    with pytest.raises(OSError, match="too much is allowed"):
        grants.add(f"run_shell({'x' * 300_000})")
    assert Grants(folder, workspace).rules() == (PUSH,)
    assert sorted(path.suffix for path in folder.iterdir()) == ["", ".json"]
