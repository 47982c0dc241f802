"""`apply_patch`: a unified diff over any number of files, all or nothing.

Content is compared exactly; the line numbers of a hunk only say where to look first. A patch without CR fits a file
with CRLF, whose line ends its new lines then get, and a missing note about a missing final newline is forgiven.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, NoReturn

from pydantic import Field

from orchestrator.errors import ToolError
from orchestrator.tool import (
    Args,
    Edits,
    Effects,
    Rewrite,
    Shown,
    Tool,
    ToolContext,
    ToolResult,
    changed_parts,
)

MAX_SHOWN_LINES = 12
"""Lines of a file that are shown where a hunk does not fit."""

_NO_NEWLINE = "\\"
_RANGES = re.compile(r"@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_EXTENDED = re.compile(
    r"(old mode|new mode|deleted file mode|new file mode|similarity index|dissimilarity index|rename from|rename to"
    r"|copy from|copy to|index|Binary files|GIT binary patch)\b ?(.*)"
)
_PREFIXES = (("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("w/", "i/"))
_C_ESCAPE = re.compile(r'\\(?:([0-7]{1,3})|([abtnvfr"\\]))')
_C_LETTERS = {"a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}

Kind = Literal["change", "make", "delete", "rename", "copy", "between"]
"""`between` two names: a change of the second file if it is there, else the first one is renamed."""


class ApplyPatchArgs(Args):
    patch: str = Field(description="unified diff, as `diff -u` or git write it")


class ApplyPatchTool(Tool[ApplyPatchArgs]):
    name = "apply_patch"
    description = (
        "Apply a unified diff to files that you have read: changes, new files (--- /dev/null), deletions "
        "(+++ /dev/null), renames. All of it or nothing; context must be exact."
    )
    args = ApplyPatchArgs
    read_only = False

    async def effects(self, args: ApplyPatchArgs, context: ToolContext) -> Effects:
        patched = _patched(args.patch, context)
        writes = dict.fromkeys(
            path for each in patched for path in (each.rewrite.path, each.rewrite.moved_from) if path
        )
        return Effects(writes=tuple(writes), diff=context.edits.diff([each.rewrite for each in patched]))

    async def run(self, args: ApplyPatchArgs, context: ToolContext) -> ToolResult:
        patched = _patched(args.patch, context)
        await context.edits.apply([each.rewrite for each in patched])
        parts: list[str] = []
        shown: list[Shown] = []
        for each in patched:
            rows, lines = changed_parts(each.rewrite.path, each.rewrite.text or "", each.spans)
            parts.append(f"{each.said}; the lines are now:\n{rows}" if rows else each.said)
            shown += lines
        return ToolResult("\n\n".join(parts), ", ".join(each.said for each in patched), tuple(shown))


class Patched(NamedTuple):
    """What becomes of one file; `spans` are the changed lines of its new text."""

    rewrite: Rewrite
    said: str
    spans: Sequence[tuple[int, int]] = ()


# --- reading the patch -----------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A line of a hunk: its sign (blank, `-`, `+`), and the line with its end."""

    sign: str
    text: str


class Hunk(NamedTuple):
    """`start` is the line of the old file that it begins at, `None` where it does not say."""

    header: str
    start: int | None
    rows: tuple[Row, ...]

    @property
    def old(self) -> list[str]:
        return [row.text for row in self.rows if row.sign != "+"]

    @property
    def new(self) -> list[str]:
        return [row.text for row in self.rows if row.sign != "-"]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The part of a patch that is about one file. `old` and `new` are its paths before and after."""

    kind: Kind
    old: str
    new: str
    hunks: tuple[Hunk, ...] = ()
    executable: bool | None = None


def parse_patch(patch: str) -> list[FilePatch]:
    """The parts of `patch`, file by file. Raises `ToolError('bad_patch')`."""
    reader = _Reader(_lines_of_patch(patch))
    found: list[FilePatch] = []
    while (line := reader.peek()) is not None:
        if line.startswith("*** Begin Patch"):
            _fail("this is not a unified diff; write `--- a/path`, `+++ b/path`, `@@ -1,3 +1,3 @@` and the lines")
        if line.startswith("diff --git ") or reader.at_file_header():
            found.append(_read_file_patch(reader))
        elif line.startswith("@@"):
            _fail(f"line {reader.number}: a hunk without `--- path` and `+++ path` above it")
        else:
            reader.take()  # a mail's text, a commit message
    if not found:
        _fail("there is no file in it; it must have `--- a/path` and `+++ b/path` lines")
    return found


def _fail(reason: str) -> NoReturn:
    raise ToolError("bad_patch", f"the patch cannot be read: {reason}; nothing was changed")


def _lines_of_patch(patch: str) -> list[str]:
    """The lines without their LF. Of a patch whose own header lines end with CR, that is no part of any line."""
    lines = patch.split("\n")
    if lines[-1] == "":
        lines.pop()
    if any(line.endswith("\r") and line.startswith(("@@ ", "--- ", "diff --git ")) for line in lines):
        lines = [line.removesuffix("\r") for line in lines]
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].rstrip() == "```":
        return lines[1:-1]
    return lines


class _Reader:
    """The lines of a patch, one after the other."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0

    @property
    def number(self) -> int:
        return self.at + 1

    def peek(self) -> str | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def take(self) -> str:
        self.at += 1
        return self.lines[self.at - 1]

    def at_file_header(self, at: int | None = None) -> bool:
        at = self.at if at is None else at
        pair = self.lines[at : at + 2]
        return len(pair) == 2 and pair[0].startswith("--- ") and pair[1].startswith("+++ ")

    def begins_file(self, at: int) -> bool:
        """Whether the lines from `at` on can hardly be lines of a hunk, though they begin like some."""
        return (
            self.at_file_header(at)
            and self.lines[at].startswith(("--- a/", "--- /dev/null"))
            and self.lines[at + 2 : at + 3] != []
            and self.lines[at + 2].startswith("@@ -")
        )

    def ends_hunk(self, at: int) -> bool:
        """Whether the line at `at` can no longer belong to the hunk above."""
        if at >= len(self.lines):
            return True
        line = self.lines[at]
        return line.startswith(("@@", "diff --git ")) or self.at_file_header(at)


@dataclass(slots=True)
class _Header:
    """What stands above the hunks of a file."""

    git: str = ""
    old: str | None = ""
    new: str | None = ""
    renamed: tuple[str, str] = ("", "")
    copied: bool = False
    made: bool = False
    deleted: bool = False
    mode: str = ""


def _read_file_patch(reader: _Reader) -> FilePatch:
    first = reader.number
    header = _Header()
    if (reader.peek() or "").startswith("diff --git "):
        header.git = reader.take().removeprefix("diff --git ")
        _read_extended(reader, header)
    if reader.at_file_header():
        header.old = _path_of(reader.take().removeprefix("--- "))
        header.new = _path_of(reader.take().removeprefix("+++ "))
    hunks: list[Hunk] = []
    while (reader.peek() or "").startswith("@@"):
        hunks.append(_read_hunk(reader))
    return _file_patch(header, hunks, first)


def _read_extended(reader: _Reader, header: _Header) -> None:
    while (line := reader.peek()) is not None:
        found = _EXTENDED.match(line)
        if not found:
            return
        reader.take()
        word, rest = found.groups()
        match word:
            case "rename from" | "copy from":
                header.renamed = (_path_of(rest) or "", header.renamed[1])
                header.copied = word == "copy from"
            case "rename to" | "copy to":
                header.renamed = (header.renamed[0], _path_of(rest) or "")
            case "new mode" | "new file mode":
                header.mode = rest.strip()
                header.made = header.made or word == "new file mode"
            case "deleted file mode":
                header.deleted = True
            case "Binary files" | "GIT binary patch":
                _fail(f"line {reader.number - 1}: it changes a binary file")


def _file_patch(header: _Header, hunks: Sequence[Hunk], first: int) -> FilePatch:
    if header.mode and not header.mode.startswith("100"):
        _fail(f"line {first}: it makes a link or a submodule (mode {header.mode}); only files can be made")
    # A file is not what it was if its mode stays: only a change, or a new file, says something of it.
    executable = header.mode.endswith("755") if header.mode else None
    if all(header.renamed):
        old, new = header.renamed
        return FilePatch("copy" if header.copied else "rename", old, new, tuple(hunks), executable)
    before, after = _paths(header, first)
    if before is None or header.made:
        return FilePatch("make", after or "", after or "", tuple(hunks), executable or None)
    if after is None or header.deleted:
        return FilePatch("delete", before, before, tuple(hunks))
    if not hunks and executable is None:
        _fail(f"line {first}: there is no hunk for {after}")
    return FilePatch("change" if before == after else "between", before, after, tuple(hunks), executable)


def _paths(header: _Header, first: int) -> tuple[str | None, str | None]:
    old, new = header.old, header.new
    if old == "" and new == "":
        old, new = _paths_of_git_line(header.git, first)
    if old is None and new is None:
        _fail(f"line {first}: both of its paths are /dev/null")
    if old == "" or new == "":
        _fail(f"line {first}: a path is empty")
    for left, right in _PREFIXES:
        if (old is None or old.startswith(left)) and (new is None or new.startswith(right)):
            return (old[2:] if old else None), (new[2:] if new else None)
    return old, new


def _paths_of_git_line(line: str, first: int) -> tuple[str, str]:
    """Both paths of `diff --git a/path b/path`, where nothing else tells them: they are the same but for the prefix."""
    quoted = re.fullmatch(r'("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")', line)
    if quoted:
        return _path_of(quoted[1]) or "", _path_of(quoted[2]) or ""
    middle = len(line) // 2
    old, new = line[:middle], line[middle + 1 :]
    if line[middle : middle + 1] != " " or old.partition("/")[2] != new.partition("/")[2]:
        _fail(f"line {first}: which file it is about cannot be told from `diff --git {line[:200]}`")
    return old, new


def _path_of(field: str) -> str | None:
    """A path as a header names it, `None` for `/dev/null`."""
    if field.startswith('"'):
        end = re.match(r'"((?:[^"\\]|\\.)*)"', field)
        return _unquoted(end[1]) if end else field
    path = field.split("\t", 1)[0].rstrip()
    return None if path == "/dev/null" else path


def _unquoted(text: str) -> str:
    """A name as git quotes it, its bytes in octal."""
    data = bytearray()
    at = 0
    for found in _C_ESCAPE.finditer(text):
        data += text[at : found.start()].encode("utf-8", "surrogateescape")
        data += bytes([int(found[1], 8) & 0xFF]) if found[1] else _C_LETTERS[found[2]].encode()
        at = found.end()
    data += text[at:].encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape")


def _read_hunk(reader: _Reader) -> Hunk:
    header = reader.take()
    ranges = _RANGES.match(header)
    if ranges is None:
        return Hunk(header.strip(), None, tuple(_rows(_uncounted(reader))))
    start, old, _, new = (1 if number is None else int(number) for number in ranges.groups())
    body = _counted(reader, old, new)
    if body is None:  # models count badly
        body = _uncounted(reader)
    return Hunk(ranges.group(), start, tuple(_rows(body)))


def _counted(reader: _Reader, old: int, new: int) -> list[str] | None:
    """The lines of a hunk as its header counts them; `None` when the count is wrong."""
    at = reader.at
    while old > 0 or new > 0:
        if reader.begins_file(at):
            return None
        line = reader.lines[at] if at < len(reader.lines) else "?"
        sign = line[:1] or " "
        if sign not in " -+\\":
            return None
        old -= sign in " -"
        new -= sign in " +"
        at += 1
    if at < len(reader.lines) and reader.lines[at].startswith(_NO_NEWLINE):
        at += 1
    more = at < len(reader.lines) and reader.lines[at][:1] in (" ", "-", "+")
    # A mail ends with `-- ` and the version; anything else that looks like a line of the hunk is one.
    if old < 0 or new < 0 or (more and not reader.ends_hunk(at) and reader.lines[at].rstrip() != "--"):
        return None
    body = list(reader.lines[reader.at : at])
    reader.at = at
    return body


def _uncounted(reader: _Reader) -> list[str]:
    """The lines up to what can be none of a hunk."""
    at = reader.at
    while not reader.ends_hunk(at) and (reader.lines[at][:1] or " ") in " -+\\":
        at += 1
    body = list(reader.lines[reader.at : at])
    reader.at = at
    while body and not body[-1]:
        body.pop()
    return body


def _rows(body: Sequence[str]) -> Iterator[Row]:
    for index, line in enumerate(body):
        if line.startswith(_NO_NEWLINE):
            continue
        bare = index + 1 < len(body) and body[index + 1].startswith(_NO_NEWLINE)
        yield Row(line[:1] or " ", line[1:] if bare else line[1:] + "\n")


# --- applying it -----------------------------------------------------------------------------------------------------


def _patched(patch: str, context: ToolContext) -> list[Patched]:
    """What becomes of the files. Nothing is written. Raises `ToolError` for the first part that does not fit."""
    tree = _Tree(context)
    for part in parse_patch(patch):
        tree.apply(part)
    results = list(tree.results())
    if all(each.said.startswith("changed") and not each.spans and each.rewrite.executable is None for each in results):
        raise ToolError("no_change", "the patch changes nothing")
    return results


@dataclass(frozen=True, slots=True)
class _File:
    """A file as the parts of the patch that came before have left it; `text` is `None` when it is gone."""

    text: str | None
    on_disk: bool
    moved_from: str = ""
    executable: bool | None = None
    spans: tuple[tuple[int, int], ...] = ()


class _Tree:
    """The files that a patch touches, by their paths, part for part."""

    def __init__(self, context: ToolContext) -> None:
        self._edits: Edits = context.edits
        self._context = context
        self._files: dict[str, _File] = {}

    def apply(self, part: FilePatch) -> None:
        if part.kind == "make":
            path = self._free(part.new)
            text, spans = apply_hunks(path, "", part.hunks)
            self._files[path] = _File(text, self._on_disk(path), executable=part.executable, spans=spans)
            return
        if part.kind == "between":
            part = (
                replace(part, kind="change", old=part.new) if self._is_there(part.new) else replace(part, kind="rename")
            )
        path, file = self._there(part.old)
        text, spans = apply_hunks(path, file.text or "", part.hunks)
        if part.kind == "delete":
            if text and part.hunks:
                raise ToolError("bad_patch", f"the patch deletes {path}, but not all of its lines; nothing was changed")
            self._files[path] = _File(None, file.on_disk, file.moved_from)
            return
        executable = file.executable if part.executable is None else part.executable
        changed = replace(file, text=text, executable=executable, spans=spans)
        if part.kind == "change":
            self._files[path] = changed
        else:
            self._elsewhere(part, path, file, changed)

    def results(self) -> Iterator[Patched]:
        moved = {file.moved_from for file in self._files.values() if file.text is not None}
        for path, file in self._files.items():
            if file.text is None:
                if file.on_disk and path not in moved:
                    yield Patched(Rewrite(path, None), f"deleted {path}")
                continue
            rewrite = Rewrite(path, file.text, file.moved_from, file.executable)
            yield Patched(rewrite, _said(path, file), file.spans)

    def _elsewhere(self, part: FilePatch, path: str, file: _File, changed: _File) -> None:
        new = self._free(part.new)
        if part.kind == "copy":
            self._files[new] = replace(changed, on_disk=self._on_disk(new), moved_from="")
            return
        origin = file.moved_from or (path if file.on_disk else "")
        self._files[path] = replace(file, text=None, moved_from="")
        self._files[new] = replace(changed, on_disk=self._on_disk(new), moved_from=origin)

    def _is_there(self, path: str) -> bool:
        try:
            place = self._context.files.locate(path).path
        except ToolError as error:
            if error.code != "not_found":
                raise
            place = self._edits.open(path, must_exist=False).path
            return place in self._files and self._files[place].text is not None
        return place not in self._files or self._files[place].text is not None

    def _there(self, path: str) -> tuple[str, _File]:
        found = self._edits.open(path, must_exist=False)
        file = self._files.get(found.path)
        if file is not None and file.text is not None:
            return found.path, file
        if file is not None:
            raise ToolError("not_found", f"an earlier part of the patch takes {path} away; nothing was changed")
        if not found.exists:
            self._context.files.locate(path)  # says what is there instead
        return found.path, _File(found.text, on_disk=True)

    def _free(self, path: str) -> str:
        """The place of a file that the patch makes."""
        if self._is_there(path):
            raise ToolError("exists", f"the patch makes {path}, which exists already; nothing was changed")
        return self._edits.open(path, must_exist=False).path

    def _on_disk(self, path: str) -> bool:
        return path in self._files and self._files[path].on_disk


def _said(path: str, file: _File) -> str:
    if file.moved_from:
        return f"moved {file.moved_from} to {path}" + (", changed" if file.spans else "")
    verb = "changed" if file.on_disk else "made"
    return f"{verb} {path}" if file.executable is None else f"{verb} {path} ({_mode(file.executable)})"


def _mode(executable: bool) -> str:
    return "may be run" if executable else "may not be run"


def apply_hunks(path: str, text: str, hunks: Sequence[Hunk]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """`text` after all hunks, and the lines of it that are new. Raises `ToolError` (`no_match`, `ambiguous`)."""
    if all(hunk.start is not None for hunk in hunks):
        hunks = sorted(hunks, key=lambda hunk: hunk.start or 0)
    lines = split_lines(text)
    loose = _Application(path, lines, hunks, exact=False)
    if not _lacks_the_files_returns(lines, hunks):
        try:
            return _Application(path, lines, hunks, exact=True).result()
        except ToolError:
            pass
    return loose.result()


def _lacks_the_files_returns(lines: Sequence[str], hunks: Sequence[Hunk]) -> bool:
    """Whether every line of the file ends with CRLF and none of the patch does: it is meant without regard to that."""
    if any(row.text.endswith("\r\n") for hunk in hunks for row in hunk.rows):
        return False
    ended = [line for line in lines if line.endswith("\n")]
    return bool(ended) and all(line.endswith("\r\n") for line in ended)


def split_lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


class _Application:
    """The hunks of one file, put in one after the other. `exact`: line ends and the final newline count."""

    def __init__(self, path: str, lines: Sequence[str], hunks: Sequence[Hunk], *, exact: bool) -> None:
        self._path = path
        self._lines = list(lines)
        self._ended = not lines or lines[-1].endswith("\n")
        self._hunks = hunks
        self._exact = exact
        self._floor = 0
        self._shift = 0
        self._spans: list[tuple[int, int]] = []

    def result(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        for number, hunk in enumerate(self._hunks, 1):
            which = f"hunk {number} of {len(self._hunks)} for {self._path} ({hunk.header})"
            if not hunk.rows:
                _fail(f"{which} is empty")
            self._put_in(hunk, self._place_of(hunk, which))
        if not self._exact:
            self._end_as_before()
        return "".join(self._lines), tuple(self._spans)

    def _key(self, line: str) -> str:
        return line if self._exact else line.removesuffix("\n").removesuffix("\r")

    def _place_of(self, hunk: Hunk, which: str) -> int:
        old = [self._key(line) for line in hunk.old]
        if not old:
            return self._place_of_lines_without_context(hunk, which)
        expected = None if hunk.start is None else hunk.start - 1 + self._shift
        keys = [self._key(line) for line in self._lines]
        if expected is not None and expected >= self._floor and keys[expected : expected + len(old)] == old:
            return expected
        places = list(_places(keys, old, self._floor))
        if len(places) > 1:
            listed = ", ".join(str(at + 1) for at in places[:20])
            raise ToolError(
                "ambiguous",
                f"{which} fits at the lines {listed} of the file, and not where it says; give more context lines or "
                "the right line number; nothing was changed",
            )
        if not places:
            raise self._misfit(keys, old, expected, which)
        return places[0]

    def _place_of_lines_without_context(self, hunk: Hunk, which: str) -> int:
        if not self._lines:
            return 0
        at = -1 if hunk.start is None else hunk.start + self._shift
        if not self._floor <= at <= len(self._lines) or (at == len(self._lines) and not self._lines[-1].endswith("\n")):
            raise ToolError(
                "no_match",
                f"{which} has no context lines, and its line number does not say where it belongs; give context lines; "
                "nothing was changed",
            )
        return at

    def _put_in(self, hunk: Hunk, at: int) -> None:
        new = hunk.new if self._exact else list(self._with_own_ends(hunk, at))
        height = len(hunk.old)
        expected = at if hunk.start is None else hunk.start - (1 if height else 0)
        self._lines[at : at + height] = new
        if hunk.start is None:
            self._shift += len(new) - height
        else:
            self._shift = at - expected + len(new) - height
        self._floor = at + len(new)
        self._spans += _changed_rows(hunk, at + 1)

    def _with_own_ends(self, hunk: Hunk, at: int) -> Iterator[str]:
        """The new lines of `hunk`: context as the file has it, and what is added with the line ends that are there."""
        end = _end_of(self._lines[at - 1]) if at else ""
        end = end or next((_end_of(line) for line in self._lines if _end_of(line)), "\n")
        removed: list[str] = []
        for sign, text in hunk.rows:
            if sign == "+":
                own = _end_of(removed.pop(0)) if removed else ""
                yield self._key(text) + (own or end)
                continue
            end = _end_of(self._lines[at]) or end
            if sign == "-":
                removed.append(self._lines[at])
            else:
                removed.clear()
                yield self._key(self._lines[at]) + end
            at += 1

    def _end_as_before(self) -> None:
        """A final newline stays, or stays away."""
        if not self._lines:
            return
        bare = self._key(self._lines[-1])
        self._lines[-1] = bare if not self._ended else bare + (_end_of(self._lines[-1]) or "\n")

    def _misfit(self, keys: Sequence[str], old: Sequence[str], expected: int | None, which: str) -> ToolError:
        at = _nearest(keys, old, expected)
        if at is None:
            return ToolError("no_match", f"{which} does not fit: none of its lines is in the file; nothing was changed")
        off = next((i for i, line in enumerate(old) if at + i >= len(keys) or keys[at + i] != line), 0)
        there = _bare(keys[at + off]) if at + off < len(keys) else None
        wanted = _bare(old[off])
        blank = there is not None and "".join(there.split()) == "".join(wanted.split())
        how = "only in white space" if blank else "from it"
        why = f"at the nearest place, line {at + off + 1}, the file differs {how}"
        shown = keys[at : at + min(len(old) + 1, MAX_SHOWN_LINES)]
        return ToolError(
            "no_match",
            f"{which} does not fit; {why}; nothing was changed",
            patch_has=repr(wanted[:300]),
            file_has=repr(there[:300]) if there is not None else "[the end of the file]",
            nearest="\n" + "\n".join(f"{number}\t{_bare(line)[:300]}" for number, line in enumerate(shown, at + 1)),
        )


def _places(keys: Sequence[str], wanted: Sequence[str], floor: int) -> Iterator[int]:
    """Every place from `floor` on where the lines `wanted` stand."""
    first = wanted[0]
    for at in range(floor, len(keys) - len(wanted) + 1):
        if keys[at] == first and keys[at : at + len(wanted)] == wanted:
            yield at


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _end_of(line: str) -> str:
    return line[len(_bare(line)) :]


def _changed_rows(hunk: Hunk, first: int) -> Iterator[tuple[int, int]]:
    """The lines of the new file that are new, or between which something is gone."""
    number = first
    for sign, _ in hunk.rows:
        if sign == "-":
            yield max(1, number - 1), number
        elif sign == "+":
            yield number, number
        number += sign != "-"


def _nearest(keys: Sequence[str], old: Sequence[str], expected: int | None) -> int | None:
    """Where most lines of `old` stand, white space apart; close to where it is expected if there are several."""
    places: dict[str, list[int]] = {}
    for index, line in enumerate(keys):
        places.setdefault("".join(line.split()), []).append(index)
    votes: dict[int, int] = {}
    for index, line in enumerate(old):
        squeezed = "".join(line.split())
        for place in places.get(squeezed, [])[:200] if squeezed else ():
            if place >= index:
                votes[place - index] = votes.get(place - index, 0) + 1
    if votes:
        return min(votes, key=lambda at: (-votes[at], abs(at - (expected or 0))))
    return expected if expected is not None and 0 <= expected < len(keys) else None


TOOL = ApplyPatchTool()
