"""The `path:line` places in an answer, and what the check of the citations said of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from orchestrator.result import Citation
from orchestrator.ui.terminal import Links

UNVERIFIED_MARK = "[unverified]"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_REST_OF_PLACE = re.compile(r"(?:[-–:]L?\d+)*`?")
_MARKED = re.compile(r"`?\s*[\[(]?unverified", re.IGNORECASE)


class Place(NamedTuple):
    """Characters `start` to `end` of a text name `path:line`."""

    start: int
    end: int
    path: str
    line: int
    verified: bool


class Places:
    """Finds the places of an answer that `citations` speak about; a place no citation knows is not found."""

    def __init__(self, citations: Iterable[Citation], answer: str) -> None:
        self._by_path: dict[str, list[Citation]] = {}
        for citation in citations:
            self._by_path.setdefault(citation.path, []).append(citation)
        for path in [path for path in self._by_path if path not in answer]:
            del self._by_path[path]
        paths = "|".join(re.escape(path) for path in sorted(self._by_path, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w./\\-])(?:\./)?({paths})(?::|#L)(\d{{1,9}})") if paths else None

    def find(self, text: str) -> Iterator[Place]:
        """Every known place in `text`, a part of the answer, from left to right."""
        for found in self._pattern.finditer(text) if self._pattern else ():
            path, line = found.group(1), int(found.group(2))
            verdicts = [c.status != "unverified" for c in self._by_path[path] if c.line <= line <= c.end_line]
            if verdicts:
                yield Place(found.start(), found.end(), path, line, any(verdicts))


def mark_unverified(answer: str, citations: Sequence[Citation]) -> str:
    """The Markdown `answer` with a mark after each place whose check failed; code blocks are left as they are."""
    failed = [citation for citation in citations if citation.status == "unverified"]
    if not failed:
        return answer
    places = Places(failed, answer)
    passed = Places((citation for citation in citations if citation.status != "unverified"), answer)
    lines = []
    fence = ""
    for line in answer.split("\n"):
        edge = _FENCE.match(line)
        if edge and (not fence or edge.group(1).startswith(fence)):
            fence = "" if fence else edge.group(1)
        elif not fence:
            line = _mark_line(line, places, passed)
        lines.append(line)
    return "\n".join(lines)


def _mark_line(line: str, places: Places, passed: Places) -> str:
    fine = {place.start for place in passed.find(line)}
    for place in reversed([place for place in places.find(line) if place.start not in fine]):
        end = _end_of_place(line, place.end)
        if not _MARKED.match(line, end):
            line = f"{line[:end]} {UNVERIFIED_MARK}{line[end:]}"
    return line


def _end_of_place(line: str, end: int) -> int:
    """Past the rest of the place: a range (`12-15`), a column (`12:5`), the closing backquote."""
    rest = _REST_OF_PLACE.match(line, end)
    return rest.end() if rest else end


def file_url(workspace: Path, place: Place, links: Links, environ: Mapping[str, str]) -> str:
    """A `file:` URL; with the host's name only where the terminal may be on another machine."""
    import socket

    remote = environ.get("SSH_CONNECTION") and environ.get("TERM_PROGRAM") != "vscode"
    host = socket.gethostname() if remote else ""
    line = f"#{place.line}" if links == "file_line" else ""
    return f"file://{host}{quote(str(workspace / place.path))}{line}"
