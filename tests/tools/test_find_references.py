"""`find_references`: the text that a model (and the scout) reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from orchestrator.tool import Shown
from orchestrator.toolbox import json_schema
from tests.support.code_index import run_tool
from tests.support.read_only_tools import load_tool, write_tree

TREE: dict[str, str | bytes] = {
    "src/a.py": (
        "from auth import legacy_auth\n\nclass Session:\n    def legacy_auth(self, user):\n"
        "        return legacy_auth(user), legacy_auth(2)  # legacy_auth\n"
    ),
    "docs/x.md": "call `legacy_auth` first\n",
    "z.py": "def other(): pass\n",
}


async def text_of(root: Path, **arguments: object) -> str:
    return (await run_tool(root, "find_references", **arguments)).output


async def test_places_are_grouped_by_file_with_kind_scope_and_line(tmp_path: Path) -> None:
    result = await run_tool(write_tree(tmp_path, TREE), "find_references", name="legacy_auth")
    assert result.output == (
        "legacy_auth: 5 places in 2 files: 1 definition, 1 import, 1 call, 1 comment, 1 doc\n"
        "docs/x.md\n"
        "  1 doc | call `legacy_auth` first\n"
        "src/a.py\n"
        "  1 import | from auth import legacy_auth\n"
        "  4 definition in Session | def legacy_auth(self, user):\n"
        "  5 call in Session.legacy_auth | return legacy_auth(user), legacy_auth(2)  # legacy_auth\n"
        "  5 comment in Session.legacy_auth | return legacy_auth(user), legacy_auth(2)  # legacy_auth"
    )
    assert result.display == result.output.split("\n", 1)[0]
    assert Shown("src/a.py", 4, ("    def legacy_auth(self, user):",)) in result.shown
    assert len(result.shown) == 5


async def test_a_page_says_where_the_next_one_begins(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "key(1)\n" * 30})
    first = await run_tool(tmp_path, "find_references", name="key", limit=20)
    assert first.output.endswith("\n  20 call | key(1)\n[rows 1-20 of 30; next: offset=20]")
    assert len(first.shown) == 20
    second = await text_of(tmp_path, name="key", limit=20, offset=20)
    assert second.startswith("key: 30 places in 1 file: 30 calls\na.py\n  21 call | key(1)\n")
    assert second.endswith("  30 call | key(1)")
    assert "[30 rows; offset=40 is behind the last]" in await text_of(tmp_path, name="key", offset=40)


async def test_only_some_kinds_or_files(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    calls = await text_of(tmp_path, name="legacy_auth", kinds=["call", "import"])
    assert calls.startswith("legacy_auth: 2 places in 1 file: 1 import, 1 call\nsrc/a.py\n")
    assert (await text_of(tmp_path, name="legacy_auth", glob="*.md")).startswith(
        "legacy_auth: 1 place in 1 file: 1 doc\n"
    )
    assert (await text_of(tmp_path, name="legacy_auth", path="docs")).startswith(
        "legacy_auth: 1 place in 1 file: 1 doc\n"
    )
    none = await text_of(tmp_path, name="legacy_auth", kinds=["string"])
    assert none.startswith("legacy_auth: none of these kinds; there are 5 places in 2 files: 1 definition,")


async def test_an_unknown_name_gets_the_ones_that_are_near(tmp_path: Path) -> None:
    result = await run_tool(write_tree(tmp_path, TREE), "find_references", name="legcy_auth")
    assert result.output == "legcy_auth: not found in 3 files\nnear: legacy_auth (src/a.py:4)"
    assert result.shown == ()
    assert await text_of(tmp_path, name="zzyzxw") == "zzyzxw: not found in 3 files"


async def test_a_long_line_is_cut_around_the_name_and_kept_whole_for_the_citation_check(tmp_path: Path) -> None:
    line = "x = '" + "a" * 500 + "', key, '" + "b" * 500 + "'"
    result = await run_tool(write_tree(tmp_path, {"a.py": line + "\n"}), "find_references", name="key")
    row = result.output.split("\n")[2]
    assert row.startswith("  1 reference | [") and row.endswith(" characters]")
    assert "a', key, 'b" in row and len(row) < 260
    assert result.shown == (Shown("a.py", 1, (line,)),)


async def test_a_path_cannot_be_taken_for_another_kind_of_line(tmp_path: Path) -> None:
    """B094: names with line breaks or leading blanks stay one line each."""
    write_tree(tmp_path, {" 1 call | x.py": "key()\n", "a\nb.py": "key()\n", "note: c.py": "key()\n"})
    output = await text_of(tmp_path, name="key")
    assert output.split("\n")[1:] == [
        "./ 1 call | x.py",
        "  1 call | key()",
        "a\\nb.py",
        "  1 call | key()",
        "./note: c.py",
        "  1 call | key()",
    ]


async def test_notes_say_what_was_left_out(tmp_path: Path) -> None:
    write_tree(tmp_path, {"node_modules/a.py": "key()\n", "b.min.js": "key(a);" * 300})
    output = await text_of(tmp_path, name="key")
    assert output.split("\n")[-2:] == [
        "note: 297 more places in very long lines, not listed: b.min.js (297)",
        "note: 1 place in vendored folders: node_modules",
    ]


async def test_errors_are_for_the_model(tmp_path: Path) -> None:
    for arguments, code in (({"name": " "}, "invalid_name"), ({"name": "key", "path": "gone"}, "not_found")):
        with pytest.raises(ToolError) as error:
            await run_tool(tmp_path, "find_references", **arguments)
        assert error.value.code == code


def test_both_code_tools_cost_little_in_every_request() -> None:
    tools = [load_tool(name) for name in ("find_references", "symbols")]
    told = [
        {"name": tool.name, "description": tool.description, "parameters": json_schema(tool.args)} for tool in tools
    ]
    assert sum(len(json.dumps(each, separators=(",", ":"))) for each in told) <= 1300
    assert all(tool.read_only and tool.eager and tool.max_output >= 600_000 for tool in tools)
