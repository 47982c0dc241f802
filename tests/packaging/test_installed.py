"""Every way to have orch works, also inside a project that tries to be taken for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator import __version__
from tests.support.hostile_folder import make_hostile_folder
from tests.support.installing import Installation

QUESTION = "where is legacy_auth used"


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Written to by whatever of the hostile folder is run."""
    return tmp_path / "mark"


@pytest.fixture
def hostile(tmp_path: Path, mark: Path) -> Path:
    return make_hostile_folder(tmp_path / "project", mark)


def test_the_trap_works(hostile: Path, mark: Path) -> None:
    for module in ("tools.grep", "orchestrator.cli", "yaml"):
        subprocess.run([sys.executable, "-c", f"import {module}"], cwd=hostile, check=True, env={"PATH": ""})
        assert module.split(".")[-1] in mark.read_text()
        mark.unlink()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--version",), [f"orch {__version__}"]),
        (("roles", "list"), ["explorer", "planner", "reviewer", "built-in"]),
        (("tools", "list"), ["read_file", "find_references", "delegate"]),
        (("doctor",), ["scout", "ripgrep at /"]),
    ],
)
def test_a_command_runs_and_nothing_of_the_project_is_taken_for_orch(
    installation: Installation, hostile: Path, mark: Path, tmp_path: Path, arguments: tuple[str, ...], said: list[str]
) -> None:
    done = installation.run(*arguments, folder=hostile, home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert all(text in done.stdout for text in said), done.stdout
    assert "hijacked" not in done.stdout + done.stderr
    assert not mark.exists(), mark.read_text()


def test_a_question_is_answered_and_nothing_of_the_project_is_taken_for_orch(
    installation: Installation, hostile: Path, mark: Path, tmp_path: Path
) -> None:
    asked = ("ask", "--model", "scout", "--output", "json", QUESTION)
    done = installation.run(*asked, folder=hostile, home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    places = {(c["path"], c["line"]): c["status"] for c in result["citations"]}
    assert (result["status"], result["model"]) == ("ok", "scout")
    assert places["app.py", 5] == "verified"
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize("installation", ["wheel", "editable"], indirect=True, scope="session")
def test_the_folders_of_orch_are_no_packages_of_their_own(installation: Installation, tmp_path: Path) -> None:
    """Else `import tools` in a user's project would find ours. (A checkout on the path is there as it stands.)"""
    code = "import importlib.util as u; print([n for n in ('tools', 'roles', 'configs', 'tests') if u.find_spec(n)])"
    done = installation.run_python(code, folder=tmp_path, home=tmp_path)
    assert done.stdout.strip() == "[]", done.stderr


def test_types_are_shipped(installation: Installation, tmp_path: Path) -> None:
    code = "import orchestrator, pathlib; print((pathlib.Path(orchestrator.__file__).parent / 'py.typed').is_file())"
    done = installation.run_python(code, folder=tmp_path, home=tmp_path)
    assert done.stdout.strip() == "True", done.stderr
