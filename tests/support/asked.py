"""What the scout's parser makes of a question, written on one line so that tests can compare it."""

from __future__ import annotations

from orchestrator.scouting.parse import parse
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.regions import Region


def asked(question: str, context: str = "") -> str:
    """`used foo, Session.get; defined foo` — with `in tests`, `not in path:src` for the filters."""
    return "; ".join(map(_ask, parse(question, context).asks))


def _ask(ask: Ask) -> str:
    parts = [ask.intent, ", ".join(map(_subject, ask.subjects))]
    parts += [f"in {' or '.join(map(_region, group))}" for group in ask.filters.within]
    parts += [f"not in {_region(region)}" for region in ask.filters.without]
    return " ".join(filter(None, parts))


def _subject(subject: Subject) -> str:
    return subject.dotted if subject.shape == "name" else f"{subject.shape}:{subject.name}"


def _region(region: Region) -> str:
    return f"{region.kind}:{region.text}" if region.text else region.kind
