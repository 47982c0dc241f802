"""What is in a file, a folder or a class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from orchestrator.scouting import lookups
from orchestrator.scouting.names import word_set
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.part import Part, groups, noted
from orchestrator.scouting.places import Place, Symbol
from orchestrator.scouting.question import Ask, Subject
from orchestrator.scouting.spots import Spot, as_name, locate
from orchestrator.scouting.wording import Words, code

_HEAD = 60
"""Lines at the start of a file in which it may say what it is."""
_LONGEST_SAYING = 4
_OPENS_DOC = re.compile(r"\s*(?:[rRuU]?(?:\"\"\"|''')|/\*|//[!/]?|#(?!!)|<!--|--)")
_NO_PROSE = re.compile(r"\s*(?:#|=+|-+|\*+$|!\[|\[!|<|\.\.|:\w+:|```|\||$)")
_MARKS = re.compile(r"^\s*(?:[rRuU]?\"\"\"|[rRuU]?'''|/\*+!?|\*/?|//[!/]?|#+|--+)\s?|\s*(?:\"\"\"|'''|\*/)\s*$")
_TYPES = word_set("class struct interface trait enum record union")
_LICENCE = re.compile(
    r"copyright|licen[sc]ed?\b|all rights reserved|SPDX|\(c\) ?\d{4}|permission is hereby|coding[:=]|"
    r"eslint-|jshint|use strict|@ts-|prettier-",
    re.IGNORECASE,
)
"""What is no description of the file: licences, and words to tools."""
_MAX_FILES_READ = 3


def answer(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """What is in the file, folder or class that `subject` means; `None` while the tools have not answered."""
    if subject.shape == "name":
        members = lookups.symbols(book, ".", f"{subject.dotted}.*")
        if members is None:
            return None
        if members:
            return _members(ask, subject, members, words)
    spot = locate(book, subject)
    if spot is None:
        return None
    if spot.folder:
        return _folder(ask, spot.folder, book, words)
    if spot.files:
        return _files(ask, spot, book, words)
    return _nowhere(ask, subject, book, words)


def _nowhere(ask: Ask, subject: Subject, book: Notebook, words: Words) -> Part | None:
    """No such path: it may be a name after all."""
    from orchestrator.scouting import explain

    name = subject if subject.shape == "name" else as_name(subject)
    part = explain.answer(ask, name, book, words) if name else None
    if name and part is None:
        return None
    if part and part.cited:
        return part
    said = words.say("no_path", path=code(subject.dotted))
    return Part(said, details=part.details if part else (), open_question=said)


def _members(ask: Ask, subject: Subject, members: Sequence[Symbol], words: Words) -> Part:
    said = _headline(subject.dotted, members, ask.kinds, words)
    return Part(said, groups((words.title("symbol"), _places(_of_kinds(members, ask.kinds)))))


# --- files -----------------------------------------------------------------------------------------------------------


def _files(ask: Ask, spot: Spot, book: Notebook, words: Words) -> Part | None:
    parts = [_file(ask, path, book, words) for path in spot.files[:_MAX_FILES_READ]]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    first, others = known[0], known[1:]
    listed = (*first.groups, *(group for part in others for group in part.groups))
    details = (*first.details, *(line for part in others for line in (part.headline, *part.details)))
    silent = tuple(place for part in known for place in part.silent)
    more = spot.files[_MAX_FILES_READ:]
    merged = Part(first.headline, listed, details, silent=silent)
    return noted(merged, words.say("filtered", count=words.count(len(more), "file")) if more else "")


def _file(ask: Ask, path: str, book: Notebook, words: Words) -> Part | None:
    symbols, head = lookups.symbols(book, path), lookups.read(book, path, 1, _HEAD)
    if symbols is None or head is None:
        return None
    saying = _saying(path, head.rows)
    details = (words.say("says", doc=_prose(saying)),) if saying else ()
    silent = (saying,) if saying else ()
    if not symbols:
        first = tuple(Place(path, number, "other", text.strip()) for number, text in head.rows if text.strip())[:12]
        listed = groups((words.title("text"), () if saying else first))
        return Part(words.say("empty", path=code(path)), listed, details, silent=silent)
    said, chosen = _headline(path, symbols, ask.kinds, words), _places(_of_kinds(symbols, ask.kinds))
    if ask.kinds:
        details, silent = (), ()
    return Part(said, groups((f"{words.title('symbol')} · {path}", chosen)), details, silent=silent)


def _places(symbols: Iterable[Symbol]) -> tuple[Place, ...]:
    return tuple(symbol.place for symbol in symbols)


def _kinds(symbols: Sequence[Symbol], words: Words) -> str:
    counts = Counter(symbol.kind for symbol in symbols)
    return words.comma.join(_kind_count(kind, count, words) for kind, count in counts.most_common())


def _kind_count(kind: str, count: int, words: Words) -> str:
    named = words.symbol_kind(kind, count)
    return f"{count} 个{named}" if words.language == "zh" else f"{count} {named}"


def _headline(path: str, symbols: Sequence[Symbol], kinds: Sequence[str], words: Words) -> str:
    """What is in `path`; `kinds` are those that are asked for."""
    if not kinds:
        count = words.count(len(symbols), "symbol")
        return words.say("contents", path=code(path), count=count, kinds=_kinds(symbols, words))
    chosen, rest = _of_kinds(symbols, kinds), [s for s in symbols if not _is_of(s, kinds)]
    others = words.say("other_kinds", kinds=_kinds(rest, words)) if rest else ""
    if chosen:
        return words.say("contents_of_kind", path=code(path), kinds=_kinds(chosen, words), others=others)
    named = words.comma.join(words.symbol_kind(kind, 2) for kind in kinds)
    return words.say("no_such_kind", path=code(path), kinds=named, others=others)


def _of_kinds(symbols: Sequence[Symbol], kinds: Sequence[str]) -> list[Symbol]:
    return [symbol for symbol in symbols if not kinds or _is_of(symbol, kinds)]


def _is_of(symbol: Symbol, kinds: Sequence[str]) -> bool:
    return symbol.kind in kinds or ("type" in kinds and symbol.kind in _TYPES)


def _saying(path: str, rows: Sequence[tuple[int, str]]) -> Place | None:
    """What the file says of itself: its first comment or docstring that is no licence; of a text, its first paragraph
    of prose."""
    saying = _first_saying(path, rows)
    while saying is not None and _LICENCE.search(saying.text):
        rows = _after_comment([(number, row) for number, row in rows if number > saying.end_line])
        saying = _first_saying(path, rows)
    return saying


def _after_comment(rows: Sequence[tuple[int, str]]) -> Sequence[tuple[int, str]]:
    """`rows` without the rest of the comment that they begin in."""
    for at, (_, row) in enumerate(rows):
        if "/*" in row:
            break
        if "*/" in row:
            return rows[at + 1 :]
    return rows


def _first_saying(path: str, rows: Sequence[tuple[int, str]]) -> Place | None:
    is_text = PurePosixPath(path).suffix.lower() in (".md", ".rst", ".txt", "")
    taken: list[tuple[int, str]] = []
    for number, row in rows if is_text else _first_comment(rows):
        bare = row.strip() if is_text else _MARKS.sub("", _MARKS.sub("", row)).strip()
        if re.fullmatch(r"[=~^*#-]{3,}", bare):
            taken.clear()  # what stood above is a heading
        elif bare and not (is_text and _NO_PROSE.match(row)):
            taken.append((number, row.strip()))
        elif taken:
            break
        if len(taken) == _LONGEST_SAYING:
            break
    if not taken:
        return None
    return Place(path, taken[0][0], "doc", "\n".join(text for _, text in taken), end_line=taken[-1][0])


def _first_comment(rows: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines of the comment or the string that code begins with; none when it begins with anything else."""
    closing = ""
    for number, row in rows:
        text = row.strip()
        if not text or row.startswith("#!"):
            yield number, ""
            continue
        if not closing and not _OPENS_DOC.match(row):
            return
        opened = re.match(r"[rRuU]?(\"\"\"|'''|/\*)", text) if not closing else None
        yield number, row
        rest = text[opened.end() :] if opened else text
        closing = {"/*": "*/"}.get(opened[1], opened[1]) if opened else closing
        if closing and closing in rest:
            return


def _prose(place: Place) -> str:
    rows = place.text.split("\n")
    return " ".join(filter(None, (_MARKS.sub("", _MARKS.sub("", row)).strip() for row in rows)))


# --- folders ---------------------------------------------------------------------------------------------------------


def _folder(ask: Ask, folder: str, book: Notebook, words: Words) -> Part | None:
    prefix = "" if folder == "." else f"{folder}/"
    files, symbols = lookups.paths(book, f"{prefix}**"), lookups.symbols(book, folder)
    if files is None or symbols is None:
        return None
    about = _spokesman(files.paths, prefix)
    head = lookups.read(book, about, 1, _HEAD) if about else None
    if about and head is None:
        return None
    saying = _saying(about, head.rows) if head else None
    endings = Counter(PurePosixPath(path).suffix or PurePosixPath(path).name for path in files.paths)
    kinds = words.listed(f"{count} {ending}" for ending, count in endings.most_common())
    said = words.say(
        "folder",
        path=words.say("workspace") if folder == "." else code(folder),
        files=words.count(files.total, "file"),
        kinds=kinds,
        symbols=words.count(len(symbols), "symbol"),
    )
    if ask.kinds:
        chosen = _places(_of_kinds(symbols, ask.kinds))
        return Part(_headline(folder, symbols, ask.kinds, words), groups((words.title("symbol"), chosen)))
    top = _places(symbol for symbol in symbols if "." not in symbol.name) or _places(symbols)
    details = (words.say("says_at", at=saying.at, doc=_prose(saying)),) if saying else ()
    return Part(said, groups((words.title("symbol"), top)), details, silent=(saying,) if saying else ())


def _spokesman(files: Sequence[str], prefix: str) -> str:
    """The README of the folder, else the file that makes it a module."""
    direct = [path for path in files if "/" not in path.removeprefix(prefix)]
    wanted = re.compile(
        r"(?:.*/)?(?:readme(?:\.\w+)?|__init__\.py|index\.[jt]s|mod\.rs|lib\.rs|doc\.go)$", re.IGNORECASE
    )
    return min((p for p in direct if wanted.match(p)), key=lambda p: "readme" not in p.lower(), default="")
