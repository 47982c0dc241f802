"""Whether a script of sed only prints: a small reader of its commands."""

from __future__ import annotations

import re

from orchestrator.command_rules.options import Table, read_options
from orchestrator.command_rules.ruling import Case, Ruling, reading, unknown, writing

_OPTIONS = Table.of(
    """-nrEsuz -e: -l: -i! -I! --quiet --silent --regexp-extended --expression: --separate --unbuffered --posix
    --sandbox --null-data --in-place! --debug --line-length:"""
)
_ADDRESS = re.compile(r"(?:\d+(?:~\d+)?|\$|\+\d+|~\d+)")
_PLAIN_COMMANDS = "=dDgGhHnNpPxzqQl{}F"
_BRACKET = re.compile(r"\[\^?(?:\[[:.=][^\]\n]*[:.=]\]|[^\[\]\n]|\[(?![:.=]))+\]")
_NUMBER = re.compile(r"[ \t]*\d*")
_LABEL = re.compile(r"[ \t]*[A-Za-z0-9_.-]*[ \t]*")
_FLAGS = re.compile(r"[gpiIMm0-9]*")
_BLANK = re.compile(r"[\s;]*")


class _Odd(Exception):
    """A part of a script that is not known to be harmless."""


def judge_sed(case: Case) -> Ruling:
    """sed with a script that is written out, and without `-i`."""
    options = read_options(case.words, _OPTIONS)
    if any(each.takes == "!" for each in options.given) or options.writes:
        scripted = options.has("-e", "--expression")
        return writing("`sed -i` changes files", options.operands if scripted else options.operands[1:])
    if options.problem:
        return unknown(options.problem)
    given = [each.value for each in options.given if each.name in ("-e", "--expression")]
    scripts = given or list(options.operands[:1])
    for script in scripts:
        if script is None or script.value is None:
            return unknown("the script of `sed` is not known before it runs")
        try:
            _Script(script.value).check()
        except _Odd as odd:
            return unknown(f"the script of `sed` {odd}")
    return reading(*(options.operands if given else options.operands[1:]))


class _Script:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def check(self) -> None:
        while True:
            self._skip(_BLANK)
            if self.at >= len(self.text):
                return
            self._addresses()
            self._command()

    def _skip(self, pattern: re.Pattern[str]) -> None:
        if found := pattern.match(self.text, self.at):
            self.at = found.end()

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _addresses(self) -> None:
        self._address()
        self._blanks()
        if self._peek() == ",":
            self.at += 1
            self._blanks()
            self._address()
        while self._peek() in ("!", " ", "\t"):
            self.at += 1

    def _blanks(self) -> None:
        while self._peek() in (" ", "\t"):
            self.at += 1

    def _address(self) -> None:
        if self._peek() == "/":
            self._delimited("/", regex=True)
            while self._peek() in ("I", "M"):
                self.at += 1
        else:
            self._skip(_ADDRESS)

    def _delimited(self, mark: str, *, regex: bool) -> None:
        """Past the sign `mark` and the text up to the next one."""
        self.at += 1
        while (char := self._peek()) != mark:
            if not char or char == "\n":
                raise _Odd("has an expression without an end")
            if regex and char == "[":
                self._bracket(mark)
            else:
                self.at += 2 if char == "\\" else 1
        self.at += 1

    def _bracket(self, mark: str) -> None:
        """Past `[…]`. Versions of sed differ in whether the sign may stand in there, and what a backslash is."""
        found = _BRACKET.match(self.text, self.at)
        if not found or mark in found.group() or found.group().endswith("\\]"):
            raise _Odd("has an expression that is read in different ways")
        self.at = found.end()

    def _command(self) -> None:
        char = self._peek()
        self.at += 1
        if char == "#":
            self._to_line_end()
        elif char in ("a", "i", "c"):
            self._text()
        elif char in ("b", "t", "T", ":"):
            self._skip(_LABEL)
            self._end()
        elif char == "s":
            self._substitution()
        elif char == "y":
            self._two_parts(regex=False)
            self._end()
        elif char and char in _PLAIN_COMMANDS:
            if char in "qQl":
                self._skip(_NUMBER)
            if char != "{":
                self._end()
        elif char in ("w", "W", "e"):
            raise _Odd(f"{'runs a command' if char == 'e' else 'writes a file'} with `{char}`")
        else:
            raise _Odd(f"holds `{char}`, which is not known")

    def _text(self) -> None:
        """Text to be printed: to the end of the line, on over lines that end in a backslash."""
        self._to_line_end(continued=True)

    def _to_line_end(self, *, continued: bool = False) -> None:
        while (char := self._peek()) and char != "\n":
            self.at += 2 if continued and char == "\\" else 1

    def _two_parts(self, *, regex: bool) -> None:
        mark = self._peek()
        if not mark or mark in "\\\n" or mark.isalnum() or mark.isspace():
            raise _Odd("has an unusual separator")
        self._delimited(mark, regex=regex)
        self.at -= 1
        self._delimited(mark, regex=False)

    def _substitution(self) -> None:
        self._two_parts(regex=True)
        self._skip(_FLAGS)
        if self._peek() in ("e", "w"):
            raise _Odd(f"{'runs commands' if self._peek() == 'e' else 'writes a file'} with `s…{self._peek()}`")
        self._end()

    def _end(self) -> None:
        """What may follow a command."""
        self._blanks()
        if self._peek() not in ("", "\n", ";", "}", "#"):
            raise _Odd("has a command that is followed by something")
