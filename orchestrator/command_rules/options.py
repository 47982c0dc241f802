"""Takes the words of a command apart into options and operands, by a table of the options that are harmless.

A table is written as text, one option or a bundle of them a word: `-abc --all` take no value, `-n: --lines:` take one,
`--color?` may have one after `=`, `-f< --file<` takes a file that is read, `-o> --output>` one that is written, `-i!
--in-place!` makes the command write its operands. `-#` stands for numbers (`head -5`). A `+` alone: options end at the
first operand. A `@` alone: an option that takes a value stands alone, its value is the next word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from orchestrator.shell_syntax import Word

Takes = Literal["", ":", "?", "<", ">", "!"]
_TAKES: Mapping[str, Takes] = {":": ":", "?": "?", "<": "<", ">": ">", "!": "!"}


class Table(NamedTuple):
    known: Mapping[str, Takes]
    in_order: bool = False
    numbers: bool = False
    apart: bool = False

    @classmethod
    def of(cls, text: str) -> Table:
        return cls(dict(_known(text)), "+" in text.split(), "-#" in text.split(), "@" in text.split())


class Given(NamedTuple):
    """One option that a command was given: its name, and its value if it has one."""

    name: str
    value: Word | None
    takes: Takes


class Options(NamedTuple):
    """`problem` says what is not known of the words; `writes` that one of them makes the command write."""

    given: tuple[Given, ...]
    operands: tuple[Word, ...]
    problem: str = ""
    writes: str = ""

    def has(self, *names: str) -> bool:
        return any(each.name in names for each in self.given)

    def files(self, takes: Takes) -> tuple[Word, ...]:
        return tuple(each.value for each in self.given if each.takes == takes and each.value is not None)


def _known(text: str) -> Iterator[tuple[str, Takes]]:
    for each in text.split():
        takes: Takes = _TAKES.get(each[-1], "")
        name = each[:-1] if takes else each
        if name.startswith("--") and len(name) > 2:
            yield name, takes
        elif name.startswith("-") and name != "-#":
            yield from ((f"-{letter}", takes) for letter in name[1:])


def may_be_option(word: Word) -> bool:
    """Whether the word, or a word that it expands to, can begin with `-`."""
    if word.value is not None:
        return word.value.startswith("-") and word.value != "-"
    if word.splits:
        return True
    return not word.tilde and (not word.prefix or word.prefix.startswith("-"))


def is_one_word(word: Word) -> bool:
    """Whether the word stays one word however it expands."""
    return not (word.splits or word.many)


def read_options(words: tuple[Word, ...], table: Table, *, loose: bool = False) -> Options:
    """Take `words` (without the command's name) apart. `loose`: no option of this command can do harm."""
    return _Scan(words, table, loose).run()


class _Scan:
    def __init__(self, words: tuple[Word, ...], table: Table, loose: bool) -> None:
        self.left = list(reversed(words))
        self.table = table
        self.loose = loose
        self.given: list[Given] = []
        self.operands: list[Word] = []
        self.problem = self.writes = ""

    def run(self) -> Options:
        while self.left:
            word = self.left.pop()
            if word.value == "--":
                self.operands.extend(reversed(self.left))
                break
            if not may_be_option(word):
                self.operands.append(word)
                if self.table.in_order:
                    self.operands.extend(reversed(self.left))
                    break
            elif word.value is None:
                self._dynamic(word)
            elif word.value.startswith("--"):
                self._long(word.value)
            else:
                self._short(word.value)
        return Options(tuple(self.given), tuple(self.operands), self.problem, self.writes)

    def _refuse(self, why: str) -> None:
        self.problem = self.problem or why

    def _dynamic(self, word: Word) -> None:
        """An expansion: the value of a known option, or something that may turn out to be any option."""
        name, equals, start = word.prefix.partition("=")
        if equals and is_one_word(word) and self.table.known.get(name, "") in (":", "?", "<"):
            self.given.append(Given(name, word._replace(prefix=start), self.table.known[name]))
        elif (
            len(word.prefix) > 2 and is_one_word(word) and self.table.known.get(letter := word.prefix[:2]) in (":", "<")
        ):
            self.given.append(Given(letter, word._replace(prefix=word.prefix[2:]), self.table.known[letter]))
        elif self.loose:
            self.operands.append(word)
        else:
            self._refuse(f"`{word.source}` may turn into an option (write `--` or a path before it)")

    def _long(self, text: str) -> None:
        name, equals, value = text.partition("=")
        takes = self.table.known.get(name)
        if takes is None:
            self._unknown_long(name)
        elif equals:
            self._give(name, Word.literal(value), takes)
        elif takes in (":", "<", ">"):
            self._give(name, self._next(name), takes)
        else:
            self._give(name, None, takes)

    def _unknown_long(self, name: str) -> None:
        writing = [each for each, takes in self.table.known.items() if takes in (">", "!") and each.startswith(name)]
        if writing:
            self.writes = self.writes or writing[0]
        elif self.loose:
            self.given.append(Given(name, None, ""))
        else:
            self._refuse(f"the option `{name}` is not known")

    def _short(self, text: str) -> None:
        if self.table.numbers and text[1:].isdigit():
            return
        for at in range(1, len(text)):
            name = f"-{text[at]}"
            takes = self.table.known.get(name)
            if takes is None and not self.loose:
                self._refuse(f"the option `{name}` is not known")
                return
            if takes in (":", "<", ">"):
                rest = text[at + 1 :]
                if self.table.apart and len(text) > 2:
                    self._refuse(f"`{text}` is read in different ways")
                self._give(name, Word.literal(rest) if rest else self._next(name), takes)
                return
            if takes == "?" and at + 1 < len(text):
                self._give(name, Word.literal(text[at + 1 :]), takes)
                return
            self._give(name, None, takes or "")

    def _next(self, name: str) -> Word | None:
        if not self.left:
            return None
        word = self.left.pop()
        if self.loose:
            return word
        if not is_one_word(word):
            self._refuse(f"`{word.source}`, the value of `{name}`, may turn into several words")
        elif may_be_option(word) and (word.value is not None or name.startswith("--")):
            self._refuse(f"`{word.source}`, the value of `{name}`, looks like an option (write `{name}=…`)")
        return word

    def _give(self, name: str, value: Word | None, takes: Takes) -> None:
        self.given.append(Given(name, value, takes))
        if takes in (">", "!"):
            self.writes = self.writes or name
