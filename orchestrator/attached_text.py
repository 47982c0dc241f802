"""Files as blocks of text in a prompt: fenced so that no content can end its block, numbered so that it is citable."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.attached_names import Span
from orchestrator.text_cut import cut_line
from orchestrator.tool import Shown, TextFile

MAX_WIDTH = 2000
"""Characters of one line."""


class Block(NamedTuple):
    """A fenced block. `size` in bytes of UTF-8; `told` says to the user what it holds; `shown` as in tools."""

    text: str
    size: int
    told: str
    cut: bool = False
    shown: tuple[Shown, ...] = ()


def fenced(title: str, body: str) -> str:
    """`body` under `title`, in a fence that is longer than any in it."""
    longest = max(map(len, re.findall("`{3,}", body)), default=2)
    fence = "`" * (longest + 1)
    return f"{title}\n{fence}\n{body}\n{fence}"


def text_block(file: TextFile, span: Span | None, limit: int, how_to_see: str, where: str = "") -> Block:
    """The lines of `file` in `span` (all without one), numbered, in about `limit` bytes: head and tail when cut.

    `span` begins inside the file. `how_to_see` tells the model how it gets what is left out; `where` ends the title.
    """
    lines = file.lines
    first, last = (span.first, min(span.last, len(lines))) if span else (1, len(lines))
    rows = [f"{number}\t{_narrow(line)}" for number, line in enumerate(lines[first - 1 : last], first)]
    head, tail = _fitting([len(row.encode("utf-8", "replace")) + 1 for row in rows], limit)
    parts = [(first, first + head - 1), (last - tail + 1, last)]
    cut = head + tail < len(rows)
    if cut:
        gap = f"[… lines {first + head}-{last - tail} are left out here; {how_to_see} …]"
        rows = [*rows[:head], gap, *rows[len(rows) - tail :]]
    else:
        parts = [(first, last)]
    body = "\n".join(rows) or "[the file is empty]"
    whole = not cut and (first, last) == (1, len(lines))
    told = _counted(len(lines)) if whole else f"{_ranges(parts)} of {len(lines):,}"
    shown = tuple(Shown(file.path, start, tuple(lines[start - 1 : end])) for start, end in parts if start <= end)
    return Block(
        fenced(f"[file {file.path}: {told}{where}]", body), len(body.encode("utf-8", "replace")), told, cut, shown
    )


def list_block(path: str, paths: Sequence[str], most: int, limit: int) -> Block:
    """The files below a folder: all of them, or when there are many, what is in the folder itself.

    At most `most` rows and about `limit` bytes.
    """
    below = [name if path == "." else name.removeprefix(f"{path}/") for name in paths]
    rows = below if len(below) <= most else _top(below)
    kept = min(most, _count([len(row.encode("utf-8", "replace")) + 1 for row in rows], limit))
    if len(rows) > kept:
        rows = [*rows[:kept], f"[… {len(rows) - kept:,} more are left out here …]"]
    body = "\n".join(rows) or "[no files that git would not ignore]"
    told = f"{len(below):,} {'file' if len(below) == 1 else 'files'}"
    name = "./" if path == "." else f"{path}/"
    return Block(fenced(f"[folder {name}: {told}]", body), len(body.encode("utf-8", "replace")), told)


def _narrow(line: str) -> str:
    return cut_line(line, MAX_WIDTH) if len(line) > MAX_WIDTH else line


def _fitting(sizes: Sequence[int], limit: int) -> tuple[int, int]:
    """How many rows of the head and of the tail fit: all as head, else two thirds head and one third tail.

    At least one of the head: a single row is at most `MAX_WIDTH` characters.
    """
    if sum(sizes) <= limit:
        return len(sizes), 0
    head = max(1, _count(sizes, limit * 2 // 3))
    return head, _count(sizes[head:][::-1], limit - sum(sizes[:head]))


def _count(sizes: Sequence[int], room: int) -> int:
    for index, size in enumerate(sizes):
        room -= size
        if room < 0:
            return index
    return len(sizes)


def _top(paths: Sequence[str]) -> list[str]:
    """The entries at the first level, folders with the number of files below them."""
    counts: dict[str, int] = {}
    for path in paths:
        name, below, _ = path.partition("/")
        counts[name + below] = counts.get(name + below, 0) + 1
    return [
        f"{name} ({count:,} {'file' if count == 1 else 'files'})" if name.endswith("/") else name
        for name, count in counts.items()
    ]


def _counted(lines: int) -> str:
    return f"{lines:,} {'line' if lines == 1 else 'lines'}" if lines else "empty"


def _ranges(parts: Sequence[tuple[int, int]]) -> str:
    shown = [f"{start}-{end}" if start < end else f"{start}" for start, end in parts if start <= end]
    return f"{'line' if len(shown) == 1 and '-' not in shown[0] else 'lines'} {' and '.join(shown)}"
