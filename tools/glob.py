"""`glob`: paths of files whose names match a pattern."""

from __future__ import annotations

import re

from pydantic import Field

from orchestrator.errors import ToolError
from orchestrator.tool import Args, Files, Located, Tool, ToolContext, ToolResult

MAX_PATHS = 200
_WILDCARD = re.compile(r"[*?\[{\\]")


class GlobArgs(Args):
    pattern: str = Field(description="e.g. *.py at any depth, src/**/test_*.{js,ts}")
    hidden: bool = False


class GlobTool(Tool[GlobArgs]):
    name = "glob"
    description = (
        "Find files by name; gives paths. Skips ignored and hidden files unless the pattern names their folder."
    )
    args = GlobArgs

    async def run(self, args: GlobArgs, context: ToolContext) -> ToolResult:
        pattern = _relative(args.pattern, context.files)
        bare = pattern.removeprefix("/")
        hidden = args.hidden or any(part.startswith(".") for part in bare.split("/"))
        folder = _literal_folder(bare)
        named = not _WILDCARD.search(bare) and not bare.endswith("/")
        exact = _existing(bare, context.files) if named else None
        found: list[str] = []
        if not folder or _existing(folder, context.files) is not None:
            found = list(await context.search.list_files(folder or ".", (pattern,), hidden))
        if exact and not exact.is_dir and exact.path not in found:
            found.insert(0, exact.path)
        return ToolResult("\n".join([*found[:MAX_PATHS], *_closing(found, exact)]), f"{pattern}: {len(found):,} files")


def _relative(pattern: str, files: Files) -> str:
    """The pattern relative to the root; with `/` in front where it means the root folder alone (`./*.py`)."""
    relative = pattern.removeprefix(f"{files.root}/")
    if relative.startswith(("/", "~")) or ".." in relative.split("/"):
        reason = "leads outside the workspace; give a pattern relative to its root, such as src/** or ./*.py"
        raise ToolError("outside_workspace", f"{pattern} {reason}")
    if relative.startswith("!") or not relative:
        raise ToolError("invalid_glob", "the pattern must say which files to find, e.g. *.py or src/**")
    at_root = relative.startswith("./") or relative != pattern
    return f"/{relative.removeprefix('./')}" if at_root else relative


def _literal_folder(pattern: str) -> str:
    """The folder in front of the first wildcard, or of the file name."""
    found = _WILDCARD.search(pattern)
    literal = pattern[: found.start()] if found else pattern
    return literal.rpartition("/")[0]


def _existing(path: str, files: Files) -> Located | None:
    try:
        return files.locate(path)
    except ToolError as error:
        if error.code == "not_found":
            return None
        raise


def _closing(found: list[str], exact: Located | None) -> list[str]:
    if exact and exact.is_dir:
        return [f"[{exact.path} is a folder; {exact.path}/** lists what is in it]"]
    if not found:
        return ["[no files match; ignored and hidden files are only found when the pattern names their folder]"]
    if len(found) > MAX_PATHS:
        return [f"[showing {MAX_PATHS} of {len(found):,} files; narrow the pattern]"]
    return []


TOOL = GlobTool()
