"""Where a prompt names files with `@`: `@src/a.py`, `@"a file.txt"`, `@src/`, `@src/a.py:10-20`.

An `@` counts at the start of a word only, so that e-mail and web addresses stay text, and not in what stands in
backquotes: that is a quotation. What a word names is settled by what exists: each of its beginnings that ends before
punctuation is offered, the longest first (`(see @src/a.py).`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

_START = re.compile(r"(?<![A-Za-z0-9._%+~/\\@-])@(?=[^\s@])")
_QUOTED = re.compile(r'@"([^"\n]+)"(?::(\d{1,9})(?:-(\d{1,9}))?(?![\w-]))?')
_WORD = re.compile(r"@([^\s`]{1,1024})")
_CODE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|(?<!`)(`{1,2})(?!`)[^\n]+?(?<!`)\2(?!`)", re.M | re.S
)
_RANGE = re.compile(r"(.+):(\d{1,9})(?:-(\d{1,9}))?", re.S)
_ENDS = frozenset(",;:!?)]}>\"'|*")
_LAST = _ENDS | {".", "_"}
"""Punctuation that ends a name only where nothing of a name follows."""
_MOST_READINGS = 16
MOST_MENTIONS = 2000
"""Of one prompt: pasted text may hold any number of `@`."""
_FILE_ENDING = re.compile(
    r"\.(?:c|cc|cpp|css|csv|gif|go|h|hpp|html|ini|java|jpe?g|jsonl?|jsx?|log|lua|md|pdf|php|png|py|rb|rs|rst|scala|sh|sql"
    r"|svg|toml|tsx?|txt|vue|webp|xml|ya?ml)$",
    re.I,
)


class Span(NamedTuple):
    """Lines of a text file, pages of a PDF; both ends count."""

    first: int
    last: int


class Reading(NamedTuple):
    """One way to understand a word: this file (as it is spelled), this part of it."""

    name: str
    span: Span | None = None


class Mention(NamedTuple):
    """A word that may name a file: `readings`, the likeliest first.

    `likely` is the name that it would be; `meant`: it looks like a file's name and like nothing else.
    """

    readings: tuple[Reading, ...]
    likely: str
    meant: bool


def mentions(prompt: str) -> tuple[Mention, ...]:
    """The words of `prompt` with an `@` that may name a file, in order, at most `MOST_MENTIONS`."""
    text = _CODE.sub(lambda code: " " * len(code[0]), prompt)
    found: list[Mention] = []
    at = 0
    while len(found) < MOST_MENTIONS and (start := _START.search(text, at)):
        quoted = _QUOTED.match(text, start.start())
        word = _WORD.match(text, start.start())
        mention = _of_quoted(quoted) if quoted else _of_word(word[1]) if word else None
        if mention and mention.readings:
            found.append(mention)
        at = quoted.end() if quoted else start.end()
    return tuple(found)


def readings(name: str) -> tuple[Reading, ...]:
    """A name as it stands, and with a range at its end taken for one."""
    ranged = _RANGE.fullmatch(name)
    span = _span(ranged[2], ranged[3]) if ranged else None
    return (Reading(name), Reading(ranged[1], span)) if ranged and span else (Reading(name),)


def _span(first: str, last: str | None) -> Span | None:
    span = Span(int(first), int(last or first))
    return span if 1 <= span.first <= span.last else None


def _of_quoted(found: re.Match[str]) -> Mention:
    if not found[2]:
        return Mention(readings(found[1]), found[1], meant=True)
    span = _span(found[2], found[3])
    return Mention((Reading(found[1], span),) if span else (), found[1], meant=True)


def _of_word(word: str) -> Mention:
    offered = tuple(islice((reading for part in _beginnings(word) for reading in readings(part)), _MOST_READINGS))
    likely = readings(word.rstrip("".join(_LAST)))[-1].name
    return Mention(offered, likely, meant=_FILE_ENDING.search(likely) is not None)


def _beginnings(word: str) -> Iterator[str]:
    """The parts of `word` from its start that may be a name, the longest first."""
    bare = len(word)
    for end in range(len(word), 0, -1):
        trailing = end == bare
        before = word[end - 1]
        if end == len(word) or trailing or word[end] in _ENDS or (not word[end].isascii() and before.isascii()):
            part = word[:end]
            if part == "./" or re.search(r"\w", part):
                yield part
        if trailing and before in _LAST:
            bare = end - 1
