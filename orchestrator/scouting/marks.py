"""Quoted parts of a question, set aside as single characters so that no grammar looks inside them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FIRST = 0xE000
MARK = "[\ue000-\uf8ff]"
"""A regular expression for one quoted part."""

_QUOTED = re.compile(
    r"```(?:\w+\n)?(?P<fence>.+?)```|`(?P<tick>[^`\n]+)`"
    r'|"(?P<double>[^"\n]+)"|“(?P<curly>[^”\n]+)”|「(?P<corner>[^」\n]+)」|『(?P<white>[^』\n]+)』|‘(?P<curved>[^’\n]+)’'
    r"|(?<![^\s(\[,，。：:（])'(?P<single>[^'\n]+)'(?![A-Za-z0-9])"
    r"|\*\*(?P<bold>[^*\n]+)\*\*|《(?P<title>[^》\n]+)》",
    re.DOTALL,
)
_IN_CODE_FORM = frozenset({"fence", "tick", "bold", "title"})
_PLAIN = str.maketrans(
    {
        "’": "'",
        "？": "?",
        "，": ",",
        "。": ". ",
        "；": ";",
        "：": ":",
        "（": "(",
        "）": ")",
        "！": "!",
        "、": ", ",
        "\u3000": " ",
        "\u00a0": " ",
    }
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One quoted part; `literal` when it was put in quotation marks, as text is, and not in backquotes."""

    text: str
    literal: bool
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Marked:
    """A question with its quoted parts replaced by single characters."""

    text: str
    marks: tuple[Mark, ...]

    def at(self, character: str) -> Mark | None:
        """The quoted part that `character` stands for."""
        number = ord(character) - _FIRST if len(character) == 1 else -1
        return self.marks[number] if 0 <= number < len(self.marks) else None

    def restore(self, text: str) -> str:
        """`text` with the quoted parts put back, with their quotes unless nothing else is there."""
        alone = self.at(text.strip())
        return alone.text if alone else re.sub(MARK, lambda found: self.marks[ord(found.group()) - _FIRST].raw, text)


def set_aside(question: str) -> Marked:
    """Take the quoted parts out of `question`; the punctuation of what is left becomes plain."""
    marks: list[Mark] = []

    def keep(found: re.Match[str]) -> str:
        text = next(group for group in found.groups() if group is not None)
        marks.append(Mark(text.strip("\n"), found.lastgroup not in _IN_CODE_FORM, found.group()))
        return chr(_FIRST + len(marks) - 1)

    text = _QUOTED.sub(keep, re.sub(MARK, " ", question)).translate(_PLAIN)
    return Marked(re.sub(r"[ \t]+", " ", text).strip(), tuple(marks))
