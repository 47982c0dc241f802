"""`read_file`: numbered lines of one text file."""

from __future__ import annotations

from pydantic import Field

from orchestrator.errors import ToolError
from orchestrator.tool import Args, Effects, Shown, Tool, ToolContext, ToolResult

MAX_LINES = 2000
MAX_BYTES = 50_000
MAX_WIDTH = 2000
"""Characters of one line."""


class ReadFileArgs(Args):
    path: str
    offset: int = Field(1, ge=1, description="first line")
    limit: int = Field(MAX_LINES, ge=1)


class ReadFileTool(Tool[ReadFileArgs]):
    name = "read_file"
    description = (
        "Read a text file as numbered lines, at most 2,000. In a big file grep first, then read around the hit."
    )
    args = ReadFileArgs
    max_output = MAX_BYTES + 10_000

    async def effects(self, args: ReadFileArgs, context: ToolContext) -> Effects:
        located = context.files.locate(args.path)
        return Effects(reads=tuple(dict.fromkeys((located.path, args.path))))

    async def run(self, args: ReadFileArgs, context: ToolContext) -> ToolResult:
        file = context.files.read_text(args.path)
        lines = file.lines
        if not lines:
            return ToolResult("[the file is empty]", f"{file.path}: empty")
        if args.offset > len(lines):
            raise ToolError("past_end", f"{file.path} ends at line {len(lines)}", offset=args.offset)
        first = args.offset
        rows = _numbered(lines, first, min(args.limit, MAX_LINES))
        last = first + len(rows) - 1
        output = "\n".join(rows)
        if last < len(lines):
            output += f"\n[lines {first}-{last} of {len(lines)}; go on with offset={last + 1}]"
        shown = Shown(file.path, first, tuple(lines[first - 1 : last]))
        return ToolResult(output, f"{file.path}: lines {first}-{last} of {len(lines)}", (shown,))


def _numbered(lines: list[str], first: int, limit: int) -> list[str]:
    """At least one line, as many as the limits allow."""
    rows: list[str] = []
    room = MAX_BYTES
    for number, line in enumerate(lines[first - 1 : first - 1 + limit], first):
        if len(line) > MAX_WIDTH:
            line = (
                f"{line[:MAX_WIDTH]}… [{len(line) - MAX_WIDTH:,} more characters; grep shows the part around a match]"
            )
        row = f"{number}\t{line}"
        room -= len(row.encode("utf-8", "replace")) + 1
        if room < 0 and rows:
            break
        rows.append(row)
    return rows


TOOL = ReadFileTool()
