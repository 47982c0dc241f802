"""The headings of a text in Markdown or reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.code.outline import MAX_SIGNATURE, FileSymbol

_MARKDOWN = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*?)[ \t]*#*[ \t]*\r?")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_UNDERLINE = re.compile(r"([=\-~^\"'#*+.:`_])\1{2,}[ \t]*\r?")


def headings(text: str) -> Iterator[FileSymbol]:
    """Each heading as a symbol of the kind `section`, its name in the form of a link's anchor."""
    before, fence = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence and (title := _MARKDOWN.fullmatch(line)):
            yield _section(title[1], number, line)
        elif (
            not fence
            and _is_title(before)
            and _UNDERLINE.fullmatch(line)
            and len(line.rstrip()) >= len(before.rstrip())
        ):
            yield _section(before.strip(), number - 1, before)
        before = line


def _is_title(line: str) -> bool:
    return bool(line.strip()) and not line[0].isspace() and not line.startswith(("-", "|", "*", "..", "#"))


def _section(title: str, number: int, line: str) -> FileSymbol:
    anchor = re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) or "section"
    lines = ((number, line.removesuffix("\r")),)
    return FileSymbol(anchor, "section", anchor, number, number, title[:MAX_SIGNATURE], lines=lines)
