"""The headers of types that name one of several names as a base, found by text: a few searches for a workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orchestrator.scouting import lookups
from orchestrator.scouting.line_kinds import declared_type, extends, kind_of_line
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.places import Place, with_kind

_KEYWORDS = (
    "class|interface|struct|enum|record|trait|protocol|object|extension|impl|derive|include|extend|prepend|"
    "from|import|use|using|require"
)
"""Words of which the line of a header or an import has one."""
_WRAPPED = (
    r"^\s*(?:(?:export|default|abstract|public|private|protected|internal|static|final|sealed|open|data|partial|pub)\s+)*"
    r"(?:class|interface|struct|enum|record|trait|protocol)\s+[\w$]+(?:\s*[<\[][^()]*)?\s*\(?\s*$"
)
_BELOW = 6
"""Lines below the first one to which a header may go on."""
_ENDS = re.compile(r"[{;]|:\s*$|^\s*\)")


def headers_with(book: Notebook, names: Sequence[str]) -> tuple[Place, ...] | None:
    """The lines at which types begin that have one of `names` in their header, the header as their text; and the lines
    that import one of them, as imports."""
    lines, wrapped = _lines_with(book, names), lookups.grep_context(book, _WRAPPED, _BELOW)
    if lines is None or wrapped is None:
        return None
    by_kind = [(place, kind_of_line(place.text, "", place.path)) for place in lines]
    every = {place[:2]: place for place, kind in by_kind if kind not in ("comment", "import")}
    word = re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, names))})(?![\w$])")
    every.update({p[:2]: p for p in _joined(wrapped) if p[:2] not in every and word.search(p.text)})
    imports = with_kind((place for place, kind in by_kind if kind == "import"), "import")
    return (*filter(_is_code, every.values()), *imports)


def _lines_with(book: Notebook, names: Sequence[str]) -> tuple[Place, ...] | None:
    """The lines of headers and imports that have one of `names`; for fewer names at a time when they are too many."""
    ascii_only = "(?-u)" if "".join(names).isascii() else ""  # many times faster
    hits = lookups.grep(book, rf"{ascii_only}\b(?:{_KEYWORDS})\b.*\b(?:{'|'.join(map(re.escape, names))})\b")
    if hits is None or not hits.was_cut or len(names) == 1:
        return None if hits is None else hits.places
    half = len(names) // 2
    first, second = _lines_with(book, names[:half]), _lines_with(book, names[half:])
    return None if first is None or second is None else tuple(dict.fromkeys((*first, *second)))


def _is_code(place: Place) -> bool:
    in_prose = place.path.endswith((".md", ".rst", ".txt", ".adoc"))
    return not in_prose and not place.text.startswith((">>>", "...", "*", "//", "#:"))


def _joined(blocks: Sequence[tuple[str, Sequence[tuple[int, str]]]]) -> Iterator[Place]:
    """Each header over several lines as one place at its first line."""
    for path, rows in blocks:
        header: list[str] = []
        for _, text in rows:
            header.append(text.strip())
            if len(header) > 1 and _ENDS.search(text):
                break
        yield Place(path, rows[0][0], "reference", " ".join(header))


def extenders(headers: Sequence[Place], name: str) -> tuple[Place, ...]:
    """Those of `headers` whose type has `name` as a base."""
    return tuple(p for p in headers if p.kind != "import" and extends(p.text, name) and declared_type(p.text) != name)


def declarers(headers: Sequence[Place], name: str) -> tuple[Place, ...]:
    """Those of `headers` whose type is called `name`."""
    return tuple(
        p
        for p in headers
        if name in p.text and p.kind != "import" and declared_type(p.text) == name and not p.text.startswith("impl")
    )
