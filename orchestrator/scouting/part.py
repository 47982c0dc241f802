"""The answer to one ask, before it is written: a sentence, groups of places, remarks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from orchestrator.scouting.places import Place


@dataclass(frozen=True, slots=True)
class Group:
    """Places under one heading. A place in several groups is cited once, by the first."""

    title: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """`headline` answers; `details` follow it line by line; `notes` close the part.

    `silent` places are cited and not listed: the lines that a sentence of the part rests on. `is_yes` is what the part
    comes to if the question can be answered with yes or no and the headline does not say it.
    """

    headline: str
    groups: tuple[Group, ...] = ()
    details: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    silent: tuple[Place, ...] = ()
    open_question: str = ""
    is_yes: bool | None = None

    @property
    def cited(self) -> tuple[Place, ...]:
        """Every place, each line once, in the order of the groups."""
        every = (*(place for group in self.groups for place in group.places), *self.silent)
        seen: dict[tuple[str, int], Place] = {}
        for place in every:
            seen.setdefault((place.path, place.line), place)
        return tuple(seen.values())


def groups(*pairs: tuple[str, Iterable[Place]]) -> tuple[Group, ...]:
    """Groups of `(title, places)`, the empty ones left out."""
    made = (Group(title, tuple(places)) for title, places in pairs)
    return tuple(group for group in made if group.places)


def noted(part: Part, *notes: str) -> Part:
    """`part` with more notes, the empty ones left out."""
    return replace(part, notes=(*part.notes, *(note for note in notes if note)))
