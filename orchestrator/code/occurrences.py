"""Every place of a name in one file, classified: a pure function of the file's path and bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from orchestrator.code.classify import Scopes, kind_of
from orchestrator.code.languages import PYTHON, Language, language_of
from orchestrator.code.local_names import Spot, local_places
from orchestrator.code.qualified import Fit, Judge, Name, is_member, parse_name, word_pattern
from orchestrator.code.qualified import Place as Candidate
from orchestrator.code.rules import rules_of
from orchestrator.code.source import LONG_LINE, Source, read_source
from orchestrator.code.statements import WORTH_CUTTING, statements_with
from orchestrator.code.syntax import MAX_PARSED, chain_to, parse
from orchestrator.code.words import kind_by_words
from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

S = TypeVar("S", bound=tuple[Any, ...])

MAX_ON_LONG_LINE = 3
"""Places of one very long line that are listed; the others are counted."""


class Place(NamedTuple):
    """One place of the name. `fit` says whether it belongs to the qualifier asked for; plain names always fit.

    `text` is the line, `preview` what to show of it if it is long. `is_local`: a parameter or a variable of a function.
    """

    line: int
    column: int
    kind: OccurrenceKind
    text: str
    scope: str = ""
    fit: Fit = "yes"
    preview: str = ""
    is_local: bool = False


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
    is_local: bool = False


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
    spans, hidden, parsed = _spans(path, source, wanted.last)
    places = tuple(_places(spans, source, path, wanted))
    return FileOccurrences(places, hidden, "parsed" if parsed else "words")


def _spans(path: str, source: Source, name: str) -> tuple[list[Span], int, bool]:
    """The matches in the text, classified; how many more very long lines hold; whether a parser classified them."""
    language = language_of(path, source.text)
    if language.family == "notebook":
        from orchestrator.code.notebook import notebook_spans

        return *_without_flood(notebook_spans(source, name), source), True
    found = (match.span() for match in word_pattern(name, sigil=language.sigil).finditer(source.text))
    matches, hidden = _without_flood(found, source)
    if language.family == "docs":
        return [Span(*match, "doc") for match in matches], hidden, False
    if language.family == "data":
        return [Span(*match, "other") for match in matches], hidden, False
    parsed = parsed_spans(source, language, name, matches) if language.family == "code" and matches else None
    if parsed is not None:
        return parsed, hidden, True
    return [Span(*match, _by_words(source, *match)) for match in matches], hidden, False


def parsed_spans(
    source: Source, language: Language, name: str, matches: Sequence[tuple[int, int]]
) -> list[Span] | None:
    """The matches classified by the tree of the source; `None` when it cannot be parsed."""
    starts = list(source.byte_offsets([start for start, _ in matches]))
    parsed = _parsed(source.data, language, starts)
    if parsed is None:
        return None
    root, data, starts = parsed
    rules = rules_of(language.rules)
    scopes = Scopes(rules, data)
    spans: list[Span] = []
    spots: list[Spot] = []
    length = len(name.encode("utf-8", "surrogatepass"))
    for (start, end), byte in zip(matches, starts, strict=True):
        chain = chain_to(root, byte, byte + length)
        kind = (chain and kind_of(chain, name, rules, data)) or _by_words(source, start, end)
        scope = scopes.around(chain, without_start=byte if kind == "definition" else -1) if chain else ""
        spans.append(Span(start, end, kind, scope))
        spots.append(Spot(chain, kind, is_member(source.text, start)))
    local = local_places(spots, name, rules, data)
    return [span._replace(is_local=own) for span, own in zip(spans, local, strict=True)]


def _parsed(data: bytes, language: Language, starts: list[int]) -> tuple[Node, bytes, list[int]] | None:
    """The root of a tree, what was parsed for it, and where in that the bytes `starts` are.

    Of Python only the statements that hold them are parsed, as long as they are all well formed.
    """
    if language is PYTHON and WORTH_CUTTING <= len(data) <= MAX_PARSED:
        some = statements_with(data, starts)
        tree = parse(some.data, language) if some is not None else None
        if tree is not None and some is not None and not tree.root_node.has_error:
            return tree.root_node, some.data, some.moved
    tree = parse(data, language)
    return None if tree is None else (tree.root_node, data, starts)


def _by_words(source: Source, start: int, end: int) -> OccurrenceKind:
    first, last = source.bounds_of_line(start)
    is_long = last - first > LONG_LINE  # then the nearest characters say as much, and are searched sooner
    line, column = source.around(start, LONG_LINE // 2 if is_long else LONG_LINE)
    return kind_by_words(line, column, column + end - start)


def _without_flood(spans: Iterable[S], source: Source) -> tuple[list[S], int]:
    """At most a few of the matches, which begin with their start, on each very long line; and how many others."""
    if len(source.text) <= LONG_LINE:
        return list(spans), 0
    kept: list[S] = []
    on_line: Counter[int] = Counter()
    hidden = 0
    for span in spans:
        line_start, line_end = source.bounds_of_line(span[0])
        if line_end - line_start > LONG_LINE:
            on_line[line_start] += 1
            if on_line[line_start] > MAX_ON_LONG_LINE:
                hidden += 1
                continue
        kept.append(span)
    return kept, hidden


def _places(spans: Sequence[Span], source: Source, path: str, wanted: Name) -> Iterator[Place]:
    known = [Candidate(start, kind, scope) for start, _, kind, scope, _ in spans] if wanted.qualifier else []
    judge = Judge(wanted, path, source.text, known) if wanted.qualifier else None
    for start, _, kind, scope, is_local in spans:
        fit: Fit = judge.fit(Candidate(start, kind, scope)) if judge else "yes"
        text, preview = source.shown_at(start)
        yield Place(source.line_of(start), source.column_of(start), kind, text, scope, fit, preview, is_local)
