from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from orchestrator.tool import Shown
from tests.support.read_only_tools import call, write_tree


async def test_lines_are_numbered_and_recorded_as_shown(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "import os\r\n\r\n\tx = 1"})
    result = await call(tmp_path, "read_file", path="a.py")
    assert result.output == "1\timport os\n2\t\n3\t\tx = 1"
    assert result.shown == (Shown("a.py", 1, ("import os", "", "\tx = 1")),)


async def test_a_part_says_what_is_left_and_how_to_go_on(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "".join(f"line {number}\n" for number in range(1, 11))})
    result = await call(tmp_path, "read_file", path="a.txt", offset=4, limit=2)
    assert result.output == "4\tline 4\n5\tline 5\n[lines 4-5 of 10; go on with offset=6]"
    assert result.shown == (Shown("a.txt", 4, ("line 4", "line 5")),)
    assert (await call(tmp_path, "read_file", path="a.txt", offset=10)).output == "10\tline 10"


async def test_at_most_two_thousand_lines_are_read_at_once(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "x\n" * 5321})
    result = await call(tmp_path, "read_file", path="a.txt", limit=100_000)
    assert result.output.endswith("2000\tx\n[lines 1-2000 of 5321; go on with offset=2001]")


async def test_at_most_fifty_kilobytes_are_read_at_once(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": ("é" * 500 + "\n") * 200})
    result = await call(tmp_path, "read_file", path="a.txt")
    assert 48_000 < len(result.output.encode()) < 50_100
    (shown,) = result.shown
    assert f"[lines 1-{len(shown.lines)} of 200;" in result.output


async def test_an_over_long_line_is_cut_with_a_mark_but_recorded_whole(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.js": "x" * 1_000_000 + "\nend\n"})
    result = await call(tmp_path, "read_file", path="a.js")
    assert "… [998,000 more characters; grep shows the part around a match]\n2\tend" in result.output
    assert result.shown[0].lines == ("x" * 1_000_000, "end")


async def test_an_empty_file_and_an_offset_past_the_end_are_told_apart(tmp_path: Path) -> None:
    write_tree(tmp_path, {"empty": "", "a.txt": "one\n"})
    assert (await call(tmp_path, "read_file", path="empty")).output == "[the file is empty]"
    with pytest.raises(ToolError, match=r"a\.txt ends at line 1") as caught:
        await call(tmp_path, "read_file", path="a.txt", offset=2)
    assert caught.value.code == "past_end"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
async def test_other_encodings_are_read_without_their_marks(tmp_path: Path, encoding: str) -> None:
    write_tree(tmp_path, {"a.txt": "Grüße\nzwei\n".encode(encoding)})
    assert (await call(tmp_path, "read_file", path="a.txt")).output == "1\tGrüße\n2\tzwei"
