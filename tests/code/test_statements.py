"""Python is parsed only where a name stands: the same kinds and scopes as from the whole file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.code import occurrences
from orchestrator.code.occurrences import FileOccurrences, occurrences_in
from orchestrator.code.statements import statements_with

PIECES = (
    "import os\n",
    "from a import (\nkey,\n    other,\n)\n",
    "from a import b, \\\nkey\n",
    '"""A text\nfrom here import key\ndef key(): not code\n"""\n',
    "'''\nclass key: \"\"\"\n'''\n",
    "# don't\n",
    'x = "it\'s" + \'"\' + """a""" + r"\\"\n',
    "x = f\"{y['a']} # {key}\"\n",
    "@key\n@other(key)\nclass A(key):\n    def key(self):\n        return self.key()\n",
    "try:\n    import key\nexcept ImportError:\n    key = None\nelse:\n    key()\nfinally:\n    pass\n",
    "if x:\n    key = 1\nelif key:\n    pass\nelse:\n    key()\n",
    "async def run():\n    '''key'''\n    async with key as x: await key(x)\n",
    "with key() as x:\n    pass\n",
    "x = [\nkey\nfor y in z\nif key\n]\n",
    "def broken(:\n",
    "x = 'does not end\n",
    "key = 1\nkey\nkey()\n\n\n",
    "x = {\nkey: 1}\r\n",
    "é = 'ü'; key.é\n",
)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], FileOccurrences]:
    """The places of `key`, found by parsing the whole file."""

    def find(text: str) -> FileOccurrences:
        with monkeypatch.context() as patched:
            patched.setattr(occurrences, "WORTH_CUTTING", 10**9)
            return occurrences_in("m.py", text.encode(), "key")

    return find


def cut(text: str, monkeypatch: pytest.MonkeyPatch) -> FileOccurrences:
    with monkeypatch.context() as patched:
        patched.setattr(occurrences, "WORTH_CUTTING", 0)
        return occurrences_in("m.py", text.encode(), "key")


@pytest.mark.parametrize("piece", PIECES)
def test_each_statement_alone_and_among_others_is_read_the_same(
    piece: str, whole: Callable[[str], FileOccurrences], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (piece, f"import key\n{piece}key()\n", f"class B:\n    x = 1\n{piece}def end():\n    key\n"):
        assert cut(text, monkeypatch) == whole(text)


WELL_FORMED = [piece for piece in PIECES if "broken" not in piece and "does not end" not in piece]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(WELL_FORMED), max_size=8))
def test_any_well_formed_file_is_read_the_same(pieces: list[str]) -> None:
    text = "".join(pieces)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(occurrences, "WORTH_CUTTING", 10**9)
        alone = occurrences_in("m.py", text.encode(), "key")
    with pytest.MonkeyPatch.context() as patched:
        assert cut(text, patched) == alone


def test_only_the_statements_that_hold_a_place_are_kept() -> None:
    source = b"import a\ndef one():\n    a()\n\n@deco\ndef two():\n    b()\nimport c\n"
    some = statements_with(source, [source.index(b"b()"), source.index(b"import c")])
    assert some is not None
    assert some.data == b"@deco\ndef two():\n    b()\nimport c\n"
    assert [some.data[at:][:1] for at in some.moved] == [b"b", b"i"]


def test_a_string_that_does_not_end_makes_the_whole_file_be_parsed() -> None:
    assert statements_with(b"import a\nx = 'oh\nimport b\n", [0]) is None


def test_a_line_with_very_many_places_lists_a_few_and_counts_the_rest(tmp_path: Path) -> None:
    """90,000 places on one line of a megabyte; each used to copy the line."""
    found = occurrences_in("m.py", ("x=" + "key(1)+" * 90_000 + "1").encode(), "key")
    assert [place.column for place in found.places] == [3, 10, 17]
    assert found.hidden == 89_997
