"""Which places a text names itself, and which only stand in what it quotes."""

from __future__ import annotations

import pytest

from orchestrator.citations import mentions


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("See src/a.py:12 and a.py:3-5.", [("src/a.py", 12), ("a.py", 3)]),
        ("Defined in `src/a.py:12`.", [("src/a.py", 12)]),
        ("`src/a.py:12 def f()` is it", [("src/a.py", 12)]),
        ('- q.jsonl:1: `{"must": ["src/shop/auth.py:11"]}`', [("q.jsonl", 1)]),
        ("- a.md:3: ``see `src/b.py:4` there``", [("a.md", 3)]),
        ("http://host:80/x and 12:30 and C:\\x:3", []),
        ("src/a.py:12 twice src/a.py:12", [("src/a.py", 12)]),
        ("src/a.py:0", []),
        ("Makefile:3", []),
        ("docs/Makefile:3", [("docs/Makefile", 3)]),
    ],
)
def test_places_in_free_text(text: str, places: list[tuple[str, int]]) -> None:
    assert [(each.path, each.line) for each in mentions(text)] == places


def test_a_path_with_odd_characters_is_not_taken_in_pieces() -> None:
    assert mentions("-  lead.py:1: `x`, and b.py:2", known={" lead.py"})[0].path == "b.py"
