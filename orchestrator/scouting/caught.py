"""Where an exception is caught: `except` and `catch` lines, those that go over several lines too."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.scouting import lookups
from orchestrator.scouting.chosen import chosen_part
from orchestrator.scouting.line_kinds import catches
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import CODE, KINDS, Place, of_kinds
from orchestrator.scouting.resolve import Found
from orchestrator.scouting.sentences import kind_groups
from orchestrator.scouting.wording import Words

_ONE_OF_MANY = re.compile(
    r"[\w.$:\\]+(?:\s*[,|]\s*[\w.$:\\]+)*\s*[,|]?\s*\)*(?:\s*as\s+\w+)?\s*(?:[\w$]+\s*\))?\s*[:{]?"
)
"""A line of a list of names over several lines."""
_BEGINS = re.compile(r"(?:\}\s*)?(?:except\*?|catch|rescue|with)\b.*[(,|]$")
_ABOVE = 15
_MOST_READ = 40


def caught(found: Found, places: tuple[Place, ...], book: Notebook, words: Words) -> Part | None:
    """The places that catch the name; where none does, its other uses are listed."""
    code = of_kinds(places, CODE)
    on_line = [place for place in code if catches(place.text, found.last)]
    unclear = [place for place in code if place not in on_line and _ONE_OF_MANY.fullmatch(place.text)]
    known = [_is_in_list(place, book) for place in unclear[:_MOST_READ]]
    if None in known:
        return None
    listed = [place for place, is_caught in zip(unclear, known, strict=False) if is_caught]
    chosen = tuple(sorted((*on_line, *listed), key=code.index))
    part = chosen_part(found, chosen, "caught", "catch", words)
    return part if chosen else _with_uses(part, found, places, words)


def _is_in_list(place: Place, book: Notebook) -> bool | None:
    """Whether the lines above say that the line goes on with what is caught."""
    first = max(1, place.line - _ABOVE)
    lines = lookups.read(book, place.path, first, place.line - first)
    if lines is None:
        return None
    for _, text in reversed(lines.rows):
        if _BEGINS.fullmatch(text.strip()):
            return not text.strip().startswith("with") or "suppress" in text
        if not _ONE_OF_MANY.fullmatch(text.strip()):
            return False
    return False


def _with_uses(part: Part, found: Found, places: Sequence[Place], words: Words) -> Part:
    kinds = ("import", "call", "attribute", "reference")
    uses = groups(*kind_groups(tuple(places), [kind for kind in KINDS if kind in kinds], words, found.last))
    return noted(Part(part.headline, (*uses, *part.groups), is_yes=False))
