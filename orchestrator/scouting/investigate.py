"""From a question and what the tools have said so far to the parts of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from orchestrator.model import ToolSchema
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part
from orchestrator.scouting.question import Ask, Intent, Question, Subject
from orchestrator.scouting.wording import Words

Answer = Callable[[Ask, Subject, Notebook, Words], Part | None]
"""Answers an ask about one of its subjects; `None` while the tools have not answered."""

_MAX_PARTS = 8


def investigate(question: Question, book: Notebook, words: Words, tools: Sequence[ToolSchema]) -> tuple[Part, ...]:
    """The parts that are known. Complete when `book` is not waiting for anything afterwards."""
    if not question.text.strip():
        from orchestrator.scouting.beyond import nothing_asked

        return (nothing_asked(words),)
    parts: list[Part | None] = []
    for ask in question.asks:
        parts += _parts_of(ask, question, book, words, tools)
    return tuple(part for part in parts[:_MAX_PARTS] if part is not None)


def _parts_of(
    ask: Ask, question: Question, book: Notebook, words: Words, tools: Sequence[ToolSchema]
) -> list[Part | None]:
    if ask.intent == "history":
        from orchestrator.scouting import history

        return [history.answer(ask, question, book, words, tools)]
    if ask.intent == "compare" and len(ask.subjects) > 1:
        from orchestrator.scouting import compare

        return [compare.answer(ask, book, words)]
    if ask.intent == "unknown":
        from orchestrator.scouting import beyond

        return [beyond.answer(ask, question, book, words)]
    return [
        _misread(ask, subject, question, book, words) or _one(ask, subject, book, words) for subject in ask.subjects
    ]


def _misread(ask: Ask, subject: Subject, question: Question, book: Notebook, words: Words) -> Part | None:
    """The answer to a question that only seemed to name something: its plain words are no name in the code."""
    if subject.shape != "phrase" and not (subject.shape == "name" and _is_plain(ask, subject)):
        return None
    from orchestrator.scouting import beyond
    from orchestrator.scouting.places import CODE, of_kinds
    from orchestrator.scouting.resolve import find

    found = find(book, subject)
    if found is None or found.near or of_kinds(found.places, CODE):
        return None
    is_word = subject.shape == "name" and ask.intent == "about"
    return beyond.answer(Ask("unknown", (subject,) if is_word else ()), question, book, words)


def _is_plain(ask: Ask, subject: Subject) -> bool:
    """Whether the name is a word that says nothing by itself, or a plain word with nothing asked about it."""
    from orchestrator.scouting.english_words import STOP_WORDS

    word = subject.asked
    return word.lower() in STOP_WORDS or (
        ask.intent == "about" and word.isascii() and word.isalpha() and word.islower()
    )


def _one(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    intent: Intent = "used" if ask.intent == "compare" else ask.intent
    answer = _about_name(intent) if subject.shape in ("name", "phrase") else _about_path_or_text(intent, subject)
    return answer(replace(ask, intent=intent), subject, book, words)


# Only the module that answers is imported: starting up is part of the answer's time.


def _about_name(intent: Intent) -> Answer:
    match intent:
        case "explain":
            from orchestrator.scouting.explain import answer
        case "returns":
            from orchestrator.scouting.returns import answer
        case "contents":
            from orchestrator.scouting.contents import answer
        case "callees":
            from orchestrator.scouting.dependencies import callees as answer
        case "file_imports":
            from orchestrator.scouting.dependencies import file_imports as answer
        case "subclasses":
            from orchestrator.scouting.inheritance import subclasses as answer
        case "bases":
            from orchestrator.scouting.inheritance import bases as answer
        case _:
            from orchestrator.scouting.uses import answer
    return answer


def _about_path_or_text(intent: Intent, subject: Subject) -> Answer:
    if subject.shape == "text" and intent != "imports":
        from orchestrator.scouting.texts import answer
    elif intent in ("about", "defined", "explain", "returns", "contents", "documented", "bases"):
        from orchestrator.scouting.contents import answer
    elif intent in ("callees", "file_imports"):
        from orchestrator.scouting.dependencies import file_imports as answer
    else:
        from orchestrator.scouting.dependencies import importers as answer
    return answer
