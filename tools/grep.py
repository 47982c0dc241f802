"""`grep`: lines that match a pattern, grouped by file."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from orchestrator.tool import Args, Match, Matches, SearchQuery, Shown, Tool, ToolContext, ToolResult

MAX_CHARACTERS = 45_000


class GrepArgs(Args):
    pattern: str = Field(description="regular expression, ripgrep syntax; within one line")
    path: str = Field(".", description="file or folder; searched even if ignored")
    glob: str = Field("", description="only such files, e.g. *.py, src/**/*.{ts,tsx}, !tests/")
    literal: bool = False
    ignore_case: bool = False
    word: bool = False
    context: int = Field(0, ge=0, le=20, description="lines around a match")
    hidden: bool = False
    limit: int = Field(100, ge=1, le=1000, description="matches shown")


class GrepTool(Tool[GrepArgs]):
    name = "grep"
    description = (
        "Search file contents. Skips ignored, hidden, binary and secrets files. To find a name's definition and "
        "uses, find_references is more exact."
    )
    args = GrepArgs

    async def run(self, args: GrepArgs, context: ToolContext) -> ToolResult:
        one_file = not context.files.locate(args.path).is_dir
        query = SearchQuery(
            args.pattern,
            literal=args.literal,
            word=args.word,
            ignore_case=args.ignore_case,
            under=(args.path,),
            globs=(args.glob,) if args.glob else (),
            context=args.context,
            hidden=args.hidden,
            per_file=args.limit if one_file else max(args.limit // 4, 1),
            limit=args.limit,
        )
        found = await context.search.grep(query)
        rows = _fitting(found.rows)
        output = "\n".join([*_lines(rows), *_closing(found, rows, query)])
        return ToolResult(output, f"{args.pattern}: {_amount(found)}", _shown(rows))


def _fitting(rows: Sequence[Match]) -> list[Match]:
    """The rows that fit in `MAX_CHARACTERS`."""
    out: list[Match] = []
    room = MAX_CHARACTERS
    for row in rows:
        room -= len(row.preview or row.text) + 8
        if not out or out[-1].path != row.path:
            room -= len(row.path) + 1
        if room < 0 and out:
            break
        out.append(row)
    return out


def _lines(rows: Sequence[Match]) -> list[str]:
    out: list[str] = []
    path = ""
    for row in rows:
        if row.path != path:
            path = row.path
            out.append(path)
        out.append(f"  {row.line}{'-' if row.is_context else ':'} {row.preview or row.text}")
    return out


def _closing(found: Matches, rows: Sequence[Match], query: SearchQuery) -> list[str]:
    notes = [f"[{note}]" for note in found.notes]
    if not found.total:
        return ["[no matches; ignored, hidden, binary and secrets files are not searched]", *notes]
    shown = sum(not row.is_context for row in rows)
    if shown < found.total:
        advice = f"at most {query.per_file} a file; narrow with path or glob, or raise limit"
        return [f"[showing {shown:,} of {_amount(found)}, {advice}]", *notes]
    return [f"[{_amount(found)}]", *notes]


def _amount(found: Matches) -> str:
    matches = "match" if found.total == 1 else "matches"
    return f"{found.total:,} {matches} in {found.files:,} {'file' if found.files == 1 else 'files'}"


def _shown(rows: Sequence[Match]) -> tuple[Shown, ...]:
    """The rows' original lines, neighbours joined."""
    runs: list[list[Match]] = []
    for row in rows:
        if runs and runs[-1][-1].path == row.path and runs[-1][-1].line + 1 == row.line:
            runs[-1].append(row)
        else:
            runs.append([row])
    return tuple(Shown(run[0].path, run[0].line, tuple(row.text for row in run)) for run in runs)


TOOL = GrepTool()
