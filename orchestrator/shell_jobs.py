"""Commands in the background of one agent: looked at again and again, ended with the session at the latest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.errors import ToolError
from orchestrator.shell_notes import signal_name
from orchestrator.shell_output import KeptOutput
from orchestrator.shell_process import GRACE, Ended, ShellProcess
from orchestrator.tool import ShellJob

MOST_JOBS = 16
"""Jobs of one agent that may run at the same time."""

_GATHER = 0.1
"""Seconds in which the lines that follow the first one come together."""


class Job:
    """A command in the background. `ended` is set once it is over and nothing of it runs."""

    def __init__(self, id: str, command: str, kept: KeptOutput, on_end: Callable[[ShellProcess], None]) -> None:
        self.id = id
        self.command = command
        self.ended: Ended | None = None
        self._kept = kept
        self._on_end = on_end
        self._news = asyncio.Event()
        self._process: ShellProcess | None = None
        self._task: asyncio.Task[None] | None = None

    def add(self, data: bytes) -> None:
        self._kept.add(data)
        self._news.set()

    def follow(self, process: ShellProcess) -> None:
        """Watch over the process to its end."""
        self._process = process
        self._task = asyncio.get_running_loop().create_task(self._run(process), name=f"shell-{self.id}")

    async def look(self, wait: float) -> ShellJob:
        """What came since the last look; waits up to `wait` seconds if there is nothing yet."""
        if wait > 0 and self.ended is None and not self._kept.pending:
            await self._wait(wait)
        self._news.clear()
        output = self._kept.take()
        if self._kept.trouble:
            output += f"\n[{self._kept.trouble}]"
        ended = self.ended
        if ended is None:
            return ShellJob(self.id, self.command, True, output, log=self._kept.log)
        name = signal_name(ended.code)
        code = None if ended.stopped or ended.code is None else ended.code if ended.code >= 0 else 128 - ended.code
        return ShellJob(self.id, self.command, False, output, code, self._kept.log, name)

    async def wait_ended(self, seconds: float) -> None:
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)

    async def stop(self) -> None:
        if self._process is not None and self.ended is None:
            await self._process.stop(GRACE)
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
                if self.ended is None:
                    await asyncio.sleep(_GATHER)
        except TimeoutError:
            return

    async def _run(self, process: ShellProcess) -> None:
        try:
            self.ended = await process.run(None)
        finally:
            if self.ended is None:
                self.ended = Ended(None, False, True, ())
            self._on_end(process)
            self._kept.close()
            self._news.set()


@dataclass(slots=True)
class Jobs:
    """The jobs of one agent, by their names."""

    rows: dict[str, Job]

    def check_room(self) -> None:
        running = [job.id for job in self.rows.values() if job.ended is None]
        if len(running) >= MOST_JOBS:
            raise ToolError(
                "too_many_jobs",
                f"{len(running)} commands run in the background already; stop one with shell_stop first.",
                running=", ".join(running),
            )

    def get(self, id: str) -> Job:
        job = self.rows.get(id)
        if job is None:
            known = ", ".join(self.rows) or "none"
            raise ToolError("no_job", f"There is no background job {id!r}.", jobs=known)
        return job
