"""The lines at which a function returns. What comes back from them is more than lines can tell, and said to be."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.scouting import lookups
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import Place, Symbol
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.readings import Lines
from orchestrator.scouting.resolve import apply_filters, find, reading_note, unknown_part
from orchestrator.scouting.sentences import sorted_definitions
from orchestrator.scouting.wording import Words, code

_RETURNS = re.compile(r"\s*(?:.*[{;:]\s*)?(?P<value>(?:return|yield)\b[^;]*)")
_MAX_VALUES = 3
_MAX_LINES = 2000


def answer(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """The return lines of the likeliest definition of `subject`; of what is no function, what explains it."""
    found = find(book, subject)
    if found is None:
        return None
    if not found.places:
        return unknown_part(found, words)
    definitions = sorted_definitions(apply_filters(found.places, ask.filters).inside, found.last)[:1]
    symbols = lookups.symbols(book, definitions[0].path) if definitions else ()
    if symbols is None:
        return None
    function = next((s for s in symbols if s.line == definitions[0].line and s.kind in ("function", "method")), None)
    if function is None:
        from orchestrator.scouting import explain

        return explain.answer(ask, subject, book, words)
    lines = lookups.read(book, function.path, function.line, min(function.end_line - function.line + 1, _MAX_LINES))
    if lines is None:
        return None
    return noted(_part(found.name, function, _own_returns(function, symbols, lines), words), reading_note(found, words))


def _own_returns(function: Symbol, symbols: Sequence[Symbol], lines: Lines) -> tuple[Place, ...]:
    """The lines that return from the function itself, not from one inside it."""
    inner = [s for s in symbols if function.line < s.line and s.end_line <= function.end_line and s.end_line > s.line]
    return tuple(
        Place(function.path, number, "reference", text.strip(), function.name)
        for number, text in lines.rows
        if _RETURNS.match(text) and not any(s.line <= number <= s.end_line for s in inner)
    )


def _part(name: str, function: Symbol, returns: tuple[Place, ...], words: Words) -> Part:
    values = words.listed(dict.fromkeys(code(_value(place.text)) for place in returns), _MAX_VALUES)
    key = "returns" if returns else "returns_nothing"
    said = words.say(
        key, name=code(name), at=function.place.at, count=words.count(len(returns), "return"), values=values
    )
    details = (words.say("signature", code=code(function.signature)),) if function.signature else ()
    listed = groups((words.title("return"), returns), (words.title("context"), (function.place,)))
    return Part(said, listed, details, notes=(words.say("what_returned"),) if returns else ())


def _value(text: str) -> str:
    found = _RETURNS.match(text)
    return found["value"].strip() if found else text
