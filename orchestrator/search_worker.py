"""The Python search engine: ripgrep's results where there is no ripgrep.

Runs as a process of its own, so that a pattern that takes for ever can be killed. Imports nothing heavy.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from orchestrator.globs import glob_regex
from orchestrator.ignore import IgnoreRules, is_ignored, parse_rules, read_lines
from orchestrator.rust_regex import Dialect, RegexError, python_pattern
from orchestrator.search_job import Job

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_MAX_FILE = 256 * 1024 * 1024
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}

Write = Callable[[bytes], object]
Complain = Callable[[str], object]


def main() -> None:
    """The process: the job's JSON is in the file that the first argument names."""
    job = Job.from_json(Path(sys.argv[1]).read_bytes())
    out = sys.stdout.buffer
    code = run(job, out.write, lambda complaint: sys.stderr.write(f"{complaint}\n"))
    out.flush()
    sys.exit(code)


def run(job: Job, write: Write, complain: Complain) -> int:
    """Do `job` in the current folder; the exit code."""
    try:
        lines = LineSearch(job)
    except RegexError as error:
        complain(f"error: {error}")
        return 2
    walk = _Walk(job, complain)
    found = False
    for path in walk.files():
        if job.mode == "files":
            write(os.fsencode(f"./{path}\0"))
            found = True
            continue
        text = walk.read(path)
        if text is not None:
            found = (_count if job.mode == "counts" else _rows)(job, lines, path, text, write) or found
    return 2 if walk.complained else 0 if found else 1


def _count(job: Job, lines: LineSearch, path: str, text: str, write: Write) -> bool:
    count = sum(1 for _ in lines.spans(text))
    if count:
        write(os.fsencode(f"./{path}\0{count}\n"))
    return count > 0


def _rows(job: Job, lines: LineSearch, path: str, text: str, write: Write) -> bool:
    columns: dict[int, int] = {}
    number, before = 0, 0
    for start, _, at in lines.spans(text):
        number += text.count("\n", before, start)
        before = start
        columns[number] = at - start
        if len(columns) == job.per_file:
            break
    if not columns:
        return False
    content = text.split("\n")
    last = len(content) - (content[-1] == "")
    shown = {near for line in columns for near in range(line - job.context, line + job.context + 1) if 0 <= near < last}
    for index in sorted(shown):
        line = content[index]
        column = columns.get(index)
        place = f"{index + 1}-" if column is None else f"{index + 1}:{len(_encoded(line[:column])) + 1}:"
        end = b"\n" if index + 1 < len(content) else b"\r\n"  # as ripgrep ends a line that has no end
        write(os.fsencode(f"./{path}\0{place}") + _encoded(line) + end)
    return True


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


class LineSearch:
    """Finds the lines of a text that match the job's pattern. Raises `RegexError`."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._in_ascii = self._compiled(Dialect(ascii_only=True)) if job.mode != "files" else re.compile("")

    @cached_property
    def _in_any(self) -> re.Pattern[str]:
        return self._compiled(Dialect(ascii_only=False))

    def _compiled(self, dialect: Dialect) -> re.Pattern[str]:
        job = self._job
        pattern = python_pattern(job.pattern, dialect, literal=job.literal, word=job.word, ignore_case=job.ignore_case)
        try:
            return re.compile(pattern, re.ASCII if dialect.ascii_only else 0)
        except (re.error, OverflowError, RecursionError) as error:
            raise RegexError(f"the built-in search cannot compile it: {error}") from None

    def spans(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Start and end of each matching line, and where in `text` its first match begins."""
        pattern = self._in_ascii if text.isascii() else self._in_any
        position, last = 0, len(text) - text.endswith("\n")
        while position <= last and text:
            found = pattern.search(text, position)
            if found is None or found.start() > last:
                return
            at = found.start()
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if at == start or not text.startswith("\r\n", at - 1):
                yield start, end, at
            position = end + 1


class _Walk:
    """The regular files that a job looks at."""

    def __init__(self, job: Job, complain: Complain) -> None:
        self._job = job
        self._complain = complain
        self.complained = False
        names = "|".join(glob_regex(name) for name in job.names)
        self._names = re.compile(names) if names else None
        outer = parse_rules("", job.rules)
        self._outer = (outer,) if outer else ()

    def files(self) -> Iterator[str]:
        """Paths relative to the current folder, each once."""
        seen: set[str] = set()
        for root in self._job.roots:
            folder = "" if root == "." else root
            paths = self._below(folder, self._outer) if os.path.isdir(root) else iter([root])  # noqa: PTH112  # bytes of names kept
            for path in paths:
                if path not in seen:
                    seen.add(path)
                    yield path

    def _below(self, folder: str, outer: tuple[IgnoreRules, ...]) -> Iterator[str]:
        try:
            with os.scandir(folder or ".") as entries:
                content = list(entries)
        except OSError as error:
            self._unreadable(folder, error)
            return
        stack = outer
        if any(entry.name == ".gitignore" for entry in content):
            own = parse_rules(folder, read_lines(Path(folder, ".gitignore")))
            stack = (*outer, own) if own else outer
        for entry in content:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not self._wanted(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not is_ignored(stack, path, True):
                    yield from self._below(path, stack)
            elif (
                entry.is_file(follow_symlinks=False) and self._named(entry.name) and not is_ignored(stack, path, False)
            ):
                yield path

    def _wanted(self, name: str) -> bool:
        return (self._job.hidden or not name.startswith(".")) and name.casefold() != ".git"

    def _named(self, name: str) -> bool:
        return self._names is None or self._names.fullmatch(name) is not None

    def read(self, path: str) -> str | None:
        """The file's text with bytes that are not UTF-8 escaped; `None` for binary files and unreadable ones."""
        try:
            with open(os.open(path, _OPEN), "rb") as file:  # noqa: PTH123  # opened by descriptor
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    return None
                data = file.read(_MAX_FILE + 1)
            if len(data) > _MAX_FILE:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        except OSError as error:
            self._unreadable(path, error)
            return None
        encoding = _UTF16.get(data[:2])
        text = data[2:].decode(encoding, "replace") if encoding else None
        if "\0" in text if text is not None else b"\0" in data:
            return None
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape") if text is None else text

    def _unreadable(self, path: str, error: OSError) -> None:
        self.complained = True
        self._complain(f"./{os.fsencode(path)!r}: {error.strerror} (os error {error.errno})")
