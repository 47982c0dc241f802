"""The import statements of a file, by the form of its language; data first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from orchestrator.scouting.places import Place


@dataclass(frozen=True, slots=True)
class Form:
    """`begins` an import; while `goes_on` matches what was read of it, the next line belongs to it."""

    endings: str
    begins: str
    goes_on: str = r"$^"


_FORMS = (
    Form("py pyi pyx", r"\s*(?:from\s+[\w.]+\s+import\b|import\s+\w)", r"(?s)[^()]*\([^)]*$|.*\\$"),
    Form(
        "js jsx mjs cjs ts tsx mts cts vue svelte",
        r"\s*import\b|\s*export\s.*\bfrom\b|.*\brequire\(|.*\bimport\(",
        r"(?s)\s*import\s+(?:type\s+)?[\w$, ]*\{[^}]*$",
    ),
    Form("go", r"import\b", r"(?s)import\s*\([^)]*$"),
    Form(
        "rs",
        r"\s*(?:pub(?:\(\w+\))?\s+)?(?:use\s|extern\s+crate\s|mod\s+\w+\s*;)",
        r"(?s)\s*(?:pub(?:\(\w+\))?\s+)?use\s[^;]*$",
    ),
    Form("java kt kts scala groovy", r"import\s"),
    Form("c h cc cpp cxx hpp hh hxx m mm", r"\s*#\s*(?:include|import)\b|\s*import\s+[\w.:<]+;"),
    Form("cs", r"\s*(?:global\s+)?using\s+(?:static\s+)?[\w.]+(?:\s*=.*)?;"),
    Form("rb rake gemspec", r"\s*(?:require|require_relative|load|autoload|include|extend|prepend)\b"),
    Form("php phtml", r"\s*use\s+[\w\\]|.*\b(?:require|include)(?:_once)?\b", r"(?s)\s*use\s[^;]*$"),
    Form("sh bash zsh", r"\s*(?:source|\.)\s+\S"),
    Form("css scss less", r"\s*@(?:import|use|forward)\b"),
    Form("ex exs erl hs ml swift lua pl pm r jl dart zig nim", r"\s*(?:import|use|require|alias|open|library|using)\b"),
)


def import_lines(path: str, rows: Sequence[tuple[int, str]]) -> tuple[Place, ...]:
    """The lines of the imports among the numbered lines of the file, those of an import over several lines as well."""
    form = _form_of(path)
    found: list[Place] = []
    statement = ""
    for number, text in rows:
        if form and (statement or re.match(form.begins, text)):
            statement += f"{text}\n"
            if re.search(r"\w", text):
                found.append(Place(path, number, "import", text.strip()))
            if not re.match(form.goes_on, statement.rstrip("\n")):
                statement = ""
    return tuple(found)


def _form_of(path: str) -> Form | None:
    ending = PurePosixPath(path).suffix.lstrip(".").lower()
    return next((form for form in _FORMS if ending in form.endings.split()), None)
