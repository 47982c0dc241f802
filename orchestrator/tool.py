"""What a tool is, and what it may use. Tool files import this module and `orchestrator.errors`, nothing else of orch.

A tool file defines one subclass of `Tool` and one instance of it named `TOOL`. A tool knows nothing of permissions,
modes, agents or screens; what it needs from outside reaches it through `ToolContext`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

OccurrenceKind = Literal["definition", "import", "call", "reference", "attribute", "comment", "string", "doc", "other"]


class Args(BaseModel):
    """Base of every tool's arguments: unknown fields are an error, values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Shown(NamedTuple):
    """Lines of a file that the model is shown, `lines[0]` being line `first`. Citations are checked against these."""

    path: str
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`output` goes to the model; `display` (one line) to the user; `shown` to the citation check.

    `report` is set only by the tool that ends a sub-agent: the report as plain data.
    """

    output: str
    display: str = ""
    shown: tuple[Shown, ...] = ()
    report: Mapping[str, Any] | None = None


# --- files -----------------------------------------------------------------------------------------------------------


class Located(NamedTuple):
    """A resolved path (links followed) inside the workspace. `path` is relative, with `/`; `.` is the root."""

    path: str
    absolute: Path
    is_dir: bool


class TextFile(NamedTuple):
    """A decoded file; `text` has no BOM and keeps its line endings."""

    path: str
    text: str
    encoding: str
    size: int

    @property
    def lines(self) -> list[str]:
        """The lines without their ends (LF or CRLF), counted the way that grep and editors count."""
        lines = self.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return [line.removesuffix("\r") for line in lines] if "\r" in self.text else lines


class Files(Protocol):
    """The files of one workspace.

    Raises `ToolError` with one of the codes `not_found`, `outside_workspace`, `is_directory`, `binary`, `special_file`,
    `too_large`, `invalid_path`, `denied`.
    """

    @property
    def root(self) -> Path: ...

    def locate(self, path: str) -> Located:
        """Resolve `path` (relative to the root, or absolute inside it) to something that exists."""

    def read_text(self, path: str) -> TextFile:
        """Read a regular text file without blocking on anything else; re-checked after opening."""

    def reading(self) -> AbstractContextManager[Callable[[str], TextFile]]:
        """`read_text` for many files, best in the order of their paths; the context holds folders open."""


# --- search ----------------------------------------------------------------------------------------------------------


class SearchQuery(NamedTuple):
    """`pattern` is a regular expression unless `literal`; `under` are files or folders; `globs` as ripgrep's `-g`."""

    pattern: str
    literal: bool = False
    word: bool = False
    ignore_case: bool = False
    under: tuple[str, ...] = (".",)
    globs: tuple[str, ...] = ()
    context: int = 0
    hidden: bool = False
    per_file: int = 50
    limit: int = 500


class Match(NamedTuple):
    path: str
    line: int
    text: str
    is_context: bool = False
    preview: str = ""
    """A line too long to show, cut around its first match with marks; empty for other lines."""


class Matches(NamedTuple):
    """`rows` in order of path and line; `total` and `files` count all hits, also those cut by the limits."""

    rows: tuple[Match, ...]
    total: int
    files: int
    notes: tuple[str, ...] = ()


class FoundFiles(NamedTuple):
    """`paths` are sorted; `notes` say what was left out and why."""

    paths: Sequence[str]
    notes: tuple[str, ...] = ()


class Search(Protocol):
    """Text search that honours .gitignore; ripgrep where there is one, else Python with the same results."""

    async def grep(self, query: SearchQuery) -> Matches: ...

    async def files_with(self, query: SearchQuery) -> FoundFiles:
        """The files that match, and what could not be searched."""

    async def list_files(self, under: str = ".", globs: Sequence[str] = (), hidden: bool = False) -> Sequence[str]:
        """Paths of all files below `under` that git would not ignore, sorted."""


# --- code ------------------------------------------------------------------------------------------------------------


class Symbol(NamedTuple):
    """A definition. `qualified` has the enclosing names (`Session.send`), `doc` the docstring's first line.

    `lines` are the lines of the file, with their numbers, that `signature` and `doc` come from.
    """

    name: str
    kind: str
    qualified: str
    path: str
    line: int
    end_line: int
    signature: str = ""
    doc: str = ""
    lines: tuple[tuple[int, str], ...] = ()


Belongs = Literal["yes", "maybe", "local"]


class Occurrence(NamedTuple):
    """A place where a name stands. `scope` is the enclosing function or class, qualified; `column` counts from 1.

    `text` is the whole line and `preview` what to show of it if it is long, else empty. `name` is what stands there, if
    that is not the name asked for: what is called or imported. `belongs` is `maybe` where the syntax does not tell
    whether the receiver is of the class asked for, `local` for a function's own parameter or variable of that name.
    """

    path: str
    line: int
    column: int
    kind: OccurrenceKind
    text: str
    scope: str = ""
    preview: str = ""
    name: str = ""
    belongs: Belongs = "yes"


class Occurrences(NamedTuple):
    """Every place in order of path and line; `notes` say what was left out and why."""

    rows: tuple[Occurrence, ...]
    notes: tuple[str, ...] = ()


class Symbols(NamedTuple):
    """Definitions in order of path and line. `unread` files were not looked at because there were enough already."""

    rows: tuple[Symbol, ...]
    unread: int = 0


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file with its definitions, the most telling first."""

    path: str
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class RepoMap:
    """Files, the most relevant first. Of `total` files of code, `seen` were looked at."""

    files: tuple[MappedFile, ...]
    total: int = 0
    seen: int = 0


class Code(Protocol):
    """What the code says, by tree-sitter; other languages by words. Raises the `ToolError`s of `Files` and `Search`."""

    async def symbols(
        self,
        under: Sequence[str],
        name: str = "",
        limit: int | None = None,
        progress: Callable[[str], None] = lambda text: None,
    ) -> Symbols:
        """Definitions of the files and folders named.

        `name`: only those with this simple or qualified name; `*` and `?` stand for any characters. `limit`: enough
        rows; reading stops after the file that reaches it. `progress` is told how far a slow search has come.
        """

    async def occurrences(
        self,
        name: str,
        under: Sequence[str] = (".",),
        globs: Sequence[str] = (),
        *,
        again: bool = False,
        progress: Callable[[str], None] = lambda text: None,
    ) -> Occurrences:
        """Every whole-word place of `name`, which may be qualified (`Session.send`).

        `again`: the same places as the last time these were asked for, if they are still at hand, so that the pages of
        one listing fit together.
        """

    async def calls(self, path: str, first: int, last: int) -> Sequence[Occurrence]:
        """The calls on the lines `first` to `last` of a file; `name` of each is what is called."""

    async def near(self, name: str, under: Sequence[str] = (".",)) -> Sequence[tuple[str, str, int]]:
        """Names that resemble one that is not there, best first: the name, and the path and line of one place of it."""

    async def repo_map(
        self, query: str, under: Sequence[str], limit: int, progress: Callable[[str], None] = lambda text: None
    ) -> RepoMap:
        """The `limit` files that matter most for the words and names of `query`, by who uses and imports whom."""


# --- context ---------------------------------------------------------------------------------------------------------

Spawn = Callable[[str, str, str], Awaitable[ToolResult]]
"""`spawn(role, task, context)` runs a sub-agent to its end and gives its report as the tool result."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may use while it runs: `files`, `search`, `code` and what follows.

    Search and code analysis are opened by the first call that needs them: a run that only reads never loads them.
    """

    files: Files
    open_search: Callable[[], Search]
    open_code: Callable[[], Code]
    agent: str = "parent"
    spawn: Spawn | None = None
    progress: Callable[[str], None] = field(default=lambda text: None)

    @property
    def search(self) -> Search:
        return self.open_search()

    @property
    def code(self) -> Code:
        return self.open_code()


A = TypeVar("A", bound=Args)


class Tool(ABC, Generic[A]):
    """One thing that a model can ask for."""

    name: ClassVar[str]
    description: ClassVar[str]
    args: type[A]
    read_only: ClassVar[bool] = True
    """Changes nothing: may run beside others and start while the reply still streams."""
    eager: ClassVar[bool] = True
    """A read-only tool that may start before the reply is complete (`delegate` and `report` may not)."""
    timeout: ClassVar[float] = 60.0
    """Seconds; 0 for a tool that keeps its own limits."""
    max_output: ClassVar[int] = 50_000
    """Characters that reach the model; head and tail are kept."""

    @abstractmethod
    async def run(self, args: A, context: ToolContext) -> ToolResult:
        """Do it. Raises `ToolError` for what the model can act on; any other exception is a bug."""
