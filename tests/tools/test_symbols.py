"""`symbols`: the outline that a model (and the scout) reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from orchestrator.tool import Shown
from tests.support.code_index import run_tool
from tests.support.read_only_tools import write_tree

TREE: dict[str, str | bytes] = {
    "a.py": (
        "class Session(Base):\n"
        '    """Keeps a connection open."""\n'
        "\n"
        "    def send(\n"
        "        self, request: int | None\n"
        "    ):\n"
        "        def inner():\n"
        "            deep()\n"
        "        return self.wire.write(request)\n"
        "\n"
        "start(1)\n"
    ),
    "b.go": "package b\n\n// Send sends.\nfunc Send() { write(1) }\n",
    "notes.md": "# Notes\n\nText.\n",
}


async def text_of(root: Path, **arguments: object) -> str:
    return (await run_tool(root, "symbols", **arguments)).output


async def test_an_outline_has_span_kind_name_signature_and_documentation(tmp_path: Path) -> None:
    result = await run_tool(write_tree(tmp_path, TREE), "symbols")
    assert result.output == (
        "a.py\n"
        "  1-9 class Session | class Session(Base): | Keeps a connection open.\n"
        "  4-9 method Session.send | def send( self, request: int|None ):\n"
        "  7-8 function Session.send.inner | def inner():\n"
        "b.go\n"
        "  4-4 function Send | func Send() | Send sends."
    )
    assert result.display == "4 symbols in 2 files"
    assert {(shown.path, shown.first): shown.lines for shown in result.shown} == {
        ("a.py", 1): ("class Session(Base):",),
        ("a.py", 2): ('    """Keeps a connection open."""',),
        ("a.py", 4): ("    def send(",),
        ("a.py", 5): ("        self, request: int | None",),
        ("a.py", 6): ("    ):",),
        ("a.py", 7): ("        def inner():",),
        ("b.go", 3): ("// Send sends.",),
        ("b.go", 4): ("func Send() { write(1) }",),
    }


async def test_calls_stand_under_the_innermost_symbol_that_makes_them(tmp_path: Path) -> None:
    result = await run_tool(write_tree(tmp_path, TREE), "symbols", path="a.py", calls=True)
    assert result.output == (
        "a.py\n"
        "  1-9 class Session | class Session(Base): | Keeps a connection open.\n"
        "  4-9 method Session.send | def send( self, request: int|None ):\n"
        "    9 calls self.wire.write | return self.wire.write(request)\n"
        "  7-8 function Session.send.inner | def inner():\n"
        "    8 calls deep | deep()"
    )
    assert Shown("a.py", 9, ("        return self.wire.write(request)",)) in result.shown
    only = await text_of(tmp_path, name="send", calls=True)
    assert [line.split(" |")[0] for line in only.split("\n")] == [
        "a.py",
        "  4-9 method Session.send",
        "    8 calls deep",
        "    9 calls self.wire.write",
    ]


async def test_by_name(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    assert (await text_of(tmp_path, name="Session.send")).startswith("a.py\n  4-9 method Session.send | ")
    assert (await text_of(tmp_path, name="*end")).count("\n") == 3
    assert await text_of(tmp_path, name="gone") == (
        "no symbols called gone in .; find_references finds names that are used, grep finds text"
    )


async def test_a_page_says_where_the_next_one_begins(tmp_path: Path) -> None:
    write_tree(tmp_path, {f"m{number:03}.py": "def a(): pass\n" for number in range(200)})
    first = await text_of(tmp_path, limit=3)
    assert first.endswith(
        "m002.py\n  1-1 function a | def a():\n"
        "[rows 1-3 of 64; next: offset=3]\nnote: 136 more files were not read to count further"
    )
    last = await text_of(tmp_path, limit=5, offset=195)
    assert last.startswith("m195.py\n") and last.endswith("m199.py\n  1-1 function a | def a():")
    assert await text_of(tmp_path, offset=300) == "[200 rows; offset=300 is behind the last]"


async def test_headings_are_given_for_a_document_that_is_asked_for(tmp_path: Path) -> None:
    assert await text_of(write_tree(tmp_path, TREE), path="notes.md") == "notes.md\n  1-1 section notes | Notes"


async def test_a_path_that_is_not_there_is_an_error_for_the_model(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as error:
        await run_tool(tmp_path, "symbols", path="gone")
    assert error.value.code == "not_found"
