"""The scout as a sub-agent: one step of an investigation, told from the messages alone."""

from __future__ import annotations

import json
import re

from orchestrator.messages import ToolCall
from orchestrator.model import ModelRequest
from orchestrator.scouting.investigate import investigate
from orchestrator.scouting.notebook import Notebook, failed_search
from orchestrator.scouting.parse import parse
from orchestrator.scouting.part import Part
from orchestrator.scouting.question import Question
from orchestrator.scouting.wording import Words
from orchestrator.scouting.writer import findings_of, summary_of

_CONTEXT = re.compile(r"\n\nContext:\n")


def investigated(request: ModelRequest) -> tuple[str, tuple[ToolCall, ...]]:
    """The text and the tool calls of the next step."""
    question = _question(request)
    words = Words(question.language)
    book = Notebook(request.messages, request.tools)
    if failure := failed_search(request.messages):
        return _handed_in(_not_done(question, failure, words), words, book, number=len(request.messages))
    parts = investigate(question, book, words, request.tools)
    if book.is_waiting and not book.is_last_turn:
        return "", book.wanted
    if book.is_waiting:
        parts = (*parts, Part(words.say("unfinished")))
    return _handed_in(parts, words, book, number=len(request.messages))


def _not_done(question: Question, failure: str, words: Words) -> tuple[Part, ...]:
    """What to say when the search itself failed: never that a name is not there."""
    said = words.say("search_failed", reason=failure)
    return (Part(said, open_question=words.say("not_answered", question=question.text.strip())),)


def _question(request: ModelRequest) -> Question:
    """The task; names that "it" may stand for come from the context."""
    first = next((message.content for message in request.messages if message.role == "user"), "")
    task, *context = _CONTEXT.split(first, maxsplit=1)
    return parse(task, context[0] if context else "")


def _handed_in(parts: tuple[Part, ...], words: Words, book: Notebook, number: int) -> tuple[str, tuple[ToolCall, ...]]:
    summary = summary_of(parts, words)
    if not book.has("report"):
        return summary, ()
    report = {
        "summary": summary,
        "findings": findings_of(parts),
        "open_questions": [part.open_question for part in parts if part.open_question],
    }
    return "", (ToolCall(f"scout_report_{number}", "report", json.dumps(report, ensure_ascii=False)),)
