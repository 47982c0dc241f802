"""The answer drawn for a terminal: nothing of it is lost, nothing wraps, verified places are links."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.result import Citation, CitationStatus
from orchestrator.safe_text import cell_width
from orchestrator.ui.answer import MAX_WIDTH, render_answer
from orchestrator.ui.places import Places, file_url, mark_unverified
from tests.support.run_events import Data, citation, result
from tests.support.terminal import watch_events

ANSWER = """\
# Uses of `legacy_auth`

It is **used** in `src/a.py:12` and in __init__.py, with *args and vector<int> and [brackets].
This line stays a line of its own.

| place | what |
|---|---|
| `src/deeply/nested/folder/module_with_a_long_name.py:12` | a call in `Session.send_a_very_long_method_name` |

- one
  - nested 你好世界

```python
def legacy_auth(user):
    return user
```

[note]: docs/note.md
<div>not markup</div>

> quoted

1. first
2. second
"""


def render(answer: str, width: int = 80, **options: bool) -> str:
    return render_answer(answer, width=width, color=options.get("color", False), unicode=options.get("unicode", True))


def plain(drawn: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", drawn)


def letters(text: str) -> Counter[str]:
    return Counter(char for char in text if char.isalpha())


def place(path: str, line: int, status: CitationStatus, end_line: int = 0) -> Citation:
    return Citation(path, line, end_line or line, "q", "call", status, "explorer-1")


@pytest.mark.parametrize("width", [20, 40, 80, 120, 300])
def test_every_width_holds_the_whole_answer(width: int) -> None:
    drawn = plain(render(ANSWER, width))
    assert max(cell_width(line) for line in drawn.split("\n")) <= min(width, MAX_WIDTH)
    assert letters(drawn) == letters(ANSWER.replace("```python", ""))
    squeezed = "".join(drawn.split())
    for piece in ("__init__.py,with*argsandvector<int>and[brackets].", "[note]:docs/note.md", "<div>notmarkup</div>"):
        assert piece in squeezed


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
def test_it_looks_right_on_a_screen(columns: int) -> None:
    with watch_events(columns=columns, rows=80) as session:
        session.send(result(ANSWER))
        session.end()
        assert session.lines[0] == "Uses of legacy_auth"
        assert "This line stays a line of its own." in session.text or columns < 40
        assert "def legacy_auth(use" in session.text
        assert "**" not in session.text


def test_code_can_be_copied() -> None:
    assert "\ndef legacy_auth(user):\n    return user\n" in plain(render(ANSWER))


def test_no_line_ends_in_blanks() -> None:
    assert [
        line for line in plain(render("text\n\n- item\n\n```\ncode\n```\n")).split("\n") if line != line.rstrip()
    ] == []


def test_markup_is_only_text() -> None:
    """B155"""
    assert plain(render("ZLEXCOUNT z [b + should reply **3** [/b] [bold]x[/bold] :smile:")) == (
        "ZLEXCOUNT z [b + should reply 3 [/b] [bold]x[/bold] :smile:\n"
    )


def test_character_references_stay_as_they_are_written() -> None:
    """B157"""
    answer = "**a** &#x1b;]0;owned&#7; &#x202e;b &#155;2J &lt;"
    assert plain(render(answer)) == "a &#x1b;]0;owned&#7; &#x202e;b &#155;2J &lt;\n"


def test_where_a_link_goes_is_shown() -> None:
    assert plain(render("[click](http://example.org/x) ![alt](http://img)")) == (
        "click (http://example.org/x) !alt (http://img)\n"
    )


def test_the_title_of_a_code_block_is_shown_and_its_language_is_not() -> None:
    assert plain(render("```python src/a.py:12\nx\n```")) == "src/a.py:12\nx\n"
    assert plain(render("```src/a.py\nx\n```")) == "src/a.py\nx\n"
    assert plain(render("```python\nx\n```")) == "x\n"


def test_a_table_that_would_lose_cells_is_shown_as_it_is() -> None:
    answer = "| name | what |\n|---|---|\n| `a | b` | either |"
    assert render(answer) == answer + "\n"


def test_an_empty_answer_draws_nothing() -> None:
    assert plain(render("")).strip() == ""


def test_poor_encodings_get_ascii_drawing() -> None:
    """B161"""
    drawn = plain(render("- item\n\n> quote\n\n| a |\n|---|\n| b |\n\n---\n", unicode=False))
    assert drawn.isascii()


MARKS = "** * _ __ ` ``` ~~~ ~~ # ## > - + 1. | |---| --- [ ] ( ) ! < & \\ = === <b> </b> [x]: http://u <http://a.b>"
WORDS = st.sampled_from(["src/alpha", *MARKS.split(), "\n", "\n\n", "    ", " ", "\t"])


@settings(deadline=None, max_examples=300)
@given(st.lists(WORDS, max_size=25), st.integers(8, 60))
def test_no_markdown_breaks_the_drawing_or_loses_words(pieces: list[str], width: int) -> None:
    answer = "".join(pieces)
    assert not letters(answer) - letters(plain(render(answer, width)))


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=60))
def test_any_text_can_be_drawn(answer: str) -> None:
    render(answer, 20)


def watch_links(answer: str, citations: list[Data], workspace: Path, **env: str) -> bytes:
    with watch_events("--workspace", str(workspace), columns=120, env=env) as session:
        session.send(result(answer, citations=citations))
        assert session.end() == 0
        return session.raw


def test_verified_places_are_links_and_others_are_not(tmp_path: Path) -> None:
    answer = "See `src/a b.py:12`, src/moved.py:3, src/bad.py:9, src/never_cited.py:1 and src/a b.py:99."
    citations = [
        citation("src/a b.py", 12),
        citation("src/moved.py", 3, "moved"),
        citation("src/bad.py", 9, "unverified"),
    ]
    raw = watch_links(answer, citations, tmp_path, VTE_VERSION="6800")
    links = re.findall(rb"\x1b\]8;[^;]*;(file:[^\x1b]*)\x1b\\([^\x1b]*(?:\x1b\[[0-9;]*m)*[^\x1b]*)", raw)
    assert [link.decode() for link, _ in links] == [
        f"file://{tmp_path}/src/a%20b.py",
        f"file://{tmp_path}/src/moved.py",
    ]


def test_a_terminal_that_takes_line_numbers_gets_them(tmp_path: Path) -> None:
    raw = watch_links("src/a.py:12", [citation("src/a.py", 12)], tmp_path, TERM_PROGRAM="vscode")
    assert f"file://{tmp_path}/src/a.py#12".encode() in raw


def test_no_links_where_the_terminal_does_not_follow_them(tmp_path: Path) -> None:
    assert b"\x1b]8" not in watch_links("src/a.py:12", [citation("src/a.py", 12)], tmp_path)


def test_a_link_over_ssh_names_the_host() -> None:
    found = next(Places([place("a.py", 1, "verified")], "a.py:1").find("a.py:1"))
    assert re.fullmatch(r"file://[^/]+/w/a\.py", file_url(Path("/w"), found, "file", {"SSH_CONNECTION": "1 2 3 4"}))
    assert file_url(Path("/w"), found, "file", {}) == "file:///w/a.py"


BAD, GOOD = place("src/bad.py", 10, "unverified", 12), place("src/good.py", 1, "verified")


@pytest.mark.parametrize(
    ("answer", "marked"),
    [
        ("see src/bad.py:10.", "see src/bad.py:10 [unverified]."),
        ("see `src/bad.py:11` now", "see `src/bad.py:11` [unverified] now"),
        ("src/bad.py:10-12, ./src/bad.py:12:5", "src/bad.py:10-12 [unverified], ./src/bad.py:12:5 [unverified]"),
        ("src/bad.py#L10", "src/bad.py#L10 [unverified]"),
        ("src/good.py:1 src/bad.py:99", "src/good.py:1 src/bad.py:99"),
        ("other/src/bad.py:10 src/bad.py:100", "other/src/bad.py:10 src/bad.py:100"),
        ("```\nsrc/bad.py:10\n```\nsrc/bad.py:10", "```\nsrc/bad.py:10\n```\nsrc/bad.py:10 [unverified]"),
        ("src/bad.py:10 (unverified: no such line)", "src/bad.py:10 (unverified: no such line)"),
    ],
)
def test_unverified_places_are_marked(answer: str, marked: str) -> None:
    assert mark_unverified(answer, [BAD, GOOD]) == marked


def test_a_place_that_another_agent_verified_is_not_marked() -> None:
    assert mark_unverified("src/bad.py:10", [BAD, place("src/bad.py", 10, "moved")]) == "src/bad.py:10"
