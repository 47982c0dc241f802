"""Names that resemble one that was not found: by spelling (`get_quereyset`) and by parts (`user by id`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orchestrator.tool import Match

SLACK = 3
"""Characters by which a piece of the name may have moved."""
MAX_NEAR = 5
MIN_SCORE = 0.45

_DEFINING = (
    r"(?:def|class|function\*?|func|fn|fun|sub|struct|enum|trait|interface|type|module|namespace|macro_rules!|const|let"
    r"|var|val|static|record|object|define)"
)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ASSIGNED = re.compile(r" *(?::[^=]*)?=[^=]")
_COMMON = frozenset({"the", "a", "an", "of", "to", "in", "for", "and", "or", "is"})


class Candidate(NamedTuple):
    name: str
    path: str
    line: int
    is_definition: bool = False


def definitions_pattern(name: str) -> str:
    """A regular expression (ripgrep's) for lines that define a name like `name`."""
    return rf"\b(?:{_DEFINING}|func \([a-z0-9_ *.,\[\]]*\)) +(?:{_near_pattern(name)})\b"


def anywhere_pattern(name: str) -> str:
    """The same for lines that hold a name like `name`."""
    return rf"\b(?:{_near_pattern(name)})\b"


def _near_pattern(name: str) -> str:
    letter = "[a-z0-9_]" if name.isascii() else r"\w"  # Unicode's classes are several times slower
    alternatives = list(_pieces(name, letter))
    parts = parts_of(name)
    if len(parts) > 1:
        alternatives.append(f"{letter}*" + f"{letter}*".join(map(re.escape, parts)) + f"{letter}*")
    return "|".join(alternatives)


def _pieces(name: str, letter: str) -> Iterable[str]:
    """The name with all but one piece left open: with few slips at least one piece is intact, and near its place."""
    word = "".join(name.split())
    size = 2 if len(word) < 9 else 3 if len(word) < 13 else -(-len(word) // 4)
    for start in range(0, max(1, len(word) - 1), size):
        piece = word[start : start + size]
        rest = len(word) - start - len(piece)
        yield f"{letter}{_about(start)}{re.escape(piece)}{letter}{_about(rest)}"


def _about(size: int) -> str:
    return f"{{{max(0, size - SLACK)},{size + SLACK}}}"


def parts_of(name: str) -> tuple[str, ...]:
    """The words that a name or a phrase is made of, in lower case: `getUserById` and `user by id` alike."""
    return tuple(part.lower() for part in _PART.findall(name) if part.lower() not in _COMMON)


def candidates(rows: Iterable[Match], pattern: str) -> list[Candidate]:
    """The names on the rows that could be meant, each once, at a definition of it if a row has one."""
    near = re.compile(pattern, re.IGNORECASE)
    defining = re.compile(rf"\b{_DEFINING} +(?:\([^)]*\) *)?$")
    found: dict[str, Candidate] = {}
    for row in rows:
        for match in _IDENTIFIER.finditer(row.text[:2000]):
            name = match.group()
            if not near.fullmatch(name):
                continue
            before, after = row.text[: match.start()], row.text[match.end() :]
            is_definition = bool(defining.search(before)) or (not before.strip() and bool(_ASSIGNED.match(after)))
            known = found.get(name)
            if known is None or (is_definition and not known.is_definition):
                found[name] = Candidate(name, row.path, row.line, is_definition)
    return list(found.values())


def rank(name: str, found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that resemble `name` enough, best first; among equals those that are defined."""
    scored = [(score(name, candidate.name), candidate) for candidate in found if candidate.name != name]
    kept = [(points, candidate) for points, candidate in scored if points >= MIN_SCORE]
    kept.sort(key=lambda pair: (-pair[0], distance(name, pair[1].name), not pair[1].is_definition, pair[1].name))
    return [candidate for _, candidate in kept[:MAX_NEAR]]


def score(name: str, other: str) -> float:
    """How much two names resemble each other: 1 for the same letters, less for each slip or each part too much."""
    a, b = "".join(name.lower().split()), other.lower()
    spelled = 1 - distance(a, b) / max(len(a), len(b), 1)
    mine, theirs = parts_of(name), parts_of(other)
    if len(mine) > 1 and set(mine) <= set(theirs):
        spelled = max(spelled, 0.9 * len(set(mine)) / len(set(theirs)) + 0.1)
    return spelled


def distance(a: str, b: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words (optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        row = [i]
        for j, right in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
