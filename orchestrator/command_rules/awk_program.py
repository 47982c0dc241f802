"""Whether a program of awk only prints. Strict: what could be a file, a pipe or a command is refused."""

from __future__ import annotations

import re

from orchestrator.command_rules.options import Table, read_options
from orchestrator.command_rules.ruling import Case, Ruling, reading, unknown

_OPTIONS = Table.of("+ -F: -v: --field-separator: --assign:")
_STRING = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_REGEX = re.compile(r"/(?:[^/\\\n\[\]]|\\[^\n]|\[(?:[^\]/\\\n]|\\[^\n/])+\])*/")
_WORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REFUSED = frozenset(("system", "getline", "close", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB", "extension"))
_BEFORE_VALUES = frozenset(("print", "printf", "return", "in", "case", "else", "do", "delete", "exit"))
_AFTER_VALUES = 'a0]"'
_AMBIGUOUS = ")+-?"
"""After these a slash divides or starts a regular expression. `?` stands for `length`."""


def judge_awk(case: Case) -> Ruling:
    """awk with a program that is written out."""
    options = read_options(case.words, _OPTIONS)
    if options.problem:
        return unknown(options.problem)
    if not options.operands:
        return unknown("`awk` has no program")
    program = options.operands[0].value
    if program is None:
        return unknown("the program of `awk` is not known before it runs")
    if odd := _odd(program):
        return unknown(f"the program of `awk` {odd}", options.operands[1:])
    return reading(*options.operands[1:])


def _odd(program: str) -> str:
    """What in a program may do more than print; empty when nothing does."""
    at, parens, braces, last = 0, 0, 0, ","
    while at < len(program):
        char = program[at]
        if char == "/" and last in _AMBIGUOUS and "/" in program[at + 1 :]:
            return "holds `/` in a place that is not read"
        if char == "/" and last not in _AFTER_VALUES + _AMBIGUOUS and not _literal(program, at, last):
            return "has an expression that is not read"
        if found := _literal(program, at, last):
            at, last = found, '"'
        elif word := _WORDS.match(program, at):
            if word.group() in _REFUSED:
                return f"uses `{word.group()}`"
            at, last = word.end(), _after_word(word.group())
        elif char in '"@`\\#':
            return f"holds `{char}` in a place that is not read"
        elif char == "|" and program[at + 1 : at + 2] != "|":
            return "uses a pipe"
        elif char == ">" and braces > 0 and parens <= 0:
            return "may write a file with `>`"
        else:
            parens += (char == "(") - (char == ")")
            braces += (char == "{") - (char == "}")
            last = last if char in " \t" else "0" if char.isdigit() or char == "." else char
            at += 2 if char == "|" else 1
    return ""


def _after_word(word: str) -> str:
    if word == "length":
        return "?"
    return "," if word in _BEFORE_VALUES else "a"


def _literal(program: str, at: int, last: str) -> int:
    """Where the string or regular expression ends that starts here; 0 when none does."""
    if program[at] == '"':
        found = _STRING.match(program, at)
    elif program[at] == "/" and last not in _AFTER_VALUES and last not in _AMBIGUOUS:
        found = _REGEX.match(program, at)
    else:
        return 0
    return found.end() if found else 0
