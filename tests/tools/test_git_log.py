"""Commits by path and by name, on real repositories, without running what their configuration names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from tests.support.read_only_tools import call


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    for number, (name, text) in enumerate(
        [
            ("a.py", "def alpha(): pass\n"),
            ("b.py", "alphabet = 1\n"),
            ("a.py", "def alpha(): return 1\n"),
            ("c.py", "x\n"),
        ]
    ):
        (root / name).write_text(text)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"commit {number} of {name}")
    return root


def subjects(text: str) -> list[str]:
    return [line.split(": ", 1)[1] for line in text.splitlines() if not line.startswith("[")]


async def test_newest_first(repository: Path) -> None:
    result = await call(repository, "git_log")
    assert subjects(result.output)[0] == "commit 3 of c.py"
    assert len(subjects(result.output)) == 4
    assert " Ann: " in result.output


async def test_by_path(repository: Path) -> None:
    assert subjects((await call(repository, "git_log", path="a.py")).output) == ["commit 2 of a.py", "commit 0 of a.py"]


async def test_by_whole_name(repository: Path) -> None:
    output = (await call(repository, "git_log", name="alpha")).output
    assert subjects(output) == ["commit 2 of a.py", "commit 0 of a.py"]


async def test_more_than_the_limit_is_said(repository: Path) -> None:
    output = (await call(repository, "git_log", limit=1)).output
    assert subjects(output) == ["commit 3 of c.py"]
    assert "more than 1 commits" in output


async def test_no_repository_is_an_error_the_model_can_read(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        await call(tmp_path, "git_log")
    assert caught.value.code == "no_history"
    assert "not a git repository" in caught.value.message


async def test_what_the_repository_configures_is_not_run(repository: Path) -> None:
    marker = repository.parent / "ran"
    evil = repository.parent / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    evil.chmod(0o755)
    (repository / ".gitattributes").write_text("*.py diff=evil filter=evil\n")
    for key in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "gpg.program",
    ):
        git(repository, "config", key, str(evil))
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "filter.evil.smudge", str(evil))
    assert len(subjects((await call(repository, "git_log", name="alpha")).output)) == 2
    assert not marker.exists()


async def test_a_git_of_the_workspace_is_never_run(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = repository / "git"
    fake.write_text(f"#!/bin/sh\ntouch {repository.parent}/ran\n")
    fake.chmod(0o755)
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", str(repository), os.environ["PATH"]]))
    assert subjects((await call(repository, "git_log", limit=1)).output) == ["commit 3 of c.py"]
    assert not (repository.parent / "ran").exists()
