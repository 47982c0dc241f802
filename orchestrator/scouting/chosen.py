"""Answers about the places that do one thing with a name: that set it, configure it, or raise it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from orchestrator.scouting.line_kinds import assigns, raises
from orchestrator.scouting.part import Part, groups
from orchestrator.scouting.places import CODE, Place, of_kinds
from orchestrator.scouting.regions import is_config_path
from orchestrator.scouting.resolve import Found
from orchestrator.scouting.sentences import defined_clause, definition_group, elsewhere_clause
from orchestrator.scouting.wording import Words, code

_ENVIRONMENT = re.compile(r"environ|getenv|process\.env|ENV\[|env::var|System\.getenv|\$\{?[A-Z]")


def _assigned(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    every = (*places, *found.variables)
    set_here = tuple(p for p in of_kinds(every, CODE) if assigns(p.text, found.last))
    return chosen_part(found, set_here, "assigned", "assignment", words)


def _configured(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    in_files = tuple(p for p in places if is_config_path(p.path) and p.kind not in ("comment", "doc"))
    environment = tuple(p for p in places if p not in in_files and _ENVIRONMENT.search(p.text))
    rest = tuple(
        p
        for p in of_kinds((*places, *found.variables), CODE)
        if p not in in_files and p not in environment and assigns(p.text, found.last)
    )
    every = (*in_files, *environment, *rest)
    if not every:
        return _none(found, "not_configured", words)
    said = words.say(
        "configured", name=code(found.name), count=words.count(len(every), "place"), files=words.files(every)
    )
    titles = (
        (words.title("setting"), in_files),
        (words.title("environment"), environment),
        (words.title("assignment"), rest),
    )
    return Part(said, groups(*titles), is_yes=True)


def _raised(found: Found, places: tuple[Place, ...], words: Words) -> Part:
    return chosen_part(
        found, tuple(p for p in of_kinds(places, CODE) if raises(p.text, found.last)), "raised", "raise", words
    )


def chosen_part(found: Found, chosen: tuple[Place, ...], intent: str, title: str, words: Words) -> Part:
    """The places that do what was asked, or the sentence that none does."""
    defined = defined_clause(found, words)
    if not chosen:
        return _none(found, f"not_{intent}", words)
    count, files = words.count(len(chosen), "place"), words.files(chosen)
    said = words.say(intent, name=code(found.name), count=count, files=files, defined=defined)
    return Part(said, groups((words.title(title), chosen), definition_group(found, words)), is_yes=True)


def _none(found: Found, key: str, words: Words) -> Part:
    elsewhere = elsewhere_clause(found, CODE, words)
    defined = defined_clause(found, words)
    said = words.say(key, name=code(found.name), where=found.where, elsewhere=elsewhere, defined=defined)
    return Part(said, groups(definition_group(found, words)), is_yes=False)


CHOOSE: Mapping[str, Callable[[Found, tuple[Place, ...], Words], Part]] = {
    "assigned": _assigned,
    "configured": _configured,
    "raised": _raised,
}
