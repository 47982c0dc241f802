"""What a name is: signature, documentation, where it stands, who calls it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.scouting import lookups
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import Place, Symbol, of_kinds
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.readings import Lines
from orchestrator.scouting.resolve import Found, all_filtered_part, apply_filters, find, reading_note, unknown_part
from orchestrator.scouting.sentences import functions_of, sorted_definitions
from orchestrator.scouting.wording import Words, code

MAX_DETAILED = 5
"""Definitions of one name that are read; the others are listed."""
_BEFORE = 30
"""Lines above a definition where its comment may stand."""
_AFTER = 30
_DOC_LINES = 6
_COMMENT_MARKS = re.compile(
    r"^\s*(?:/\*\*?|\*/|\*|//[/!]?|#+|--+|;+|[rRuUbBfF]{0,2}\"\"\"|[rRuU]{0,2}'''|<!--)?\s?|\s*(?:\*/|\"\"\"|'''|"
    r"-->)\s*$"
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with its documentation; `doc_place` is the lines that say it."""

    symbol: Symbol
    doc: str = ""
    doc_place: Place | None = None


def answer(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """Explain one name; `None` while the tools have not answered."""
    found = find(book, subject)
    if found is None:
        return None
    if not found.places:
        return unknown_part(found, words)
    filtered = apply_filters(found.places, ask.filters)
    if not filtered.inside:
        return all_filtered_part(found, filtered.outside, words)
    definitions = sorted_definitions(filtered.inside, found.last)
    if not definitions:
        return _outsider(found, filtered.inside, words)
    detailed = documented(book, found.last, definitions[:MAX_DETAILED])
    if detailed is None:
        return None
    return noted(_explained(found, filtered.inside, definitions, detailed, words), reading_note(found, words))


def documented(book: Notebook, name: str, definitions: Sequence[Place]) -> tuple[Definition, ...] | None:
    """The definitions with their signatures and documentation; `None` while they are not known."""
    paths = tuple(dict.fromkeys(place.path for place in definitions))
    by_path = {path: lookups.symbols(book, path, name) for path in paths}
    around = {
        place.at: lookups.read(book, place.path, max(1, place.line - _BEFORE), _BEFORE + _AFTER)
        for place in definitions
    }
    made: list[Definition] = []
    for place in definitions:
        symbols, lines = by_path[place.path], around[place.at]
        if symbols is None or lines is None:
            return None
        symbol = next((s for s in symbols if s.line == place.line), None) or _enclosing(symbols, place)
        made.append(_with_doc(symbol, place, lines))
    return tuple(made)


def _enclosing(symbols: Sequence[Symbol], place: Place) -> Symbol:
    """The symbol whose decorators or modifiers stand on other lines, else one made of the line alone."""
    around = [s for s in symbols if s.line <= place.line <= s.end_line]
    return around[-1] if around else Symbol(place.path, place.line, place.line, "name", place.scope, place.text)


def _with_doc(symbol: Symbol, place: Place, lines: Lines) -> Definition:
    if not symbol.doc:
        return Definition(symbol)
    at = _doc_line(symbol, place, lines)
    if at is None:
        return Definition(symbol, symbol.doc)
    rows = _paragraph(lines, at)
    text = " ".join(filter(None, (_bare(row) for _, row in rows)))
    quote = "\n".join(row.strip() for _, row in rows)
    return Definition(symbol, text, Place(symbol.path, at, "doc", quote, symbol.name, end_line=rows[-1][0]))


def _doc_line(symbol: Symbol, place: Place, lines: Lines) -> int | None:
    """The line nearest to the definition that has the documentation's first line."""
    start = symbol.doc.rstrip("…").strip()[:60]
    found = [number for number, row in lines.rows if start and start in row]
    return min(found, key=lambda number: abs(number - place.line)) if found else None


def _paragraph(lines: Lines, first: int) -> list[tuple[int, str]]:
    """The lines of documentation from `first` to the next empty one."""
    rows: list[tuple[int, str]] = []
    for number, row in lines.rows:
        if number < first:
            continue
        ends_before = rows and not _bare(row)
        if ends_before or len(rows) == _DOC_LINES or (rows and _closes(rows[-1][1])):
            break
        rows.append((number, row))
    return rows


def _closes(row: str) -> bool:
    stripped = row.strip()
    return stripped.endswith("*/") or (stripped.endswith(('"""', "'''")) and len(stripped) > 3)


def _bare(row: str) -> str:
    """A line of documentation without the marks of a comment or a string."""
    return _COMMENT_MARKS.sub("", _COMMENT_MARKS.sub("", row)).strip()


def _explained(
    found: Found,
    places: tuple[Place, ...],
    definitions: tuple[Place, ...],
    detailed: tuple[Definition, ...],
    words: Words,
) -> Part:
    first, symbol = definitions[0], detailed[0].symbol
    scope = words.say("scope", scope=first.scope) if first.scope else ""
    key = "explained" if len(definitions) == 1 else "explained_many"
    headline = words.say(
        key,
        name=code(found.name),
        kind=words.symbol_kind(symbol.kind),
        at=first.at,
        scope=scope,
        count=len(definitions),
    )
    calls = of_kinds(places, {"call"})
    details = [*_details(detailed, definitions, words)]
    if calls:
        details.append(
            words.say("called_by", functions=functions_of(calls, words), count=words.count(len(calls), "call"))
        )
    docs = tuple(each.doc_place for each in detailed if each.doc_place)
    listed = groups((words.title("definition"), definitions), (words.title("callers"), calls))
    return Part(headline, listed, tuple(details), silent=docs)


def _details(detailed: Sequence[Definition], definitions: Sequence[Place], words: Words) -> list[str]:
    rows: list[str] = []
    alone = len(detailed) == 1
    for each, place in zip(detailed, definitions, strict=False):
        if alone and each.symbol.signature and each.symbol.signature != place.text:
            rows.append(words.say("signature", code=code(each.symbol.signature)))
        if each.doc:
            rows.append(words.say("says" if alone else "says_at", doc=each.doc, at=place.at))
    return rows or [words.say("no_doc")]


def _outsider(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    """A name that is used here and defined elsewhere."""
    said = words.say("not_here", name=code(found.name), kinds=words.kinds(places))
    kinds = ("import", "call", "attribute", "reference", "other", "comment", "string", "doc")
    return Part(said, groups(*((words.title(kind), of_kinds(places, {kind})) for kind in kinds)))
