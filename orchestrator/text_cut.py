"""Shortening text for the model: what is left out is always marked, never silently gone."""

from __future__ import annotations


def cut_middle(text: str, limit: int, how_to_see: str = "narrow the request to see it") -> str:
    """`text` in about `limit` characters: its head and its tail, with a mark in between that says how much is missing.

    Cuts at line ends where there are any close by. Text within the limit comes back as it is.
    """
    if len(text) <= limit:
        return text
    head = _start_of_rest(text, limit * 2 // 3)
    tail = max(_start_of_tail(text, len(text) - (limit - head)), head)
    missing = text[head:tail]
    lines = missing.count("\n")
    amount = f"{len(missing):,} characters" + (f", {lines:,} lines" if lines else "")
    gap = "" if text[:head].endswith("\n") or not head else "\n"
    return f"{text[:head]}{gap}[… {amount} left out here; {how_to_see} …]\n{text[tail:]}"


def cut_line(line: str, width: int, at: int = 0) -> str:
    """`line` in about `width` characters around the character at index `at`, each cut marked with its length."""
    if len(line) <= width:
        return line
    start = min(max(0, at - width // 3), len(line) - width)
    end = start + width
    before = f"[{start:,} characters]…" if start else ""
    after = f"…[{len(line) - end:,} characters]" if end < len(line) else ""
    return f"{before}{line[start:end]}{after}"


def _start_of_rest(text: str, wanted: int) -> int:
    """The last line start at or before `wanted`, unless that would waste more than half of the head."""
    line_start = text.rfind("\n", 0, wanted) + 1
    return line_start if line_start > wanted // 2 else wanted


def _start_of_tail(text: str, wanted: int) -> int:
    """The first line start at or after `wanted`, unless that would waste more than half of the tail."""
    line_start = text.find("\n", wanted) + 1
    return line_start if 0 < line_start < (wanted + len(text)) // 2 else wanted
