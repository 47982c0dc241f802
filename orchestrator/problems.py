"""What is wrong with a file that the user wrote, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from orchestrator.errors import ConfigError

Severity = Literal["error", "warning"]


class Position(NamedTuple):
    """A place in a text; line and column count from 1."""

    line: int
    column: int


class Problem(NamedTuple):
    """One thing wrong with a file. A `warning` does not keep the file from being used."""

    file: str
    position: Position
    message: str
    hint: str = ""
    severity: Severity = "error"

    def __str__(self) -> str:
        kind = "warning: " if self.severity == "warning" else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.position.line}:{self.position.column}: {kind}{self.message}{hint}"


START = Position(1, 1)


def errors_in(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems that are errors, in order."""
    return tuple(problem for problem in problems if problem.severity == "error")


def as_error(problems: Sequence[Problem], hint: str = "") -> ConfigError:
    """All `problems` (at least one) as one error, each on a line of its own."""
    if len(problems) == 1:
        return ConfigError(str(problems[0]), hint)
    lines = "\n".join(f"  {problem}" for problem in problems)
    return ConfigError(f"{len(problems)} problems:\n{lines}", hint)


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """``did you mean `x`?`` with the nearest candidate, or an empty text."""
    near = nearest(name, candidates)
    return f"did you mean `{near}`?" if near else ""


def nearest(name: str, candidates: Iterable[str]) -> str:
    """The candidate that `name` was probably meant to be, or an empty text."""
    from difflib import get_close_matches

    known = sorted(candidates)
    folded = name.lower().replace("-", "_")
    near = [word for word in known if word.replace("-", "_") == folded]
    near += get_close_matches(name, known, n=1, cutoff=0.6)
    near += [word for word in known if len(word) > 3 and (word in folded or (len(folded) > 3 and folded in word))]
    return near[0] if near else ""
