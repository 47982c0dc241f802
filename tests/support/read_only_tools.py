"""The read-only file tools over a real folder, called as an agent calls them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any, NoReturn

from orchestrator.search import PythonSearch, find_ripgrep, open_search
from orchestrator.shipped import shipped_folder
from orchestrator.tool import Search, Tool, ToolContext, ToolResult
from orchestrator.workspace import WorkspaceFiles


def ripgrep_search(root: Path) -> Search:
    ripgrep = find_ripgrep()
    assert ripgrep is not None, "the ripgrep package is a dependency"
    return open_search(WorkspaceFiles(root), ripgrep=ripgrep)


def both_searches(root: Path) -> tuple[Search, Search]:
    return ripgrep_search(root), PythonSearch(WorkspaceFiles(root))


def load_tool(name: str) -> Tool[Any]:
    """The tool in `tools/NAME.py`, loaded as orch loads it."""
    module_name = f"orchestrator.tools.{name}"
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, shipped_folder("tools") / f"{name}.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
    tool = sys.modules[module_name].TOOL
    assert isinstance(tool, Tool)
    return tool


async def call(root: Path, name: str, /, **arguments: object) -> ToolResult:
    """Run one tool on the workspace `root`."""
    tool = load_tool(name)
    files = WorkspaceFiles(root)
    context = ToolContext(files, lambda: open_search(files, ripgrep=find_ripgrep()), _no_code)
    return await tool.run(tool.args(**arguments), context)


def _no_code() -> NoReturn:
    raise AssertionError("these tools do not ask for code")


def write_tree(root: Path, content: dict[str, str | bytes]) -> Path:
    """Create the files of `content` below `root`."""
    for name, data in content.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root
