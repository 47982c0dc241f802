from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from tests.support.read_only_tools import call, write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    names = ["a.py", "src/b.py", "src/in/c.ts", "src/in/d.js", ".github/w/ci.yml", ".eslintrc.json", "Makefile"]
    return write_tree(tmp_path, dict.fromkeys(names, "x"))


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("*.py", "a.py src/b.py"),
        ("./*.py", "a.py"),
        ("src/*", "src/b.py"),
        ("src/**", "src/b.py src/in/c.ts src/in/d.js"),
        ("src/", "src/b.py src/in/c.ts src/in/d.js"),
        ("**/*.{ts,js}", "src/in/c.ts src/in/d.js"),
        ("**/in/*", "src/in/c.ts src/in/d.js"),
        ("[a-b].py", "a.py src/b.py"),
        ("?.py", "a.py src/b.py"),
        ("Makefile", "Makefile"),
        (".github/**/*.yml", ".github/w/ci.yml"),
        (".eslintrc*", ".eslintrc.json"),
    ],
)
async def test_patterns_find_files(root: Path, pattern: str, paths: str) -> None:
    assert (await call(root, "glob", pattern=pattern)).output.split() == paths.split()


async def test_an_absolute_pattern_inside_the_workspace_is_understood(root: Path) -> None:
    assert (await call(root, "glob", pattern=f"{root}/src/*.py")).output == "src/b.py"
    assert (await call(root, "glob", pattern=f"{root}/*.py")).output == "a.py"


async def test_hidden_files_are_found_on_request(root: Path) -> None:
    assert ".github" not in (await call(root, "glob", pattern="**/*")).output
    assert ".github/w/ci.yml" in (await call(root, "glob", pattern="**/*", hidden=True)).output


async def test_the_name_of_a_folder_is_pointed_out(root: Path) -> None:
    assert (await call(root, "glob", pattern="src")).output == "[src is a folder; src/** lists what is in it]"


async def test_a_long_list_is_cut_with_its_total(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{number:04}.txt": "" for number in range(250)})
    lines = (await call(tmp_path, "glob", pattern="*.txt")).output.splitlines()
    assert len(lines) == 201
    assert lines[-1] == "[showing 200 of 250 files; narrow the pattern]"


@pytest.mark.parametrize("pattern", ["[a", "{a,b", "a\\", "", "!a"])
async def test_malformed_patterns_are_explained(root: Path, pattern: str) -> None:
    with pytest.raises(ToolError) as caught:
        await call(root, "glob", pattern=pattern)
    assert caught.value.code == "invalid_glob"


async def test_a_folder_that_does_not_exist_gives_no_files(root: Path) -> None:
    assert "no files match" in (await call(root, "glob", pattern="missing/*.py")).output
