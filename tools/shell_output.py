"""`shell_output`: what a background job has printed since the last look."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.tool import Args, ShellJob, Tool, ToolContext, ToolResult


class ShellOutputArgs(Args):
    job: str
    wait: float = Field(0, ge=0, le=60, description="seconds to wait for news")


class ShellOutput(Tool[ShellOutputArgs]):
    name: ClassVar[str] = "shell_output"
    description: ClassVar[str] = (
        "New output of a background job (run_shell with background), and whether it still runs."
    )
    args = ShellOutputArgs
    eager: ClassVar[bool] = False
    timeout: ClassVar[float] = 70
    max_output: ClassVar[int] = 40_000

    async def run(self, args: ShellOutputArgs, context: ToolContext) -> ToolResult:
        job = await context.shell.output(args.job, wait=args.wait)
        state = _state(job)
        log = [f"[all of the output is kept in {job.log}]"] if job.log else []
        output = "\n".join([state, job.output.rstrip("\n") or "[no new output]", *log])
        return ToolResult(output, display=state, failed=not job.running and job.exit_code != 0)


def _state(job: ShellJob) -> str:
    if job.running:
        return f"{job.id} is running"
    how = f"exit code {job.exit_code}" if job.exit_code is not None else "stopped"
    return f"{job.id} has ended: {how}{f' ({job.signal})' if job.signal else ''}"


TOOL = ShellOutput()
