"""The headers of types that name one of several names as a base, found by text: a few searches for a workspace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from orchestrator.scouting import lookups
from orchestrator.scouting.line_kinds import declared_type, extends, kind_of_line
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.places import Place, with_kind

_TYPES = "class|interface|struct|enum|record|trait|protocol|object|extension|impl"
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
    any_name = "|".join(map(re.escape, names))
    hits = lookups.grep(book, rf"(?:\b(?:{_TYPES})\b|#\[derive|^\s*(?:include|extend|prepend)\b).*\b(?:{any_name})\b")
    imports = lookups.grep(book, rf"^\s*(?:from|import|use|using|const|let|var)\b.*\b(?:{any_name})\b")
    wrapped = lookups.grep_context(book, _WRAPPED, _BELOW)
    if hits is None or imports is None or wrapped is None:
        return None
    every = {place[:2]: place for place in hits.places if kind_of_line(place.text, "", place.path) != "comment"}
    word = re.compile(rf"(?<![\w$])(?:{any_name})(?![\w$])")
    every.update({p[:2]: p for p in _joined(wrapped) if word.search(p.text) and p[:2] not in every})
    return (*filter(_is_code, every.values()), *with_kind(imports.places, "import"))


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
