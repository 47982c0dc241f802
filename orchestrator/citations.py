"""Is it really there, and did this agent really see it? Every place that a report or an answer names is checked.

A finding is `verified` when its quote stands at its line on the disk now and the agent's tools have shown that line to
it; `moved` when the quote stands elsewhere in the file (the line is corrected); `unverified` otherwise, with a reason.
Differences in white space do not count, and a quote may be a part of its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from orchestrator.errors import ToolError
from orchestrator.result import Citation, CitationStatus
from orchestrator.tool import Files, Shown, TextFile

KINDS = frozenset({"definition", "import", "call", "reference", "comment", "string", "doc"})
SHORTEST_QUOTE = 3
"""A quote with fewer letters or digits (`}`) stands in too many places to be looked for."""


class Finding(NamedTuple):
    """A place that an agent says its report rests on."""

    path: str
    line: int
    quote: str = ""
    end_line: int | None = None
    kind: str = "other"
    note: str = ""


def findings_of(report: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The findings of a report as the `report` tool hands it in."""
    return tuple(
        Finding(
            f["path"], f["line"], f["quote"], f["end_line"], f["kind"] if f["kind"] in KINDS else "other", f["note"]
        )
        for f in report["findings"]
    )


_CODE_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^\n]+?)(?<!`)\1(?!`)")
_PLAIN_PATH = re.compile(r"(?:[\w.@+-]+/)*\w[\w.@+-]*")
_MENTION = re.compile(
    r"(?<![\w/.:-])((?:[\w.@+-]+/)*[\w.@+-]*\w\.\w+|(?:[\w.@+-]+/)+[\w.@+-]+):(\d{1,7})(?:[-–](\d{1,7}))?(?!\w)"
)


def _place_at_start(span: re.Match[str]) -> str:
    place = _MENTION.match(span[2].lstrip())
    return f" {place[0]} " if place else " "


def mentions(text: str, known: Collection[str] = ()) -> tuple[Finding, ...]:
    """Every `path:line` or `path:line-line` in free text, once each, in order.

    Paths in `known` are settled elsewhere; with them go their mentions, also where a path has odd characters. Text
    in backquotes is a quotation: only a place at its very beginning is one that the text itself names.
    """
    odd = [path for path in known if not _PLAIN_PATH.fullmatch(path)]
    for path in sorted(odd, key=len, reverse=True):
        text = text.replace(path, "")
    text = _CODE_SPAN.sub(_place_at_start, text)
    found: dict[tuple[str, int], Finding] = {}
    for path, line, end in _MENTION.findall(text):
        first, last = int(line), int(end) if end else None
        if first >= 1:
            found.setdefault((path, first), Finding(path, first, end_line=last))
    return tuple(found.values())


class Evidence:
    """The lines of files that one agent has been shown."""

    def __init__(self) -> None:
        self._lines: dict[str, set[int]] = {}

    def add(self, shown: Iterable[Shown]) -> None:
        for part in shown:
            self._lines.setdefault(part.path, set()).update(hash(_squeezed(line)) for line in part.lines)

    def saw(self, path: str, lines: Iterable[str]) -> bool:
        """Whether each of `lines` (blank ones aside) was shown as a line of `path`."""
        known = self._lines.get(path)
        if known is None:
            return False
        return all(hash(text) in known for text in map(_squeezed, lines) if text)


def check(findings: Sequence[Finding], evidence: Evidence, files: Files, agent: str) -> tuple[Citation, ...]:
    """A verdict on each finding, in order, each place once. Reads the files as they are now, one at a time."""
    by_path: dict[str, list[int]] = {}
    for at, finding in enumerate(findings):
        by_path.setdefault(finding.path, []).append(at)
    verdicts: dict[int, Citation] = {}
    with files.reading() as read:
        for path, places in by_path.items():
            file = _open(path, read)
            for at in sorted(places, key=lambda at: findings[at].line):
                verdicts[at] = _judged(findings[at], file, evidence, agent)
    checked: dict[tuple[str, int, str], Citation] = {}
    for at in range(len(findings)):
        citation = verdicts[at]
        checked.setdefault((citation.path, citation.line, citation.kind), citation)
    return tuple(checked.values())


def _judged(finding: Finding, file: _File | str, evidence: Evidence, agent: str) -> Citation:
    if isinstance(file, str):
        return _citation(finding, finding.path, finding.line, "unverified", finding.quote, agent, file)
    return file.judge(finding, evidence, agent)


def _open(path: str, read: Callable[[str], TextFile]) -> _File | str:
    """The file, or why it cannot be read."""
    try:
        file = read(path)
    except ToolError as error:
        return error.message
    return _File(file)


class _File:
    """Judges findings soonest when they come in the order of their lines."""

    def __init__(self, file: TextFile) -> None:
        self.path = file.path
        self._file = file
        self._start, self._number = 0, 1
        """Where the newest line that was looked at begins, and its number."""

    @cached_property
    def lines(self) -> Sequence[str]:
        return self._file.lines

    def judge(self, finding: Finding, evidence: Evidence, agent: str) -> Citation:
        line = self._line_with(finding.quote, finding.line)
        if line is None:
            return self._judge_closely(finding, evidence, agent)
        seen = evidence.saw(self.path, (line,))
        note = "" if seen else f"{agent} was not shown this"
        status: CitationStatus = "verified" if seen else "unverified"
        return _citation(finding, self.path, finding.line, status, line.strip(), agent, note)

    def _line_with(self, quote: str, number: int) -> str | None:
        """The line with this number if the quote stands there letter by letter, as it nearly always does.

        Found without splitting the file: it may be one of 10,000, each with a place or two.
        """
        text = self._file.text
        if number < self._number or "\n" in quote or not quote.strip():
            return None
        while (at := text.find(quote, self._start)) >= 0:
            here = self._number + text.count("\n", self._start, at)
            if here > number:
                return None
            self._start, self._number = text.rfind("\n", 0, at) + 1, here
            end = text.find("\n", at)
            if here == number:
                return text[self._start : len(text) if end < 0 else end].removesuffix("\r")
            if end < 0:
                return None
            self._start, self._number = end + 1, here + 1
        return None

    def _judge_closely(self, finding: Finding, evidence: Evidence, agent: str) -> Citation:
        quote = [part for part in map(_squeezed, finding.quote.split("\n")) if part]
        if not quote:
            return self._judge_line(finding, evidence, agent)
        at = self._find(quote, finding.line)
        if at is None:
            return _citation(finding, self.path, finding.line, "unverified", finding.quote, agent, "no such text there")
        status: CitationStatus = "verified" if at == finding.line else "moved"
        lines = self.lines[at - 1 : at - 1 + len(quote)]
        note = "" if status == "verified" else f"was line {finding.line}"
        if not evidence.saw(self.path, lines):
            status, note = "unverified", f"{agent} was not shown this"
        return _citation(finding, self.path, at, status, "\n".join(lines).strip(), agent, note)

    def _judge_line(self, finding: Finding, evidence: Evidence, agent: str) -> Citation:
        lines = self.lines[finding.line - 1 : finding.end_line or finding.line]
        text = "\n".join(lines).strip()
        if not text:
            note = "no such line" if finding.line > len(self.lines) else "an empty line"
            return _citation(finding, self.path, finding.line, "unverified", "", agent, note)
        seen = evidence.saw(self.path, lines)
        note = "" if seen else f"{agent} was not shown this"
        return _citation(finding, self.path, finding.line, "verified" if seen else "unverified", text, agent, note)

    def _find(self, quote: list[str], line: int) -> int | None:
        """The line at which the quote stands: the one named, else the nearest."""
        if self._stands(quote, line - 1):
            return line
        if sum(map(str.isalnum, "".join(quote))) < SHORTEST_QUOTE:
            return None
        places = [at for at in range(len(self.lines)) if self._stands(quote, at)]
        return min(places, key=lambda at: abs(at + 1 - line)) + 1 if places else None

    def _stands(self, quote: list[str], at: int) -> bool:
        if not 0 <= at <= len(self.lines) - len(quote):
            return False
        rows = self.lines[at : at + len(quote)]
        return all(part in row or part in _squeezed(row) for part, row in zip(quote, rows, strict=True))


def _citation(
    finding: Finding, path: str, line: int, status: CitationStatus, quote: str, agent: str, note: str
) -> Citation:
    span = max(0, (finding.end_line or finding.line) - finding.line)
    return Citation(path, line, line + span, quote, finding.kind, status, agent, note)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
