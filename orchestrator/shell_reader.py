"""Reads a bash command line: the simple commands in it with their words, redirections and assignments.

This is the reading that decisions are made on. It refuses (`Lost`) whatever it is not sure of, and `shell_syntax` lets
a second, independent parser confirm it. Only the grammar of bash without options is read: no aliases, no extended
globs, no history expansion.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

MAX_CHARS = 64 * 1024
MAX_DEPTH = 40
MAX_COMMANDS = 500
MAX_PIECES = 10_000


class Lost(Exception):
    """The text cannot be read with certainty; the message says why."""


class Word(NamedTuple):
    """A word of a command. `value` is its text after quotes are taken away, `None` where something in it expands.

    `prefix` is the literal text before the first part that expands. `splits`: it may become any number of words
    (an expansion outside of quotes). `many`: it may become several words, all of which start with `prefix` (a glob,
    braces). `tilde`: it starts with a home folder; `home` is the text (`~/x`) where nothing else in it expands. `start`
    and `end` are offsets into the text.
    """

    source: str
    value: str | None
    prefix: str = ""
    splits: bool = False
    many: bool = False
    tilde: bool = False
    home: str = ""
    start: int = 0
    end: int = 0

    @classmethod
    def literal(cls, value: str) -> Word:
        return cls(value, value, value)


class Assignment(NamedTuple):
    """`NAME=value`; `name` has no subscript. `value` is `None` for an array."""

    name: str
    value: Word | None
    word: Word


class Redirect(NamedTuple):
    """`operator` as written (`>`, `<<<`, `&>`), `fd` the number before it or empty, `target` its word."""

    operator: str
    fd: str
    target: Word


class Simple(NamedTuple):
    """One simple command. `looped`: it stands in a loop or a function, so it may run after what follows it."""

    words: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    looped: bool = False


class Reading(NamedTuple):
    """All simple commands in the order of the text, those in substitutions before the command that uses them.

    `spans` and `starts` are where words stand, and where commands begin: what a second parser must find too.
    `unsure` says what may do more than the commands show; empty when nothing does.
    """

    commands: tuple[Simple, ...]
    spans: frozenset[tuple[int, int]]
    starts: frozenset[int]
    unsure: tuple[str, ...]
    lost: str = ""


_PLAIN = re.compile(r"[A-Za-z0-9_./:@%^+,=\-\]\x80-\U0010ffff]+")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_REDIRECT = re.compile(r"(\d*)(&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>)")
_CONTROL = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;&|\n]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[)?")
_SPECIAL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9?#$!@*-]")
_NUMBERS_ONLY = re.compile(r"(?:[\s+\-*/%<>=!&|^~?:(),]|(?<![\w])\d+(?![\w])|\$[?#](?![\w{]))*\Z")
_DELIMITER = re.compile(r"[A-Za-z0-9_.+-]+\Z")
_RESERVED = re.compile(r"[a-z]+|\[\[|[{}!]")
_FUNCTION_NAME = re.compile(r"[^\s;&|<>()$`'\"\\{}]+")
_SUBSCRIPTED = re.compile(r"[^]\s]*\]\+?=")
_EMPTY_PARENS = re.compile(r"\([ \t]*\)")
_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_ANSI_QUOTED = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_SUBSCRIPT = re.compile(r"\[(?:\d+|@|\*)\]")
_SLICE = re.compile(r":\s?-?\d*(?::\s?-?\d*)?\}")
_IN_BRACES = re.compile(r"[^}\\'\"$`<>{]+")
_TEST_NAME = re.compile(r"\[\[?(?=[\s;&|<>()]|\Z)")
_META = " \t\n;&|<>()"
_OPENING = frozenset(("if", "while", "until", "for", "case", "{", "[[", "function", "select", "coproc", "!"))
_CLOSING = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}", "in"))
_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ANSI = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(.))", re.DOTALL)


def read_command(text: str) -> Reading:
    """The commands of `text`. Never raises: where it is lost, `lost` says why and `commands` hold what came before."""
    reader = _Reader(text)
    lost = ""
    try:
        _check_characters(text)
        reader.read_all()
    except Lost as error:
        lost = str(error)
    except RecursionError:
        lost = "it is nested too deeply"
    return Reading(
        tuple(reader.commands),
        frozenset(reader.spans),
        frozenset(reader.starts),
        tuple(dict.fromkeys(reader.unsure)),
        lost,
    )


def _check_characters(text: str) -> None:
    if len(text) > MAX_CHARS:
        raise Lost(f"it is longer than the {MAX_CHARS:,} characters that are read")
    if text.isascii() and text.isprintable():
        return
    for char in set(text):
        if char in "\n\t" or "\x20" <= char < "\x7f":
            continue
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"):
            raise Lost(f"it holds the character U+{ord(char):04X}, which cannot be seen or is read in different ways")


class _Parts:
    """What a word is made of, while it is read."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.bare: list[str] = []
        self.prefix: str | None = None
        self.splits = self.glob = self.tilde = False

    def add(self, text: str, *, quoted: bool) -> None:
        self.text.append(text)
        self.bare.append("\0" * len(text) if quoted else text)

    def expands(self, *, quoted: bool) -> None:
        self.stop()
        self.bare.append("\0")
        self.splits = self.splits or not quoted

    def stop(self) -> None:
        """What follows is not known before it runs."""
        if self.prefix is None:
            self.prefix = "".join(self.text)

    def word(self, source: str, start: int, end: int) -> Word:
        whole, bare = "".join(self.text), "".join(self.bare)
        braces = _has_braces(bare)
        if braces:
            before = whole[: bare.index("{")]
            self.prefix = before if self.prefix is None else min(self.prefix, before, key=len)
        many = bool(self.glob or braces)
        if self.prefix is None:
            value, home = (None, whole) if self.tilde else (whole, "")
            return Word(source, value, whole, many=many, tilde=self.tilde, home=home, start=start, end=end)
        return Word(source, None, self.prefix, self.splits, many, self.tilde, "", start, end)


class _Reader:
    """A recursive descent over one text. `end` is where it stops: the text's, or a backquoted part's."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.end = len(text)
        self.depth = self.loops = self.substitutions = self.pieces = 0
        self.commands: list[Simple] = []
        self.spans: set[tuple[int, int]] = set()
        self.starts: set[int] = set()
        self.unsure: list[str] = []
        self.heredocs: list[tuple[str, bool, bool]] = []

    def read_all(self) -> None:
        self._list(())
        if self.at < self.end:
            raise Lost(f"`{self.text[self.at]}` stands where nothing is expected")
        if self.heredocs:
            raise Lost("a here-document has no body")

    # --- characters -------------------------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.text[at] if at < self.end else ""

    def _startswith(self, text: str) -> bool:
        return self.text.startswith(text, self.at, self.end)

    def _blanks(self) -> None:
        if found := _BLANKS.match(self.text, self.at, self.end):
            self.at = found.end()
        if self._peek() == "#":
            self._comment()

    def _comment(self) -> None:
        if self.substitutions:
            raise Lost("a comment inside a substitution is read in different ways")
        stop = self.text.find("\n", self.at, self.end)
        self.at = self.end if stop < 0 else stop

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Lost("it is nested too deeply")

    def _newline(self) -> None:
        """Past a line break, and past the here-documents that start after it."""
        self.at += 1
        while self.heredocs:
            self._heredoc_body(*self.heredocs.pop(0))

    def _newlines(self) -> None:
        self._blanks()
        while self._peek() == "\n":
            self._newline()
            self._blanks()

    def _keyword(self) -> str:
        """The bare word that stands here, if it may be a reserved one; it is not taken."""
        found = _RESERVED.match(self.text, self.at, self.end)
        if not found or (found.end() < self.end and self.text[found.end()] not in _META):
            return ""
        return found.group()

    def _expect(self, word: str) -> None:
        self._blanks()
        if self._keyword() != word:
            raise Lost(f"`{word}` is missing")
        self.at += len(word)

    # --- lists and compound commands --------------------------------------------------------------------------------

    def _list(self, until: tuple[str, ...]) -> None:
        """Commands up to a closing word or sign of `until`, which is not taken."""
        self._deeper()
        while True:
            self._newlines()
            if self.at >= self.end or self._closes(until):
                break
            self._and_or()
            self._blanks()
            found = _CONTROL.match(self.text, self.at, self.end)
            if not found or self._closes(until):
                break
            if found.group() not in (";", "&", "\n"):
                raise Lost(f"`{found.group()}` stands where nothing is expected")
            if found.group() == "\n":
                self._newline()
            else:
                self.at = found.end()
        self.depth -= 1

    def _closes(self, until: tuple[str, ...]) -> bool:
        return any(
            self._keyword() == each if each.isalpha() or each == "}" else self._startswith(each) for each in until
        )

    def _and_or(self) -> None:
        while True:
            self._pipeline()
            self._blanks()
            if not (self._startswith("&&") or self._startswith("||")):
                return
            self.at += 2
            self._newlines()

    def _pipeline(self) -> None:
        self._blanks()
        while self._keyword() == "!":
            self.at += 1
            self._blanks()
        while True:
            self._command()
            self._blanks()
            if self._peek() != "|" or self._startswith("||"):
                return
            self.at += 2 if self._startswith("|&") else 1
            self._newlines()

    def _command(self) -> None:
        self._deeper()
        self._blanks()
        keyword = self._keyword()
        if self._startswith("(("):
            self._arithmetic_command()
        elif self._peek() == "(":
            self._subshell()
        elif keyword in _OPENING:
            self._compound(keyword)
        elif keyword in _CLOSING:
            raise Lost(f"`{keyword}` stands where a command is expected")
        else:
            self._simple()
        self.depth -= 1

    def _compound(self, keyword: str) -> None:
        if keyword in ("select", "coproc", "!"):
            raise Lost(f"`{keyword}` is not read")
        start = self.at
        self.at += len(keyword)
        if keyword == "[[":
            self._test(start)
        else:
            readers: dict[str, Callable[[], None]] = {
                "if": self._if, "while": self._while, "until": self._while, "for": self._for, "case": self._case,
                "{": self._group, "function": self._function,
            }  # fmt: skip
            readers[keyword]()
        self._redirects_after()

    def _subshell(self) -> None:
        self.at += 1
        self._list((")",))
        self._close(")")
        self._redirects_after()

    def _close(self, sign: str) -> None:
        self._blanks()
        if not self._startswith(sign):
            raise Lost(f"`{sign}` is missing")
        self.at += len(sign)

    def _group(self) -> None:
        self._list(("}",))
        self._expect("}")

    def _if(self) -> None:
        self._list(("then",))
        self._expect("then")
        while True:
            self._list(("elif", "else", "fi"))
            self._blanks()
            keyword = self._keyword()
            if keyword == "fi":
                break
            self._expect(keyword if keyword in ("elif", "else") else "fi")
            if keyword == "elif":
                self._list(("then",))
                self._expect("then")
        self._expect("fi")

    def _while(self) -> None:
        self.loops += 1
        self._list(("do",))
        self._body()
        self.loops -= 1

    def _body(self) -> None:
        self._newlines()
        self._expect("do")
        self._list(("done",))
        self._expect("done")

    def _for(self) -> None:
        self._blanks()
        self.loops += 1
        if self._startswith("(("):
            self._arithmetic_command()
        else:
            self._for_words()
        self._blanks()
        if self._peek() == ";":
            self.at += 1
        self._body()
        self.loops -= 1

    def _for_words(self) -> None:
        found = _NAME.match(self.text, self.at, self.end)
        if not found:
            raise Lost("the variable of a loop is missing")
        self.spans.add(found.span())
        self.unsure.extend(_unsure_name(found.group()))
        self.at = found.end()
        self._newlines()
        if self._keyword() == "in":
            self.at += 2
            self._words_until(";\n")

    def _words_until(self, stops: str) -> None:
        while True:
            self._blanks()
            if not self._peek() or self._peek() in stops:
                return
            self._word()

    def _case(self) -> None:
        if self.substitutions:
            raise Lost("`case` inside a substitution is read in different ways")
        self._blanks()
        self._word()
        self._newlines()
        self._expect("in")
        self._newlines()
        while self._keyword() != "esac" and self._case_item():
            self._newlines()
        self._expect("esac")

    def _case_item(self) -> bool:
        """Patterns and the commands for them; gives whether another such item may follow."""
        if self._peek() == "(":
            self.at += 1
        while True:
            self._blanks()
            self._word()
            self._blanks()
            if self._peek() != "|":
                break
            self.at += 1
        self._close(")")
        self._list((";;", ";&", "esac"))
        self._blanks()
        end = next((each for each in (";;&", ";;", ";&") if self._startswith(each)), "")
        self.at += len(end)
        return bool(end)

    def _function(self) -> None:
        self._blanks()
        found = _FUNCTION_NAME.match(self.text, self.at, self.end)
        if not found:
            raise Lost("the name of a function is missing")
        self.at = found.end()
        self._blanks()
        if self._peek() == "(":
            self.at += 1
            self._close(")")
        self._function_body(found.group())

    def _function_body(self, name: str) -> None:
        self.unsure.append(f"it defines the function `{name}`")
        self._newlines()
        self.loops += 1
        self._command()
        self.loops -= 1

    # --- arithmetic and tests ---------------------------------------------------------------------------------------

    def _arithmetic_command(self) -> None:
        self.at += 2
        self._arithmetic("))")

    def _arithmetic(self, close: str) -> None:
        """Past an arithmetic expression and `close`. A variable in one can hold a command that is run."""
        start, level = self.at, 0
        while True:
            char = self._peek()
            if not char:
                raise Lost(f"`{close}` is missing")
            if level == 0 and self._startswith(close):
                break
            if char in "()":
                level += 1 if char == "(" else -1
                if level < 0:
                    raise Lost("an arithmetic expression ends in an unusual way")
                self.at += 1
            elif char in "$`":
                self._expansion(_Parts(), quoted=True)
            elif char in "'\"\\\n":
                raise Lost("quotes in an arithmetic expression are not read")
            else:
                self.at += 1
        if not _NUMBERS_ONLY.match(self.text[start : self.at]):
            self.unsure.append("arithmetic with variables can run what they hold")
        self.at += len(close)

    def _test(self, start: int) -> None:
        """`[[ … ]]`, as a command of its own."""
        words = [Word("[[", "[[", "[[", start=start, end=self.at)]
        self.starts.add(start)
        while True:
            self._blanks()
            char = self._peek()
            if not char or char in ";`":
                raise Lost("`]]` is missing")
            if self._startswith("]]") and (self.at + 2 >= self.end or self.text[self.at + 2] in _META):
                break
            words.append(self._test_operator() or self._word())
        words.append(Word("]]", "]]", "]]", start=self.at, end=self.at + 2))
        self.at += 2
        self._add(Simple(tuple(words)))

    def _test_operator(self) -> Word | None:
        for sign in ("&&", "||", "(", ")", "<", ">", "\n"):
            if self._startswith(sign):
                if sign == "\n" or self.text.startswith(("<(", ">("), self.at):
                    raise Lost("this form of `[[` is not read")
                start, self.at = self.at, self.at + len(sign)
                return Word(sign, sign, sign, start=start, end=self.at)
        return None

    # --- simple commands --------------------------------------------------------------------------------------------

    def _simple(self) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        first = -1
        while True:
            self._blanks()
            char = self._peek()
            if not char or char in ";\n)" or (char in "&|" and not self._startswith("&>")):
                break
            if self._redirect(redirects):
                continue
            if char == "(":
                if len(words) == 1 and not assignments and not redirects and words[0].value:
                    return self._short_function(words[0])
                raise Lost("a parenthesis stands where nothing is expected")
            first = self.at if first < 0 else first
            if not words and (assignment := self._assignment()):
                assignments.append(assignment)
            else:
                words.append(self._word())
        if not (words or assignments or redirects):
            raise Lost("a command is missing")
        if first >= 0:
            self.starts.add(first)
        self._add(Simple(tuple(words), tuple(assignments), tuple(redirects)))
        return None

    def _short_function(self, name: Word) -> None:
        self.spans.discard((name.start, name.end))
        self.at += 1
        self._close(")")
        self._function_body(name.source)

    def _add(self, command: Simple) -> None:
        if len(self.commands) >= MAX_COMMANDS:
            raise Lost(f"it holds more than {MAX_COMMANDS} commands")
        self.commands.append(command._replace(looped=self.loops > 0))

    def _redirects_after(self) -> None:
        redirects: list[Redirect] = []
        self._blanks()
        while self._redirect(redirects):
            self._blanks()
        if redirects:
            self._add(Simple((), (), tuple(redirects)))

    def _redirect(self, into: list[Redirect]) -> bool:
        found = _REDIRECT.match(self.text, self.at, self.end)
        if not found or self.text.startswith(("<(", ">("), self.at):
            return False
        fd, operator = found.groups()
        self.at = found.end()
        if len(fd) > 3:
            raise Lost("the number of a redirection is too large")
        if operator in ("<", ">") and self._peek() == "(":
            raise Lost("a number before a process substitution is not read")
        self._blanks()
        if operator in ("<<", "<<-"):
            self._heredoc_start(operator == "<<-")
            return True
        if not self._peek() or (self._peek() in _META and not self.text.startswith(("<(", ">("), self.at)):
            raise Lost("a redirection has no target")
        target = self._word()
        if operator in (">&", "<&") and target.source.startswith("-") and target.source != "-":
            raise Lost(f"`{operator}-` is followed by something")
        into.append(Redirect(operator, fd, target))
        return True

    def _heredoc_start(self, tabs: bool) -> None:
        if self.substitutions:
            raise Lost("a here-document inside a substitution is not read")
        word = self._word()
        self.spans.discard((word.start, word.end))
        if word.value is None or not _DELIMITER.match(word.value):
            raise Lost("the end of a here-document is unusual")
        self.heredocs.append((word.value, word.source != word.value, tabs))

    def _heredoc_body(self, delimiter: str, quoted: bool, tabs: bool) -> None:
        start = self.at
        while True:
            if self.at >= self.end:
                raise Lost(f"the here-document `{delimiter}` has no end")
            stop = self.text.find("\n", self.at, self.end)
            stop = self.end if stop < 0 else stop
            line = self.text[self.at : stop]
            if (line.lstrip("\t") if tabs else line) == delimiter:
                break
            self.at = min(stop + 1, self.end)
        body_end, after = self.at, min(stop + 1, self.end)
        if not quoted:
            self._body_expansions(start, body_end)
        self.at = after

    def _body_expansions(self, start: int, stop: int) -> None:
        if "\\\n" in self.text[start:stop]:
            raise Lost("a line of a here-document is continued")
        self.at, end = start, self.end
        self.end = stop
        while self.at < stop:
            char = self.text[self.at]
            if char == "\\":
                self.at += 2
            elif char in "$`":
                self._expansion(_Parts(), quoted=True)
            else:
                self.at += 1
        self.end = end

    def _assignment(self) -> Assignment | None:
        start = self.at
        found = _ASSIGNMENT.match(self.text, self.at, self.end)
        if not found:
            return None
        after = found.end()
        if found.group(2):
            self._refuse_element(after)
            return None
        if self.text.startswith("+=", after, self.end):
            after += 2
        elif self.text.startswith("=", after, self.end):
            after += 1
        else:
            return None
        if self.text.startswith("(", after, self.end):
            return self._array(found.group(1), start, after)
        whole = self._word(assignment=after)
        value = self._value(whole, after)
        return Assignment(found.group(1), value, whole)

    def _refuse_element(self, after: int) -> None:
        if _SUBSCRIPTED.match(self.text, after, self.end):
            raise Lost("an assignment to an element of an array is not read")

    def _value(self, whole: Word, after: int) -> Word:
        cut = after - whole.start
        value = None if whole.value is None else whole.value[cut:]
        return whole._replace(
            source=whole.source[cut:], value=value, prefix=whole.prefix[cut:], start=after, splits=False
        )

    def _array(self, name: str, start: int, after: int) -> Assignment:
        self.at = after + 1
        while True:
            self._newlines()
            if self._peek() == ")":
                break
            if not self._peek() or self._peek() in _META or self._peek() == "[":
                raise Lost("an array is written in an unusual way")
            element = self._word()
            self.spans.discard((element.start, element.end))
        self.at += 1
        if self._peek() and self._peek() not in _META:
            raise Lost("an array is written in an unusual way")
        word = Word(self.text[start : self.at], None, f"{name}=", start=start, end=self.at)
        self.spans.add((start, self.at))
        return Assignment(name, None, word)

    # --- words ------------------------------------------------------------------------------------------------------

    def _word(self, assignment: int = -1) -> Word:
        """A word; `assignment` is where the value begins if it is one."""
        start, parts = self.at, _Parts()
        self._piece()
        while self.at < self.end:
            char = self.text[self.at]
            if found := _PLAIN.match(self.text, self.at, self.end):
                parts.add(found.group(), quoted=False)
                self.at = found.end()
            elif char in "<>" and self._peek(1) == "(":
                if self.at > start:
                    raise Lost("a process substitution inside a word is not read")
                self._process_substitution(parts)
            elif char in _META:
                break
            else:
                self._part(char, parts, start, assignment)
        if self.at == start:
            raise Lost("a word is missing")
        if self._peek() == "(" and self.at > start and not self._may_be_function(parts):
            raise Lost("a parenthesis in a word is not read")
        self.spans.add((start, self.at))
        return parts.word(self.text[start : self.at], start, self.at)

    def _may_be_function(self, parts: _Parts) -> bool:
        return _EMPTY_PARENS.match(self.text, self.at, self.end) is not None and parts.prefix is None

    def _piece(self) -> None:
        self.pieces += 1
        if self.pieces > MAX_PIECES:
            raise Lost(f"it holds more than {MAX_PIECES:,} words and parts of words")

    def _part(self, char: str, parts: _Parts, start: int, assignment: int) -> None:
        self._piece()
        if char == "\\":
            self._backslash(parts)
        elif char == "'":
            self._single(parts)
        elif char == '"':
            self.at += 1
            self._double(parts)
        elif char in "$`":
            self._expansion(parts, quoted=assignment >= 0)
        elif char in "*?[":
            self._glob(char, parts, start)
        elif char == "~" and self._tilde_place(start, assignment):
            parts.tilde = parts.tilde or self.at == start
            if self.at > start:
                parts.stop()
            parts.add(char, quoted=False)
            self.at += 1
        else:
            parts.add(char, quoted=False)
            self.at += 1

    def _tilde_place(self, start: int, assignment: int) -> bool:
        return self.at == start or self.text[self.at - 1] in "=:"

    def _glob(self, char: str, parts: _Parts, start: int) -> None:
        if not (self.at == start and _TEST_NAME.match(self.text, self.at, self.end)):
            parts.stop()
            parts.glob = True
        parts.add(char, quoted=False)
        self.at += 1

    def _backslash(self, parts: _Parts) -> None:
        if self.at + 1 >= self.end:
            raise Lost("it ends in a backslash")
        char = self.text[self.at + 1]
        if char != "\n":
            parts.add(char, quoted=True)
        elif self.heredocs:
            raise Lost("a line with a here-document is continued")
        else:
            raise Lost("a word goes on in the next line")
        self.at += 2

    def _single(self, parts: _Parts) -> None:
        stop = self.text.find("'", self.at + 1, self.end)
        if stop < 0:
            raise Lost("a single quote is not closed")
        parts.add(self._inside(self.at + 1, stop), quoted=True)
        self.at = stop + 1

    def _inside(self, start: int, stop: int) -> str:
        inside = self.text[start:stop]
        if self.heredocs and "\n" in inside:
            raise Lost("a line break between a here-document and its body is not read")
        return inside

    def _double(self, parts: _Parts) -> None:
        parts.add("", quoted=True)
        while True:
            char = self._peek()
            if not char:
                raise Lost("a double quote is not closed")
            if char == '"':
                self.at += 1
                return
            if char == "\\":
                self._escaped(parts)
            elif char in "$`":
                self._expansion(parts, quoted=True, double=True)
            elif found := _IN_DOUBLE.match(self.text, self.at, self.end):
                parts.add(self._inside(*found.span()), quoted=True)
                self.at = found.end()

    def _escaped(self, parts: _Parts) -> None:
        following = self._peek(1)
        if following == "\n":
            raise Lost("a word goes on in the next line")
        parts.add(following if following in '$`"\\' and following else f"\\{following}", quoted=True)
        self.at += 2

    def _ansi(self, parts: _Parts) -> None:
        found = _ANSI_QUOTED.match(self.text, self.at, self.end)
        if not found:
            raise Lost("a quote is not closed")
        parts.add(_ansi_text(self._inside(*found.span(1))), quoted=True)
        self.at = found.end()

    # --- expansions -------------------------------------------------------------------------------------------------

    def _expansion(self, parts: _Parts, *, quoted: bool, double: bool = False) -> None:
        """Past what starts with `$` or a backquote. `double`: inside of double quotes."""
        self._piece()
        following = self._peek(1)
        if self._peek() == "`":
            parts.expands(quoted=quoted)
            self._backquoted()
        elif self._startswith("$(("):
            parts.expands(quoted=quoted)
            self._arithmetic_expansion()
        elif following == "(":
            parts.expands(quoted=quoted)
            self.at += 2
            self._substitution()
        elif following == "{":
            parts.expands(quoted=quoted)
            start, self.at = self.at, self.at + 2
            self._braced(double)
            parts.splits = parts.splits or "@" in self.text[start : self.at]
        elif following == "[":
            raise Lost("`$[` is not read")
        elif following == "'" and not double:
            self._ansi(parts)
        elif following == '"' and not double:
            raise Lost('`$"` is not read')
        elif found := _SPECIAL.match(self.text, self.at + 1, self.end):
            parts.expands(quoted=quoted and (double or following not in "@*"))
            parts.splits = parts.splits or following == "@"
            self.at = found.end()
        else:
            parts.add("$", quoted=True)
            self.at += 1

    def _substitution(self) -> None:
        if self.heredocs:
            raise Lost("a substitution between a here-document and its body is not read")
        self.substitutions += 1
        self._list((")",))
        self._close(")")
        self.substitutions -= 1

    def _process_substitution(self, parts: _Parts) -> None:
        self.at += 2
        parts.add("/dev/fd/", quoted=True)
        parts.expands(quoted=True)
        self._substitution()

    def _arithmetic_expansion(self) -> None:
        self._deeper()
        self.at += 3
        self._arithmetic("))")
        self.depth -= 1

    def _backquoted(self) -> None:
        stop = self.text.find("`", self.at + 1, self.end)
        if stop < 0:
            raise Lost("a backquote is not closed")
        if "\\" in self.text[self.at : stop]:
            raise Lost("a backslash inside backquotes is not read")
        self.at, end = self.at + 1, self.end
        self.end = stop
        self.substitutions += 1
        self._list(())
        if self.at != stop:
            raise Lost("the text inside backquotes ends early")
        self.substitutions -= 1
        self.at, self.end = stop + 1, end

    def _braced(self, double: bool) -> None:
        """Past `${…}` after its opening. Forms that run or assign something make the reading unsure."""
        self._deeper()
        if self._peek() == "#" and self._peek(1) != "}":
            self.at += 1
        elif self._peek() == "!":
            self.unsure.append("`${!…}` can run what a variable holds")
            self.at += 1
        found = _SPECIAL.match(self.text, self.at, self.end)
        if not found:
            raise Lost("this form of `${` is not read")
        self.at = found.end()
        subscript = _SUBSCRIPT.match(self.text, self.at, self.end)
        if subscript:
            self.at = subscript.end()
        elif self._peek() == "[":
            raise Lost("a subscript that is not a number is not read")
        self._operator()
        self._operand(double)
        self.depth -= 1

    def _operator(self) -> None:
        rest = self.text[self.at : self.at + 2]
        if rest[:1] == "@":
            self.unsure.append("`${…@…}` can run what a variable holds")
        elif rest[:1] == "=" or rest == ":=":
            self.unsure.append("`${…=…}` sets a variable")
        elif rest[:1] == ":" and rest[1:] not in tuple("-+?"):
            numbers = _SLICE.match(self.text, self.at, self.end)
            if not numbers:
                self.unsure.append("arithmetic with variables can run what they hold")
        elif rest[:1] and rest[:1] not in "-+?:#%/^,}":
            raise Lost("this form of `${` is not read")

    def _operand(self, double: bool) -> None:
        while True:
            char = self._peek()
            if not char:
                raise Lost("`}` is missing")
            if char == "}":
                self.at += 1
                return
            if char == "\\" and self._peek(1) not in ("", "\n"):
                self.at += 2
            elif char in "$`":
                self._expansion(_Parts(), quoted=True, double=double)
            elif char == '"' and not double:
                self.at += 1
                self._double(_Parts())
            elif char == "'" and not double:
                self._single(_Parts())
            elif found := _IN_BRACES.match(self.text, self.at, self.end):
                self._inside(*found.span())
                self.at = found.end()
            else:
                raise Lost("this form of `${` is not read")


def _has_braces(bare: str) -> bool:
    """Whether a text may hold braces that expand: `{a,b}`, `{1..3}`."""
    first, last = bare.find("{"), bare.rfind("}")
    return 0 <= first < last and any(sign in bare[first:last] for sign in (",", ".."))


def _ansi_text(text: str) -> str:
    def decode(found: re.Match[str]) -> str:
        octal, hexa, short, long, char = found.groups()
        if octal or hexa:
            code = int(octal, 8) & 0xFF if octal else int(hexa, 16)
            if code >= 0x80:
                raise Lost("a byte outside of ASCII is written by its number")
            return chr(code)
        if short or long:
            return _character(int(short or long, 16))
        if char in "cxuU":
            raise Lost("an escape is written in an unusual way")
        return _ESCAPES.get(char, f"\\{char}")

    decoded = _ANSI.sub(decode, text)
    if "\0" in decoded:
        raise Lost("it holds the character U+0000")
    return decoded


def _character(code: int) -> str:
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise Lost("an escape names no character")
    return chr(code)


def _unsure_name(name: str) -> list[str]:
    """A loop's variable that the shell or programs look at."""
    return [f"a loop sets `{name}`"] if name.isupper() else []
