"""`list_files`: what is in a folder, as a tree that is as deep as fits."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from pydantic import Field

from orchestrator.errors import ToolError
from orchestrator.tool import Args, Tool, ToolContext, ToolResult

MAX_ENTRIES = 200
MAX_UNLISTED = 20
_DEEPEST = 20


class ListFilesArgs(Args):
    path: str = "."
    depth: int = Field(0, ge=0, le=_DEEPEST, description="levels; 0 for as many as fit")
    hidden: bool = False


class ListFilesTool(Tool[ListFilesArgs]):
    name = "list_files"
    description = "Show a folder as a tree. Start here in an unknown project; to find a file by name use glob."
    args = ListFilesArgs

    async def run(self, args: ListFilesArgs, context: ToolContext) -> ToolResult:
        located = context.files.locate(args.path)
        if not located.is_dir:
            raise ToolError("not_directory", f"{located.path} is a file; use read_file")
        found = await context.search.list_files(args.path, (), args.hidden)
        prefix = "" if located.path == "." else f"{located.path}/"
        paths = [path[len(prefix) :] for path in found]
        tree = _tree(paths, args.depth) if args.depth else _fitting_tree(paths)
        entries = sorted(tree)
        lines = [f"{located.path}/", *(_line(entry, tree, entries_below) for entry, entries_below in _nested(entries))]
        lines = lines[: MAX_ENTRIES + 1]
        if len(entries) > MAX_ENTRIES:
            lines.append(f"[{len(entries) - MAX_ENTRIES:,} more entries; list a folder in it, or use glob]")
        lines += _unlisted(located.absolute, paths)
        return ToolResult("\n".join(lines), f"{located.path}: {len(paths):,} files")


def _fitting_tree(paths: Sequence[str]) -> dict[str, int]:
    """The deepest tree that has at most `MAX_ENTRIES`."""
    tree = _tree(paths, 1)
    for depth in range(2, _DEEPEST + 1):
        deeper = _tree(paths, depth)
        if len(deeper) > MAX_ENTRIES or len(deeper) == len(tree):
            break
        tree = deeper
    return tree


def _tree(paths: Sequence[str], depth: int) -> dict[str, int]:
    """The folders (with `/` at the end) and files down to `depth`, each folder with the number of files below it."""
    counts: Counter[str] = Counter()
    for path in paths:
        parts = path.split("/", depth)
        for level in range(1, len(parts)):
            counts["/".join(parts[:level]) + "/"] += 1
        if len(parts) <= depth:
            counts[path] = 0
    return counts


def _nested(entries: Sequence[str]) -> list[tuple[str, bool]]:
    """Each entry, and whether the next one is inside it."""
    following = [*entries[1:], ""]
    return [
        (entry, entry.endswith("/") and after.startswith(entry))
        for entry, after in zip(entries, following, strict=True)
    ]


def _line(entry: str, tree: dict[str, int], opened: bool) -> str:
    level = entry.rstrip("/").count("/") + 1
    name = entry.rstrip("/").rpartition("/")[2]
    if not entry.endswith("/"):
        return "  " * level + name
    files = "" if opened else f" ({tree[entry]:,} {'file' if tree[entry] == 1 else 'files'})"
    return f"{'  ' * level}{name}/{files}"


def _unlisted(folder: Path, paths: Sequence[str]) -> list[str]:
    """One line on the entries of the folder itself that are not in the listing."""
    listed = {path.partition("/")[0] for path in paths}
    try:
        with os.scandir(folder) as entries:
            names = sorted(f"{entry.name}{'/' * entry.is_dir()}" for entry in entries if entry.name not in listed)
    except OSError:  # it cannot be read; the listing has nothing of it either
        return []
    printable = list(islice((name for name in names if name.isprintable()), MAX_UNLISTED))
    if not printable:
        return []
    more = f" and {len(names) - len(printable):,} more" if len(names) > len(printable) else ""
    return [f"[not listed, being ignored, hidden, empty or links: {', '.join(printable)}{more}]"]


TOOL = ListFilesTool()
