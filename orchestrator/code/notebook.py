"""Jupyter notebooks: names in the cells of a JSON file.

A place keeps the line of the file on disk, because that is what `read_file`, grep and the citation check see; where a
reader of the notebook finds it is told by its scope: `cell3:5` is line 5 of the third cell, `cell3:5.train` the same
inside the function `train`. Code cells are parsed one by one, Markdown and raw cells are docs, all else (outputs,
metadata) is `other`. Escapes are decoded first: in `"\\tname"` the name is found, although a text search sees `tname`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from orchestrator.code.languages import JAVASCRIPT, PYTHON, RUBY, RUST, SCRIPT, TYPESCRIPT, Language
from orchestrator.code.occurrences import Span, parsed_spans
from orchestrator.code.outline import FileSymbol, parsed_symbols
from orchestrator.code.qualified import word_pattern
from orchestrator.code.source import Source
from orchestrator.code.words import kind_by_words

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_PIECE = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_KERNELS = {
    "python": PYTHON,
    "ipython": PYTHON,
    "python3": PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "ruby": RUBY,
    "rust": RUST,
}


class JsonString(NamedTuple):
    """A string of a JSON text: the keys and indexes that lead to it, and where its content stands."""

    path: tuple[str | int, ...]
    start: int
    end: int


@dataclass
class Cell:
    number: int
    kind: str = "code"
    pieces: list[JsonString] = field(default_factory=list)

    def holds(self, name: str, text: str) -> bool:
        """Whether the name can be in the cell; one with letters beyond ASCII may be written in escapes."""
        return not name.isascii() or any(text.find(name, piece.start, piece.end) >= 0 for piece in self.pieces)

    def decoded(self, text: str) -> tuple[str, list[int]]:
        """The cell's own text, and where in the file each of its characters begins."""
        offsets: list[int] = []
        characters: list[str] = []
        for string in self.pieces:
            pieces = _PIECE.findall(text, string.start, string.end)
            characters += map(_unescaped, pieces)
            offsets += list(accumulate(map(len, pieces), initial=string.start))[:-1]
        return "".join(characters), offsets


def notebook_spans(source: Source, name: str) -> list[Span]:
    """Every place of `name` in a notebook, in order."""
    cells, language = read_cells(source.text)
    spans = [span for cell in cells for span in _cell_spans(cell, source.text, name, language)]
    strings = sorted((piece.start, piece.end) for cell in cells for piece in cell.pieces)
    for found in word_pattern(name).finditer(source.text):
        before = bisect_right(strings, (found.start(), len(source.text))) - 1
        if before < 0 or found.start() >= strings[before][1]:
            spans.append(Span(*found.span(), "other"))
    return sorted(spans)


def read_cells(text: str) -> tuple[list[Cell], Language]:
    """The cells of a notebook (any version of the format), and the language of its code."""
    cells: dict[tuple[str | int, ...], Cell] = {}
    language = PYTHON
    for string in json_strings(text):
        match string.path:
            case [*outer, "cells", int() as at, "cell_type"]:
                _cell(cells, (*outer, at)).kind = text[string.start : string.end]
            case [*outer, "cells", int() as at, "source" | "input"]:
                _cell(cells, (*outer, at)).pieces.append(string)
            case [*outer, "cells", int() as at, "source" | "input", int()]:
                _cell(cells, (*outer, at)).pieces.append(string)
            case ["metadata", "kernelspec", "language"] | ["metadata", "language_info", "name"]:
                language = _KERNELS.get(text[string.start : string.end].lower(), SCRIPT)
    return list(cells.values()), language


def _cell(cells: dict[tuple[str | int, ...], Cell], path: tuple[str | int, ...]) -> Cell:
    return cells.setdefault(path, Cell(len(cells) + 1))


def _unescaped(piece: str) -> str:
    if piece[0] != "\\":
        return piece
    return chr(int(piece[2:], 16)) if len(piece) == 6 else _ESCAPES.get(piece[1], piece[1])


def _cell_spans(cell: Cell, text: str, name: str, language: Language) -> Iterator[Span]:
    if not cell.holds(name, text):
        return
    decoded, offsets = cell.decoded(text)
    inner = Source(decoded)
    matches = [found.span() for found in word_pattern(name).finditer(decoded)]
    for span in _classified(cell, inner, name, matches, language):
        place = f"cell{cell.number}:{inner.line_of(span.start)}"
        scope = f"{place}.{span.scope}" if span.scope else place
        yield Span(offsets[span.start], offsets[span.end - 1] + 1, span.kind, scope)


def _classified(
    cell: Cell, inner: Source, name: str, matches: list[tuple[int, int]], language: Language
) -> Iterable[Span]:
    if cell.kind != "code":
        return [Span(*match, "doc") for match in matches]
    parsed = parsed_spans(inner, language, name, matches) if language is not SCRIPT and matches else None
    return parsed if parsed is not None else [_by_words(inner, *match) for match in matches]


def _by_words(inner: Source, start: int, end: int) -> Span:
    column = inner.column_of(start) - 1
    return Span(start, end, kind_by_words(inner.line_at(start), column, column + end - start))


def json_strings(text: str) -> Iterator[JsonString]:
    """Every string value of a JSON text with its path, in order; text that is not JSON gives what can be made of it."""
    path: list[str | int] = []
    key = ""
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token in "{[":
            path.append(0 if token == "[" else "")
        elif token in "}]":
            if path:
                path.pop()
        elif token == "," and path:
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else ""
        elif token == ":" and path and not isinstance(path[-1], int):
            path[-1] = key
        elif token[0] == '"':
            key = token[1:-1]
            if path and path[-1] != "":
                yield JsonString(tuple(path), found.start() + 1, found.end() - 1)


def notebook_symbols(source: Source) -> Iterator[FileSymbol]:
    """The definitions in the code cells, with the lines of the file on disk."""
    cells, language = read_cells(source.text)
    for cell in cells:
        if cell.kind == "code" and language is not SCRIPT:
            decoded, offsets = cell.decoded(source.text)
            starts = [0, *(at + 1 for at, char in enumerate(decoded) if char == "\n")]
            for symbol in parsed_symbols(Source(decoded), language):
                numbers = [source.line_of(offsets[starts[row - 1]]) for row, _ in symbol.lines]
                first, last = (source.line_of(offsets[starts[row - 1]]) for row in (symbol.line, symbol.end_line))
                lines = tuple((number, source.line(number)) for number in dict.fromkeys(numbers))
                yield symbol._replace(line=first, end_line=last, lines=lines)
