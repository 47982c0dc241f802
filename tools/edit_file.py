"""`edit_file`: exact replacements in one file, all or none.

Text is compared exactly, but for line ends: `\\n` stands for whatever ends a line in the file, and is written that way.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import Field

from orchestrator.errors import ToolError
from orchestrator.tool import (
    Args,
    Editable,
    Effects,
    Rewrite,
    Tool,
    ToolContext,
    ToolResult,
    changed_parts,
    with_line_ends,
)

MAX_LISTED = 20
"""Places of a text that is found many times."""
MAX_NEAR = 3
"""Places shown that resemble a text that is not found."""
MAX_NEAR_LINES = 15
_LARGE = 2_000_000
"""Characters from which on nothing is looked for that only resembles."""
_NUMBERED = re.compile(r"\s*\d+\t")


class Edit(Args):
    old: str = Field(description="text that is there now, exactly, without line numbers; found once unless replace_all")
    new: str
    replace_all: bool = False


class EditFileArgs(Args):
    path: str
    edits: list[Edit] = Field(min_length=1, description="made in order, all or none")


class EditFileTool(Tool[EditFileArgs]):
    name = "edit_file"
    description = (
        "Replace text in a file that you have read: exact and literal, all edits or none. "
        "Give enough lines in `old` that it is found once."
    )
    args = EditFileArgs
    read_only = False

    async def effects(self, args: EditFileArgs, context: ToolContext) -> Effects:
        file = context.edits.open(args.path)
        edited = edit_text(file, args.edits)
        return Effects(writes=(file.path,), diff=context.edits.diff([Rewrite(file.path, edited.text)]))

    async def run(self, args: EditFileArgs, context: ToolContext) -> ToolResult:
        file = context.edits.open(args.path)
        edited = edit_text(file, args.edits)
        await context.edits.apply([Rewrite(file.path, edited.text)])
        places = f"{edited.places:,} place{'' if edited.places == 1 else 's'}"
        rows, shown = changed_parts(file.path, edited.text, _lines_of(edited.text, edited.spans))
        head = f"edited {file.path}: {places} changed" + ("; the lines are now:" if rows else "")
        return ToolResult(f"{head}\n{rows}" if rows else head, f"{file.path}: {places} changed", shown)


class Span(NamedTuple):
    """A part of a text, by the places of its first character and of the one after its last."""

    start: int
    end: int


class Edited(NamedTuple):
    """The new text, where in it something changed, and how many replacements were made."""

    text: str
    spans: Sequence[Span]
    places: int


def edit_text(file: Editable, edits: Sequence[Edit]) -> Edited:
    """`file` after all edits, each made on what the one before left. Raises `ToolError` if one cannot be made."""
    edited = Edited(file.text, (), 0)
    for number, edit in enumerate(edits, 1):
        which = "" if len(edits) == 1 else f"edit {number} of {len(edits)}: "
        edited = _edit_once(edited, edit, _Failing(file, which))
    if edited.text == file.text:
        raise ToolError("no_change", f"the edits leave {file.path} as it is; nothing was changed")
    return edited


def _edit_once(before: Edited, edit: Edit, failing: _Failing) -> Edited:
    flat = FlatText(before.text)
    old = _flat(edit.old)
    if not old:
        raise failing.empty()
    if old == _flat(edit.new):
        raise failing.same()
    starts = list(_places(flat.text, old, overlapping=not edit.replace_all))
    if not starts:
        raise failing.missing(flat.text, old, _flat(edit.new))
    if len(starts) > 1 and not edit.replace_all:
        raise failing.many(flat.text, starts)
    return _replaced(before, [flat.span(start, start + len(old)) for start in starts], edit.new)


def _replaced(before: Edited, spans: Sequence[Span], new: str) -> Edited:
    """`new` in the place of every one of `spans`, which are in order and apart."""
    text = before.text
    pieces: list[str] = []
    made: list[Span] = []
    kept = _Moved(before.spans)
    length = at = 0
    for span in spans:
        own = with_line_ends(text[span.start : span.end], new, _line_end_near(text, span.start))
        pieces += [text[at : span.start], own]
        length += span.start - at
        made.append(Span(length, length + len(own)))
        length += len(own)
        at = span.end
        kept.replace(span, made[-1])
    pieces.append(text[at:])
    return Edited("".join(pieces), [*kept.rest(length - at), *made], before.places + len(spans))


class _Moved:
    """Earlier changes of a text, moved along as parts of it are replaced from left to right."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._left = sorted(spans, reverse=True)
        self._moved: list[Span] = []
        self._shift = 0

    def replace(self, old: Span, new: Span) -> None:
        while self._left and self._left[-1].start < old.end:
            span = self._left.pop()
            if span.end <= old.start:
                self._moved.append(Span(span.start + self._shift, span.end + self._shift))
            else:  # replaced itself, at least a part of it
                start = span.start + self._shift if span.start < old.start else new.start
                self._moved.append(Span(start, max(new.end, span.end - old.end + new.end)))
        self._shift = new.end - old.end

    def rest(self, shift: int) -> list[Span]:
        return [*self._moved, *(Span(span.start + shift, span.end + shift) for span in reversed(self._left))]


class FlatText:
    """A text with every CRLF as one LF, and the way back from a place in it to the place in the original."""

    def __init__(self, original: str) -> None:
        self.text = _flat(original)
        self._dropped: list[int] = []
        if len(self.text) != len(original):
            self._dropped = [found.start() - index for index, found in enumerate(re.finditer("\r\n", original))]

    def span(self, start: int, end: int) -> Span:
        """The part of the original that `start` to `end` of the flat text stands for."""
        return Span(start + bisect_left(self._dropped, start), end + bisect_left(self._dropped, end))


def _flat(text: str) -> str:
    return text.replace("\r\n", "\n")


def _places(text: str, wanted: str, *, overlapping: bool) -> Iterator[int]:
    step = 1 if overlapping else len(wanted)
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + step)


def _line_end_near(text: str, at: int) -> str:
    """How the line at `at` ends; the last one is taken to end as the one before it."""
    found = text.find("\n", at)
    if found < 0:
        found = text.rfind("\n")
    return "\r\n" if found > 0 and text[found - 1] == "\r" else "\n"


def _lines_of(text: str, spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each span."""
    line, at = 1, 0
    for span in sorted(spans):
        line += text.count("\n", at, span.start)
        at = span.start
        yield line, line + text.count("\n", span.start, max(span.start, span.end - 1))


# --- what is said when a text is not found, or found too often --------------------------------------------------------


class _Failing(NamedTuple):
    """The errors of one edit. `which` says which of several it is."""

    file: Editable
    which: str

    def empty(self) -> ToolError:
        advice = "write_file fills an empty file" if not self.file.text else "give the text that is to be replaced"
        return ToolError("empty_old", f"{self.which}`old` is empty; {advice}; nothing was changed")

    def same(self) -> ToolError:
        return ToolError("no_change", f"{self.which}`old` and `new` are the same; nothing was changed")

    def many(self, text: str, starts: Sequence[int]) -> ToolError:
        listed = list(dict.fromkeys(_line_at(text, start) for start in starts[: MAX_LISTED * 10]))
        lines = text.split("\n")
        rows = [_row(lines, line) for line in listed[:MAX_LISTED]]
        if len(starts) > len(rows):
            rows.append(f"[{len(starts):,} places in all]")
        return ToolError(
            "ambiguous",
            f"{self.which}`old` stands at {len(starts):,} places of {self.file.path}; give more lines around the "
            "one that you mean, or set replace_all; nothing was changed",
            places="\n" + "\n".join(rows),
        )

    def missing(self, text: str, old: str, new: str) -> ToolError:
        message = f"{self.which}`old` is not in {self.file.path}; nothing was changed"
        if old in _flat(self.file.text):
            return ToolError("no_match", f"{message}; an earlier edit of this call changed it")
        unnumbered = _without_numbers(old)
        if unnumbered and unnumbered in text:
            return ToolError("no_match", f"{message}; leave out the line numbers that read_file puts before each line")
        found = _but_for_space(text, old)
        if found:
            return _offer(message, text, found)
        there = new.strip() and text.find(new)
        if isinstance(there, int) and there >= 0:
            message += f"; the new text stands at line {_line_at(text, there)} already"
        near = "\n\n".join(_near(text, old))
        return ToolError("no_match", message, nearest="\n" + near if near else None)


def _offer(message: str, text: str, found: Sequence[Span]) -> ToolError:
    """The same text with other white space, shown so that it can be sent as it is."""
    first = found[0]
    exact = text[first.start : first.end]
    lines = f"{_line_at(text, first.start)}-{_line_at(text, max(first.start, first.end - 1))}"
    more = f" (and at {len(found) - 1} more places)" if len(found) > 1 else ""
    return ToolError(
        "no_match",
        f"{message}; lines {lines}{more} differ from it only in white space. If you mean them, send `old` exactly as "
        "it is there",
        as_in_file=json.dumps(exact, ensure_ascii=False) if len(exact) <= 4000 else None,
        lines=None if len(exact) <= 4000 else lines,
    )


def _without_numbers(old: str) -> str:
    lines = old.split("\n")
    if not all(_NUMBERED.match(line) or not line for line in lines):
        return ""
    return "\n".join(_NUMBERED.sub("", line, count=1) for line in lines)


def _but_for_space(text: str, old: str) -> list[Span]:
    """Where `old` stands if white space does not count, from the first to the last visible character."""
    wanted = "".join(old.split())
    if not wanted or len(text) > _LARGE:
        return []
    visible = [index for index, char in enumerate(text) if not char.isspace()]
    squeezed = "".join([text[index] for index in visible])
    last = len(wanted) - 1
    return [Span(visible[at], visible[at + last] + 1) for at in _places(squeezed, wanted, overlapping=False)]


def _near(text: str, old: str) -> list[str]:
    """The parts of `text` that resemble `old` most, as numbered lines."""
    if len(text) > _LARGE:
        return []
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    starts = _by_equal_lines(lines, wanted) or _by_alike_line(lines, wanted)
    height = min(len(wanted), MAX_NEAR_LINES)
    return ["\n".join(_rows(lines, start, start + height)) for start in starts[:MAX_NEAR]]


def _by_equal_lines(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where `wanted` would begin so that most of its lines stand where they should; common lines count little."""
    places: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        places.setdefault(line.strip(), []).append(index)
    votes: Counter[int] = Counter()
    for index, line in enumerate(wanted):
        found = places.get(line.strip(), []) if line.strip() else []
        for place in found if len(found) <= 200 else ():
            votes[max(0, place - index)] += 1
    best = max(votes.values(), default=0)
    chosen: list[int] = []
    for start, count in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
        if count * 2 > best and all(abs(start - other) >= len(wanted) for other in chosen):
            chosen.append(start)
    return chosen


def _by_alike_line(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the longest line of `wanted` has its likes."""
    import difflib

    longest = max(range(len(wanted)), key=lambda index: len(wanted[index].strip()))
    line = wanted[longest].strip()[:300]
    if len(line) < 3:
        return []
    shown: dict[str, int] = {}
    for index, each in enumerate(lines[:20_000]):
        shown.setdefault(each.strip()[:300], index)
    close = difflib.get_close_matches(line, shown, n=MAX_NEAR, cutoff=0.5)
    held = [each for each in shown if line in each or (len(each) > 8 and each in line)]
    return [max(0, shown[each] - longest) for each in dict.fromkeys((*held[:MAX_NEAR], *close))]


def _line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _row(lines: Sequence[str], number: int) -> str:
    return f"{number}\t{lines[number - 1][:300]}"


def _rows(lines: Sequence[str], start: int, end: int) -> list[str]:
    return [_row(lines, number) for number in range(start + 1, min(end, len(lines)) + 1)]


TOOL = EditFileTool()
