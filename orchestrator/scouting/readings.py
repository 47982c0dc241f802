"""What the tools said, read back into data. Lines that have no known form are skipped, never guessed at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from orchestrator.scouting.places import KINDS, Belongs, Place, PlaceKind, Symbol

_ROW = re.compile(
    r"  +(?P<line>\d+) (?:(?P<belongs>maybe|local) )?(?P<kind>[a-z]+)(?: in (?P<scope>.+?))? \| ?(?P<text>.*)"
)
_SYMBOL = re.compile(r"  (?P<line>\d+)(?:-(?P<end>\d+))? (?P<kind>\S+) (?P<name>.+?) \| ?(?P<rest>.*)")
_CALL = re.compile(r"    +(?P<line>\d+) calls (?P<name>.+?) \| ?(?P<text>.*)")
_HIT = re.compile(r"  (?P<line>\d+)(?P<sign>[:-]) ?(?P<text>.*)")
_NUMBERED = re.compile(r"(?P<line>\d+)\t(?P<text>.*)")
_NEXT = re.compile(r"\n\[rows [\d,]+-[\d,]+ of [\d,]+; next: offset=(\d+)\](?=\n|\Z)")
_GO_ON = re.compile(r"\[lines \d+-\d+ of (?P<all>\d+); go on with offset=(?P<next>\d+)\]")
_CUT = re.compile(r"\[… [\d,]+ characters(?:, [\d,]+ lines)? left out here; .* …\]")
_SHORTENED = re.compile(r"^\[[\d,]+ characters\]…|…\[[\d,]+ characters\]$|… \[[\d,]+ more characters;[^\]]*\]$")
_NEAR = re.compile(r"(?P<name>\S+?)(?: \((?P<path>.+?):(?P<line>\d+)\))?(?:, |$)")
_SHOWING = re.compile(r"\[showing [\d,]+ of (?P<total>[\d,]+) match(?:es)? in (?P<files>[\d,]+) files?")
_SOME_PATHS = re.compile(r"^\[showing [\d,]+ of ([\d,]+) files", re.MULTILINE)
_ALL_SHOWN = re.compile(r"\[(?P<total>[\d,]+) match(?:es)? in (?P<files>[\d,]+) files?\]")


@dataclass(frozen=True, slots=True)
class References:
    """Places of one name. `next_offset` is set when there are more; `near` when there are none."""

    places: tuple[Place, ...] = ()
    near: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    next_offset: int | None = None
    was_cut: bool = False

    def __add__(self, more: References) -> References:
        places = tuple(dict.fromkeys((*self.places, *more.places))) if self.places else more.places
        notes = tuple(dict.fromkeys((*self.notes, *more.notes)))
        return replace(more, places=places, notes=notes, was_cut=self.was_cut or more.was_cut)


@dataclass(frozen=True, slots=True)
class Hits:
    """Lines that match a pattern; `total` and `files` count those that are not shown as well."""

    places: tuple[Place, ...] = ()
    total: int = 0
    files: int = 0
    was_cut: bool = False


Numbered = tuple[tuple[int, str], ...]
"""Lines with their numbers."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of one file by number; `next_offset` is set when the file goes on."""

    rows: tuple[tuple[int, str], ...] = ()
    next_offset: int | None = None
    total: int = 0


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths of files; `total` counts those that are not shown as well."""

    paths: tuple[str, ...] = ()
    total: int = 0


def read_references(text: str) -> References:
    """The output of `find_references`."""
    places: list[Place] = []
    notes: list[str] = []
    near: tuple[str, ...] = ()
    for path, line in _under_paths(text):
        row = _ROW.fullmatch(line)
        if row and path and row["kind"] in KINDS:
            kind = cast(PlaceKind, row["kind"])
            belongs = cast(Belongs, row["belongs"] or "yes")
            places.append(Place(path, int(row["line"]), kind, _plain(row["text"]), row["scope"] or "", belongs=belongs))
        elif line.startswith("near: "):
            near = tuple(found["name"] for found in _NEAR.finditer(line[6:]) if found["name"])
        elif line.startswith("note: "):
            notes.append(line[6:])
    return References(tuple(places), near, tuple(notes), offset_after(text), was_cut(text))


def offset_after(text: str) -> int | None:
    """The offset at which a listing goes on; `None` at its end."""
    found = _NEXT.search(text)
    return int(found[1]) if found else None


def was_cut(text: str) -> bool:
    """Whether the middle of an output was left out, because it was too long."""
    return _CUT.search(text) is not None


def read_symbols(text: str) -> tuple[tuple[Symbol, ...], int | None]:
    """The output of `symbols`, and the offset at which it goes on."""
    symbols: list[Symbol] = []
    for path, line in _under_paths(text):
        call = _CALL.fullmatch(line)
        if call and symbols:
            place = Place(path, int(call["line"]), "call", _plain(call["text"]), symbols[-1].name)
            symbols[-1] = replace(symbols[-1], calls=(*symbols[-1].calls, place))
            continue
        row = _SYMBOL.fullmatch(line)
        if row and path:
            signature, _, doc = row["rest"].partition(" | ")
            first = int(row["line"])
            symbols.append(
                Symbol(path, first, int(row["end"] or first), row["kind"], row["name"], _plain(signature), doc)
            )
    return tuple(symbols), offset_after(text)


def read_hits(text: str) -> Hits:
    """The output of `grep`."""
    places = [
        Place(path, int(row["line"]), "other", _plain(row["text"]))
        for path, line in _under_paths(text)
        if path and (row := _HIT.fullmatch(line)) and row["sign"] == ":"
    ]
    found = _SHOWING.search(text) or _ALL_SHOWN.search(text)
    total = int(found["total"].replace(",", "")) if found else len(places)
    files = int(found["files"].replace(",", "")) if found else len({place.path for place in places})
    return Hits(tuple(places), total, files, total > len(places))


def read_blocks(text: str, below: int) -> tuple[tuple[str, Numbered], ...]:
    """The output of `grep` with lines of context: each match with its path and at most `below` lines after it."""
    rows = [
        (path, int(row["line"]), row["sign"], row["text"])
        for path, line in _under_paths(text)
        if path and (row := _HIT.fullmatch(line))
    ]
    blocks: list[tuple[str, Numbered]] = []
    for at, (path, number, sign, _) in enumerate(rows):
        if sign == ":":
            following = rows[at : at + below + 1]
            inside = tuple((n, said) for where, n, _, said in following if where == path and n - number <= below)
            blocks.append((path, inside))
    return tuple(blocks)


def read_lines(text: str) -> Lines:
    """The output of `read_file`."""
    rows = [(int(row["line"]), row["text"]) for line in text.split("\n") if (row := _NUMBERED.fullmatch(line))]
    found = _GO_ON.search(text)
    last = rows[-1][0] if rows else 0
    return Lines(tuple(rows), int(found["next"]) if found else None, int(found["all"]) if found else last)


def read_paths(text: str) -> Paths:
    """The output of `glob`: one path a line."""
    paths = tuple(line for line in text.split("\n") if line and not line.startswith("["))
    found = _SOME_PATHS.search(text)
    return Paths(paths, int(found[1].replace(",", "")) if found else len(paths))


def _under_paths(text: str) -> Iterator[tuple[str, str]]:
    """Each line with the path line above it; a path line itself is not given."""
    path = ""
    for line in text.split("\n"):
        if line.startswith((" ", "[", "note: ", "near: ")) or not line:
            yield path, line
        else:
            path = line.removeprefix("./")


def _plain(text: str) -> str:
    """A line as it stands in its file: without the marks of a shortened one."""
    text = text.strip()
    return _SHORTENED.sub("", _SHORTENED.sub("", text)).strip() if "…" in text else text
