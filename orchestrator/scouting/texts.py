"""Where a text stands, letter by letter."""

from __future__ import annotations

import re

from orchestrator.scouting import lookups
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import Place, with_kind
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.readings import Hits
from orchestrator.scouting.resolve import apply_filters
from orchestrator.scouting.sentences import where_clause
from orchestrator.scouting.wording import Words, code

_GAP = r"\W(?:.{0,60}?\W)?"
"""What may stand between two words of a text that is not found as written: a placeholder, a quote, an escape; never
nothing, since the words in one identifier are not the text."""


def answer(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """The lines that hold the text; failing that, those that hold its words in order, in any case."""
    if not book.has("grep"):
        return Part(words.say("tools_missing", tools="grep"))
    text = subject.asked if subject.shape == "name" else subject.name
    exact = lookups.grep(book, text, literal=True)
    if exact is None:
        return None
    if exact.places:
        return _part("text", text, exact, ask, words)
    loose = lookups.grep(book, _loosely(text), ignore_case=True)
    if loose is None:
        return None
    if loose.places:
        return _part("text_loosely", text, loose, ask, words)
    said = words.say("no_text", text=code(text))
    return Part(said, open_question=said)


def _loosely(text: str) -> str:
    words = re.findall(r"\w+", text)
    return rf"\b{_GAP.join(map(re.escape, words))}\b" if words else re.escape(text)


def _part(key: str, text: str, hits: Hits, ask: Ask, words: Words) -> Part:
    filtered = apply_filters(with_kind(hits.places, "other"), ask.filters)
    places: tuple[Place, ...] = filtered.inside
    if not places:
        elsewhere, files = filtered.outside, words.files(filtered.outside)
        where, count = where_clause(ask.filters, words), words.count(len(elsewhere), "place")
        return Part(words.say("text_elsewhere", text=code(text), where=where, count=count, files=files))
    said = words.say(key, text=code(text), count=words.count(len(places), "place"), files=words.files(places))
    part = Part(said, groups((words.title("text"), places)))
    outside = words.say("filtered", count=words.count(len(filtered.outside), "place")) if filtered.outside else ""
    cut = words.say("not_all", count=len(hits.places), total=hits.total) if hits.was_cut else ""
    return noted(part, outside, cut)
