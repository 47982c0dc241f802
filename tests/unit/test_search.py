"""The search service on its own: finding ripgrep, limits, processes that end, what a workspace cannot influence."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from orchestrator.search import PythonSearch, RipgrepSearch, find_ripgrep, open_search
from orchestrator.tool import SearchQuery
from orchestrator.workspace import WorkspaceFiles
from tests.support.read_only_tools import both_searches, ripgrep_search, write_tree


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_the_ripgrep_that_was_installed_with_orch_is_found_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "rg", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_ripgrep()
    assert found is not None
    assert found.parent != tmp_path


def test_a_ripgrep_inside_the_workspace_or_on_a_relative_path_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "w"
    program(workspace / "bin" / "rg", "exit 1")
    program(tmp_path / "elsewhere" / "rg", "exit 1")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "no-environment"))
    monkeypatch.setattr("sys.path", [])  # the package's own record is not found either
    monkeypatch.chdir(workspace)
    monkeypatch.setenv("PATH", os.pathsep.join(["bin", ".", "", str(workspace / "bin")]))
    assert find_ripgrep(workspace) is None
    monkeypatch.setenv("PATH", os.pathsep.join([str(workspace / "bin"), str(tmp_path / "elsewhere")]))
    assert find_ripgrep(workspace) == tmp_path / "elsewhere" / "rg"


def test_without_ripgrep_the_python_engine_is_used(tmp_path: Path) -> None:
    files = WorkspaceFiles(tmp_path)
    assert isinstance(open_search(files, ripgrep=None), PythonSearch)
    assert isinstance(open_search(files, ripgrep=Path("/usr/bin/rg")), RipgrepSearch)


async def test_both_engines_answer_as_processes(tmp_path: Path) -> None:
    write_tree(
        tmp_path, {"a.py": "one\nneedle two\n", "b/c.py": "Needle\n", "b/.gitignore": "d.py\n", "b/d.py": "needle\n"}
    )
    for search in both_searches(tmp_path):
        found = await search.grep(SearchQuery("needle", ignore_case=True))
        assert [(row.path, row.line, row.text) for row in found.rows] == [
            ("a.py", 2, "needle two"),
            ("b/c.py", 1, "Needle"),
        ]
        assert (found.total, found.files) == (2, 2)
        assert (await search.files_with(SearchQuery("needle"))).paths == ["a.py"]
        assert await search.list_files("b") == ["b/c.py"]
        with pytest.raises(ToolError) as caught:
            await search.grep(SearchQuery("(needle"))
        assert caught.value.code == "invalid_regex"
        assert "unclosed group" in caught.value.message


async def test_totals_count_what_the_limits_cut(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"f{number}.txt": "hit\n" * 10 for number in range(10)})
    for search in both_searches(tmp_path):
        found = await search.grep(SearchQuery("hit", per_file=3, limit=8))
        shown = [(row.path, row.line) for row in found.rows]
        assert shown == [*((f, line) for f in ("f0.txt", "f1.txt") for line in (1, 2, 3)), ("f2.txt", 1), ("f2.txt", 2)]
        assert (found.total, found.files) == (100, 10)


async def test_context_stops_with_the_last_match_that_is_shown(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "1\nhit 2\n3\nhit 4\nhit 5\n6\n7\n"})
    for search in both_searches(tmp_path):
        found = await search.grep(SearchQuery("hit", context=1, per_file=2))
        assert [(row.line, row.is_context) for row in found.rows] == [
            (1, True), (2, False), (3, True), (4, False), (5, True),
        ]  # fmt: skip


async def test_several_thousand_files_can_be_fetched_at_once(tmp_path: Path) -> None:
    """More paths than fit on one command line of the engine."""
    folder = tmp_path / ("d" * 200)
    folder.mkdir()
    for number in range(1500):
        (folder / f"{number:04}.txt").write_text("hit\n")
    found = await ripgrep_search(tmp_path).grep(SearchQuery("hit", limit=5000))
    assert len(found.rows) == found.total == 1500


async def test_lines_of_megabytes_do_not_fill_the_memory(tmp_path: Path) -> None:
    write_tree(tmp_path, {"bundle.js": "x" * 3_000_000 + "needle" + "y" * 3_000_000 + "\n"})
    for search in both_searches(tmp_path):
        (row,) = (await search.grep(SearchQuery("needle"))).rows
        assert len(row.text) == 20_000
        assert "needle" in row.text
        assert "needle" in row.preview


@pytest.mark.parametrize("variable", ["RIPGREP_CONFIG_PATH", "PATH", "HOME", "XDG_CONFIG_HOME"])
async def test_the_environment_does_not_change_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    write_tree(tmp_path / "w", {"a.py": "needle\n", ".ignore": "a.py\n", ".rgignore": "a.py\n"})
    write_tree(tmp_path, {"home/git/ignore": "a.py\n", "home/.gitconfig": "", ".gitignore": "a.py\n"})
    config = tmp_path / "home" / "config"
    config.write_text("--glob=!*.py\n")
    monkeypatch.setenv(variable, str(config if variable == "RIPGREP_CONFIG_PATH" else tmp_path / "home"))
    for search in both_searches(tmp_path / "w"):
        assert (await search.files_with(SearchQuery("needle"))).paths == ["a.py"]


async def test_code_in_the_workspace_is_not_imported_by_the_python_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "raise SystemExit('hostile code ran')\n"
    write_tree(tmp_path, {"json.py": hostile, "orchestrator/__init__.py": hostile, "sitecustomize.py": hostile})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert len((await PythonSearch(WorkspaceFiles(tmp_path)).files_with(SearchQuery("hostile"))).paths) == 3


async def test_the_engine_is_killed_and_reaped_when_the_search_is_cancelled(tmp_path: Path) -> None:
    started = tmp_path / "pid"
    slow = program(tmp_path / "rg", f"echo $$ > {started}.new; mv {started}.new {started}; exec sleep 600")
    (tmp_path / "w").mkdir()
    search = RipgrepSearch(WorkspaceFiles(tmp_path / "w"), slow)
    task = asyncio.create_task(search.grep(SearchQuery("x")))
    while not started.exists():  # noqa: ASYNC110  # a file is all that the other process can give
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


async def test_a_pattern_that_never_ends_is_stopped(tmp_path: Path) -> None:
    """Python's engine backtracks; it runs in a process of its own so that it can be killed."""
    write_tree(tmp_path, {"a.txt": "a" * 60 + "!\n"})
    with pytest.raises(ToolError) as caught:
        await PythonSearch(WorkspaceFiles(tmp_path), time_limit=1.0).grep(SearchQuery("(a|a)*b"))
    assert caught.value.code == "timeout"
    assert "narrow" in caught.value.message


async def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        await RipgrepSearch(WorkspaceFiles(tmp_path), tmp_path / "no-such-rg").grep(SearchQuery("x"))
    assert caught.value.code == "search_failed"
    assert "no-such-rg" in caught.value.message


async def test_a_crash_of_the_engine_is_not_taken_for_no_result(tmp_path: Path) -> None:
    search = RipgrepSearch(WorkspaceFiles(tmp_path), program(tmp_path / "rg", "kill -SEGV $$"))
    with pytest.raises(RuntimeError, match="search engine failed"):
        await search.grep(SearchQuery("x"))


async def test_a_gitignore_that_is_a_pipe_does_not_hang_a_search(tmp_path: Path) -> None:
    """B081"""
    os.mkfifo(tmp_path / ".gitignore")
    for search in both_searches(tmp_path):
        with pytest.raises(ToolError, match="named pipe"):
            await search.list_files()


async def test_impossible_patterns_are_refused(tmp_path: Path) -> None:
    for search in both_searches(tmp_path):
        for pattern in ("a\0b", "\ud835", "a\nb", r"a\nb"):
            with pytest.raises(ToolError) as caught:
                await search.grep(SearchQuery(pattern))
            assert caught.value.code == "invalid_regex"
        with pytest.raises(ToolError) as caught:
            await search.grep(SearchQuery("x", globs=("[a",)))
        assert caught.value.code == "invalid_glob"


@pytest.mark.parametrize("pattern", [r"\pL", "[a&&b]", "(?x) a", "[a[b]]", "(?-u:a)"])
async def test_what_only_ripgrep_can_search_is_refused_clearly_by_the_python_engine(
    tmp_path: Path, pattern: str
) -> None:
    write_tree(tmp_path, {"a.txt": "a\n"})
    rg, python = both_searches(tmp_path)
    await rg.grep(SearchQuery(pattern))
    with pytest.raises(ToolError, match="not supported by the built-in search"):
        await python.grep(SearchQuery(pattern))
