"""`run_shell`: one command in bash, in the foreground or as a job in the background."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from orchestrator.tool import Args, Effects, ShellJob, ShellRun, Tool, ToolContext, ToolResult


class RunShellArgs(Args):
    command: str = Field(min_length=1)
    timeout: float = Field(120, gt=0, le=600, description="seconds")
    background: bool = Field(False, description="for servers and watchers: returns at once, see shell_output")


class RunShell(Tool[RunShellArgs]):
    name: ClassVar[str] = "run_shell"
    description: ClassVar[str] = (
        "Run a command in bash. The folder and exported variables of a command that succeeds are kept for the next one;"
        " functions, aliases and options are not. There is no terminal and no input. What a command leaves running is"
        " ended with it, unless background is set; a background job ends with the session. Filter long output: its"
        " middle is left out. To read, search and edit files use the other tools."
    )
    args = RunShellArgs
    read_only: ClassVar[bool] = False
    judged: ClassVar[bool] = True
    timeout: ClassVar[float] = 0
    max_output: ClassVar[int] = 40_000

    async def effects(self, args: RunShellArgs, context: ToolContext) -> Effects:
        return Effects(command=args.command, cwd=context.shell.cwd)

    async def run(self, args: RunShellArgs, context: ToolContext) -> ToolResult:
        if args.background:
            return _started(await context.shell.start(args.command))
        done = await context.shell.run(args.command, timeout=args.timeout, on_output=context.on_output)
        return ToolResult(
            "\n".join([_headline(done), done.output.rstrip("\n") or "[no output]", *_notes(done)]),
            display=f"{_headline(done)}, {done.duration_s:.1f} s",
            confined=done.confined,
            failed=done.exit_code != 0,
        )


def _headline(done: ShellRun) -> str:
    """How it ended comes first: it is what the model must not miss."""
    if done.timed_out:
        return f"timed out after {done.duration_s:.0f} s, ended by {done.signal or 'orch'}"
    if done.exit_code is None:
        return f"stopped before its end ({done.signal or 'no exit code'})"
    by_signal = f" ({done.signal})" if done.signal else ""
    return f"exit code {done.exit_code}{by_signal}"


def _notes(done: ShellRun) -> list[str]:
    kept = [f"all of the output is kept in {done.log}"] if done.log else []
    confined = [done.confined] if done.confined else []
    return [f"[{note}]" for note in (*done.notes, *kept, *confined)]


def _started(job: ShellJob) -> ToolResult:
    if job.running:
        state = f"{job.id} runs in the background; see shell_output, shell_stop"
    else:
        state = f"{job.id} has ended already, exit code {job.exit_code}{f' ({job.signal})' if job.signal else ''}"
    failed = not job.running and job.exit_code != 0
    return ToolResult(f"{state}\n{job.output}".rstrip("\n"), display=state, failed=failed)


TOOL = RunShell()
