"""Files that are broken, huge, minified, deeply nested, or no code at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.code.calls import calls_in
from orchestrator.code.occurrences import occurrences_in
from orchestrator.code.outline import symbols_in
from tests.support.code_index import kinds, open_code
from tests.support.read_only_tools import write_tree


def test_what_stands_around_an_error_is_still_told_apart() -> None:
    source = "import login\ndef ok():\n    return login(2)\n\nlogin(1\n# login\nx = a.login )\n\ndef login(: pass\n"
    assert kinds("a.py", source, "login") == [
        "1 import",
        "3 call in ok",
        "5 call",
        "6 comment",
        "7 attribute",
        "9 definition",
    ]


def test_a_file_over_a_megabyte_is_read_by_words() -> None:
    source = "x = 1\n" * 170_000 + "def login(): pass\nlogin(2)\n"
    found = occurrences_in("a.py", source.encode(), "login")
    assert found.how == "words"
    assert [(place.line, place.kind) for place in found.places] == [(170_001, "definition"), (170_002, "call")]


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.json", "A.java", "a.rb", "a.md"])
def test_deep_nesting_is_no_problem(path: str) -> None:
    source = "".join(f"call{at}(" for at in range(5_000)) + "login" + "".join(f", {at})" for at in range(5_000))
    assert len(kinds(path, source, "login")) == 1
    assert len(kinds(path, source, "call17")) == 1
    symbols_in(path, source.encode())
    assert len(calls_in(path, source.encode())) == (5_000 if path in ("a.py", "a.js", "A.java", "a.rb") else 0)


@pytest.mark.parametrize("path", ["A.java", "a.cs", "a.cpp"])
def test_text_that_would_choke_the_parser_is_read_by_words(path: str) -> None:
    """A parser that keeps every reading of `a<a<a<` open needs gigabytes for this."""
    source = "a<" * 25_000 + "\nlogin(1)\n"
    assert kinds(path, source, "login")[-1].startswith("2 call")


def test_a_minified_line_gives_a_few_rows_and_counts_the_rest() -> None:
    source = "var a=1;" + "login(a);" * 400 + "\nlogin(a);\n"
    found = occurrences_in("a.min.js", source.encode(), "login")
    assert [(place.line, place.kind) for place in found.places] == [(1, "call")] * 3 + [(2, "call")]
    assert found.hidden == 397
    first = found.places[0]
    assert first.text == source.partition("\n")[0]
    assert first.preview.startswith("var a=1;login(a);")
    assert len(first.preview) < 250 and first.preview.endswith("characters]")


def test_binary_data_is_told_apart() -> None:
    assert occurrences_in("a.py", b"login\0\1\2\3" * 50, "login").how == "binary"
    assert symbols_in("a.py", b"\0\1\2\3" * 50) == ()


def test_an_empty_file_has_nothing() -> None:
    assert occurrences_in("a.py", b"", "login").places == ()
    assert symbols_in("a.py", b"") == ()


NOTEBOOK = r"""{
 "cells": [
  {"cell_type": "markdown", "source": ["# login\n", "see `login`"]},
  {
   "cell_type": "code",
   "outputs": [{"text": ["login done"]}],
   "source": [
    "%time login()\n",
    "from auth import login\n",
    "def helper():\n",
    "\treturn login(\"login\")  # login\n"
   ]
  },
  {"source": "import os\nlogin = 1\n\tlogin.x", "cell_type": "code"}
 ],
 "metadata": {"kernelspec": {"language": "python"}}
}
"""


def test_a_notebook_is_read_by_cells_and_cited_by_the_lines_of_the_file() -> None:
    assert kinds("a.ipynb", NOTEBOOK, "login") == [
        "3 doc in cell1:1",
        "3 doc in cell1:2",
        "6 other",
        "8 call in cell2:1",
        "9 import in cell2:2",
        "11 call in cell2:4.helper",
        "11 string in cell2:4.helper",
        "11 comment in cell2:4.helper",
        "14 definition in cell3:2",
        "14 reference in cell3:3",
    ]
    for place in occurrences_in("a.ipynb", NOTEBOOK.encode(), "login").places:
        assert place.text == NOTEBOOK.split("\n")[place.line - 1]
    symbols = symbols_in("a.ipynb", NOTEBOOK.encode())
    assert [(symbol.qualified, symbol.line, symbol.end_line) for symbol in symbols] == [
        ("helper", 10, 11),
        ("login", 14, 14),
    ]


def test_a_notebook_in_a_language_without_a_grammar_is_read_by_words() -> None:
    source = NOTEBOOK.replace('"python"', '"R"')
    assert "8 call in cell2:1" in kinds("a.ipynb", source, "login")
    assert symbols_in("a.ipynb", source.encode()) == ()


async def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "a.py": "login()\n",
            "app.min.js": "login(a);" * 200,
            "big.py": "x = 1\n" * 170_000 + "login()\n",
            "vendor/b.py": "login()\n",
            "huge.txt": "login\n" + "x" * 20_000_001,
        },
    )
    (tmp_path / "linked").symlink_to(tmp_path / "vendor")
    found = await open_code(tmp_path).occurrences("login")
    assert [row.path for row in found.rows] == ["a.py", *["app.min.js"] * 3, "big.py", "vendor/b.py"]
    assert found.notes == (
        "1 file over 20 MB skipped",
        "197 more places in very long lines, not listed: app.min.js (197)",
        "kinds guessed from single lines in 1 file that could not be parsed: big.py",
        "1 place in vendored folders: vendor",
    )
