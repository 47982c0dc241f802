"""`find_references`: every place of a name, classified, grouped by file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from orchestrator.tool import (
    Args,
    Occurrence,
    OccurrenceKind,
    Occurrences,
    Shown,
    Tool,
    ToolContext,
    ToolResult,
)

_PLURALS: Mapping[OccurrenceKind, str] = {
    "definition": "definitions",
    "import": "imports",
    "call": "calls",
    "reference": "references",
    "attribute": "attributes",
    "comment": "comments",
    "string": "strings",
    "doc": "docs",
    "other": "others",
}
"""The kinds in the order in which they are counted."""


class FindReferencesArgs(Args):
    name: str = Field(description="whole word, or Session.send")
    path: str = Field(".", description="file or folder")
    glob: str | None = Field(None, description="only such files, e.g. *.py, !tests/")
    kinds: list[OccurrenceKind] | None = None
    limit: int = Field(200, ge=1, le=50_000)
    offset: int = Field(0, ge=0)


class FindReferencesTool(Tool[FindReferencesArgs]):
    name = "find_references"
    description = (
        "Every place of a name, parsed, with kind (attribute: a.X; local: own variable), scope and line: who "
        "defines, calls, imports, mentions it. Skips ignored and hidden files."
    )
    args = FindReferencesArgs
    max_output = 20_000_000

    async def run(self, args: FindReferencesArgs, context: ToolContext) -> ToolResult:
        globs = (args.glob,) if args.glob else ()
        found = await context.code.occurrences(
            args.name, (args.path,), globs, again=args.offset > 0, progress=context.progress
        )
        rows = _one_a_line(row for row in found.rows if not args.kinds or row.kind in args.kinds)
        notes = [f"note: {note}" for note in found.notes]
        if not rows:
            return await _nothing(args, context, found, notes)
        page = rows[args.offset : args.offset + args.limit]
        head = f"{args.name}: {_amount(rows)}"
        output = "\n".join([head, *_lines(page), *_paging(page, len(rows), args), *notes])
        return ToolResult(output, head, tuple(Shown(row.path, row.line, (row.text,)) for row in page))


def _one_a_line(rows: Iterable[Occurrence]) -> list[Occurrence]:
    """The first place of each kind on each line."""
    first: dict[tuple[str, int, str], Occurrence] = {}
    for row in rows:
        first.setdefault((row[0], row[1], row[3]), row)
    return list(first.values())


def _amount(rows: Sequence[Occurrence]) -> str:
    counts = Counter(row.kind for row in rows)
    files = len({row.path for row in rows})
    by_kind = ", ".join(_counted(counts[kind], kind, plural) for kind, plural in _PLURALS.items() if counts[kind])
    return f"{_counted(len(rows), 'place', 'places')} in {_counted(files, 'file', 'files')}: {by_kind}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _lines(rows: Sequence[Occurrence]) -> list[str]:
    out: list[str] = []
    path = ""
    for row in rows:
        if row.path != path:
            path = row.path
            out.append(path_line(path))
        scope = f" in {row.scope}" if row.scope else ""
        mark = "" if row.belongs == "yes" else f"{row.belongs} "
        out.append(f"  {row.line} {mark}{row.kind}{scope} | {row.preview or row.text.strip()}")
    return out


def path_line(path: str) -> str:
    """The path on a line of its own; one that would look like another kind of line is marked with `./`."""
    return f"./{path}" if path.startswith((" ", "[", "note: ", "near: ")) else path


def _paging(page: Sequence[Occurrence], total: int, args: FindReferencesArgs) -> list[str]:
    if not page:
        return [f"[{total} rows; offset={args.offset} is behind the last]"]
    last = args.offset + len(page)
    return [f"[rows {args.offset + 1}-{last} of {total}; next: offset={last}]"] if last < total else []


async def _nothing(args: FindReferencesArgs, context: ToolContext, found: Occurrences, notes: list[str]) -> ToolResult:
    """What is said without rows: which other kinds there are, or how many files were searched and what is near."""
    if found.rows:
        others = _amount(_one_a_line(found.rows))
        output = "\n".join([f"{args.name}: none of these kinds; there are {others}", *notes])
        return ToolResult(output, f"{args.name}: none of these kinds")
    globs = (args.glob,) if args.glob else ()
    files = await context.search.list_files(args.path, globs)
    near = await context.code.near(args.name, (args.path,))
    head = f"{args.name}: not found in {_counted(len(files), 'file', 'files')}"
    names = ", ".join(f"{name} ({path}:{line})" for name, path, line in near)
    return ToolResult("\n".join([head, *([f"near: {names}"] if names else []), *notes]), head)


TOOL = FindReferencesTool()
