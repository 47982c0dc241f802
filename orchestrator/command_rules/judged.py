"""What a judgement of a command line says, and what it takes into account."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

CommandLevel = Literal["read-only", "writes", "unknown"]


class Surroundings(NamedTuple):
    """Where a command would run: absolute folders, and the environment that it would get."""

    workspace: Path
    cwd: Path
    home: Path
    env: Mapping[str, str]


class JudgedCommand(NamedTuple):
    """One simple command.

    `text` is the command as it is shown and as rule patterns match it: words with one blank between them, quotes only
    where they are needed, a program of the system without its folder. `words` are its literal words (an expansion as it
    is written). `why` says what makes it more than reading. `reads` and `writes` are the paths that it names, absolute.
    `plain`: nothing in it expands and it sets no variable, so a pattern may match it.
    """

    text: str
    words: tuple[str, ...]
    level: CommandLevel
    why: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    network: bool
    plain: bool


class Judged(NamedTuple):
    """A whole command line, as bad as its worst part. `forbidden` says what must never run; empty when nothing is."""

    level: CommandLevel
    commands: tuple[JudgedCommand, ...]
    why: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    network: bool
    forbidden: str
