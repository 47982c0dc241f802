"""Questions to the tools, with their answers as data; `None` while an answer is not known yet.

Pages are followed to the end, and an output that was cut is asked for again in smaller pages.
"""

from __future__ import annotations

import re
from dataclasses import replace

from orchestrator.scouting.line_kinds import kind_of_line
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.places import Symbol
from orchestrator.scouting.readings import (
    Hits,
    Lines,
    Numbered,
    Paths,
    References,
    offset_after,
    read_blocks,
    read_hits,
    read_lines,
    read_paths,
    read_references,
    read_symbols,
    was_cut,
)

PAGE = 5000
REFERENCES = 50_000
"""Places on one page: nearly always all of them."""
SMALL_PAGE = 200
MAX_PAGES = 40
GREP_LIMIT = 1000


def references(book: Notebook, name: str) -> References | None:
    """Every place of `name`; by `find_references`, else by `grep` with kinds guessed from the lines."""
    if not book.has("find_references"):
        return _by_grep(book, name)
    found = _reference_pages(book, name, REFERENCES)
    return _reference_pages(book, name, SMALL_PAGE) if found is not None and found.was_cut else found


def _reference_pages(book: Notebook, name: str, size: int) -> References | None:
    """Read once all pages are there: before that, each is only asked whether another one follows."""
    pages: list[str] = []
    failure: tuple[str, ...] = ()
    offset: int | None = 0
    while offset is not None and len(pages) < MAX_PAGES:
        more = {"offset": offset} if offset else {}
        outcome = book.look_up("find_references", name=name, limit=size, **more)
        if outcome is None:
            return None
        if outcome.error:
            failure = (outcome.text.split("\n", 1)[0],)
            break
        pages.append(outcome.text)
        offset = None if was_cut(outcome.text) and size == REFERENCES else offset_after(outcome.text)
    found = sum(map(read_references, pages), References())
    return replace(found, notes=(*found.notes, *failure)) if failure else found


def _by_grep(book: Notebook, name: str) -> References | None:
    hits = grep(book, rf"(?:^|[^\w$]){re.escape(name)}(?:[^\w$]|$)")
    if hits is None:
        return None
    places = tuple(place._replace(kind=kind_of_line(place.text, name, place.path)) for place in hits.places)
    return References(places, was_cut=hits.was_cut)


def symbols(book: Notebook, path: str = ".", name: str = "", *, calls: bool = False) -> tuple[Symbol, ...] | None:
    """Definitions in `path`, only those called `name` (simple, qualified or a glob) when it is given."""
    if not book.has("symbols"):
        return ()
    asked: dict[str, object] = {
        "path": path,
        "limit": PAGE,
        **({"name": name} if name else {}),
        **({"calls": True} if calls else {}),
    }
    found: list[Symbol] = []
    offset = 0
    for _ in range(MAX_PAGES):
        outcome = book.look_up("symbols", **asked, **({"offset": offset} if offset else {}))
        if outcome is None:
            return None
        page, following = read_symbols("" if outcome.error else outcome.text)
        found += page
        if following is None:
            break
        offset = following
    return tuple(found)


def grep(
    book: Notebook, pattern: str, path: str = ".", *, literal: bool = False, ignore_case: bool = False
) -> Hits | None:
    """Lines that match; no more than `GREP_LIMIT`, the rest is counted."""
    if not book.has("grep"):
        return Hits()
    options = {**({"literal": True} if literal else {}), **({"ignore_case": True} if ignore_case else {})}
    where = {} if path == "." else {"path": path}
    outcome = book.look_up("grep", pattern=pattern, limit=GREP_LIMIT, **options, **where)
    if outcome is None:
        return None
    return Hits() if outcome.error else read_hits(outcome.text)


def grep_context(book: Notebook, pattern: str, below: int) -> tuple[tuple[str, Numbered], ...] | None:
    """Lines that match, each with its file and the `below` lines after it."""
    if not book.has("grep"):
        return ()
    outcome = book.look_up("grep", pattern=pattern, limit=GREP_LIMIT, context=below)
    if outcome is None:
        return None
    return () if outcome.error else read_blocks(outcome.text, below)


def grep_ascii(book: Notebook, pattern: str) -> Hits | None:
    """Lines that match in any case, with ASCII's idea of a letter: for long patterns many times faster."""
    outcome = (
        book.look_up("grep", pattern=f"(?-u){pattern}", limit=GREP_LIMIT, ignore_case=True)
        if book.has("grep")
        else None
    )
    if outcome is None:
        return None if book.has("grep") else Hits()
    return grep(book, pattern, ignore_case=True) if outcome.error else read_hits(outcome.text)


def read(book: Notebook, path: str, first: int = 1, count: int = 2000) -> Lines | None:
    """`count` lines of a file from `first`; none when it cannot be read."""
    if not book.has("read_file"):
        return Lines()
    outcome = book.look_up("read_file", path=path, offset=first, limit=count)
    if outcome is None:
        return None
    return Lines() if outcome.error else read_lines(outcome.text)


def paths(book: Notebook, pattern: str) -> Paths | None:
    """Files whose path matches the glob."""
    if not book.has("glob"):
        return Paths()
    outcome = book.look_up("glob", pattern=pattern)
    if outcome is None:
        return None
    return Paths() if outcome.error else read_paths(outcome.text)


def folder(book: Notebook, path: str) -> str | None:
    """The listing of a folder as `list_files` shows it; empty when there is no such folder."""
    if not book.has("list_files"):
        return ""
    outcome = book.look_up("list_files", path=path)
    if outcome is None:
        return None
    return "" if outcome.error else outcome.text
