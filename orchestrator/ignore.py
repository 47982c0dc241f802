"""The rules of .gitignore files, understood the way ripgrep does. Only the .gitignore files of the workspace count:
not `.ignore`, not `.git/info/exclude`, not the user's own excludes, nothing above the workspace.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from orchestrator.globs import GlobError, glob_regex

_MAX_BYTES = 1 << 20
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class _Rule:
    ignores: bool
    folders_only: bool
    regex: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.regex)


@dataclass(frozen=True)
class IgnoreRules:
    """The rules of one .gitignore file; `base` is its folder, relative to the workspace root (`""` for the root)."""

    base: str
    rules: tuple[_Rule, ...]

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{rule.regex})" for rule in self.rules))

    def verdict(self, path: str, is_dir: bool) -> bool | None:
        """Whether `path` (relative to the workspace, below `base`) is ignored; `None` where no rule speaks of it."""
        name = _bytewise(path[len(self.base) + 1 :] if self.base else path)
        if not self._any.fullmatch(name):
            return None
        for rule in reversed(self.rules):
            if (is_dir or not rule.folders_only) and rule.pattern.fullmatch(name):
                return rule.ignores
        return None


def is_ignored(stack: Sequence[IgnoreRules], path: str, is_dir: bool) -> bool:
    """What the .gitignore files from the outermost to the innermost say: the innermost that speaks of it decides."""
    for rules in reversed(stack):
        verdict = rules.verdict(path, is_dir)
        if verdict is not None:
            return verdict
    return False


def parse_rules(base: str, lines: Sequence[str]) -> IgnoreRules | None:
    """The rules in `lines`, `None` when there are none. Malformed patterns are skipped, as git and ripgrep do."""
    rules = tuple(rule for rule in map(_parse_line, lines) if rule is not None)
    return IgnoreRules(base, rules) if rules else None


def read_lines(path: Path) -> list[str]:
    """The lines of the .gitignore file at `path`; none if it is missing, no regular file, or too large to be one."""
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        return []
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
            return []
        data = file.read(_MAX_BYTES)
    lines = []
    for raw in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            lines.append(raw.removesuffix(b"\r").decode("utf-8"))
        except UnicodeDecodeError:  # ripgrep reads no further either
            break
    return lines


def rebased(lines: Sequence[str], base: str) -> list[str]:
    """`lines` of a .gitignore file in the folder `base`, rewritten to mean the same in the workspace root."""
    if not base:
        return list(lines)
    prefix = "/" + "".join("?" if "\ud800" <= char <= "\udfff" else _escaped(char) for char in base)
    return [_rebase(line, prefix) for line in lines if line.strip() and not line.startswith("#")]


def _rebase(line: str, prefix: str) -> str:
    negation = "!" if line.startswith("!") else ""
    body = line[len(negation) :]
    anchored = "/" in body.rstrip().removesuffix("/")
    return f"{negation}{prefix}/{body.removeprefix('/')}" if anchored else f"{negation}{prefix}/**/{body}"


def _escaped(char: str) -> str:
    return "\\" + char if char in "*?[]{}!,\\" else char


def _parse_line(line: str) -> _Rule | None:
    if line.startswith("#"):
        return None
    if not line.endswith("\\ "):
        line = line.rstrip()
    ignores = not line.startswith("!")
    body = line if ignores else line[1:]
    if body.startswith(("\\!", "\\#")):
        body = body[1:]
    anchored = body.startswith("/")
    body = body.removeprefix("/")
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    if not body:
        return None
    if not anchored and "/" not in body and body != "**":
        body = f"**/{body}"
    if body.endswith("/**"):
        body += "/*"  # what is inside the folder, not the folder itself
    try:
        return _Rule(ignores, folders_only, glob_regex(_bytewise(body)))
    except GlobError:
        return None


def _bytewise(text: str) -> str:
    """Each byte as one character: ripgrep's `?` is one byte."""
    return text if text.isascii() else os.fsencode(text).decode("latin-1")
