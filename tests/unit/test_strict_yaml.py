"""YAML with the place of every key and value, and what it refuses."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.problems import Position
from orchestrator.strict_yaml import MAX_BYTES, Document, parse_yaml, read_yaml


def document(text: str) -> Document:
    parsed = parse_yaml(text, "x.yaml")
    assert parsed.problems == ()
    assert parsed.document is not None
    return parsed.document


def complaints(text: str) -> list[str]:
    return [str(problem) for problem in parse_yaml(text, "x.yaml").problems]


def test_values_keep_their_type_and_place() -> None:
    found = document("name: a\nn: 3\nf: 0.5\nyes_no: true\nnone:\ntools:\n  - grep\n  - glob\nbudget: {usd: 1}\n")
    assert found.data == {
        "name": "a",
        "n": 3,
        "f": 0.5,
        "yes_no": True,
        "none": None,
        "tools": ["grep", "glob"],
        "budget": {"usd": 1},
    }
    assert found.position(("tools", 1)) == Position(8, 5)
    assert found.position(("budget", "usd")) == Position(9, 15)
    assert found.position(("budget", "usd"), of_key=True) == Position(9, 10)
    assert found.position(("budget", "tokens")) == Position(9, 9), "what is not there is said of its parent"
    assert found.texts[("yes_no",)] == "true"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0x10", 16),
        ("017", 15),
        ("1_000", 1000),
        ("-3", -3),
        ("1e3", "1e3"),
        ("1.5e+3", 1500.0),
        ("1:30", "1:30"),
        ("2026-11-30", "2026-11-30"),
        ('"3"', "3"),
        ("=", "="),
        ("~", None),
    ],
)
def test_plain_values(written: str, value: object) -> None:
    assert document(f"a: {written}").data["a"] == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name: x\n\tdescription: y\n", "x.yaml:2:1: a tab"),
        ("tools:\n\t- grep\n", "x.yaml:2:1: a tab"),
        ("tools:\n  - a\n\t- b\n", "x.yaml:3:1: a tab"),
        ("name:\tx\n", "x.yaml:1:6: a tab"),
        ("budget: {tokens: 1,\n\tusd: 1}\n", "x.yaml:2:1: a tab"),
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3:1: duplicate key `a` (first given in line 1)"),
        ("b: {c: 1, c: 2}\n", "x.yaml:1:11: duplicate key `c`"),
        ("1: x\n", "x.yaml:1:1: the key `1` is not text"),
        ("on: x\n", 'x.yaml:1:1: the key `on` is not text (write "on" in quotes)'),
        ("? [a]\n: b\n", "x.yaml:1:3: a key must be text"),
        ("a: {b: 1}\nc:\n  <<: {b: 2}\n", "x.yaml:3:3: merge keys (`<<`)"),
        ("a: 1\n---\nb: 2\n", "x.yaml:2:1: a second document"),
        ("a: !!python/object:os.system x\n", "x.yaml:1:4: tags such as `!!python/object:os.system`"),
        ("a: !!set {x, y}\n", "x.yaml:1:4: tags such as `!!set`"),
        ("a: !important\n", "x.yaml:1:4: tags such as `!important`"),
        ("!mine\na: 1\n", "x.yaml:1:1: tags such as `!mine`"),
        ("a: !!int x\n", "x.yaml:1:4: `x` cannot be read as a value of kind int"),
        ("a: @x\n", 'x.yaml:1:4: a value cannot begin with `@` (write a: "@x")'),
        (
            "a: *x\n",
            'x.yaml:1:4: a value that begins with `*` is read as an alias, and it is not defined (write a: "*x")',
        ),
        ("a: 'x\nb: 1\n", "x.yaml:1:4: the quoted text that begins here has no end"),
        ("a: [1, 2\nb: 3\n", "x.yaml:1:4: the list or mapping that begins here has no end"),
        ("a: - b\n", "x.yaml:1:4: a list item cannot stand on the line of its key"),
        ("name x\nb: 1\n", "x.yaml:2:2: a `:` is not expected here (check the line above"),
        ('a: "x" y\n', "x.yaml:1:8: expected a `key: value` line"),
        ("a: b\x07c\n", "x.yaml:1:5: a control character"),
        ("", "x.yaml:1:1: the file is empty"),
        ("# only\n# comments\n", "x.yaml:1:1: the file has only comments"),
        ("- a\n- b\n", "x.yaml:1:1: expected `key: value` lines, found a list"),
        ("hello\n", "x.yaml:1:1: expected `key: value` lines, found a single value"),
        ("a: " + "9" * 5000, "x.yaml:1:4: `" + "9" * 40 + "` cannot be read"),
    ],
)
def test_what_is_refused_names_the_place(text: str, complaint: str) -> None:
    assert [line[: len(complaint)] for line in complaints(text)] == [complaint]


def test_all_duplicates_and_bad_keys_are_named_at_once() -> None:
    assert len(complaints("a: 1\na: 2\n3: x\nb: !t y\n")) == 3


def test_tabs_inside_text_and_comments_are_allowed() -> None:
    text = "a: |\n  one\ttwo\n  \tdeeper\nb: \"x\ty\"  # a\tcomment\nc: 'p\n  q\tr'\n# last\t\n"
    assert document(text).data == {"a": "one\ttwo\n\tdeeper\n", "b": "x\ty", "c": "p q\tr"}


def test_an_alias_is_the_value_it_names() -> None:
    assert document("a: &tools [x, y]\nb: *tools\n").data == {"a": ["x", "y"], "b": ["x", "y"]}


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)),
        "a: &a [*a, *a]\n",
        "a: &a {b: *a}\n",
        "a: " + "[" * 100 + "]" * 100,
    ],
    ids=["billion laughs", "a list in itself", "a mapping in itself", "deep"],
)
def test_aliases_without_end_and_deep_nesting_stop_at_a_limit(text: str) -> None:
    (complaint,) = complaints(text)
    assert "more than 10,000 values or 40 levels" in complaint


@pytest.mark.parametrize("text", ["[" * 100_000, "a: " + "{x: " * 5000, "\n".join(" " * n + "a:" for n in range(600))])
def test_nesting_that_would_exhaust_the_stack_is_an_error(text: str) -> None:
    (complaint,) = complaints(text)
    assert "nested too deeply" in complaint or "40 levels" in complaint


def test_lines_count_from_the_first_line_of_the_part() -> None:
    parsed = parse_yaml("a: 1\na: 2\n", "agent.md", first_line=2)
    assert str(parsed.problems[0]).startswith("agent.md:3:1: duplicate key")
    assert str(parse_yaml("a: b: c\n", "agent.md", first_line=2).problems[0]).startswith("agent.md:2:5:")


def test_files_are_read_in_utf8_with_or_without_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: \xc3\xa9\n")
    parsed = read_yaml(path)
    assert parsed.document is not None
    assert parsed.document.data == {"name": "é"}
    assert parsed.document.position(("name",), of_key=True) == Position(1, 1)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"a: 1\nb: \xe9\n", "line 2 is not UTF-8 text (save the file as UTF-8)"),
        ("a: 1\n".encode("utf-16"), "line 1 is not UTF-8 text"),
        (b"#" * (MAX_BYTES + 1), "longer than the 262,144 bytes that are read"),
    ],
)
def test_other_encodings_and_huge_files_are_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)
    (problem,) = read_yaml(path, "x.yaml").problems
    assert str(problem).startswith(f"x.yaml:1:1: {complaint}")


def test_what_is_not_a_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    """B081. The reader of a pipe without a writer would wait for ever."""
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "link.yaml").symlink_to("/dev/zero")
    said: list[str] = []
    names = ("pipe.yaml", "folder.yaml", "link.yaml", "none.yaml")
    reader = threading.Thread(target=lambda: said.extend(str(read_yaml(tmp_path / n, n).problems[0]) for n in names))
    reader.daemon = True
    reader.start()
    reader.join(20)
    assert not reader.is_alive()
    assert [line.split(": ", 1)[1].split(" (")[0] for line in said] == [
        "a named pipe, not a regular file",
        "a folder, not a regular file",
        "a device, not a regular file",
        "cannot be read: No such file or directory",
    ]


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@`,? \n\t\r\x85\u2028é\x00", max_size=60))
def test_any_text_gives_a_document_or_a_problem(text: str) -> None:
    parsed = parse_yaml(text, "x.yaml")
    assert parsed.document is not None or parsed.problems
    assert all(problem.position >= (1, 1) for problem in parsed.problems)
