"""The newest commits that touched a path or a name."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from orchestrator.errors import ToolError
from orchestrator.tool import Args, Tool, ToolContext, ToolResult

_SAFE = (
    *("--no-pager", "--no-optional-locks", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"),
    *("-c", "protocol.allow=never", "-c", "color.ui=false"),
)
"""Nothing that the repository's own configuration names is run, and nothing is fetched."""
_LOG = ("log", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--date=short", "--format=%h %ad %an: %s")
_KEPT = ("PATH", "HOME", "LANG", "SYSTEMROOT")


class GitLogArgs(Args):
    path: str = "."
    name: str | None = Field(default=None, description="Only commits that changed lines with this word")
    limit: int = Field(default=20, ge=1, le=200)


class GitLog(Tool[GitLogArgs]):
    name: ClassVar[str] = "git_log"
    description: ClassVar[str] = "Newest commits that touched a path, or lines with a name. Needs a git repository."
    args = GitLogArgs
    timeout: ClassVar[float] = 30

    async def run(self, args: GitLogArgs, context: ToolContext) -> ToolResult:
        place = context.files.locate(args.path)
        by_name = ["-G", rf"(^|[^[:alnum:]_]){re.escape(args.name)}($|[^[:alnum:]_])"] if args.name else []
        command = [_git(context.files.root), *_SAFE, *_LOG, f"-n{args.limit + 1}", *by_name, "--", str(place.absolute)]
        rows = (await _output(command, str(context.files.root))).splitlines()
        about = place.path if args.name is None else f"lines with {args.name} in {place.path}"
        if not rows:
            return ToolResult(f"[no commit touched {about}]", display="no commits")
        more = [f"[more than {args.limit} commits; raise limit to see them]"] if len(rows) > args.limit else []
        return ToolResult(
            "\n".join([*rows[: args.limit], *more]), display=f"{len(rows[: args.limit])} commits: {about}"
        )


def _git(workspace: Path) -> str:
    """The first git on PATH that is not one of the workspace. Raises `ToolError('no_git')`."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    outside = (each for each in folders if Path(each).is_absolute() and not Path(each).is_relative_to(workspace))
    found = shutil.which("git", path=os.pathsep.join(outside))
    if found is None or Path(found).resolve().is_relative_to(workspace):
        raise ToolError("no_git", "git is not installed here, so there is no history to look at.")
    return found


async def _output(command: list[str], folder: str) -> str:
    """What git prints. Its process is ended when the call is cancelled."""
    env = {name: os.environ[name] for name in _KEPT if name in os.environ}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    git = await asyncio.create_subprocess_exec(*command, cwd=folder, env=env, stdin=null, stdout=pipe, stderr=pipe)
    try:
        out, err = await git.communicate()
    finally:
        if git.returncode is None:
            git.kill()
            await git.wait()
    if git.returncode:
        reason = err.decode("utf-8", "replace").strip().splitlines()
        raise ToolError("no_history", f"git has no history for this: {reason[0] if reason else 'unknown reason'}.")
    return out.decode("utf-8", "replace")


TOOL = GitLog()
