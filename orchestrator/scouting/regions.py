"""Where an answer may look: tests only, outside a folder, only `*.py`, in one function."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Literal

from orchestrator.scouting.names import split_dotted, stem, word_set

RegionKind = Literal["tests", "docs", "glob", "endings", "path", "word", "scope"]

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "testdata"})
_TEST_FILE = re.compile(
    r"^(?:test_.*|.*_tests?\.\w+|.*[._-](?:test|spec)s?\.\w+|tests?\.\w+|conftest\.py|.*(?:Test|Tests|Spec)\.\w+)$"
)
_DOC_FOLDERS = frozenset({"doc", "docs", "documentation", "man"})
_DOC_ENDINGS = frozenset({".md", ".rst", ".txt", ".adoc", ".markdown"})
_CONFIG_ENDINGS = word_set(".toml .yaml .yml .json .jsonc .ini .cfg .conf .env .properties .xml .gradle .tf .lock")
_CONFIG_NAME = re.compile(
    r"(?:^|[._-])(?:settings?|config(?:uration)?s?|conf|options|defaults?|constants|env)(?:$|[._-])"
)

ENDINGS_OF = {
    "python": (".py", ".pyi", ".ipynb"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "js": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".tsx", ".mts", ".cts"),
    "ts": (".ts", ".tsx", ".mts", ".cts"),
    "go": (".go",),
    "golang": (".go",),
    "rust": (".rs",),
    "java": (".java",),
    "c": (".c", ".h"),
    "c++": (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".h"),
    "cpp": (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".h"),
    "c#": (".cs",),
    "csharp": (".cs",),
    "ruby": (".rb",),
    "php": (".php",),
    "shell": (".sh", ".bash", ".zsh"),
    "bash": (".sh", ".bash"),
    "markdown": (".md",),
    "yaml": (".yaml", ".yml"),
    "toml": (".toml",),
    "json": (".json",),
    "html": (".html", ".htm"),
    "css": (".css", ".scss", ".less"),
}
"""What `Python files` means, by the language's name in lower case."""


def is_test_path(path: str, scope: str = "") -> bool:
    """Whether the file, or the Rust module in it, holds tests."""
    pure = PurePosixPath(path)
    if any(part in _TEST_FOLDERS for part in pure.parts[:-1]) or _TEST_FILE.match(pure.name):
        return True
    return pure.suffix == ".rs" and "tests" in re.split(r"::|\.", scope)


def is_doc_path(path: str) -> bool:
    """Whether the file is written for readers."""
    pure = PurePosixPath(path)
    return pure.suffix.lower() in _DOC_ENDINGS or any(part in _DOC_FOLDERS for part in pure.parts[:-1])


def is_config_path(path: str) -> bool:
    """Whether the file holds settings."""
    pure = PurePosixPath(path)
    name = pure.name.lower()
    return pure.suffix.lower() in _CONFIG_ENDINGS or name.startswith(".env") or bool(_CONFIG_NAME.search(name))


@dataclass(frozen=True, slots=True)
class Region:
    """One part of the workspace, as the question names it. `text` is a path, a glob, a name or a list of endings."""

    kind: RegionKind
    text: str = ""

    def holds(self, path: str, scope: str = "") -> bool:
        """Whether a place in `path`, inside the function or class `scope`, belongs to it."""
        match self.kind:
            case "tests":
                return is_test_path(path, scope)
            case "docs":
                return is_doc_path(path)
            case "endings":
                return path.endswith(tuple(self.text.split()))
            case "glob":
                return fnmatchcase(path, self.text) or fnmatchcase(PurePosixPath(path).name, self.text)
            case "path":
                return _under(path, self.text)
            case "scope":
                return _in_scope(scope, self.text)
            case "word":
                return _under(path, self.text) or stem(path) == self.text or _in_scope(scope, self.text)


def _under(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it; `folder` may start anywhere in the path."""
    inner = folder.strip("/").removeprefix("./")
    return inner in ("", ".") or f"/{inner}/" in f"/{path}/"


def _in_scope(scope: str, name: str) -> bool:
    owner, last = split_dotted(name)
    pieces = [piece for piece in re.split(r"::|\.|#", scope) if piece]
    return last in pieces and (not owner or split_dotted(owner)[1] in pieces)


@dataclass(frozen=True, slots=True)
class Filters:
    """A place passes when each group of `within` has a region that holds it, and no region of `without` does.

    `lines` are the first and the last line, where the question names them.
    """

    within: tuple[tuple[Region, ...], ...] = ()
    without: tuple[Region, ...] = ()
    lines: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return bool(self.within or self.without or self.lines)

    def __add__(self, other: Filters) -> Filters:
        within = tuple(dict.fromkeys((*self.within, *other.within)))
        return Filters(within, tuple(dict.fromkeys((*self.without, *other.without))), self.lines or other.lines)

    def passes(self, path: str, scope: str = "", line: int = 0) -> bool:
        if self.lines and not self.lines[0] <= line <= self.lines[1]:
            return False
        inside = all(any(region.holds(path, scope) for region in group) for group in self.within)
        return inside and not any(region.holds(path, scope) for region in self.without)
