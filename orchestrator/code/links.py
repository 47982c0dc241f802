"""What one file defines, which names it uses, and what it imports: a pure function of its path and bytes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from orchestrator.code.imports import imports_in
from orchestrator.code.languages import language_of
from orchestrator.code.outline import FileSymbol, symbols_in
from orchestrator.code.source import LONG_LINE, read_source

MAX_NAMES = 4000
"""Names of one file that are kept."""

_NAME = re.compile(r"[^\W\d]\w{2,}")


class FileLinks(NamedTuple):
    """`uses` are all names in the text, comments included, sorted; `imports` are in full, as written."""

    symbols: tuple[FileSymbol, ...] = ()
    uses: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


def links_in(path: str, data: bytes) -> FileLinks:
    """Nothing for a file that is no text, in a language without a grammar, or made of very long lines (minified)."""
    source = read_source(data)
    if source is None or language_of(path, source.text).family != "code":
        return FileLinks()
    if len(source.text) > LONG_LINE * (source.text.count("\n") + 1) // 4:
        return FileLinks()
    names = sorted(set(_NAME.findall(source.text)))[:MAX_NAMES]
    imported = tuple(dict.fromkeys(row.name for row in imports_in(path, data)))
    return FileLinks(symbols_in(path, data), tuple(names), imported)


def pack_links(found: FileLinks) -> list[Any]:
    """The JSON form; names are joined, since there are hundreds of thousands of them in a large repository."""
    return [found.symbols, " ".join(found.uses), list(found.imports)]
