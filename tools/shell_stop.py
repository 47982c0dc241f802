"""`shell_stop`: end a background job."""

from __future__ import annotations

from typing import ClassVar

from orchestrator.tool import Args, Tool, ToolContext, ToolResult


class ShellStopArgs(Args):
    job: str


class ShellStop(Tool[ShellStopArgs]):
    name: ClassVar[str] = "shell_stop"
    description: ClassVar[str] = "End a background job with all that it started. Gives its last output."
    args = ShellStopArgs
    eager: ClassVar[bool] = False

    async def run(self, args: ShellStopArgs, context: ToolContext) -> ToolResult:
        job = await context.shell.stop(args.job)
        how = f"exit code {job.exit_code}" if job.exit_code is not None else "stopped"
        state = f"{job.id} has ended: {how}{f' ({job.signal})' if job.signal else ''}"
        return ToolResult(f"{state}\n{job.output}".rstrip("\n"), display=state)


TOOL = ShellStop()
