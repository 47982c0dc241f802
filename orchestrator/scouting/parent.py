"""The scout as the parent: what to hand on, and what to make of the report that comes back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.messages import Message
from orchestrator.scouting.question import Language
from orchestrator.scouting.wording import Words

_SUMMARY = re.compile(r"<summary>\n?(.*)\n?</summary>", re.DOTALL)
_STATUS = re.compile(r"status: (?P<status>\w+)(?: \((?P<reason>[^)]*)\))?")
_VERDICTS = re.compile(r"^findings: (?P<counts>\d.*)$", re.MULTILINE)
_COUNT = re.compile(r"(\d[\d,]*) (verified|moved|unverified)")
_BEYOND = (
    "the question needs a language model; the scout answers only what code can answer exactly",
    "`orch doctor` shows how to set one up: a key such as OPENAI_API_KEY, or --model.",
)
_FAILED = ("the question could not be answered", "The answer says what stood in its way.")
_CHINESE = re.compile("[\u3400-\u9fff]")


def newest_turn(messages: Sequence[Message]) -> tuple[str, str, tuple[Message, ...]]:
    """The newest question, the one before it as context for "it", and the tool results since."""
    asked = [at for at, message in enumerate(messages) if message.role == "user"]
    if not asked:
        return "", "", ()
    before = messages[asked[-2]].content if len(asked) > 1 else ""
    results = tuple(message for message in messages[asked[-1] :] if message.role == "tool")
    return messages[asked[-1]].content, before, results


def final_answer(question: str, results: Sequence[Message]) -> str:
    """The reports as the user reads them: each summary, how the sub-agent ended if not well, and the verdict."""
    words = Words(language_of(question))
    if not results:
        return words.say("no_question")
    return "\n\n".join(_passed_on(result, words) for result in results)


def unanswered(question: str, results: Sequence[Message]) -> tuple[str, str] | None:
    """Why the question was not answered and what to do, where a report says so."""
    words = Words(language_of(question))
    open_question = f"- {words.say('not_answered', question=question.strip())}"
    reports = [result.content for result in results if open_question in result.content]
    if not reports:
        return None
    return _BEYOND if words.say("out_of_reach") in reports[0] else _FAILED


def language_of(text: str) -> Language:
    return "zh" if _CHINESE.search(text) else "en"


def _passed_on(result: Message, words: Words) -> str:
    found = _SUMMARY.search(result.content)
    if result.is_error or not found:
        return words.say("sub_agent_failed", reason=result.content.strip())
    parts = [found[1].strip()]
    status = _STATUS.match(result.content)
    if status and status["status"] != "ok":
        parts.insert(0, words.say("sub_agent_ended", reason=status["reason"] or status["status"]))
    verdicts = _VERDICTS.search(result.content, found.end())
    if verdicts:
        counts = (f"{number} {words.say(verdict)}" for number, verdict in _COUNT.findall(verdicts["counts"]))
        parts.append(words.say("verdict", counts=words.comma.join(counts)))
    return "\n\n".join(parts)
