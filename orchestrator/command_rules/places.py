"""The paths that words of a command name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from orchestrator.command_rules.judged import Surroundings
from orchestrator.command_rules.ruling import Case
from orchestrator.shell_syntax import Word

_STREAM = re.compile(r"/dev/(?:null|stdin|stdout|stderr|fd/\d+)\Z")
_HOME_VARIABLE = re.compile(r'(")?\$(?:HOME|\{HOME\})(?(1)")(/[^$`"\']*)?\Z|"\$(?:HOME|\{HOME\})(/[^$`"\']*)?"\Z')


def is_stream(path: str) -> bool:
    """Whether it stands for what is open already, or for nothing."""
    return _STREAM.match(path) is not None


def named(word: Word, home: Path) -> str | None:
    """The path that a word names, with its home folder filled in; `None` where it is not known."""
    if word.value is not None:
        return word.value
    if word.home == "~" or word.home.startswith("~/"):
        return f"{home}{word.home[1:]}"
    if found := _HOME_VARIABLE.match(word.source):
        return f"{home}{found.group(2) or found.group(3) or ''}"
    return None


def resolved(words: Iterable[Word], case: Case) -> tuple[str, ...]:
    """The absolute paths that words name, in every folder where the command may run."""
    return tuple(dict.fromkeys(_resolved(words, case.around, case.folders)))


def _resolved(words: Iterable[Word], around: Surroundings, folders: tuple[Path, ...] | None) -> Iterator[str]:
    for word in words:
        path = named(word, around.home)
        if path is None or path in ("", "-") or is_stream(path):
            continue
        for folder in folders or (around.cwd,):
            yield os.path.normpath(os.path.join(folder, path))  # noqa: PTH118  # a path of any form
