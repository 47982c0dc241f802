"""ripgrep's regular expressions as Python ones that find the same lines.

Both are of the Perl family, but differ in what `\\w`, `\\s`, `$` and flags mean, and Python has no POSIX classes.
The result is meant for a whole text at once: nothing in it ever matches across a line end, `^` and `$` take LF, CR and
CRLF for one. What ripgrep refuses is refused with the same words; `\\p{…}`, set operations and the flags x, U, R and
-u are refused as not supported here.
"""

from __future__ import annotations

import re
import string

from orchestrator.unicode_classes import (
    LINE_ENDS,
    UNDECODED,
    Ranges,
    class_body,
    complement,
    digit_ranges,
    space_ranges,
    without,
    word_ranges,
)

_UNSUPPORTED = "is not supported by the built-in search; write it without, or install ripgrep"
_NO_LOOK = "look-around, including look-ahead and look-behind, is not supported"
_POSIX: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": ((0x30, 0x39),),
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_CONTROL = {"t": "\t", "f": "\f", "v": "\v", "a": "\a"}
_CODE_DIGITS = {"x": 2, "u": 4, "U": 8}
_NAMED_BOUNDARY = re.compile(r"\{([-A-Za-z]+)\}")
_NAMED_GROUP = re.compile(r"P?<([A-Za-z_][A-Za-z0-9_.\[\]]*)>")
_FLAGS = re.compile(r"([a-zA-Z-]*)([:)])")
_POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
_START = r"(?:(?<![^\r\n])(?!(?<=\r)\n))"
_END = r"(?:(?=[\r\n]|\Z)(?!(?<=\r)\n))"


class RegexError(ValueError):
    """The pattern is invalid or not supported; the message says why."""


class Dialect:
    """How the classes are written: for texts that are ASCII throughout, or for any text."""

    def __init__(self, ascii_only: bool) -> None:
        self.ascii_only = ascii_only
        outside = LINE_ENDS if ascii_only else LINE_ENDS + UNDECODED
        self.never = class_body(outside)
        word = class_body(_POSIX["word"] if ascii_only else word_ranges())
        solid = (
            word if ascii_only else word + class_body(UNDECODED)
        )  # a broken byte is not the outside of a word either
        before, after = f"(?<=[{word}])", f"(?=[{word}])"
        not_before, not_after = f"(?<![{word}])", f"(?![{word}])"
        self.boundaries = {
            "b": f"(?:{before}{not_after}|{not_before}{after})",
            "B": f"(?:{before}{after}|(?<![{solid}])(?![{solid}]))",
            "<": f"(?:{not_before}{after})",
            ">": f"(?:{before}{not_after})",
            "start-half": f"(?<![{solid}])",
            "end-half": f"(?![{solid}])",
        }
        if ascii_only:
            self.boundaries |= {"b": r"\b", "B": r"\B"}

    def shorthand(self, letter: str) -> Ranges:
        """The characters of `\\d`, `\\W` and so on."""
        match letter.lower():
            case "d":
                ranges = _POSIX["digit"] if self.ascii_only else digit_ranges()
            case "w":
                ranges = _POSIX["word"] if self.ascii_only else word_ranges()
            case _:
                ranges = _POSIX["space"] if self.ascii_only else space_ranges()
        return without(complement(ranges), UNDECODED) if letter.isupper() else ranges


def python_pattern(pattern: str, dialect: Dialect, *, literal: bool, word: bool, ignore_case: bool) -> str:
    """`pattern` in Python's syntax, for `re.compile` without flags (with `re.ASCII` if the dialect is).

    Raises `RegexError`.
    """
    for char, name in (("\n", "\\n"), ("\r", "\\r")):
        if char in pattern:
            raise RegexError(f'the literal "{name}" is not allowed in a regex')
    if literal:
        body = re.escape(pattern)
        body = f"(?i:{body})" if ignore_case else body
    else:
        body = _Parser(pattern, dialect, ignore_case).parse()
    if word:
        body = f"{dialect.boundaries['start-half']}(?:{body}){dialect.boundaries['end-half']}"
    return body


class _Parser:
    def __init__(self, pattern: str, dialect: Dialect, ignore_case: bool) -> None:
        self._pattern = pattern
        self._dialect = dialect
        self._ignore_case = ignore_case
        self._names: set[str] = set()
        self._at = 0

    def parse(self) -> str:
        out = self._alternatives()
        if self._at < len(self._pattern):
            raise RegexError("unopened group")
        return out

    def _peek(self, text: str) -> bool:
        return self._pattern.startswith(text, self._at)

    def _take(self) -> str:
        char = self._pattern[self._at]
        self._at += 1
        return char

    def _alternatives(self) -> str:
        """Up to the closing parenthesis; flags set in here end with it."""
        ignore_case = self._ignore_case
        out = [self._sequence()]
        while self._peek("|"):
            self._at += 1
            out.append(self._sequence())
        self._ignore_case = ignore_case
        return "|".join(out)

    def _sequence(self) -> str:
        out = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            atom = self._atom()
            if atom:
                out.append(self._repeated(atom))
        return "".join(out)

    def _repeated(self, atom: str) -> str:
        while self._at < len(self._pattern) and self._pattern[self._at] in "*+?{":
            operator = self._take()
            if operator == "{":
                operator = self._counted()
            if self._peek("?"):
                self._at += 1
                operator += "?"
            atom = f"(?:{atom}){operator}"
        return atom

    def _counted(self) -> str:
        end = self._pattern.find("}", self._at)
        if end < 0:
            raise RegexError("unclosed counted repetition")
        body = self._pattern[self._at : end].replace(" ", "")
        found = re.fullmatch(r"([0-9]+)(,)?([0-9]+)?", body)
        if not found or (found[3] and not found[2]):
            raise RegexError("repetition quantifier expects a valid decimal")
        if found[3] and int(found[1]) > int(found[3]):
            raise RegexError("invalid repetition count range, the start must be <= the end")
        self._at = end + 1
        return f"{{{body}}}"

    def _atom(self) -> str:
        char = self._take()
        match char:
            case "(":
                return self._group()
            case "[":
                return self._cased(self._class())
            case "\\":
                return self._escape()
            case ".":
                return f"[^{self._dialect.never}]"
            case "^":
                return _START
            case "$":
                return _END
            case "*" | "+" | "?" | "{":
                raise RegexError("repetition operator missing expression")
        return self._cased(re.escape(char))

    def _cased(self, atom: str) -> str:
        return f"(?i:{atom})" if self._ignore_case else atom

    def _group(self) -> str:
        if not self._peek("?"):
            return self._group_body()
        self._at += 1
        if self._peek("=") or self._peek("!") or self._peek("<=") or self._peek("<!"):
            raise RegexError(_NO_LOOK)
        named = _NAMED_GROUP.match(self._pattern, self._at)
        if named:
            if named[1] in self._names:
                raise RegexError("duplicate capture group name")
            self._names.add(named[1])
            self._at = named.end()
            return self._group_body()
        flags = _FLAGS.match(self._pattern, self._at)
        if not flags:
            raise RegexError("unrecognized flag")
        self._at = flags.end()
        outer = self._ignore_case
        self._set_flags(flags[1])
        if flags[2] == ")":
            return ""
        body = self._group_body()
        self._ignore_case = outer
        return body

    def _group_body(self) -> str:
        body = self._alternatives()
        if not self._peek(")"):
            raise RegexError("unclosed group")
        self._at += 1
        return f"(?:{body})"

    def _set_flags(self, flags: str) -> None:
        on = True
        for flag in flags:
            if flag == "-":
                on = False
            elif flag == "i":
                self._ignore_case = on
            elif flag in "xUR" or (flag == "u" and not on):
                raise RegexError(f"the flag {flag} {_UNSUPPORTED}")
            elif flag not in "smu":  # these three change nothing when lines are searched one by one
                raise RegexError("unrecognized flag")

    def _escape(self) -> str:
        if self._at == len(self._pattern):
            raise RegexError("incomplete escape sequence, reached end of pattern prematurely")
        char = self._take()
        match char:
            case "d" | "D" | "w" | "W" | "s" | "S":
                return f"[{class_body(without(self._dialect.shorthand(char), LINE_ENDS))}]"
            case "A":
                return _START
            case "z":
                return _END
            case "b" if named := _NAMED_BOUNDARY.match(self._pattern, self._at):
                self._at = named.end()
                return self._named_boundary(named[1])
            case "b" | "B" | "<" | ">":
                return self._dialect.boundaries[char]
        return self._cased(re.escape(self._escaped_char(char)))

    def _named_boundary(self, name: str) -> str:
        boundary = self._dialect.boundaries.get({"start": "<", "end": ">"}.get(name, name))
        if boundary is None or len(name) == 1:
            raise RegexError("invalid word boundary assertion")
        return boundary

    def _escaped_char(self, char: str) -> str:
        """The one character that a backslash and `char` stand for, inside a class or outside."""
        if char in _CONTROL:
            return _CONTROL[char]
        if char in _CODE_DIGITS:
            return self._code_point(_CODE_DIGITS[char])
        if char in "nr":
            raise RegexError(f'the literal "\\{char}" is not allowed in a regex')
        if char in "pP":
            raise RegexError(f"\\{char} {_UNSUPPORTED}")
        if char.isascii() and char.isdigit():
            raise RegexError("backreferences are not supported")
        if char.isascii() and not char.isalpha() and char not in "<>":
            return char
        raise RegexError("unrecognized escape sequence")

    def _code_point(self, digits: int) -> str:
        if self._peek("{"):
            end = self._pattern.find("}", self._at)
            text = self._pattern[self._at + 1 : end] if end > 0 else ""
            self._at = end + 1
        else:
            text = self._pattern[self._at : self._at + digits]
            self._at += digits
            text = text if len(text) == digits else ""
        if not text or set(text) - set(string.hexdigits):
            raise RegexError("invalid hexadecimal digit")
        code = int(text, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise RegexError("hexadecimal literal is not a Unicode scalar value")
        if code in (0x0A, 0x0D):
            raise RegexError(f'the literal "\\x{code:02x}" is not allowed in a regex')
        return chr(code)

    def _class(self) -> str:
        negated = self._peek("^")
        self._at += negated
        ranges: Ranges = ()
        while not (self._peek("]") and ranges):
            if self._at >= len(self._pattern):
                raise RegexError("unclosed character class")
            ranges += self._class_item()
        self._at += 1
        if negated:
            return f"[^{class_body(ranges)}{self._dialect.never}]"
        return f"[{class_body(without(ranges, LINE_ENDS))}]"

    def _class_item(self) -> Ranges:
        for operator in ("&&", "--", "~~"):
            if self._peek(operator):
                raise RegexError(f"the set operation {operator} {_UNSUPPORTED}")
        posix = _POSIX_CLASS.match(self._pattern, self._at)
        if posix:
            return self._posix(posix)
        if self._peek("["):
            raise RegexError(f"a class inside a class {_UNSUPPORTED}")
        low = self._class_char()
        if not self._peek("-") or self._peek("-]") or self._peek("--"):
            return low
        self._at += 1
        if self._at >= len(self._pattern):
            raise RegexError("unclosed character class")
        high = self._class_char()
        if not _is_one(low) or not _is_one(high):
            raise RegexError("invalid range boundary, must be a literal")
        if low[0] > high[0]:
            raise RegexError("invalid character class range, the start must be <= the end")
        return ((low[0][0], high[0][0]),)

    def _posix(self, found: re.Match[str]) -> Ranges:
        ranges = _POSIX.get(found[2])
        if ranges is None:
            raise RegexError("unrecognized POSIX character class")
        self._at = found.end()
        return without(complement(ranges), UNDECODED) if found[1] else ranges

    def _class_char(self) -> Ranges:
        char = self._take()
        if char == "\\":
            if self._at == len(self._pattern):
                raise RegexError("unclosed character class")
            char = self._take()
            if char in "dDwWsS":
                return self._dialect.shorthand(char)
            char = self._escaped_char(char)
        return ((ord(char), ord(char)),)


def _is_one(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
