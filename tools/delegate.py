"""Hand a task to a sub-agent and get its checked report."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.errors import ToolError
from orchestrator.tool import Args, Tool, ToolContext, ToolResult


class DelegateArgs(Args):
    role: str = Field(description="Name of a role listed in your instructions")
    task: str = Field(min_length=1, description="Self-contained: the sub-agent sees nothing of this conversation")
    context: str = Field(default="", description="Facts it needs: names, paths, what is known already")


class Delegate(Tool[DelegateArgs]):
    name: ClassVar[str] = "delegate"
    description: ClassVar[str] = (
        "Give a task to a sub-agent with its own context and tools; returns its report with every citation checked. "
        "Several calls in one message run at the same time."
    )
    args = DelegateArgs
    eager: ClassVar[bool] = False
    timeout: ClassVar[float] = 0

    async def run(self, args: DelegateArgs, context: ToolContext) -> ToolResult:
        if context.spawn is None:
            raise ToolError("depth_limit", "A sub-agent cannot delegate. Do the work yourself, or report what is left.")
        return await context.spawn(args.role, args.task, args.context)


TOOL = Delegate()
