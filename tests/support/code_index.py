"""The code index and its tools over a real folder."""

from __future__ import annotations

from pathlib import Path

from orchestrator.code.index import CodeIndex
from orchestrator.code.occurrences import occurrences_in
from orchestrator.search import find_ripgrep, open_search
from orchestrator.tool import ToolContext, ToolResult
from orchestrator.workspace import WorkspaceFiles
from tests.support.read_only_tools import load_tool


def kinds(path: str, source: str | bytes, name: str) -> list[str]:
    """The places of `name` in a file as `LINE KIND` or `LINE KIND in SCOPE`."""
    data = source.encode() if isinstance(source, str) else source
    found = occurrences_in(path, data, name).places
    return [f"{place.line} {place.kind}" + (f" in {place.scope}" if place.scope else "") for place in found]


def open_code(root: Path) -> CodeIndex:
    files = WorkspaceFiles(root)
    return CodeIndex(files, open_search(files, ripgrep=find_ripgrep()))


async def run_tool(root: Path, name: str, /, **arguments: object) -> ToolResult:
    """Run `find_references` or `symbols` on the workspace `root`."""
    files = WorkspaceFiles(root)
    search = open_search(files, ripgrep=find_ripgrep())
    tool = load_tool(name)
    return await tool.run(tool.args(**arguments), ToolContext(files, lambda: search, lambda: CodeIndex(files, search)))
