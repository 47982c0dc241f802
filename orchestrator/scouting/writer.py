"""From parts to the report: a summary that fits, and every place as a finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from orchestrator.scouting.part import Group, Part
from orchestrator.scouting.places import Place, by_file
from orchestrator.scouting.wording import Words, code
from orchestrator.tokens import estimate_tokens

MAX_LINES = 40
MAX_TOKENS = 1850
"""The role's cap is 2,000; what is over it would be cut at any place."""
MAX_SOURCE = 110
"""Characters of a source line in the text; the quote in the finding is whole."""
_LEAST = 3
"""Lines that every group gets before the first ones get the rest."""
_FILES_NAMED = 4


def summary_of(parts: Sequence[Part], words: Words) -> str:
    """The answer as Markdown, within `MAX_LINES` and `MAX_TOKENS`."""
    lines = MAX_LINES
    while True:
        text = _written(parts, words, lines)
        if estimate_tokens(text) <= MAX_TOKENS or lines <= _LEAST:
            return text
        lines -= 4


def findings_of(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Every place of the answer as the `report` tool takes it, each line once."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for place in (place for part in parts for place in part.cited):
        found.setdefault((place.path, place.line), _finding(place))
    return list(found.values())


def _finding(place: Place) -> dict[str, Any]:
    kind = "reference" if place.kind == "attribute" else place.kind
    finding: dict[str, Any] = {"path": place.path, "line": place.line, "quote": place.quote or place.text, "kind": kind}
    if place.end_line > place.line:
        finding["end_line"] = place.end_line
    if place.scope:
        finding["note"] = f"in {place.scope}"
    return finding


def _written(parts: Sequence[Part], words: Words, lines: int) -> str:
    fixed = sum(1 + len(part.details) + len(part.notes) for part in parts)
    room = _shares([group for part in parts for group in part.groups], max(lines - fixed, _LEAST))
    blocks: list[str] = []
    at = 0
    for part in parts:
        body = [part.headline, *part.details]
        for group in part.groups:
            body += ["", *_group(group, room[at], words)]
            at += 1
        blocks.append("\n".join([*body, *([""] if part.notes else []), *part.notes]))
    return "\n\n".join(blocks)


def _shares(all_groups: Sequence[Group], lines: int) -> list[int]:
    """How many places of each group are listed: a few of each, then the first ones as many as fit."""
    sizes = [len(group.places) for group in all_groups]
    shares = [0] * len(sizes)
    left = lines - 2 * len(sizes)  # a heading each, and a line that counts the rest
    for step in (1, _LEAST, max(sizes, default=0)):
        for at, size in enumerate(sizes):
            more = min(size - shares[at], max(step - shares[at], 0), max(left, 0))
            shares[at] += more
            left -= more
    return shares


def _group(group: Group, limit: int, words: Words) -> list[str]:
    shown, rest = group.places[:limit], group.places[limit:]
    rows = [f"**{group.title}** ({len(group.places):,})", *(_row(place, words) for place in shown)]
    return [*rows, f"- {_rest(rest, words)}"] if rest else rows


def _row(place: Place, words: Words) -> str:
    scope = f" {words.say('in_scope')} `{place.scope}`" if place.scope else ""
    first = place.text.split("\n", 1)[0]
    source = first if len(first) <= MAX_SOURCE else first[: MAX_SOURCE - 1] + "…"
    return f"- {place.at}{scope}{words.colon}{code(source)}" if source else f"- {place.at}{scope}"


def _rest(places: Sequence[Place], words: Words) -> str:
    counts = sorted(((len(rows), path) for path, rows in by_file(places).items()), key=lambda pair: (-pair[0], pair[1]))
    names = words.comma.join(f"{path} ({count})" for count, path in counts[:_FILES_NAMED])
    if len(counts) > _FILES_NAMED:
        names = words.say("more_files", names=names, files=words.count(len(counts) - _FILES_NAMED, "file"))
    return words.say("and_more", count=f"{len(places):,}", files=words.files(places), names=names)


def joined(items: Iterable[str]) -> str:
    return " ".join(item for item in items if item)
