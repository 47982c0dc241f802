"""A question in English or Chinese as data. Deterministic; knows grammar, not code."""

from __future__ import annotations

import re
from dataclasses import replace

from orchestrator.scouting.marks import Marked, set_aside
from orchestrator.scouting.names import looks_like_code
from orchestrator.scouting.question import Ask, Language, Question, Subject
from orchestrator.scouting.subjects import coded_in

_CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_SENTENCE = re.compile(r"(?<=[?!;])\s+|(?<=\.)\s+(?=[A-Z\ue000-\uf8ff\u4e00-\u9fff])|\n+")


def parse(text: str, context: str = "") -> Question:
    """What `text` asks for. A question that no form fits has one ask with the intent `unknown`.

    `context` is an earlier question: "it" in `text` means what that one was about.
    """
    before = _subjects_of(list(parse(context).asks)) if context else ()
    marked = set_aside(text)
    language: Language = "zh" if _CHINESE.search(marked.text) else "en"
    asks: list[Ask] = []
    for sentence in _SENTENCE.split(marked.text):
        if sentence.strip(" .?!"):
            read = _read_sentence(sentence, language, marked, _subjects_of(asks) or before)
            asks += read if not asks or _goes_on(read, sentence, asks) else ()
    if not asks:
        asks = [Ask("unknown", coded_in(marked.text, marked))]
    return Question(text, language, tuple(_text_asks(ask) for ask in dict.fromkeys(asks)))


def _read_sentence(sentence: str, language: Language, marked: Marked, before: tuple[Subject, ...]) -> tuple[Ask, ...]:
    if language == "zh":
        from orchestrator.scouting.chinese import read_clause, split_clauses
    else:
        from orchestrator.scouting.english import read_clause, split_clauses
    pieces = split_clauses(sentence)
    if len(pieces) > 1:
        asks: list[Ask] = []
        for piece in pieces:
            read, fit = read_clause(piece, marked, _subjects_of(asks) or before)
            if fit < 2:
                break
            asks += read
        else:
            return tuple(asks)
    return read_clause(sentence, marked, before)[0]


def _goes_on(read: tuple[Ask, ...], sentence: str, asks: list[Ask]) -> bool:
    """Whether a later sentence is one more question, and not an instruction such as "Report file and line."."""
    if sentence.rstrip().endswith("?"):
        return True
    known = _subjects_of(asks)
    return all(subject in known or looks_like_code(subject.asked) for ask in read for subject in ask.subjects)


def _subjects_of(asks: list[Ask]) -> tuple[Subject, ...]:
    return asks[-1].subjects if asks else ()


def _text_asks(ask: Ask) -> Ask:
    """A subject that is text, asked for by its place, is looked up letter by letter."""
    by_place = ask.intent in ("about", "used", "defined", "explain", "alive", "raised", "callers")
    if by_place and ask.subjects and all(subject.shape == "text" for subject in ask.subjects):
        return replace(ask, intent="text")
    return ask
