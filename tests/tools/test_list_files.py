from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from tests.support.read_only_tools import call, write_tree


async def test_a_small_project_is_shown_whole(tmp_path: Path) -> None:
    write_tree(tmp_path, {"README.md": "", "src/a.py": "", "src/in/b.py": "", "src-x/c.py": ""})
    assert (await call(tmp_path, "list_files")).output == (
        "./\n  README.md\n  src-x/\n    c.py\n  src/\n    a.py\n    in/\n      b.py"
    )


async def test_a_big_project_is_shown_as_deep_as_fits(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"src/d{folder}/{file}.py": "" for folder in range(3) for file in range(100)})
    assert (await call(tmp_path, "list_files")).output == (
        "./\n  src/\n    d0/ (100 files)\n    d1/ (100 files)\n    d2/ (100 files)"
    )
    assert "99.py" in (await call(tmp_path, "list_files", path="src/d1")).output


async def test_the_depth_can_be_chosen(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/b/c.py": "", "x.py": ""})
    assert (await call(tmp_path, "list_files", depth=1)).output == "./\n  a/ (1 file)\n  x.py"


async def test_a_folder_with_too_many_files_says_how_many_are_left_out(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"{number:04}": "" for number in range(250)})
    output = (await call(tmp_path, "list_files")).output
    assert output.count("\n") == 201
    assert output.endswith("[50 more entries; list a folder in it, or use glob]")


async def test_what_is_not_listed_is_named(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "", ".gitignore": "build/\n", "build/x": "", ".git/config": "", ".env": ""})
    (tmp_path / "empty").mkdir()
    output = (await call(tmp_path, "list_files")).output
    assert output == (
        "./\n  a.py\n[not listed, being ignored, hidden, empty or links: .env, .git/, .gitignore, build/, empty/]"
    )
    assert "  .env\n" in (await call(tmp_path, "list_files", hidden=True)).output
    assert (await call(tmp_path, "list_files", path="build")).output == "build/\n  x"


async def test_a_file_is_no_folder(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": ""})
    with pytest.raises(ToolError) as caught:
        await call(tmp_path, "list_files", path="a.py")
    assert caught.value.code == "not_directory"
    with pytest.raises(ToolError) as caught:
        await call(tmp_path, "list_files", path="b")
    assert caught.value.code == "not_found"
