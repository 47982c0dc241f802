"""From a question and what the tools have said so far to the parts of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.model import ToolSchema
from orchestrator.scouting import (
    beyond,
    compare,
    contents,
    dependencies,
    explain,
    history,
    inheritance,
    texts,
    uses,
)
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part
from orchestrator.scouting.question import Ask, Question, Subject
from orchestrator.scouting.wording import Words

Answer = Callable[[Ask, Subject, Notebook, Words], Part | None]
"""Answers an ask about one of its subjects; `None` while the tools have not answered."""

_OF_NAMES: dict[str, Answer] = {
    **dict.fromkeys(uses.INTENTS, uses.answer),
    "explain": explain.answer,
    "contents": contents.answer,
    "callees": dependencies.callees,
    "file_imports": dependencies.file_imports,
    "subclasses": inheritance.subclasses,
    "bases": inheritance.bases,
    "text": texts.answer,
}
_OF_PATHS: dict[str, Answer] = {
    **dict.fromkeys(("about", "defined", "explain", "contents", "documented", "bases"), contents.answer),
    **dict.fromkeys(
        ("used", "imports", "callers", "tested", "alive", "assigned", "configured", "raised", "subclasses"),
        dependencies.importers,
    ),
    **dict.fromkeys(("callees", "file_imports"), dependencies.file_imports),
    "text": texts.answer,
}
_MAX_PARTS = 8


def investigate(question: Question, book: Notebook, words: Words, tools: Sequence[ToolSchema]) -> tuple[Part, ...]:
    """The parts that are known. Complete when `book` is not waiting for anything afterwards."""
    if not question.text.strip():
        return (beyond.nothing_asked(words),)
    parts: list[Part | None] = []
    for ask in question.asks:
        parts += _parts_of(ask, question, book, words, tools)
    return tuple(part for part in parts[:_MAX_PARTS] if part is not None)


def _parts_of(
    ask: Ask, question: Question, book: Notebook, words: Words, tools: Sequence[ToolSchema]
) -> list[Part | None]:
    if ask.intent == "history":
        return [history.answer(ask, book, words, tools)]
    if ask.intent == "compare" and len(ask.subjects) > 1:
        return [compare.answer(ask, book, words)]
    if ask.intent == "unknown":
        return [beyond.answer(ask, question, book, words)]
    return [_one(ask, subject, book, words) for subject in ask.subjects]


def _one(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    intent = "used" if ask.intent == "compare" else ask.intent
    if subject.shape == "text" and intent == "imports":
        return dependencies.importers(ask, subject, book, words)
    if subject.shape == "text":
        return texts.answer(ask, subject, book, words)
    table = _OF_PATHS if subject.shape == "path" else _OF_NAMES
    return table[intent](Ask(intent, ask.subjects, ask.filters), subject, book, words)
