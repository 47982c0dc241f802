"""What a rule gets to see of one simple command, and what it says about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from orchestrator.command_rules.judged import CommandLevel, Surroundings
from orchestrator.shell_syntax import Word

_ORDER: Mapping[CommandLevel, int] = {"read-only": 0, "unknown": 1, "writes": 2}


class Case(NamedTuple):
    """One command: its name without a folder and the words after it.

    `folders` are where it may run, more than one after a `cd` that can fail; `None` when that is not known. `set_here`
    are the variables that are set for it in front of it.
    """

    name: str
    words: tuple[Word, ...]
    around: Surroundings
    folders: tuple[Path, ...] | None
    set_here: Mapping[str, str]


class Ruling(NamedTuple):
    """What one command does by itself. `runs` are commands that it runs, `scripts` texts that it runs as bash.

    `moves_to`: the folder that the shell goes to, `""` home, `None` when the command is no `cd`; see `lost`.
    """

    level: CommandLevel
    why: str = ""
    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    network: bool = False
    runs: tuple[tuple[Word, ...], ...] = ()
    scripts: tuple[str, ...] = ()
    moves_to: Word | None = None
    lost: bool = False
    """The shell goes to a folder that is not known."""


def worst(levels: Iterable[CommandLevel]) -> CommandLevel:
    return max(levels, key=_ORDER.__getitem__, default="read-only")


def reading(*reads: Word, network: bool = False) -> Ruling:
    return Ruling("read-only", reads=reads, network=network)


def writing(why: str, writes: tuple[Word, ...] = (), reads: tuple[Word, ...] = (), *, network: bool = False) -> Ruling:
    return Ruling("writes", why, reads, writes, network)


def unknown(why: str, reads: tuple[Word, ...] = (), *, network: bool = False) -> Ruling:
    return Ruling("unknown", why, reads, network=network)


def running(*runs: tuple[Word, ...], why: str = "", level: CommandLevel = "read-only") -> Ruling:
    """A command that runs another one, and does nothing else by itself unless `level` says so."""
    return Ruling(level, why, runs=runs)


def values(words: tuple[Word, ...]) -> list[str] | None:
    """The literal texts of all words, or `None` when one of them expands."""
    found = [word.value for word in words]
    return None if None in found else [each for each in found if each is not None]
