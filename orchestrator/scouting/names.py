"""Identifiers as text: what looks like one, its parts, its singular, and how close two of them are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_IDENTIFIER = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_CODE_LIKE = re.compile(r"_|\$|\d|::|->|[a-z][A-Z]|[A-Z]{2}|\w\.\w|\(\)|^[@.#]\w|^--?\w|^[A-Z][a-z]+[A-Z]")
_SEPARATOR = re.compile(r"::|->|[.#]")
_FILE_NAME = re.compile(r"^[\w@.+ -]*\.(\w{1,8})$")


def word_set(text: str) -> frozenset[str]:
    """The words of `text` as a set; for tables of words."""
    return frozenset(text.split())


_PATH = re.compile(r"(?!@)[\w@.+~$*\[\]-]*(?:/[\w@.+~$*\[\]-]*)+")

SOURCE_EXTENSIONS = word_set(
    "py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts vue svelte go rs java kt kts scala c h cc cpp cxx hpp hh hxx cs rb "
    "php sh bash zsh fish lua pl pm swift m mm r jl ex exs erl hs ml clj dart sql html htm css scss less md rst txt "
    "toml yaml yml json jsonc ini cfg conf xml gradle properties env proto graphql tf lock mk cmake bat ps1"
)
"""Endings that make `name.ending` a file and not an attribute of a name."""

_LEAST_KEPT = 4
_SHARE_KEPT = 0.65
_SLACK = 5
"""Of a name that is not found, the letters at one end that must be nearly right, and how many may follow."""

_BARE_FILES = frozenset(
    {"readme", "makefile", "dockerfile", "license", "changelog", "gemfile", "rakefile", "jenkinsfile"}
)


def is_identifier(text: str) -> bool:
    """Whether `text` can be a name in code."""
    return _IDENTIFIER.fullmatch(text) is not None


def looks_like_code(text: str) -> bool:
    """Whether nobody would write `text` as a plain word: `a_b`, `aB`, `a.b`, `f()`, `A1`, `--flag`."""
    return _CODE_LIKE.search(text) is not None


def looks_like_path(text: str) -> bool:
    """Whether `text` names a file or a folder by its form alone."""
    if not text or " " in text or text.startswith("-"):
        return False
    if text in (".", "./") or text.lower() in _BARE_FILES:
        return True
    if "/" in text:
        return _PATH.fullmatch(text) is not None
    found = _FILE_NAME.match(text)
    return found is not None and found.group(1).lower() in SOURCE_EXTENSIONS and not text.startswith(".")


def split_dotted(text: str) -> tuple[str, str]:
    """`a.b.c`, `A::b`, `A#b`, `a->b` as owner and last name; the owner is empty for a simple name."""
    pieces = [piece for piece in _SEPARATOR.split(text) if piece]
    if not pieces:
        return "", text
    return ".".join(pieces[:-1]), pieces[-1]


def parts(name: str) -> tuple[str, ...]:
    """The words in a name, in lower case: `getUserByID` and `get_user_by_id` give the same."""
    return tuple(piece.lower() for piece in _PART.findall(name))


def same_words(one: str, other: str) -> bool:
    """Whether two names differ in case and separators alone."""
    return "".join(parts(one)) == "".join(parts(other)) != ""


def singulars(word: str) -> tuple[str, ...]:
    """What `word` may be the plural or possessive of, the likeliest first."""
    found: list[str] = []
    for ending, instead in (("'s", ""), ("s'", ""), ("ies", "y"), ("ses", "s"), ("xes", "x"), ("es", ""), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            found.append(word[: -len(ending)] + instead)
    if word.endswith("s") and len(word) > 2:
        found.sort(key=lambda stem: stem != word[:-1])
    return tuple(dict.fromkeys(found))


def joined(words: Iterable[str]) -> tuple[str, ...]:
    """The names that people make of several words: snake, camel, Pascal, upper, kebab, run together."""
    lower = [word.lower() for word in words]
    pascal = "".join(word.capitalize() for word in lower)
    return tuple(
        dict.fromkeys(
            (
                "_".join(lower),
                pascal[:1].lower() + pascal[1:],
                pascal,
                "_".join(lower).upper(),
                "-".join(lower),
                "".join(lower),
            )
        )
    )


def edit_distance(one: str, other: str) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours between two texts."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _in_order(one: str, other: str) -> int:
    """The most letters that stand in both texts in the same order."""
    row = [0] * (len(other) + 1)
    for a in one:
        before = 0
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], before + 1 if a == b else max(row[j], row[j - 1])
    return row[-1]


def near_patterns(name: str) -> tuple[str, str]:
    """Regular expressions for identifiers that begin or end about like `name`, the strict one and the loose one.

    `name` may lack letters, in the loose one a letter may be wrong as well; the other end of the identifier may differ
    by a few letters. They find what no piece of the name is left whole in.
    """
    letters = re.findall(r"\w", name)
    size = max(_LEAST_KEPT, round(len(letters) * _SHARE_KEPT))
    head, tail = letters[:size], letters[-size:]
    return _either((_spread(head),), (_spread(tail),)), _either(_one_wrong(head), _one_wrong(tail))


def _either(begins: Iterable[str], ends: Iterable[str]) -> str:
    forms = (*(rf"{form}\w{{0,{_SLACK}}}" for form in begins), *(rf"\w{{0,{_SLACK}}}{form}" for form in ends))
    return rf"\b(?:{'|'.join(dict.fromkeys(forms))})\b"


def _spread(letters: Sequence[str]) -> str:
    return r"\w?".join(map(re.escape, letters))


def _one_wrong(letters: Sequence[str]) -> Iterator[str]:
    for wrong in range(len(letters)):
        yield _spread([letter for at, letter in enumerate(letters) if at != wrong])


def nearness(asked: str, name: str) -> float:
    """How likely `name` was meant by `asked`: 0 for not at all, 1 for the same but for case and separators."""
    one, other = "".join(parts(asked)) or asked.lower(), "".join(parts(name)) or name.lower()
    if one == other:
        return 1.0
    by_letters = 1 - edit_distance(one, other) / max(len(one), len(other), 1)
    in_order = 0.95 * 2 * _in_order(one, other) / max(len(one) + len(other), 1)
    asked_parts, name_parts = set(parts(asked)), set(parts(name))
    shared = len(asked_parts & name_parts) / max(len(asked_parts), 1)
    inside = 0.6 if len(one) > 3 and (one in other or other in one) and len(other) > 3 else 0.0
    return max(by_letters, in_order, 0.9 * shared * (1 if len(asked_parts) > 1 else 0.7), inside)


def stem(path: str) -> str:
    """The name that code uses for the module in `path`: `src/auth/__init__.py` and `src/auth.py` give `auth`."""
    folder, _, name = path.rstrip("/").rpartition("/")
    base = name if name.startswith(".") else name.split(".", 1)[0]
    parent = folder.rpartition("/")[2]
    if base in {"__init__", "index", "mod", "__main__"} and parent not in ("", "."):
        return parent
    return base
