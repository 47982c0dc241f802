"""Judges a command line by the simple commands in it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from orchestrator.command_rules.builtins import BUILTINS
from orchestrator.command_rules.forbidden import forbidden_command, forbidden_text, forbidden_unread
from orchestrator.command_rules.judged import CommandLevel, Judged, JudgedCommand, Surroundings
from orchestrator.command_rules.names import names_in
from orchestrator.command_rules.places import is_stream, named, resolved
from orchestrator.command_rules.programs import rule_for
from orchestrator.command_rules.ruling import Case, Ruling, unknown, worst
from orchestrator.command_rules.variables import judge_assignment
from orchestrator.shell_syntax import Assignment, Redirect, Simple, Word, parse_command

_MAX_NESTING = 6
_MAX_FOLDERS = 8
_MAX_JUDGED = 1000
_SYSTEM_FOLDERS = names_in(
    "/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /opt/local/bin"
)
_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", "<>"))
_INPUT = re.compile(r"/dev/(?:stdin|fd/(?![12]\Z))")
"""What was opened elsewhere, perhaps for reading only: writing there writes that file."""
_DUPLICATE = re.compile(r"\d+-?\Z|-\Z")
_SAFE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./^~{}#-]+\Z")
_MOVING = frozenset(("cd", "pushd", "popd"))
_MAY_MOVE = _MOVING | {"eval", "builtin", "command", "source", "."}

_Folders = tuple[Path, ...] | None


def judge_command(command: str, surroundings: Surroundings) -> Judged:
    """What `command` would do in bash. Never raises, whatever the text."""
    judge = _Judge(surroundings)
    judge.text(command, (surroundings.cwd,), 0)
    parts = judge.commands
    return Judged(
        worst((*judge.levels, *(each.level for each in parts))),
        tuple(parts),
        tuple(dict.fromkeys((*judge.why, *(each.why for each in parts if each.why)))),
        tuple(dict.fromkeys(path for each in parts for path in each.reads)),
        tuple(dict.fromkeys(path for each in parts for path in each.writes)),
        any(each.network for each in parts),
        judge.forbidden,
    )


class _Judge:
    """Collects what the commands of a line come to."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.commands: list[JudgedCommand] = []
        self.levels: list[CommandLevel] = []
        self.why: list[str] = []
        self.forbidden = ""

    def text(self, text: str, folders: _Folders, nesting: int) -> _Folders:
        """Judge all commands of a text; gives the folders in which what follows may run."""
        self.forbidden = self.forbidden or forbidden_text(text)
        if nesting > _MAX_NESTING:
            self._unsure("commands are nested too deeply")
            return None
        parsed = parse_command(text)
        for why in parsed.unknown:
            self._unsure(why)
        if parsed.unknown and not self.forbidden:
            self.forbidden = forbidden_unread(text, self.around)
        if any(each.looped and each.words and each.words[0].value in _MAY_MOVE for each in parsed.commands):
            folders = None
        for simple in parsed.commands:
            folders = self._simple(simple, folders, nesting)
        return folders

    def _unsure(self, why: str) -> None:
        self.levels.append("unknown")
        self.why.append(why)

    def _simple(self, simple: Simple, folders: _Folders, nesting: int) -> _Folders:
        set_here = {each.name: (each.value.value if each.value else None) or "" for each in simple.assignments}
        case = Case("", (), self.around, folders, set_here)
        around = [_assigned(simple.assignments, self.around, bool(simple.words)), *_redirected(simple.redirects, case)]
        if not simple.words:
            ruling = _together(around)
            if simple.redirects or ruling.level != "read-only":
                self._add((), _sources(simple), ruling, case, plain=False)
            self._forbid("", (), simple.redirects)
            return folders
        self._forbid("", (), simple.redirects)
        return self._command(simple.words, case, around, nesting, plain=not simple.assignments)

    def _forbid(self, name: str, words: Sequence[Word], redirects: Sequence[Redirect]) -> None:
        self.forbidden = self.forbidden or forbidden_command(name, words, redirects, self.around)

    def _command(
        self, words: tuple[Word, ...], case: Case, around: Sequence[Ruling], nesting: int, *, plain: bool
    ) -> _Folders:
        """Judge one command, and those that it runs."""
        if len(self.commands) >= _MAX_JUDGED or nesting > _MAX_NESTING:
            self._unsure("it runs too many commands")
            return None
        name, problem = _name(words[0], case)
        case = case._replace(name=name, words=words[1:])
        own = unknown(problem) if problem else rule_for(case)
        if name:
            self._forbid(name, words[1:], ())
        at = len(self.commands)
        self._add(words, "", _together([own, *around]), case, plain=plain)
        folders = self._after(own, case)
        for inner in own.runs:
            if inner:
                folders = self._merged(case, folders, self._command(inner, case, (), nesting + 1, plain=plain))
        for script in own.scripts:
            inside = self.text(script, case.folders, nesting + 1)
            folders = self._merged(case, folders, inside) if name == "eval" else folders
        self._raise(at)
        return folders

    def _raise(self, at: int) -> None:
        """A command that runs others is as bad as they are."""
        own, inner = self.commands[at], self.commands[at + 1 :]
        level = worst((own.level, *(each.level for each in inner)))
        if level != own.level:
            why = own.why or next(each.why for each in inner if each.level == level)
            self.commands[at] = own._replace(level=level, why=why)

    def _after(self, own: Ruling, case: Case) -> _Folders:
        """Where the shell may be after a command: also where it was, since a `cd` may fail."""
        if own.lost or case.folders is None:
            return None
        if own.moves_to is None:
            return case.folders
        target = named(own.moves_to, self.around.home)
        if target is None:
            return None
        moved = tuple(Path(os.path.normpath(folder / target)) for folder in case.folders)
        return self._merged(case, case.folders, moved)

    def _merged(self, case: Case, first: _Folders, second: _Folders) -> _Folders:
        if first is None or second is None:
            return None
        both = tuple(dict.fromkeys((*first, *second)))
        return both if len(both) <= _MAX_FOLDERS else None

    def _add(self, words: tuple[Word, ...], text: str, ruling: Ruling, case: Case, *, plain: bool) -> None:
        self.commands.append(
            JudgedCommand(
                text or _shown(words, case),
                tuple(word.source if word.value is None else word.value for word in words),
                ruling.level,
                ruling.why,
                resolved(ruling.reads, case),
                resolved(ruling.writes, case),
                ruling.network,
                plain and bool(words) and all(word.value is not None for word in words),
            )
        )


def _together(rulings: Iterable[Ruling]) -> Ruling:
    """Several rulings on one command as one."""
    parts = list(rulings)
    level = worst(each.level for each in parts)
    why = next((each.why for each in parts if each.level == level and each.why), "")
    return Ruling(
        level,
        why,
        tuple(word for each in parts for word in each.reads),
        tuple(word for each in parts for word in each.writes),
        any(each.network for each in parts),
    )


# --- names -----------------------------------------------------------------------------------------------------------


def _name(word: Word, case: Case) -> tuple[str, str]:
    """The name of a program without its folder, and why it may be another program than the name says."""
    if word.value is None:
        return "", f"which program `{word.source}` is, is not known before it runs"
    folder, slash, name = word.value.rpartition("/")
    if slash:
        known = folder in _SYSTEM_FOLDERS
        return name, "" if known and name else f"`{word.value}` is a program of an unusual folder"
    if f"BASH_FUNC_{name}%%" in case.around.env:
        return name, f"`{name}` is a function in the environment"
    if name in BUILTINS or not name:
        return name, "" if name else "a command without a name"
    return name, _path_problem(name, case)


def _path_problem(name: str, case: Case) -> str:
    """Why PATH does not lead to a program of the system or the user: a workspace may bring an `ls` of its own."""
    path = case.around.env.get("PATH")
    if path is None:
        return ""
    for folder in path.split(":"):
        if folder in _SYSTEM_FOLDERS:
            if os.access(f"{folder}/{name}", os.X_OK):
                return ""
        elif not folder.startswith("/"):
            return f"PATH looks for `{name}` in the folder `{folder or '.'}`"
        elif os.access(f"{folder}/{name}", os.X_OK) and _is_inside(folder, case):
            return f"PATH leads to {folder}/{name}, which the workspace brings"
    return ""


def _is_inside(folder: str, case: Case) -> bool:
    real = os.path.realpath(folder)
    places = {os.path.realpath(place) for place in (case.around.workspace, *(case.folders or (case.around.cwd,)))}
    return any(real == place or real.startswith(f"{place.rstrip('/')}/") for place in places)


# --- around a command ------------------------------------------------------------------------------------------------


def _assigned(assignments: Sequence[Assignment], around: Surroundings, for_command: bool) -> Ruling:
    for each in assignments:
        if why := judge_assignment(each, around, for_command=for_command):
            return unknown(why)
    return Ruling("read-only")


def _redirected(redirects: Sequence[Redirect], case: Case) -> Iterable[Ruling]:
    for redirect in redirects:
        operator, target = redirect.operator, redirect.target
        value = named(target, case.around.home)
        if operator == "<<<":
            continue
        if operator in (">&", "<&") and value is not None and _DUPLICATE.match(value):
            continue
        if value is not None and value.startswith(("/dev/tcp/", "/dev/udp/")):
            yield unknown(f"`{value}` is a connection", network=True)
        elif operator == "<" and redirect.fd not in ("", "0"):
            yield unknown(f"`{redirect.fd}<` opens a file that /dev/fd/{redirect.fd} can then write", (target,))
        elif operator == "<&":
            yield unknown(f"`<&{target.source}` is not known before it runs")
        elif operator in _WRITING or operator == ">&":
            yield _written(target, value)
        elif value is None and not target.prefix.startswith("/dev/fd/"):
            yield unknown(f"the file `{target.source}` is not known before it runs")
        else:
            yield Ruling("read-only", reads=(target,))


def _written(target: Word, value: str | None) -> Ruling:
    if value is None and target.prefix.startswith("/dev/fd/") and target.source.startswith(">("):
        return Ruling("read-only")
    if value is not None and is_stream(path := os.path.normpath(value)) and not _INPUT.search(path):
        return Ruling("read-only")
    return Ruling("writes", f"it writes to {target.source}", writes=(target,))


# --- text ------------------------------------------------------------------------------------------------------------


def _shown(words: tuple[Word, ...], case: Case) -> str:
    shown = [word.source if word.value is None else _quoted(word.value) for word in words]
    folder, slash, name = ((words[0].value or "") if words else "").rpartition("/")
    if slash and folder in _SYSTEM_FOLDERS:
        shown[0] = _quoted(name)
    return " ".join((*(_setting(name, value) for name, value in case.set_here.items()), *shown))


def _setting(name: str, value: str) -> str:
    return f"{name}={_quoted(value) if value else ''}"


def _quoted(value: str) -> str:
    return value if _SAFE_WORD.match(value) else shlex.quote(value)


def _sources(simple: Simple) -> str:
    parts = [each.word.source for each in simple.assignments]
    return " ".join((*parts, *(f"{each.fd}{each.operator} {each.target.source}" for each in simple.redirects)))
