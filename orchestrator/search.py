"""Text search over a workspace that honours .gitignore: by ripgrep, else by a Python engine with the same results.

A search takes two runs of an engine: one counts the matching lines of every file, one fetches the lines of the few
files that are shown. So a million hits cost a path and a number for each file, and the totals are always right.

Hidden files and folders are left out unless asked for, `.git` and secrets files always. Links are not followed.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Literal

from orchestrator.errors import ToolError
from orchestrator.globs import GlobError, glob_filter, name_globs
from orchestrator.path_names import raw_path, shown_path
from orchestrator.search_job import Job
from orchestrator.search_process import PAYLOAD, TIME_LIMIT, Command, Finished, run_engine
from orchestrator.search_rows import RowReader, capped
from orchestrator.search_scope import Group, Scope, find_scope, require_no_pipes
from orchestrator.secret_files import is_secret
from orchestrator.tool import FoundFiles, Matches, Search, SearchQuery
from orchestrator.workspace import WorkspaceFiles

_SLOW = 2.0
"""Seconds after which it is looked into what an engine is waiting for."""
_MAX_ARGUMENTS = 100_000
"""Characters of paths given to one run of an engine."""

_COUNT = re.compile(rb"\./([^\0]+)\0(\d+)\r?\n")
_PLAIN = bytes(code for code in range(0x20, 0x7F) if code != ord("\\")) + b"\0"
"""What a listing may hold for all its paths to be shown as they are."""

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_UNREADABLE = re.compile(r"\(os error \d+\)$")

_RIPGREP_FLAGS = (
    "--no-config",
    "--no-ignore-dot",
    "--no-ignore-exclude",
    "--no-ignore-global",
    "--no-ignore-parent",
    "--no-ignore-messages",
    "--no-require-git",
    "--iglob=!.git",
)
_SEARCHING = ("--with-filename", "--null", "--crlf", "--no-mmap")
_RIPGREP_MODES = {
    "files": ("--files", "--null"),
    "counts": (*_SEARCHING, "--count"),
    "rows": (*_SEARCHING, "--no-heading", "--line-number", "--column", "--color=never", "--no-context-separator"),
}
_START_WORKER = "import sys; sys.path.append(sys.argv.pop(1)); from orchestrator.search_worker import main; main()"


Engine = Callable[[Job, Path, Callable[[bytes], object]], Awaitable[Finished]]
"""`engine(job, folder, consume)` runs `job` in `folder` and gives each piece of its output to `consume`."""


def find_ripgrep(workspace: Path | None = None) -> Path | None:
    """The `rg` that was installed beside orch, else the first on PATH that is not inside `workspace`."""
    name = "rg.exe" if os.name == "nt" else "rg"
    scripts = Path(sys.prefix) / ("Scripts" if os.name == "nt" else "bin")
    candidates = chain([scripts / name], _from_package(name), _on_path(name, workspace))
    return next((path for path in candidates if path.is_file() and os.access(path, os.X_OK)), None)


def open_search(files: WorkspaceFiles, *, ripgrep: Path | None) -> Search:
    """The search of `files` by the given `rg`, or by the Python engine."""
    return PythonSearch(files) if ripgrep is None else RipgrepSearch(files, ripgrep)


def _from_package(name: str) -> Iterator[Path]:
    """Where pip put the binary of the `ripgrep` package, for installations outside the environment's own folder."""
    import importlib.metadata

    try:
        recorded = importlib.metadata.distribution("ripgrep").files or ()
    except importlib.metadata.PackageNotFoundError:
        return
    for file in recorded:
        if file.name == name:
            yield Path(str(file.locate())).resolve()


def _on_path(name: str, workspace: Path | None) -> Iterator[Path]:
    import shutil

    inside = None if workspace is None else workspace.resolve()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if not Path(folder).is_absolute():
            continue
        found = shutil.which(name, path=folder)
        if found and not (inside and Path(found).resolve().is_relative_to(inside)):
            yield Path(found)


class EngineSearch:
    """`Search` by an engine that runs each job; see `search_job` for what it writes."""

    def __init__(self, files: WorkspaceFiles, engine: Engine) -> None:
        self._files = files
        self._engine = engine

    async def grep(self, query: SearchQuery) -> Matches:
        """Raises `ToolError` with `invalid_regex`, `invalid_glob`, `timeout`, `search_failed` and those of `Files`."""
        counts, notes = await self._counts(query)
        chosen = _chosen(counts, query)
        reader = RowReader(chosen)
        for batch in _batches(chosen):
            await self._run(_search_job("rows", query, Group(batch)), reader.feed)
        rows = [row for path, some in chosen.items() for row in capped(reader.rows.get(path, ()), some, query.context)]
        if query.hidden:
            notes.append("secrets files (.env, keys) are never searched")
        return Matches(tuple(rows), sum(counts.values()), len(counts), tuple(notes))

    async def files_with(self, query: SearchQuery) -> FoundFiles:
        counts, notes = await self._counts(query)
        return FoundFiles(sorted(map(shown_path, counts)), tuple(notes))

    async def list_files(self, under: str = ".", globs: Sequence[str] = (), hidden: bool = False) -> Sequence[str]:
        scope = find_scope(self._files, (under,), reading=False)
        passes = _passes(scope, globs, hidden)
        output = bytearray()
        for group in scope.groups:
            job = Job("files", group.roots, group.rules, tuple(name_globs(globs)), hidden)
            await self._run(job, output.extend)
        self._recheck(scope)
        text = os.fsdecode(bytes(output))
        paths = text[2:-1].split("\0./") if text else []
        if globs or (not hidden and "/." in text):
            paths = list(filter(passes, paths))
        return sorted(map(shown_path, paths) if output.translate(None, _PLAIN) else paths)

    async def _counts(self, query: SearchQuery) -> tuple[dict[str, int], list[str]]:
        """The number of matching lines by raw path, of every file that the query reaches; and notes."""
        _require_pattern(query.pattern)
        scope = find_scope(self._files, query.under, reading=True)
        passes = _passes(scope, query.globs, query.hidden)
        counts: dict[str, int] = {}
        unreadable = 0
        for group in scope.groups:
            output = bytearray()
            unreadable += await self._run(_search_job("counts", query, group), output.extend)
            checked = bool(query.globs) or b"/." in output
            for name, count in _COUNT.findall(output):
                path = os.fsdecode(name)
                if not is_secret(path) and (not checked or passes(path)):
                    counts[path] = int(count)
        self._recheck(scope)
        notes = [*scope.notes, f"{unreadable} files or folders could not be read"] if unreadable else [*scope.notes]
        return counts, notes

    async def _run(self, job: Job, consume: Callable[[bytes], object]) -> int:
        """Run the engine; the number of files and folders that it could not read."""
        finished = await self._finished(job, consume)
        complaints = [line for line in finished.complaints.splitlines() if line.strip()]
        others = [line for line in complaints if not _UNREADABLE.search(line)]
        if finished.code not in (0, 1, 2) or "Traceback (most recent call last):" in others:
            raise RuntimeError(f"the search engine failed with {finished.code}: {finished.complaints}")
        if others:
            raise _invalid_regex(job.pattern, _reason(others))
        return len(complaints)

    async def _finished(self, job: Job, consume: Callable[[bytes], object]) -> Finished:
        """The end of the engine. One that is slow may be waiting for a `.gitignore` that is a named pipe: for ever."""
        running = asyncio.ensure_future(self._engine(job, self._files.root, consume))
        try:
            await asyncio.wait([running], timeout=_SLOW)
            if not running.done():
                await asyncio.to_thread(require_no_pipes, self._files.root)
            return await running
        finally:
            if not running.done():
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running

    def _recheck(self, scope: Scope) -> None:
        """Refuse a result from a folder that was replaced by a link in the meantime."""
        for folder in scope.folders:
            located = self._files.locate(shown_path(folder))
            if raw_path(located.path) != folder:
                raise ToolError("outside_workspace", f"{shown_path(folder)} was replaced during the search; try again")


class RipgrepSearch(EngineSearch):
    """Search by the `rg` program at `binary`. Its configuration files and preprocessors are never used."""

    def __init__(self, files: WorkspaceFiles, binary: Path, time_limit: float = TIME_LIMIT) -> None:
        super().__init__(files, _process_engine(lambda job: _ripgrep_command(str(binary), job), time_limit))


class PythonSearch(EngineSearch):
    """Search without ripgrep: the same results, at about a fifth of the speed; some regular expressions are refused."""

    def __init__(self, files: WorkspaceFiles, time_limit: float = TIME_LIMIT) -> None:
        super().__init__(files, _process_engine(_worker_command, time_limit))


def _process_engine(command: Callable[[Job], Command], time_limit: float) -> Engine:
    async def run(job: Job, folder: Path, consume: Callable[[bytes], object]) -> Finished:
        return await run_engine(command(job), folder, consume, time_limit)

    return run


def _ripgrep_command(program: str, job: Job) -> Command:
    argv = [program, *_RIPGREP_FLAGS, *_RIPGREP_MODES[job.mode]]
    if job.hidden:
        argv.append("--hidden")
    if job.names:
        argv += [*(f"--type-add=orchnames:{name}" for name in job.names), "--type=orchnames"]
    if job.rules:
        argv += ["--ignore-file", PAYLOAD]
    if job.mode != "files":
        switches = (("--fixed-strings", job.literal), ("--word-regexp", job.word), ("--ignore-case", job.ignore_case))
        argv += [switch for switch, on in switches if on]
        if job.mode == "rows":
            argv += [f"--context={job.context}", f"--max-count={job.per_file}"]
        argv.append(f"--regexp={job.pattern if job.literal else _line_anchored(job.pattern)}")
    roots = ("./" if root == "." else f"./{root}" for root in job.roots)
    rules = "".join(f"{line}\n" for line in job.rules).encode()
    return Command((*argv, "--", *roots), rules, at_once=job.mode != "rows")


def _line_anchored(pattern: str) -> str:
    """`\\A` and `\\z` as `^` and `$`: the text is the line. (ripgrep's own treatment differs from mode to mode.)"""
    return _ESCAPED.sub(lambda pair: {"\\A": "^", "\\z": "$"}.get(pair[0], pair[0]), pattern)


def _worker_command(job: Job) -> Command:
    package_parent = str(Path(__file__).resolve().parent.parent)
    return Command(
        (sys.executable, "-I", "-S", "-c", _START_WORKER, package_parent, PAYLOAD), job.to_json(), job.mode != "rows"
    )


def _search_job(mode: Literal["counts", "rows"], query: SearchQuery, group: Group) -> Job:
    return Job(
        mode,
        group.roots,
        group.rules,
        tuple(name_globs(query.globs)) if mode == "counts" else (),
        query.hidden,
        query.pattern,
        query.literal,
        query.word,
        query.ignore_case,
        query.context,
        min(query.per_file, query.limit),
    )


def _passes(scope: Scope, globs: Sequence[str], hidden: bool) -> Callable[[str], bool]:
    """Whether a path that an engine found belongs to the result. Engines may find more: whatever a rule unhides."""
    try:
        matches = glob_filter(globs)
    except GlobError as error:
        raise ToolError("invalid_glob", str(error)) from None

    def passes(path: str) -> bool:
        if path in scope.files:
            return True
        return matches(path) and (hidden or any(_visible_below(folder, path) for folder in scope.folders))

    return passes


def _visible_below(folder: str, path: str) -> bool:
    prefix = "" if folder == "." else folder + "/"
    return path.startswith(prefix) and "/." not in "/" + path[len(prefix) :]


def _chosen(counts: dict[str, int], query: SearchQuery) -> dict[str, int]:
    """The first files in order of path until `limit` matches are reached, with how many of each are shown."""
    left = query.limit
    chosen: dict[str, int] = {}
    for path in sorted(counts, key=shown_path):
        if left <= 0:
            break
        chosen[path] = min(counts[path], query.per_file, left)
        left -= chosen[path]
    return chosen


def _batches(paths: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """`paths` in pieces that fit on a command line."""
    batch: list[str] = []
    size = 0
    for path in paths:
        if batch and size + len(path) > _MAX_ARGUMENTS:
            yield tuple(batch)
            batch, size = [], 0
        batch.append(path)
        size += len(path)
    if batch:
        yield tuple(batch)


def _require_pattern(pattern: str) -> None:
    if "\0" in pattern:
        raise _invalid_regex(pattern, "a NUL character can never match")
    try:
        pattern.encode()
    except UnicodeEncodeError:
        raise _invalid_regex(pattern, "it holds half a character (a lone surrogate)") from None


def _invalid_regex(pattern: str, reason: str) -> ToolError:
    return ToolError(
        "invalid_regex",
        f"the pattern is not a valid regular expression: {reason}; set literal to search for the text as it is",
        pattern=pattern[:200],
    )


def _reason(complaints: Sequence[str]) -> str:
    explained = [line.removeprefix("error: ") for line in complaints if line.startswith("error: ")]
    return explained[0] if explained else complaints[0].removeprefix("rg: ")
