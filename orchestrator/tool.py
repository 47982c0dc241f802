"""What a tool is, and what it may use. Tool files import this module and `orchestrator.errors`, nothing else of orch.

A tool file defines one subclass of `Tool` and one instance of it named `TOOL`. A tool knows nothing of permissions,
modes, agents or screens; what it needs from outside reaches it through `ToolContext`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from orchestrator.errors import ToolError

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
    confined: str = ""
    """What the sandbox kept a command from, in one line; empty when it kept it from nothing."""
    failed: bool = False
    """What was run says that it failed (a command's exit code), though the call itself worked."""


class Effects(NamedTuple):
    """What a call would do, told without doing it: judged and shown before it is done.

    Paths are relative to the workspace, or absolute where they lead outside. `diff` is a unified diff of the writes.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    command: str = ""
    cwd: str = "."
    """The folder that `command` would run in, relative to the workspace, or absolute."""
    diff: str = ""


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


# --- edits -----------------------------------------------------------------------------------------------------------


class Editable(NamedTuple):
    """A file as an edit sees it: `text` without BOM, line endings as they are; `exists` is false for one to be made."""

    path: str
    text: str
    exists: bool = True


class Rewrite(NamedTuple):
    """The new text of one file. `None` deletes it. `moved_from`: its former path, which is taken away."""

    path: str
    text: str | None
    moved_from: str = ""
    executable: bool | None = None
    """Whether the file may be run; `None` keeps what it is."""


class Edits(Protocol):
    """Changes of the workspace's files by one agent, all or nothing, kept for undo before they are made.

    Encoding, BOM and mode of a file that exists are kept; what is written is exactly `text`. Raises `ToolError` with
    the codes of `Files` and `stale` (changed since this agent read it; the context says what), `not_read`,
    `unencodable`, `protected`, `exists`, `disk` (nothing was changed).
    """

    def open(self, path: str, *, must_exist: bool = True) -> Editable:
        """The file as it is now. Refuses one that changed since this agent read or wrote it."""

    def was_read(self, path: str) -> bool:
        """Whether this agent has read or written the file as it is now."""

    def diff(self, rewrites: Sequence[Rewrite]) -> str:
        """The unified diff that applying them would make now."""

    async def apply(self, rewrites: Sequence[Rewrite]) -> None:
        """Make all changes or none; each file by a temporary file, fsync and rename."""


def with_line_ends(before: str, after: str, end: str | None = None) -> str:
    """`after` with the line ends of `before`, whose place it takes: CRLF or LF; where there are both, lines that stay
    keep theirs and new ones get that of their neighbours. `end` is for a `before` without any line end; without it
    `after` is then left as it is.
    """
    crlf = "\r\n" in before
    if "\n" not in before and end is None:
        return after
    flat = after.replace("\r\n", "\n")
    if "\n" not in before or not crlf or before.count("\n") == before.count("\r\n"):
        return flat.replace("\n", ("\r\n" if crlf else "\n") if "\n" in before else end or "\n")
    return _aligned_ends(before.split("\n"), flat.split("\n"))


def _aligned_ends(before: list[str], after: list[str]) -> str:
    """Lines of `after` matched with those of `before`, of which some end with CR."""
    import difflib

    bare = [line.removesuffix("\r") for line in before]
    ends = ["\r" if line.endswith("\r") else "" for line in before[:-1]]
    found: list[str] = []
    for tag, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(None, bare, after).get_opcodes():
        own = ends[old_from:old_to] if tag != "insert" else []
        last = own[-1] if own else ends[max(0, min(old_from, len(ends)) - 1)]
        found += [own[index] if index < len(own) else last for index in range(new_to - new_from)]
    return "\n".join([*(line + end for line, end in zip(after[:-1], found, strict=False)), after[-1]])


_AROUND, _LONGEST_PART, _MOST_SHOWN, _WIDEST = 3, 30, 120, 500


def changed_parts(path: str, text: str, spans: Iterable[tuple[int, int]]) -> tuple[str, tuple[Shown, ...]]:
    """The lines of `text` at `spans` (first and last line, counted from 1) and those around them: numbered for the
    model, and as evidence. Long parts are cut in the middle, and only the first parts are shown of very many.
    """
    lines = TextFile(path, text, "", 0).lines
    rows: list[str] = []
    shown: list[Shown] = []
    windows = _windows(spans, len(lines))
    for index, (first, last) in enumerate(windows):
        if len(rows) > _MOST_SHOWN:
            rows.append(f"[… {len(windows) - index:,} more changed places]")
            break
        long = last - first >= _LONGEST_PART
        parts = [(first, first + 12), (last - 12, last)] if long else [(first, last)]
        for start, end in parts:
            if rows:
                rows.append("…")
            part = tuple(line[:_WIDEST] for line in lines[start - 1 : end])
            rows += [f"{number}\t{line}" for number, line in enumerate(part, start)]
            shown.append(Shown(path, start, part))
    return "\n".join(rows), tuple(shown)


def _windows(spans: Iterable[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """`spans` with lines around them, those that touch as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        first, last = max(1, first - _AROUND), min(count, last + _AROUND)
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        elif first <= last:
            found.append((first, last))
    return found


# --- shell -----------------------------------------------------------------------------------------------------------


class ShellRun(NamedTuple):
    """How a command ended. `exit_code` is `None` when it was ended by orch; `signal` is the name of what ended it.

    `output` is standard output and standard error as they came, its middle cut with a mark when it is long; `log` the
    file that holds all of it, empty when `output` is whole. `notes` say what else to know (leftover processes, the
    changed folder). `confined` as in `ToolResult`.
    """

    exit_code: int | None
    output: str
    duration_s: float
    timed_out: bool = False
    signal: str = ""
    log: str = ""
    notes: tuple[str, ...] = ()
    confined: str = ""
    cwd: str = "."
    """The folder that the next command starts in."""


class ShellJob(NamedTuple):
    """A command in the background: its new output since it was last asked for, and how it ended, if it has."""

    id: str
    command: str
    running: bool
    output: str
    exit_code: int | None = None
    log: str = ""
    signal: str = ""


class Shell(Protocol):
    """Commands of one agent: bash, standard input at its end, the folder and exported variables kept between calls."""

    @property
    def cwd(self) -> str: ...

    async def run(self, command: str, *, timeout: float, on_output: Callable[[str], None]) -> ShellRun:
        """Run to its end or to `timeout` seconds. A cancelled call ends the whole process group."""

    async def start(self, command: str) -> ShellJob:
        """Start in the background; the job ends with the session at the latest."""

    async def output(self, job: str, *, wait: float = 0.0) -> ShellJob:
        """What a job has printed since the last look, waiting up to `wait` seconds for news. `ToolError('no_job')`."""

    async def stop(self, job: str) -> ShellJob:
        """End a job's process group, first gently."""


# --- the list of what is to do ---------------------------------------------------------------------------------------

TodoStatus = Literal["pending", "in_progress", "completed"]


class Todo(NamedTuple):
    """`content` says what to do ("Run the tests"), `active_form` the same while it is done ("Running the tests")."""

    content: str
    active_form: str
    status: TodoStatus


class Todos(Protocol):
    """The list of one agent."""

    @property
    def items(self) -> Sequence[Todo]: ...

    def replace(self, items: Sequence[Todo]) -> str:
        """Put a new list in the place of the old one. Gives what the model should be told about it, often nothing."""


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
    on_output: Callable[[str], None] = field(default=lambda text: None)
    """Told each piece of what a running command prints."""
    open_edits: Callable[[], Edits] | None = None
    open_shell: Callable[[], Shell] | None = None
    todos: Todos | None = None

    @property
    def search(self) -> Search:
        return self.open_search()

    @property
    def code(self) -> Code:
        return self.open_code()

    @property
    def edits(self) -> Edits:
        if self.open_edits is None:
            raise ToolError("unavailable", "Nothing can be changed in this run.")
        return self.open_edits()

    @property
    def shell(self) -> Shell:
        if self.open_shell is None:
            raise ToolError("unavailable", "No commands can be run in this run.")
        return self.open_shell()


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
    judged: ClassVar[bool] = False
    """Whether a call only reads depends on its `effects`; such a tool has `read_only = False`."""
    timeout: ClassVar[float] = 60.0
    """Seconds; 0 for a tool that keeps its own limits."""
    max_output: ClassVar[int] = 50_000
    """Characters that reach the model; head and tail are kept."""

    @abstractmethod
    async def run(self, args: A, context: ToolContext) -> ToolResult:
        """Do it. Raises `ToolError` for what the model can act on; any other exception is a bug."""

    async def effects(self, args: A, context: ToolContext) -> Effects:
        """What `run` would do with these arguments. Raises `ToolError` where `run` would, before anybody is asked."""
        return Effects()
