"""Programs that run another command: what that command is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from orchestrator.command_rules.options import Options, Table, read_options
from orchestrator.command_rules.ruling import Case, Ruling, reading, running, unknown, values
from orchestrator.command_rules.variables import judge_assignment
from orchestrator.shell_syntax import Assignment, Word

_SIMPLE: Mapping[str, tuple[str, int]] = {
    "timeout": ("+ -k: -s: -v --kill-after: --signal: --preserve-status --foreground --verbose", 1),
    "nice": ("+ -# -n: --adjustment:", 0),
    "nohup": ("+", 0),
    "time": ("+ -p -v --portability --verbose", 0),
    "stdbuf": ("+ -i: -o: -e: --input: --output: --error:", 0),
    "setsid": ("+ -w -f -c --wait --fork --ctty", 0),
    "builtin": ("+", 0),
    "exec": ("+ -c -l -a:", 0),
    "ionice": ("+ -c: -n: -t --class: --classdata: --ignore", 0),
    "chrt": ("+ -b -f -i -o -r", 1),
}
"""The options that change nothing about what is run, and how many operands come before the command."""
_PRIVILEGED = ("sudo", "doas", "pkexec", "su", "runuser", "chroot", "unshare", "nsenter", "fakeroot")
_PRIVILEGED_TABLE = Table.of(
    "+ -AbEeHknPSsil -u: -g: -h: -p: -C: -D: -R: -T: -U: --user: --group: --preserve-env? --login --chdir: --root:"
)
_ENV = Table.of("+ -i0v -u: --ignore-environment --unset: --null --debug")
_XARGS = Table.of(
    """+ -0rtx -n: -L: -P: -s: -d: -E: -I: -J: -a< --null --no-run-if-empty --verbose --max-args: --max-lines?
    --max-procs: --max-chars: --delimiter: --arg-file< --exit --replace?"""
)
_PARALLEL = frozenset(
    ("parallel", "watch", "entr", "script", "strace", "ltrace", "gdb", "flock", "busybox", "find2perl")
)
_SHELLS = frozenset(("bash", "sh", "dash", "zsh", "ksh", "ash"))
_SHELL_TABLE = Table.of("+ -c -e -u -x -l")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def wrapper(name: str) -> Callable[[Case], Ruling] | None:
    """The rule for a program that runs other commands, if `name` is one."""
    if name in _SIMPLE:
        return _simple
    if name in _PRIVILEGED:
        return _privileged
    if name in _PARALLEL:
        return _not_followed
    if name in _SHELLS:
        return _shell
    return {"env": _env, "xargs": _xargs, "command": _command, "eval": _eval}.get(name)


def _simple(case: Case) -> Ruling:
    table, skipped = _SIMPLE[case.name]
    options = read_options(case.words, Table.of(table))
    inner = options.operands[skipped:]
    if any(word.splits or word.many for word in options.operands[:skipped]):
        return unknown(f"`{case.name}` runs a command that is not known before it runs")
    if options.problem:
        return running(inner, why=options.problem, level="unknown")
    if not inner:
        return reading() if case.name in ("exec", "nice", "time") else unknown(f"`{case.name}` without a command")
    return running(inner)


def _privileged(case: Case) -> Ruling:
    options = read_options(case.words, _PRIVILEGED_TABLE, loose=True)
    why = f"`{case.name}` runs with other rights"
    return running(_after_assignments(options.operands)[1], why=why, level="unknown")


def _not_followed(case: Case) -> Ruling:
    """A program whose options are too many to be sure of; what looks like the command is judged too, for caution."""
    options = read_options(case.words, Table.of("+ -n: -d -c -e -j:"), loose=True)
    return running(options.operands, why=f"`{case.name}` runs other programs", level="unknown")


def _after_assignments(words: tuple[Word, ...]) -> tuple[list[Word], tuple[Word, ...]]:
    at = 0
    while at < len(words) and _NAME.match(words[at].prefix):
        at += 1
    return list(words[:at]), words[at:]


def _env(case: Case) -> Ruling:
    options = read_options(case.words, _ENV)
    assigned, inner = _after_assignments(options.operands)
    if options.problem:
        return running(inner, why=options.problem, level="unknown")
    for word in assigned:
        name, _, rest = word.prefix.partition("=")
        value = None if word.value is None else word.value[len(name) + 1 :]
        assignment = Assignment(name, word._replace(value=value, prefix=rest), word)
        if word.splits or word.many or (why := judge_assignment(assignment, case.around, for_command=True)):
            return running(inner, why=why or "`env` sets what is not known before it runs", level="unknown")
    if not inner:
        return unknown("`env` prints the environment, which may hold keys")
    return running(inner)


def _xargs(case: Case) -> Ruling:
    """The words that xargs adds are not known; where `-I` names a place for them, they stand there."""
    options = read_options(case.words, _XARGS)
    inner = list(options.operands)
    places = [each.value for each in options.given if each.name in ("-I", "-J", "--replace")]
    if any(place is None or place.value is None for place in places):
        return running(tuple(inner), why="`xargs` puts words in a place that is not known", level="unknown")
    mark = places[0].value if places and places[0] is not None else ""
    added = Word("…", None, "", splits=True)
    inner = [_filled(word, mark) for word in inner] if mark else [*(inner or [Word.literal("echo")]), added]
    if options.problem:
        return running(tuple(inner), why=options.problem, level="unknown")
    return Ruling("read-only", reads=options.files("<"), runs=(tuple(inner),))


def _filled(word: Word, mark: str) -> Word:
    """A word in which `mark` is replaced by text that is not known."""
    if word.value is None or mark not in word.value:
        return word
    return word._replace(value=None, prefix=word.value[: word.value.index(mark)])


def _command(case: Case) -> Ruling:
    options = read_options(case.words, Table.of("+ -pvV"))
    if options.problem:
        return running(options.operands, why=options.problem, level="unknown")
    if options.has("-v", "-V"):
        return reading()
    return running(options.operands) if options.operands else reading()


def _eval(case: Case) -> Ruling:
    texts = values(case.words)
    if texts is None:
        return unknown("`eval` runs what is not known before it runs")
    return Ruling("read-only", scripts=(" ".join(texts),))


def _shell(case: Case) -> Ruling:
    """`bash -c 'text'` is judged by its text; everything else that a shell runs is not known."""
    options = read_options(case.words, _SHELL_TABLE)
    if case.name == "bash" and values(case.words) == ["--version"]:
        return reading()
    if options.problem or not options.has("-c") or not options.operands:
        return unknown(f"`{case.name}` runs a script that is not looked at", options.operands)
    script = options.operands[0]
    if script.value is None:
        return unknown(f"`{case.name}` runs what is not known before it runs")
    why = _shell_doubt(case, script.value, options)
    return Ruling("unknown" if why else "read-only", why, scripts=(script.value,))


def _shell_doubt(case: Case, script: str, options: Options) -> str:
    if case.name not in ("bash", "sh", "dash"):
        return f"`{case.name}` is not bash"
    if case.name != "bash" and ("$'" in script or "[[" in script):
        return f"`{case.name}` reads this in another way than bash"
    if startup := next(
        (each for each in ("BASH_ENV", "ENV") if case.around.env.get(each) or each in case.set_here), ""
    ):
        return f"{startup} makes the shell run a file first"
    return f"`{case.name}` runs startup files" if options.has("-l", "-x") else ""
