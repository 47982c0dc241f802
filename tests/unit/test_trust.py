"""Trust in a folder is bound to its path and to what it supplies."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import ConfigError
from orchestrator.paths import Places
from orchestrator.trust import distrust, is_trusted, supplied_files, trust, trust_of


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    for name in (".orch/roles/r.yaml", ".orch/config.yaml", ".orch/plans/p.json", ".claude/agents/a.md", "code.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    return folder


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.find({"ORCH_HOME": str(tmp_path / "home")})


def test_a_folder_is_trusted_after_it_was_trusted(workspace: Path, places: Places) -> None:
    assert trust_of(workspace, places) == (False, "it was never trusted")
    trust(workspace, places)
    assert is_trusted(workspace, places)
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    assert is_trusted(link, places), "the resolved path counts"
    assert not is_trusted(workspace.parent, places)
    assert distrust(workspace, places)
    assert not is_trusted(workspace, places)
    assert not distrust(workspace, places)


def test_the_record_is_the_users_alone(workspace: Path, places: Places) -> None:
    trust(workspace, places)
    (record,) = (places.state / "trust").iterdir()
    assert (places.state / "trust").stat().st_mode & 0o077 == 0
    assert record.suffix == ".json"
    assert [path.name for path in workspace.iterdir() if path.name not in (".orch", ".claude", "code.py")] == []


def write(name: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("changed")

    return change


@pytest.mark.parametrize(
    "change",
    [
        write(".orch/config.yaml"),
        write(".orch/tools/new.py"),
        write(".orch/roles/deep/er.yaml"),
        write(".claude/agents/a.md"),
        lambda folder: (folder / ".orch/config.yaml").rename(folder / ".orch/other.yaml"),
        lambda folder: (folder / ".orch/roles/r.yaml").unlink(),
        lambda folder: (folder / ".orch/link.yaml").symlink_to(folder / "code.py"),
    ],
)
def test_any_change_of_what_it_supplies_ends_the_trust(
    workspace: Path, places: Places, change: Callable[[Path], object]
) -> None:
    trust(workspace, places)
    change(workspace)
    assert trust_of(workspace, places) == (False, "what it supplies has changed since it was trusted")
    trust(workspace, places)
    assert is_trusted(workspace, places)


@pytest.mark.parametrize(
    "change",
    [
        write("code.py"),
        write(".orch/plans/other.json"),
        write(".claude/settings.json"),
        lambda folder: (folder / ".orch/.#lock").symlink_to("nowhere"),
    ],
)
def test_other_changes_do_not(workspace: Path, places: Places, change: Callable[[Path], object]) -> None:
    trust(workspace, places)
    change(workspace)
    assert is_trusted(workspace, places)


def test_a_moved_boundary_between_two_files_is_a_change(workspace: Path, places: Places) -> None:
    (workspace / ".orch/config.yaml").write_text("ab")
    (workspace / ".orch/confih").write_text("")
    trust(workspace, places)
    (workspace / ".orch/config.yaml").write_text("a")
    (workspace / ".orch/confih").write_text("b")
    assert not is_trusted(workspace, places)


def test_what_cannot_be_checked_is_not_trusted(workspace: Path, places: Places) -> None:
    trust(workspace, places)
    os.mkfifo(workspace / ".orch/pipe")
    assert trust_of(workspace, places).reason.startswith("what it supplies cannot be checked: .orch/pipe: a named pipe")
    with pytest.raises(ConfigError, match="a named pipe"):
        trust(workspace, places)


def test_a_link_to_a_folder_inside_is_refused(workspace: Path, places: Places) -> None:
    (workspace / ".orch/loop").symlink_to(workspace / ".orch")
    with pytest.raises(ConfigError, match=r"\.orch/loop is a link to a folder"):
        trust(workspace, places)


def test_too_much_is_refused(workspace: Path, places: Places) -> None:
    (workspace / ".orch/big").write_bytes(b"x" * (8 * 1024 * 1024 + 1))
    with pytest.raises(ConfigError, match="longer than"):
        trust(workspace, places)
    (workspace / ".orch/big").unlink()
    for number in range(2001):
        (workspace / f".orch/{number}").touch()
    with pytest.raises(ConfigError, match="more than 2000 files"):
        trust(workspace, places)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"path": "/elsewhere", "hash": "x"}', "\x00"])
def test_a_damaged_record_is_no_trust(workspace: Path, places: Places, content: str) -> None:
    trust(workspace, places)
    (record,) = (places.state / "trust").iterdir()
    record.write_text(content)
    assert not is_trusted(workspace, places)


def test_a_folder_that_supplies_nothing_can_be_trusted_until_it_does(tmp_path: Path, places: Places) -> None:
    trust(tmp_path, places)
    assert is_trusted(tmp_path, places)
    assert supplied_files(tmp_path) == []
    write(".orch/config.yaml")(tmp_path)
    assert not is_trusted(tmp_path, places)
