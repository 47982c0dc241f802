"""What a question asks for, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from orchestrator.scouting.regions import Filters

Language = Literal["en", "zh"]

Intent = Literal[
    "about",
    "used",
    "defined",
    "callers",
    "imports",
    "tested",
    "documented",
    "assigned",
    "configured",
    "raised",
    "caught",
    "subclasses",
    "alive",
    "callees",
    "file_imports",
    "explain",
    "returns",
    "contents",
    "bases",
    "text",
    "history",
    "compare",
    "unknown",
]
"""`about` is a bare name; `alive` asks whether it is used at all; `unknown` is out of the scout's reach."""

SubjectShape = Literal["name", "path", "text", "phrase"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about. `owner` is the class or module before the last dot; `asked` is as it was written.

    A `phrase` is several plain words that may be the parts of a name; a `text` is to be found letter by letter.
    """

    shape: SubjectShape
    name: str
    owner: str = ""
    asked: str = ""

    @property
    def dotted(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing asked. `kinds` are the kinds of definitions asked for, any when empty.

    `is_yes_or_no`: the answer begins with yes or no.
    """

    intent: Intent
    subjects: tuple[Subject, ...] = ()
    filters: Filters = field(default_factory=Filters)
    kinds: tuple[str, ...] = ()
    is_yes_or_no: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A whole question: one or more asks, in the order in which they were put."""

    text: str
    language: Language
    asks: tuple[Ask, ...]
