"""Category 7 of the fault reports: grep, glob and list. Each holds with ripgrep and without it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from orchestrator.tool import SearchQuery
from tests.support.read_only_tools import both_searches, call, write_tree


@pytest.mark.parametrize("engine", [0, 1], ids=["ripgrep", "python"])
async def test_a_line_that_is_too_long_is_shown_around_its_match(tmp_path: Path, engine: int) -> None:
    """B089"""
    line = "a" * 2500 + "NEEDLE" + "b" * 2500
    write_tree(tmp_path, {"x.js": f"before\n{line}\nafter\n"})
    found = await both_searches(tmp_path)[engine].grep(SearchQuery("NEEDLE", context=1))
    before, match, after = found.rows
    assert (before.text, after.text) == ("before", "after")
    assert "aaNEEDLEbb" in match.preview
    assert len(match.preview) < 300
    assert match.text == line
    result = await call(tmp_path, "grep", pattern="NEEDLE", context=1)
    assert len(result.output) < 500
    assert result.shown[0].lines == ("before", line, "after")


@pytest.mark.parametrize("pattern", ["dist/app.js", "dist/*.js", "./dist/app.js", "dist/**"])
async def test_a_glob_that_names_an_ignored_path_finds_it(tmp_path: Path, pattern: str) -> None:
    """B090"""
    write_tree(tmp_path, {".gitignore": "dist/\n", "dist/app.js": "x", "src/app.js": "x"})
    assert (await call(tmp_path, "glob", pattern=pattern)).output == "dist/app.js"


async def test_a_glob_that_finds_nothing_says_that_ignored_files_are_skipped(tmp_path: Path) -> None:
    """B090"""
    write_tree(tmp_path, {".gitignore": "dist/\n", "dist/app.js": "x"})
    output = (await call(tmp_path, "glob", pattern="*.js")).output
    assert "ignored" in output
    assert "app.js" not in output


async def test_both_engines_skip_the_same_files(tmp_path: Path) -> None:
    """B091: without a .gitignore nothing but hidden files is left out, by either engine."""
    write_tree(
        tmp_path, {"node_modules/p/j.py": "hit\n", "a.py": "hit\n", ".hidden/b.py": "hit\n", "c.bin": b"hit\n\0"}
    )
    for search in both_searches(tmp_path):
        assert (await search.files_with(SearchQuery("hit"))).paths == ["a.py", "node_modules/p/j.py"]
        assert await search.list_files() == ["a.py", "c.bin", "node_modules/p/j.py"]


@pytest.mark.parametrize("engine", [0, 1], ids=["ripgrep", "python"])
async def test_nested_ignore_files_and_negations_are_understood(tmp_path: Path, engine: int) -> None:
    """B092"""
    write_tree(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\nout/*\n!out/keep.txt\n",
            "a.log": "hit\n",
            "sub/.gitignore": "!keep.log\n",
            "sub/keep.log": "hit\n",
            "sub/other.log": "hit\n",
            "sub/deep/keep.log": "hit\n",
            "build/x.py": "hit\n",
            "build/x.log": "hit\n",
            "build/in/y.py": "hit\n",
            "out/keep.txt": "hit\n",
            "out/z.txt": "hit\n",
        },
    )
    search = both_searches(tmp_path)[engine]
    kept = ["sub/deep/keep.log", "sub/keep.log"]
    assert (await search.files_with(SearchQuery("hit"))).paths == ["out/keep.txt", *kept]
    assert (await search.files_with(SearchQuery("hit", under=("sub",)))).paths == kept
    assert (await search.files_with(SearchQuery("hit", under=("sub/deep",)))).paths == ["sub/deep/keep.log"]
    assert (await search.files_with(SearchQuery("hit", under=("a.log", "sub")))).paths == ["a.log", *kept]
    assert (await search.files_with(SearchQuery("hit", under=("build",)))).paths == [
        "build/in/y.py",
        "build/x.log",
        "build/x.py",
    ]
    assert (await search.files_with(SearchQuery("hit", under=("build/in",)))).paths == ["build/in/y.py"]
    assert (await search.files_with(SearchQuery("hit", under=("out",)))).paths == ["out/keep.txt", "out/z.txt"]


@pytest.mark.parametrize("engine", [0, 1], ids=["ripgrep", "python"])
async def test_a_glob_narrows_and_never_brings_back_ignored_files(tmp_path: Path, engine: int) -> None:
    write_tree(
        tmp_path,
        {".gitignore": "gen.py\nnode_modules\n", "a.py": "x", "gen.py": "x", ".h.py": "x", "node_modules/b.py": "x"},
    )
    search = both_searches(tmp_path)[engine]
    for glob in ("*.py", "**/*.py", "**", "*", "[a-z]*.py"):
        assert await search.list_files(".", (glob,)) == ["a.py"]
        assert (await search.files_with(SearchQuery("x", globs=(glob,)))).paths == ["a.py"]


async def test_strange_file_names_are_shown_once_and_can_be_used_again(tmp_path: Path) -> None:
    """B094"""
    for name in (b"caf\xe9.txt", b"a\nb.txt"):
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text("hit\n")  # noqa: PTH118  # bytes
    shown = ["a\\nb.txt", "caf\\xe9.txt"]
    for search in both_searches(tmp_path):
        assert await search.list_files() == shown
        assert (await search.files_with(SearchQuery("hit"))).paths == shown
        assert [row.path for row in (await search.grep(SearchQuery("hit"))).rows] == shown
    for tool, arguments in (("glob", {"pattern": "*.txt"}), ("grep", {"pattern": "hit"}), ("list_files", {})):
        output = (await call(tmp_path, tool, **arguments)).output
        assert json.loads(json.dumps(output).encode()) == output
        assert all(output.count(name) == 1 for name in shown)
    for path in shown:
        assert (await call(tmp_path, "read_file", path=path)).shown[0].path == path
        assert "1 match" in (await call(tmp_path, "grep", pattern="hit", path=path)).output
