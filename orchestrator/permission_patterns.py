"""How permission rules are written: `TOOL`, or `TOOL(pattern)` with a pattern for commands or for files.

Command patterns are words. A `*` inside of a word stands for any characters of that word, a `*` alone for one word, and
a `*` alone as the last one for any further words or none: `git push *` is `git push` with whatever follows,
`git status` only exactly that, `npm run test:*` one word that begins so. Quotes and backslashes make what they hold
literal.

File patterns are globs over the whole path from the workspace's root (`docs/**`, `**/*.md`); `docs/` is all below
`docs`. Those that begin with `/` or `~/` are for files outside.

A rule that grants is read to the letter. A rule that refuses or asks is read widely, so that nothing gets round it by
another spelling: programs by their last name, options in any order and form, file names without regard to case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from orchestrator.globs import GlobError, glob_regex

COMMAND_TOOL = "run_shell"
"""The tool whose patterns are for commands; the patterns of all others are for files."""

_LONGEST = 2000
_RULE = re.compile(r"(\*|[A-Za-z_][\w.-]*)(?:\((.*)\))?", re.DOTALL)
_SPECIAL_IN_GLOB = re.compile(r"[*?\[\]{}\\,!]")


class PatternError(ValueError):
    """A rule is malformed; the message says how."""


class RuleText(NamedTuple):
    """A rule taken apart. `pattern` is `None` for a rule about all that a tool does."""

    tool: str
    pattern: str | None


def parse_rule(text: str) -> RuleText:
    """The parts of a rule whose pattern is well formed. Raises `PatternError`."""
    stripped = text.strip()
    if len(stripped) > _LONGEST:
        raise PatternError(f"it is longer than {_LONGEST:,} characters")
    found = _RULE.fullmatch(stripped)
    if found is None:
        raise PatternError("a rule is TOOL or TOOL(pattern), such as run_shell(git push *) or edit_file(docs/**)")
    tool, pattern = found.group(1), found.group(2)
    if pattern is not None:
        pattern = pattern.strip()
        if not pattern:
            raise PatternError(f"nothing stands in the brackets; `{tool}` alone is a rule about all that it does")
        _require_sound(tool, pattern)
    return RuleText(tool, pattern)


def _require_sound(tool: str, pattern: str) -> None:
    if tool == COMMAND_TOOL:
        CommandPattern(pattern).items  # noqa: B018  # raises where it is malformed
    else:
        PathPattern(pattern).compiled  # noqa: B018


def exact_command(words: Sequence[str]) -> str:
    """The command pattern that only these words match; empty when it could not be read back or be shown on a line."""
    import shlex

    text = " ".join(shlex.quote(word) for word in words)
    return text if text.isprintable() and len(text) <= 300 else ""


def exact_path(path: str) -> str:
    """The file pattern that only this path matches; empty when it could not be shown on a line."""
    text = _SPECIAL_IN_GLOB.sub(r"\\\g<0>", path)
    usable = text.isprintable() and len(text) <= 300 and text.strip() == text and not text.startswith(("~", "./"))
    return text if usable else ""


# --- commands --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Item:
    """One word of a pattern: `literal` with every `*` in it, `regex` for a whole word."""

    literal: str
    regex: str
    wild: bool

    def matches(self, word: str, *, fold: bool = False) -> bool:
        return re.fullmatch(self.regex, word, re.DOTALL | (re.IGNORECASE if fold else 0)) is not None

    @property
    def is_option(self) -> bool:
        return len(self.literal) > 1 and self.literal.startswith("-")


Word = str | None
"""A word of a command; `None` for one that is known only when it runs, and that may then be any number of words."""


@dataclass(frozen=True)
class CommandPattern:
    text: str

    @cached_property
    def items(self) -> tuple[_Item, ...]:
        """The words of the pattern. Raises `PatternError`."""
        return tuple(_items(self.text))

    @cached_property
    def _open(self) -> bool:
        """Whether any further words may follow."""
        return self.items[-1].regex == ".*"

    @property
    def names_program(self) -> bool:
        """Whether it says which program it is about."""
        return not self.items[0].wild

    def grants(self, words: Sequence[Word]) -> bool:
        """Whether these very words match. An unknown word is matched only by the open end of the pattern."""
        head = self.items[:-1] if self._open else self.items
        if not words or len(words) < len(head) or (len(words) > len(head) and not self._open):
            return False
        return all(word is not None and item.matches(word) for item, word in zip(head, words, strict=False))

    def hits(self, words: Sequence[Word]) -> bool:
        """Whether the words may come to what the pattern means, in whatever spelling."""
        if not words or words[0] is None:
            return bool(words)
        program = words[0].rpartition("/")[2] or words[0]
        spelled = [name for name in (words[0], program) if self.items[0].matches(name, fold=True)]
        if not spelled:
            return False
        return self.grants([self._first(spelled[0]), *words[1:]]) or self._hits_loosely(words[1:])

    def _first(self, name: str) -> str:
        return name if self.items[0].wild else self.items[0].literal

    def _hits_loosely(self, words: Sequence[Word]) -> bool:
        rest = self.items[1:-1] if self._open else self.items[1:]
        if len(self.items) == 1 and self._open:
            return True
        given = _Options.of(words)
        if not all(given.hold(item) for item in rest if item.is_option):
            return False
        return _aligned(words, [item for item in rest if not item.is_option], open_end=self._open)


def _items(text: str) -> Iterator[_Item]:
    """The words of a pattern, quotes and backslashes resolved."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        literal, regex, wild = [], [], False
        while at < len(text) and not text[at].isspace():
            piece, is_star, at = _piece(text, at)
            literal.append(piece)
            regex.append(".*" if is_star else re.escape(piece))
            wild = wild or is_star
        yield _Item("".join(literal), re.sub(r"(?:\.\*)+", ".*", "".join(regex)) if wild else "".join(regex), wild)


def _piece(text: str, at: int) -> tuple[str, bool, int]:
    """A quoted part or one character at `at`: its text, whether it is a `*`, and where the next one begins."""
    char = text[at]
    if char == "'":
        end = text.find("'", at + 1)
        if end < 0:
            raise PatternError("a ' is not closed")
        return text[at + 1 : end], False, end + 1
    if char == '"':
        return _double_quoted(text, at + 1)
    if char == "\\":
        if at + 1 == len(text):
            raise PatternError("it ends in a backslash")
        return text[at + 1], False, at + 2
    return char, char == "*", at + 1


def _double_quoted(text: str, at: int) -> tuple[str, bool, int]:
    out = []
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            at += 1
        out.append(text[at])
        at += 1
    if at == len(text):
        raise PatternError('a " is not closed')
    return "".join(out), False, at + 1


_LONG_FORMS = {"r": "recursive", "R": "recursive", "f": "force", "d": "delete", "D": "delete", "i": "in-place"}
"""Letters and what they are short for in the programs that rules are usually about."""
_CLUSTER = 4
"""Letters after one dash that are read as so many options; more are one option with a long name (`-delete`)."""


class _Options(NamedTuple):
    """The options of a command: every letter after one dash, the words themselves, and whether some are unknown."""

    letters: frozenset[str]
    words: tuple[str, ...]
    unknown: bool

    @classmethod
    def of(cls, words: Sequence[Word]) -> _Options:
        known = [word for word in words if word is not None and word.startswith("-")]
        letters = frozenset(letter for word in known if not word.startswith("--") for letter in word[1:])
        return cls(letters, tuple(known), len(known) < len(words) and None in words)

    def hold(self, item: _Item) -> bool:
        """Whether the option of a pattern is among these, in any of its forms."""
        if self.unknown or any(item.matches(word) for word in self.words):
            return True
        if item.literal.startswith("--"):
            return self._long(item.literal[2:]) or any(
                _LONG_FORMS[letter] == item.literal[2:] for letter in self.letters & _LONG_FORMS.keys()
            )
        wanted = item.literal[1:].replace("*", "")
        if len(wanted) > _CLUSTER:
            return False
        meant = {_LONG_FORMS.get(letter, letter) for letter in self.letters}
        forms = {_LONG_FORMS.get(letter, letter) for letter in wanted}
        return all(form in meant or (len(form) > 1 and self._long(form)) for form in forms)

    def _long(self, name: str) -> bool:
        """Whether `--name` is given, also with a value or shortened as programs allow it."""
        given = (word[2:].partition("=")[0] for word in self.words if word.startswith("--"))
        return bool(name) and any(short and name.startswith(short) for short in given)


def _aligned(words: Sequence[Word], items: Sequence[_Item], *, open_end: bool) -> bool:
    """Whether the operands are those of the pattern in order, whatever options stand between them.

    A word after an option may be that option's value, or an operand.
    """
    reached = {0}
    after_option = only_operands = False
    for word in words:
        if word is None:
            reached = set(range(min(reached, default=len(items) + 1), len(items) + 1))
        elif word == "--" and not only_operands:
            only_operands = True
        elif word.startswith("-") and len(word) > 1 and not only_operands:
            after_option = True
            continue
        else:
            stays = (count for count in reached if after_option or (open_end and count == len(items)))
            goes_on = (count + 1 for count in reached if count < len(items) and items[count].matches(word))
            reached = {*stays, *goes_on}
        after_option = False
    return len(items) in reached


# --- files -----------------------------------------------------------------------------------------------------------


class Spot(NamedTuple):
    """One way to name a file: relative to the workspace (`None` outside of it), absolute, and as `~/…` (or `None`)."""

    relative: str | None
    absolute: str
    in_home: str | None


@dataclass(frozen=True)
class PathPattern:
    text: str

    @cached_property
    def _glob(self) -> str:
        body = self.text.removeprefix("./") or "."
        return body + "**" if body.endswith("/") else body

    @cached_property
    def compiled(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """What grants and what hits. Raises `PatternError`."""
        if self._glob.startswith("..") or "/../" in self._glob:
            raise PatternError("`..` leads nowhere in a rule; begin with / or ~/ for a file outside the workspace")
        if self._glob.startswith("~") and not self._glob.startswith("~/"):
            raise PatternError("only ~/ is known, the user's own home folder")
        wide = self._glob if "/" in self._glob else f"**/{self._glob}"
        try:
            exact, loose = glob_regex(self._glob), glob_regex(wide)
        except GlobError as error:
            raise PatternError(str(error)) from None
        return re.compile(exact), re.compile(f"{loose}(?s:/.*)?", re.IGNORECASE)

    def grants(self, spots: Sequence[Spot]) -> bool:
        """Whether every name of the file matches."""
        names = [self._name(spot) for spot in spots]
        return bool(names) and all(name is not None and self.compiled[0].fullmatch(name) for name in names)

    def hits(self, spots: Sequence[Spot], *, whole_folder: bool = False) -> bool:
        """Whether any name of the file matches, or of a folder that it is in.

        `whole_folder`: it may be a folder with all that it holds; then what the pattern names may be in it.
        """
        names = [name for spot in spots if (name := self._name(spot)) is not None]
        return any(self.compiled[1].fullmatch(name) for name in names) or (
            whole_folder and any(self._may_be_in(name) for name in names)
        )

    def _may_be_in(self, folder: str) -> bool:
        fixed = _fixed_part(self._glob).casefold()
        folder = folder.casefold().rstrip("/")
        return bool(fixed) and (folder in (".", "", fixed) or fixed.startswith(f"{folder}/"))

    def _name(self, spot: Spot) -> str | None:
        if self._glob.startswith("/"):
            return spot.absolute
        return spot.in_home if self._glob.startswith("~/") else spot.relative


def _fixed_part(glob: str) -> str:
    """The folders that a glob begins with, up to the first that is not spelled out."""
    fixed = []
    for part in glob.split("/"):
        if _SPECIAL_IN_GLOB.search(part):
            break
        fixed.append(part)
    return "/".join(fixed)
