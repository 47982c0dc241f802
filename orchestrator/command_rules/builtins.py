"""Commands of the shell itself: tests, variables, folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise

from orchestrator.command_rules.names import names_in
from orchestrator.command_rules.options import Table, read_options
from orchestrator.command_rules.ruling import Case, Ruling, reading, unknown, values
from orchestrator.command_rules.variables import judge_assignment
from orchestrator.shell_syntax import Assignment, Word

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_NUMBER = re.compile(r"[+-]?\d+\Z|\$[#?]\Z")
_ARITHMETIC = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_UNARY = frozenset(f"-{letter}" for letter in "abcdefghkLnNoOprsStuwxzG")
_FILE_TESTS = _UNARY - {"-n", "-z", "-o", "-t"}
_SHELL_OPTIONS = names_in("-s -u -q nullglob dotglob globstar nocaseglob nocasematch failglob inherit_errexit")
_FORMAT_NUMBER_SET = re.compile(r"%[-+ #0-9.*hlLjzt]*n")


def builtin_rule(name: str) -> Callable[[Case], Ruling] | None:
    """The rule for a command of the shell, if `name` is one that is known."""
    return _RULES.get(name)


def _test(case: Case) -> Ruling:
    """`test`, `[` and `[[`. `-v` and comparisons of numbers can run what a variable holds."""
    words = case.words
    if case.name != "test":
        if not words or words[-1].value != {"[": "]", "[[": "]]"}[case.name]:
            return unknown(f"`{case.name}` has no end")
        words = words[:-1]
    problem = _test_problem(words, double=case.name == "[[")
    files = tuple(after for word, after in pairwise(words) if word.value in _FILE_TESTS)
    return unknown(problem, files) if problem else reading(*files)


def _test_problem(words: tuple[Word, ...], *, double: bool) -> str:
    for at, word in enumerate(words):
        if word.value in ("-v", "-R"):
            return f"`{word.value}` can run what a variable holds"
        if not double and (word.splits or word.many):
            return f"`{word.source}` may turn into several words (quote it)"
        following = words[at + 1] if at + 1 < len(words) else None
        if not double and word.value is None and following and (following.value is None or "[" in following.value):
            return f"`{word.source}` may turn into an operator"
        if double and word.value in _ARITHMETIC and not _numbers(words, at):
            return "a comparison of numbers can run what a variable holds"
    return ""


def _numbers(words: tuple[Word, ...], at: int) -> bool:
    return all(_NUMBER.match(word.source) for word in (*words[max(at - 1, 0) : at], *words[at + 1 : at + 2]))


def _printf(case: Case) -> Ruling:
    words = case.words
    if words and words[0].value == "--":
        words = words[1:]
    if not words:
        return reading()
    form = words[0].value
    if form is None or form.startswith("-"):
        return unknown("the format of `printf` is not known before it runs, or sets a variable")
    return unknown("`%n` of `printf` sets a variable") if _FORMAT_NUMBER_SET.search(form) else reading()


def _cd(case: Case) -> Ruling:
    options = read_options(case.words, Table.of("-L"))
    if case.around.env.get("CDPATH") or "CDPATH" in case.set_here:
        return Ruling("unknown", "CDPATH lets `cd` go elsewhere", lost=True)
    if options.problem or len(options.operands) > 1:
        return Ruling("read-only", lost=True)
    if not options.operands:
        return Ruling("read-only", moves_to=Word("~", None, "~", tilde=True, home="~"))
    target = options.operands[0]
    if target.value in ("-", "") or (target.value is None and not target.home):
        return Ruling("read-only", lost=True)
    return Ruling("read-only", reads=(target,), moves_to=target)


def _stack(case: Case) -> Ruling:
    return Ruling("read-only", lost=True)


def _declare(case: Case) -> Ruling:
    """`export`, `declare` and the like: as harmless as what they set."""
    assigned = []
    for word in case.words:
        if word.value is not None and word.value.startswith("-"):
            if not re.fullmatch(r"-[rgaAlu]+|--", word.value) or word.value in ("-p", "-f"):
                return unknown(f"`{case.name} {word.value}` is not known")
            continue
        found = _ASSIGNED.match(word.prefix)
        if not found:
            if case.name == "export" or word.value is None or not _NAME.match(word.value):
                return unknown(f"`{case.name}` sets what is not known before it runs")
            continue
        cut = found.end()
        if case.name != "export" and (word.value is None or set("([`$") & set(word.value[cut:])):
            return unknown(f"`{case.name}` runs what the value of an array holds")
        value = word._replace(value=None if word.value is None else word.value[cut:], prefix=word.prefix[cut:])
        assigned.append(Assignment(found.group(1), value, word))
    if not case.words:
        return unknown(f"`{case.name}` prints the variables, which may hold keys")
    for each in assigned:
        if why := judge_assignment(each, case.around, for_command=case.name == "export"):
            return unknown(why)
    return reading()


def _set(case: Case) -> Ruling:
    texts = values(case.words)
    if texts is None or not texts:
        return unknown("`set` prints the variables, which may hold keys, or sets what is not known")
    harmless = re.compile(r"[-+][eufCEBH]+\Z|[-+][eufCEB]*o\Z|pipefail\Z|errexit\Z|nounset\Z|noglob\Z|noclobber\Z")
    if all(harmless.match(text) for text in texts):
        return reading()
    return unknown("`set` with these options is not known")


def _shopt(case: Case) -> Ruling:
    texts = values(case.words)
    harmless = texts is not None and set(texts) <= _SHELL_OPTIONS
    return reading() if harmless else unknown("`shopt` with these options is not known")


def _read(case: Case) -> Ruling:
    """`read` into variables that nothing looks at; a subscript in a name would be run."""
    options = read_options(case.words, Table.of("-rse -d: -n: -N: -p: -t: -u:"))
    names = values(options.operands)
    if options.problem or names is None:
        return unknown(options.problem or "`read` sets what is not known before it runs")
    odd = [name for name in names if not _NAME.match(name) or name.isupper() or name in case.around.env]
    return unknown(f"`read` sets {odd[0]}") if odd else reading()


def _unset(case: Case) -> Ruling:
    names = values(case.words)
    odd = names is None or any(not _NAME.match(name) or name.isupper() for name in names if name != "-v")
    return unknown("`unset` of this is not known") if odd else reading()


def _leaving(case: Case) -> Ruling:
    texts = values(case.words)
    fine = all(re.fullmatch(r"\d+|\$\?", word.source) for word in case.words)
    return reading() if fine or texts == [] else unknown(f"`{case.name}` with this value is not known")


def _umask(case: Case) -> Ruling:
    texts = values(case.words)
    return (
        reading()
        if texts is not None and all(re.fullmatch(r"-[Sp]+|[0-7]{1,4}", text) for text in texts)
        else unknown("`umask` with these operands is not known")
    )


def _look_up(case: Case) -> Ruling:
    return reading()


def _jobs(case: Case) -> Ruling:
    """`jobs -x` runs a program; `wait -p` sets a variable, whose subscript is run."""
    allowed = r"-[lnprs]+|%.*|\d+" if case.name == "jobs" else r"-[nf]+|%.*|\d+|\$!"
    if all(re.fullmatch(allowed, word.source) for word in case.words):
        return reading()
    return unknown(f"`{case.name}` with these operands can run a program")


_RULES: Mapping[str, Callable[[Case], Ruling]] = {
    "test": _test, "[": _test, "[[": _test, "printf": _printf, "cd": _cd, "pushd": _stack, "popd": _stack,
    "dirs": _look_up,
    "export": _declare, "declare": _declare, "typeset": _declare, "local": _declare, "readonly": _declare, "set": _set,
    "shopt": _shopt, "read": _read, "unset": _unset, "exit": _leaving, "return": _leaving, "break": _leaving,
    "continue": _leaving, "shift": _leaving, "umask": _umask, "type": _look_up, "wait": _jobs, "jobs": _jobs,
}  # fmt: skip

BUILTINS = frozenset(_RULES) | names_in(
    """echo true false : pwd eval exec command builtin times hash alias unalias bind caller compgen complete enable
    getopts help history let logout mapfile readarray source . suspend trap ulimit kill disown bg fg fc"""
)
"""Names that the shell does not look for in PATH."""
