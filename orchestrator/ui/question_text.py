"""A permission question as lines: who asks, what exactly, why it is asked, and what can be answered.

Nothing that the user decides about may be hidden: control characters, bidi marks and characters without a shape are
written out (`<U+202E>`), and long lines are broken, not cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from orchestrator.approval import PermissionRequest
from orchestrator.safe_text import cell_width, cut_cells
from orchestrator.ui.agent_tree import Line, Style
from orchestrator.ui.terminal import Glyphs

_KEPT_SPACES = frozenset(" \t")
_SHAPELESS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and symbols that are drawn as nothing or as a blank."""
_PLAIN = re.compile(r"[\x20-\x7e]*")
_TASK_LINES = 2
_FRAME = 12
"""Lines of a screen that are kept for who asks, why, and the keys."""
_FEWEST = 6


class Question(NamedTuple):
    """The lines above the prompt; `cut` when some of what is asked about is left out."""

    lines: tuple[Line, ...]
    cut: bool


def question(request: PermissionRequest, columns: int, rows: int, glyphs: Glyphs, *, whole: bool = False) -> Question:
    """The question for a terminal of this size; `whole`: with all lines, however many there are."""
    width = max(columns - 1, 10)
    body = [*_commands(request, width), *_diff(request.diff, width)]
    room = max(rows - _FRAME, _FEWEST)
    cut = not whole and len(body) > room
    if cut:
        missing = len(body) - (room - 1)
        note = f"{glyphs.ellipsis} {missing} more lines (v to view all)"
        body = [*body[: room - 1], *_wrapped(note, width, "yellow")]
    lines = [*_who(request, width, glyphs, whole=whole), *body, *_why(request, width), *_keys(request, width, cut)]
    return Question(tuple(lines), cut)


def visible(text: str) -> str:
    """`text`, one line, with everything written out that would not be seen; tabs become blanks."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_shown(char) for char in text)


def wrap(text: str, width: int) -> Iterator[str]:
    """`text`, which is visible, in pieces of at most `width` columns."""
    while True:
        piece = cut_cells(text[: 4 * width + 8], width) or text[:1]
        yield piece
        text = text[len(piece) :]
        if not text:
            return


def _shown(char: str) -> str:
    if char == "\t":
        return "    "
    category = unicodedata.category(char)
    hidden = category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or (category == "Zs" and char not in _KEPT_SPACES)
    variant = "\ufe00" <= char <= "\ufe0e" or "\U000e0100" <= char <= "\U000e01ef"
    return f"<U+{ord(char):04X}>" if hidden or variant or char in _SHAPELESS else char


def _wrapped(text: str, width: int, style: Style, indent: str = "", first: str | None = None) -> Iterator[Line]:
    """`text` broken into lines that begin with `indent`, the first one with `first`."""
    start = indent if first is None else first
    for piece in wrap(visible(text), max(width - cell_width(indent), 4)):
        yield [(start, ""), (piece, style)]
        start = indent


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _who(request: PermissionRequest, width: int, glyphs: Glyphs, *, whole: bool) -> Iterator[Line]:
    who = request.agent if request.agent == request.role else f"{request.agent} ({request.role})"
    wish = "change files" if request.diff else {"run_shell": "run"}.get(request.tool, f"use {request.tool}")
    yield from _wrapped(_one_line(f"{who} wants to {wish}:"), width, "bold")
    task = list(_wrapped(_one_line(request.task), width, "dim", "      ", "task: ")) if request.task.strip() else []
    if len(task) > _TASK_LINES and not whole:
        start, (text, style) = task[_TASK_LINES - 1]
        kept = cut_cells(text, max(width - 8, 4))
        task = [*task[: _TASK_LINES - 1], [start, (kept + glyphs.ellipsis, style)]]
    yield from task


def _commands(request: PermissionRequest, width: int) -> Iterator[Line]:
    for line in request.lines:
        for part in line.split("\n"):
            yield from _wrapped(part, width, "", "    ", "  ")


def _diff(diff: str, width: int) -> Iterator[Line]:
    lines = diff.removesuffix("\n").split("\n") if diff else []
    if all(line.endswith("\r") for line in lines if line.startswith(("+", "-", " ")) and not _is_head(line)):
        lines = [line.removesuffix("\r") for line in lines]  # a file with such line ends throughout: nothing to show
    for line in lines:
        yield from _wrapped(line, width, _diff_style(line), " ", "")


def _is_head(line: str) -> bool:
    return line.startswith(("+++ ", "--- "))


def _diff_style(line: str) -> Style:
    if _is_head(line) or line.startswith("diff "):
        return "bold"
    if line.startswith("@@"):
        return "cyan"
    return "green" if line.startswith("+") else "red" if line.startswith("-") else ""


def _why(request: PermissionRequest, width: int) -> Iterator[Line]:
    for reason in request.why:
        yield from _wrapped(_one_line(reason), width, "yellow", "     ", "why: ")


def _keys(request: PermissionRequest, width: int, cut: bool) -> Iterator[Line]:
    rows: Sequence[tuple[str, str]] = [
        ("y", "yes, this once"),
        *([("a", f"always here, by a rule that you can edit: {request.pattern}")] if request.pattern else []),
        ("n", "no"),
        ("r", "no, and say why"),
        *([("v", "view all")] if cut else []),
    ]
    for key, text in rows:
        yield from _wrapped(text, width, "", "    ", f"  {key} ")
