"""What changed lately around a name or a file. Needs a tool for git; says so when there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.model import ToolSchema
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups
from orchestrator.scouting.places import Place
from orchestrator.scouting.question import Ask, Question, Subject
from orchestrator.scouting.resolve import find
from orchestrator.scouting.sentences import sorted_definitions
from orchestrator.scouting.wording import Words, code

TOOL = "git_log"
_NAME_FIELDS = ("symbol", "name", "text", "search", "pattern", "query")
_MAX_ROWS = 20


def answer(ask: Ask, question: Question, book: Notebook, words: Words, tools: Sequence[ToolSchema]) -> Part | None:
    """The newest commits that touched what the question names; `None` while the tools have not answered."""
    subject = ask.subjects[0] if ask.subjects else Subject("path", ".")
    places = _definitions(subject, book)
    if places is None:
        return None
    schema = next((tool for tool in tools if tool.name == TOOL), None)
    context = groups((words.title("context"), places[:5]))
    if schema is None:
        said = words.say("no_git_tool", name=code(subject.dotted), bare=subject.name)
        return Part(said, context, open_question=said)
    outcome = book.look_up(TOOL, **_arguments(schema, subject, places))
    if outcome is None:
        return None
    if outcome.error:
        said = words.say("history_failed", reason=outcome.text.split("\n")[0].split(": ", 2)[-1])
        return Part(said, context, open_question=words.say("not_answered", question=question.text.strip()))
    commits = [line for line in outcome.text.split("\n") if line.strip() and not line.startswith((" ", "["))]
    if not commits:
        return Part(words.say("no_history", name=code(subject.dotted)), context)
    said = words.say("history", count=words.count(len(commits), "commit"), name=code(subject.dotted))
    return Part(said, context, tuple(f"- {line.strip()}" for line in commits[:_MAX_ROWS]))


def _definitions(subject: Subject, book: Notebook) -> tuple[Place, ...] | None:
    if subject.shape != "name":
        return ()
    found = find(book, subject)
    return None if found is None else sorted_definitions(found.places, found.last)


def _arguments(schema: ToolSchema, subject: Subject, places: Sequence[Place]) -> dict[str, object]:
    """What the tool takes of the path and the name, by the fields that it has."""
    fields = schema.parameters.get("properties")
    known: Mapping[str, object] = fields if isinstance(fields, Mapping) else {}
    arguments: dict[str, object] = {}
    path = subject.name if subject.shape == "path" else (places[0].path if places else "")
    if path and path != "." and "path" in known:
        arguments["path"] = path
    if subject.shape == "name":
        field = next((field for field in _NAME_FIELDS if field in known), None)
        arguments.update({field: subject.name} if field else {})
    return arguments
