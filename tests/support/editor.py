"""An agent that edits: the tools over a real folder, what it has read, and real checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from orchestrator.arguments import validate_arguments
from orchestrator.checkpoints import Checkpoints
from orchestrator.edits import KeepsFormer, ReadingFiles, WorkspaceEdits
from orchestrator.errors import ToolError
from orchestrator.tool import Effects, ToolContext, ToolResult
from orchestrator.workspace import WorkspaceFiles
from tests.support.read_only_tools import load_tool


def checkpoints_beside(root: Path) -> Checkpoints:
    """The checkpoints of a session, kept next to the workspace."""
    state = root.parent / f"{root.name}-state"
    folder = state / "sessions" / "s1" / "checkpoints"
    return Checkpoints(folder, root, shadow=root.parent / f"{root.name}-cache" / "shadow", notice=_no_notice)


class EditingAgent:
    """One agent in a workspace. `told` holds the paths that it was said to have changed, change by change."""

    def __init__(self, root: Path, name: str = "parent", checkpoints: KeepsFormer | None = None) -> None:
        self.root = root
        self.told: list[tuple[str, ...]] = []
        self.checkpoints = checkpoints or checkpoints_beside(root)
        files = WorkspaceFiles(root)
        self.edits = WorkspaceEdits(files, name, self.checkpoints, self.told.append)
        self.files = ReadingFiles(files, self.edits)
        self.context = ToolContext(self.files, _unused, _unused, name, open_edits=lambda: self.edits)

    def read(self, *paths: str) -> EditingAgent:
        for path in paths:
            self.files.read_text(path)
        return self

    async def call(self, name: str, /, **arguments: object) -> ToolResult:
        tool = load_tool(name)
        return await tool.run(validate_arguments(tool.args, arguments), self.context)

    async def effects(self, name: str, /, **arguments: object) -> Effects:
        tool = load_tool(name)
        return await tool.effects(validate_arguments(tool.args, arguments), self.context)

    async def edit(self, path: str, old: str, new: str, **more: object) -> ToolResult:
        return await self.call("edit_file", path=path, edits=[{"old": old, "new": new, **more}])

    async def write(self, path: str, content: str) -> ToolResult:
        return await self.call("write_file", path=path, content=content)

    async def patch(self, patch: str) -> ToolResult:
        return await self.call("apply_patch", patch=patch)

    async def refused(self, name: str, /, **arguments: object) -> ToolError:
        """The error of a call; it is the same when only its effects are asked for, and nothing is changed by either."""
        before = tree_of(self.root)
        with pytest.raises(ToolError) as foreseen:
            await self.effects(name, **arguments)
        with pytest.raises(ToolError) as caught:
            await self.call(name, **arguments)
        assert (foreseen.value.code, foreseen.value.message) == (caught.value.code, caught.value.message)
        assert tree_of(self.root) == before
        return caught.value


def tree_of(root: Path) -> Mapping[str, Any]:
    """Everything below `root`: the content of files with their mode, the targets of links, folders."""
    found: dict[str, Any] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()))
        elif path.is_file():
            found[name] = (path.stat().st_mode, path.read_bytes())
        else:
            found[name] = "folder" if path.is_dir() else "special"
    return found


def leftovers(root: Path) -> list[str]:
    """Temporary files of an edit that are still there."""
    return [name for name in tree_of(root) if ".orch-" in name]


def _unused() -> NoReturn:
    raise AssertionError("editing needs neither search nor code")


def _no_notice(level: str, message: str, hint: str) -> None:
    raise AssertionError(f"{level}: {message} ({hint})")
