"""Every place of a name in one file, classified: a pure function of the file's path and bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from orchestrator.code.classify import Scopes, kind_of
from orchestrator.code.languages import Language, language_of
from orchestrator.code.qualified import Fit, Judge, Name, parse_name, word_pattern
from orchestrator.code.qualified import Place as Candidate
from orchestrator.code.rules import rules_of
from orchestrator.code.source import LONG_LINE, Source, read_source
from orchestrator.code.syntax import chain_to, parse
from orchestrator.code.words import kind_by_words
from orchestrator.tool import OccurrenceKind

MAX_ON_LONG_LINE = 3
"""Places of one very long line that are listed; the others are counted."""


class Place(NamedTuple):
    """One place of the name. `fit` says whether it belongs to the qualifier asked for; plain names always fit.

    `text` is the line, `preview` what to show of it if it is long.
    """

    line: int
    column: int
    kind: OccurrenceKind
    text: str
    scope: str = ""
    fit: Fit = "yes"
    preview: str = ""


class FileOccurrences(NamedTuple):
    """`hidden` places of very long lines are not in `places`. `how`: what the kinds rest on."""

    places: tuple[Place, ...] = ()
    hidden: int = 0
    how: Literal["parsed", "words", "binary"] = "words"


class Span(NamedTuple):
    """A match of the name in the text, with what was found out about it."""

    start: int
    end: int
    kind: OccurrenceKind
    scope: str = ""


def occurrences_in(path: str, data: bytes, name: str) -> FileOccurrences:
    """Every whole-word place of `name` in the file with the content `data`, in order.

    `path` tells the language. `name` may have a qualifier (`Session.send`): then every place of its last part comes
    back, with its `fit`. Encodings are told apart; what is no text gives `how="binary"` and no places.
    """
    source = read_source(data)
    if source is None:
        return FileOccurrences(how="binary")
    wanted = parse_name(name)
    if wanted.last not in source.text and not path.endswith(".ipynb"):
        return FileOccurrences()
    spans, parsed = _spans(path, source, wanted.last)
    kept, hidden = _without_flood(spans, source)
    places = tuple(_places(kept, source, path, wanted))
    return FileOccurrences(places, hidden, "parsed" if parsed else "words")


def _spans(path: str, source: Source, name: str) -> tuple[list[Span], bool]:
    """The matches in the text, classified, and whether that was done by a parser."""
    language = language_of(path, source.text)
    if language.family == "notebook":
        from orchestrator.code.notebook import notebook_spans

        return notebook_spans(source, name), True
    matches = [found.span() for found in word_pattern(name, sigil=language.sigil).finditer(source.text)]
    if language.family == "docs":
        return [Span(*match, "doc") for match in matches], False
    if language.family == "data":
        return [Span(*match, "other") for match in matches], False
    parsed = parsed_spans(source, language, name, matches) if language.family == "code" and matches else None
    if parsed is not None:
        return parsed, True
    return [Span(*match, _by_words(source, *match)) for match in matches], False


def parsed_spans(
    source: Source, language: Language, name: str, matches: Sequence[tuple[int, int]]
) -> list[Span] | None:
    """The matches classified by the tree of the source; `None` when it cannot be parsed."""
    tree = parse(source.data, language)
    if tree is None:
        return None
    rules, root, data = rules_of(language.rules), tree.root_node, source.data
    scopes = Scopes(rules, data)
    spans = []
    starts = source.byte_offsets([start for start, _ in matches])
    length = len(name.encode("utf-8", "surrogatepass"))
    for (start, end), byte in zip(matches, starts, strict=True):
        chain = chain_to(root, byte, byte + length)
        kind = (chain and kind_of(chain, name, rules, data)) or _by_words(source, start, end)
        scope = scopes.around(chain, without_start=byte if kind == "definition" else -1) if chain else ""
        spans.append(Span(start, end, kind, scope))
    return spans


def _by_words(source: Source, start: int, end: int) -> OccurrenceKind:
    column = source.column_of(start) - 1
    line = source.line_at(start)
    if len(line) > LONG_LINE:  # the nearest characters say as much, and long lines are slow to search
        first = max(0, column - LONG_LINE // 2)
        line, column = line[first : column + LONG_LINE // 2], column - first
    return kind_by_words(line, column, column + end - start)


def _without_flood(spans: Sequence[Span], source: Source) -> tuple[list[Span], int]:
    """At most a few places of each very long line, and how many were left out."""
    kept: list[Span] = []
    on_line: Counter[int] = Counter()
    for span in spans:
        if len(source.text) > LONG_LINE:
            line_start = span.start - source.column_of(span.start)
            on_line[line_start] += 1
            if on_line[line_start] > MAX_ON_LONG_LINE and len(source.line_at(span.start)) > LONG_LINE:
                continue
        kept.append(span)
    return kept, len(spans) - len(kept)


def _places(spans: Sequence[Span], source: Source, path: str, wanted: Name) -> Iterator[Place]:
    known = [Candidate(start, kind, scope) for start, _, kind, scope in spans] if wanted.qualifier else []
    judge = Judge(wanted, path, source.text, known) if wanted.qualifier else None
    for start, _, kind, scope in spans:
        fit: Fit = judge.fit(Candidate(start, kind, scope)) if judge else "yes"
        text, preview = source.shown_at(start)
        yield Place(source.line_of(start), source.column_of(start), kind, text, scope, fit, preview)
