"""`write_file`: the whole content of one file, new or already there."""

from __future__ import annotations

from pydantic import Field

from orchestrator.tool import (
    Args,
    Edits,
    Effects,
    Rewrite,
    Shown,
    TextFile,
    Tool,
    ToolContext,
    ToolResult,
    with_line_ends,
)


class WriteFileArgs(Args):
    path: str
    content: str = Field(description="the whole content, exactly")


class WriteFileTool(Tool[WriteFileArgs]):
    name = "write_file"
    description = (
        "Make a file with its folders, or replace the whole content of one that you have read. "
        "For changes in a file that exists use edit_file."
    )
    args = WriteFileArgs
    read_only = False

    async def effects(self, args: WriteFileArgs, context: ToolContext) -> Effects:
        rewrite, _ = _planned(args, context.edits)
        return Effects(writes=(rewrite.path,), diff=context.edits.diff([rewrite]))

    async def run(self, args: WriteFileArgs, context: ToolContext) -> ToolResult:
        rewrite, former = _planned(args, context.edits)
        path, text = rewrite.path, rewrite.text or ""
        if former == text:
            return ToolResult(f"{path} has exactly this content already; nothing was written.", f"{path}: unchanged")
        await context.edits.apply([rewrite])
        lines = TextFile(path, text, "", 0).lines
        count = f"{len(lines):,} line{'' if len(lines) == 1 else 's'}"
        verb = "made" if former is None else "rewrote"
        return ToolResult(
            f"{verb} {path}: {count}{_kept(text, args.content)}",
            f"{verb} {path}: {count}",
            (Shown(path, 1, tuple(lines)),) if lines else (),
        )


def _planned(args: WriteFileArgs, edits: Edits) -> tuple[Rewrite, str | None]:
    """What to write, and the text that is there; `None`: no file."""
    file = edits.open(args.path, must_exist=False)
    # The file, if there is one, keeps its own byte-order mark, or has none.
    content = args.content.removeprefix("\ufeff") if file.exists else args.content
    return Rewrite(file.path, with_line_ends(file.text, content)), file.text if file.exists else None


def _kept(text: str, content: str) -> str:
    return "" if text == content else " (the file's own line ends and byte-order mark were kept)"


TOOL = WriteFileTool()
