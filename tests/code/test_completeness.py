"""Nothing is missed and nothing comes twice: the rows are exactly the whole-word matches of the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.code.occurrences import occurrences_in
from tests.support.code_index import open_code
from tests.support.read_only_tools import write_tree

NAME = "key"
STRICT = ("a.py", "a.js", "a.ts", "a.tsx", "a.go", "a.rs", "A.java", "a.c", "a.cpp", "a.cs", "a.md", "a.json", "a.kt")
SIGIL = ("a.sh", "a.rb", "a.php", "Makefile")
PIECES = st.sampled_from(
    [
        *("key", "key", "key", "keys", "_key", "$key", "#key", "key2", "é", "ключ", "😀", "\t", " ", " ", "\r\n", "\n"),
        *("(", ")", "{", "}", "[", "]", "<", ">", ".", "->", "::", ":", ";", ",", "=", "==", "+", "*", "&", "?", "!"),
        *('"', "'", "`", '"""', "/*", "*/", "//", "# ", "/**", "<<END\n", "\nEND\n", "${", "#{", "<?php ", "@", "\\"),
        *("def ", "class ", "function ", "import ", "from ", "fn ", "let ", "const ", "struct ", "return ", "end\n"),
    ]
)


def lines_and_columns(text: str, pattern: str) -> list[tuple[int, int]]:
    return [
        (number, found.start() + 1)
        for number, line in enumerate(text.split("\n"), 1)
        for found in re.finditer(pattern, line)
    ]


@given(st.lists(PIECES, max_size=60).map("".join))
@settings(max_examples=60, deadline=None)
def test_every_whole_word_is_a_row_exactly_once(text: str) -> None:
    for paths, pattern in ((STRICT, rf"(?<![\w$]){NAME}(?![\w$])"), (SIGIL, rf"(?<!\w){NAME}(?!\w)")):
        expected = lines_and_columns(text, pattern)
        for path in paths:
            places = occurrences_in(path, text.encode(), NAME).places
            assert [(place.line, place.column) for place in places] == expected, path
            assert all(place.text[place.column - 1 :].startswith(NAME) for place in places), path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_the_encoding_of_a_file_does_not_matter(encoding: str) -> None:
    text = "# é\r\ndef key():\r\n\treturn 'é', key(1)\r\n"
    places = occurrences_in("a.py", text.encode(encoding), "key").places
    assert [(p.line, p.column, p.kind, p.text) for p in places] == [
        (2, 5, "definition", "def key():"),
        (3, 14, "call", "\treturn 'é', key(1)"),
    ]


async def test_a_workspace_gives_the_same_lines_as_reading_every_file(tmp_path: Path) -> None:
    content: dict[str, str | bytes] = {
        "a.py": "key = 1\nkeys = key\n",
        "b/c.js": "call(key);\n// monkey\n",
        "d.txt": "a key\nturkey\n",
        "e.unknown": "key key\n",
    }
    write_tree(tmp_path, content)
    found = await open_code(tmp_path).occurrences("key")
    expected = {
        (name, line)
        for name, text in content.items()
        for line, _ in lines_and_columns(str(text), r"(?<![\w$])key(?![\w$])")
    }
    assert {(row.path, row.line) for row in found.rows} == expected
    assert [(row.path, row.line) for row in found.rows] == sorted((row.path, row.line) for row in found.rows)
