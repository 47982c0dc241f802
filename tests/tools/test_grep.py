from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from orchestrator.tool import Shown
from tests.support.read_only_tools import call, write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path,
        {
            "a.py": "def needle():\n    pass\n\n\nneedle()\n",
            "src/b.ts": "// Needle\nneedles\n",
            ".hidden/c.py": "needle\n",
            "ignored.py": "needle\n",
            ".gitignore": "ignored.py\n",
            "d.bin": b"needle\0",
        },
    )


async def test_matches_are_grouped_by_file_and_counted(root: Path) -> None:
    result = await call(root, "grep", pattern="needle")
    assert result.output == ("a.py\n  1: def needle():\n  5: needle()\nsrc/b.ts\n  2: needles\n[3 matches in 2 files]")
    assert result.display == "needle: 3 matches in 2 files"


async def test_every_line_is_recorded_as_shown_with_neighbours_joined(root: Path) -> None:
    result = await call(root, "grep", pattern="needle", context=1)
    assert "  1: def needle():\n  2-     pass\n  4- \n  5: needle()" in result.output
    assert result.shown == (
        Shown("a.py", 1, ("def needle():", "    pass")),
        Shown("a.py", 4, ("", "needle()")),
        Shown("src/b.ts", 1, ("// Needle", "needles")),
    )


@pytest.mark.parametrize(
    ("arguments", "amount"),
    [
        ({"pattern": "needle", "word": True}, "2 matches in 1 file"),
        ({"pattern": "NEEDLE", "ignore_case": True}, "4 matches in 2 files"),
        ({"pattern": "needle()", "literal": True}, "2 matches in 1 file"),
        ({"pattern": "^needle"}, "2 matches in 2 files"),
        ({"pattern": "needle", "path": "src"}, "1 match in 1 file"),
        ({"pattern": "needle", "path": "a.py"}, "2 matches in 1 file"),
        ({"pattern": "needle", "glob": "*.py"}, "2 matches in 1 file"),
        ({"pattern": "needle", "glob": "src/**/*.{js,ts}"}, "1 match in 1 file"),
        ({"pattern": "needle", "glob": "!src/"}, "2 matches in 1 file"),
        ({"pattern": "needle", "hidden": True}, "4 matches in 3 files"),
        ({"pattern": "needle", "path": "ignored.py"}, "1 match in 1 file"),
        ({"pattern": "needle", "path": ".hidden"}, "1 match in 1 file"),
    ],
)
async def test_each_argument_has_its_effect(root: Path, arguments: dict[str, object], amount: str) -> None:
    result = await call(root, "grep", **arguments)
    assert f"[{amount}]" in result.output


@pytest.mark.parametrize("pattern", ["-needle", "--files", "-e", "--pre=cat"])
async def test_a_pattern_that_begins_with_a_dash_is_a_pattern(tmp_path: Path, pattern: str) -> None:
    write_tree(tmp_path, {"a.txt": f"x {pattern} y\n"})
    assert f"  1: x {pattern} y" in (await call(tmp_path, "grep", pattern=pattern)).output


async def test_an_invalid_pattern_is_explained_with_a_way_out(root: Path) -> None:
    with pytest.raises(ToolError) as caught:
        await call(root, "grep", pattern="foo(")
    assert caught.value.code == "invalid_regex"
    assert "unclosed group" in caught.value.message
    assert "literal" in caught.value.message
    assert caught.value.context == {"pattern": "foo("}


async def test_no_match_says_what_was_not_searched(root: Path) -> None:
    result = await call(root, "grep", pattern="absent")
    assert result.output == "[no matches; ignored, hidden, binary and secrets files are not searched]"
    binary = await call(root, "grep", pattern="needle", path="d.bin")
    assert "[d.bin is binary and was not searched]" in binary.output


async def test_what_the_limit_leaves_out_is_counted(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{name}.txt": "hit\n" * 50 for name in "abc"})
    result = await call(tmp_path, "grep", pattern="hit", limit=8)
    assert result.output.count("hit") == 6
    assert "[showing 6 of 150 matches in 3 files, at most 2 a file; narrow" in result.output
    one = await call(tmp_path, "grep", pattern="hit", limit=8, path="a.txt")
    assert one.output.count("hit") == 8


async def test_a_huge_result_stays_within_the_output_of_a_tool_and_its_record(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{name:03}.txt": ("hit " + "x" * 200 + "\n") * 10 for name in range(100)})
    result = await call(tmp_path, "grep", pattern="hit", limit=1000)
    assert len(result.output) < 50_000
    shown = sum(len(part.lines) for part in result.shown)
    assert f"[showing {shown} of 1,000 matches" in result.output
