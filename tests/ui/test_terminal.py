"""What the environment says about a terminal."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from orchestrator.ui.terminal import Links, Terminal, detect_terminal


@pytest.fixture
def tty() -> Iterator[TextIO]:
    master, slave = pty.openpty()
    with open(slave, "w", encoding="utf-8") as stream:  # noqa: PTH123 -- a descriptor, not a path
        yield stream
    os.close(master)


def of(stream: TextIO | None, **environ: str) -> Terminal:
    return detect_terminal(stream, stream, environ)


def test_a_terminal_is_drawn_on(tty: TextIO) -> None:
    terminal = of(tty, TERM="xterm")
    assert terminal.live and terminal.rendered and terminal.color and terminal.unicode


@pytest.mark.parametrize("environ", [{}, {"TERM": ""}, {"TERM": "dumb"}, {"TERM": "unknown"}])
def test_a_dumb_terminal_gets_no_control_sequences(tty: TextIO, environ: dict[str, str]) -> None:
    terminal = of(tty, **environ)
    assert not terminal.live and not terminal.rendered and not terminal.color


def test_one_stream_piped_is_enough_to_keep_still(tty: TextIO, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as piped:
        assert not detect_terminal(piped, tty, {"TERM": "xterm"}).live
        assert not detect_terminal(tty, piped, {"TERM": "xterm"}).live
        assert not detect_terminal(piped, tty, {"TERM": "xterm"}).rendered


def test_closed_and_missing_streams_are_no_terminals() -> None:
    closed = io.StringIO()
    closed.close()
    assert not of(closed, TERM="xterm").stdout_tty
    assert not of(None, TERM="xterm").stderr_tty


@pytest.mark.parametrize(
    ("environ", "color", "rendered_in_a_pipe"),
    [
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
    ],
)
def test_colour_is_the_users_choice(
    tty: TextIO, tmp_path: Path, environ: dict[str, str], color: bool, rendered_in_a_pipe: bool
) -> None:
    environ = {"TERM": "xterm", **environ}
    assert detect_terminal(tty, tty, environ).color is color
    with (tmp_path / "out").open("w") as piped:
        assert detect_terminal(piped, piped, environ).rendered is rendered_in_a_pipe


@pytest.mark.parametrize(
    ("environ", "links"),
    [
        ({}, "none"),
        ({"VTE_VERSION": "6800"}, "file"),
        ({"VTE_VERSION": "4600"}, "none"),
        ({"TERM_PROGRAM": "iTerm.app"}, "file"),
        ({"TERM_PROGRAM": "vscode"}, "file_line"),
        ({"TERM": "xterm-kitty"}, "file_line"),
        ({"TERM": "foot"}, "file"),
        ({"FORCE_HYPERLINK": "1"}, "file"),
        ({"FORCE_HYPERLINK": "0", "TERM": "xterm-kitty"}, "none"),
        ({"TERM": "dumb", "VTE_VERSION": "6800"}, "none"),
    ],
)
def test_links_only_where_the_terminal_follows_them(tty: TextIO, environ: dict[str, str], links: Links) -> None:
    assert of(tty, **{"TERM": "xterm", **environ}).links == links


@pytest.mark.parametrize(
    ("encoding", "unicode"), [("utf-8", True), ("cp1252", False), ("ascii", False), ("gbk", False)]
)
def test_glyphs_follow_the_encoding(encoding: str, unicode: bool) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    assert of(stream).unicode is unicode
