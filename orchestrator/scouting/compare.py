"""Which of several names is used more."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups
from orchestrator.scouting.places import USES, Place, of_kinds
from orchestrator.scouting.question import Ask
from orchestrator.scouting.resolve import Found, apply_filters, find, reading_note
from orchestrator.scouting.sentences import sorted_definitions
from orchestrator.scouting.wording import Words, code


def answer(ask: Ask, book: Notebook, words: Words) -> Part | None:
    """The names with the numbers of their uses, the most used first; `None` while they are not known."""
    every = [find(book, subject) for subject in ask.subjects]
    known = [found for found in every if found is not None]
    if len(known) < len(every):
        return None
    counted = sorted(((found, _uses(found, ask)) for found in known), key=lambda pair: -len(pair[1]))
    rows = [_row(found, uses, words) for found, uses in counted]
    most = [found.name for found, uses in counted if len(uses) == len(counted[0][1])]
    key = "more_used" if len(most) == 1 else "less_used"
    said = words.say(key, first=code(counted[0][0].name), counts=words.listed(rows))
    listed: list[tuple[str, tuple[Place, ...]]] = [(found.name, uses) for found, uses in counted]
    for found, _ in counted:
        listed.append((f"{words.title('definition')} · {found.name}", sorted_definitions(found.places, found.last)))
    missing = [words.say("unknown_name", name=code(found.name)) for found in known if not found.places]
    notes = tuple(filter(None, (*missing, *(reading_note(found, words) for found in known))))
    return Part(said, groups(*listed), notes=notes)


def _row(found: Found, uses: Sequence[Place], words: Words) -> str:
    """`render 90 (78 calls; 74 definitions share the name)`: the uses may be of any of the definitions."""
    row = words.kinds(uses) or "0"
    if len(found.definitions) > 1:
        row += words.say("share_name", count=words.count(len(found.definitions), "definition"))
    return words.say("count_of", name=code(found.name), count=len(uses), kinds=row)


def _uses(found: Found, ask: Ask) -> tuple[Place, ...]:
    return of_kinds(apply_filters(found.places, ask.filters).inside, USES)
