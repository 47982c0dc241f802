"""Shells of agents over real folders, and what of them still runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from orchestrator.sandbox import NoSandbox, Policy, Sandbox
from orchestrator.shell import AgentShell, ShellService
from orchestrator.tool import ShellRun

TEST_LOG_LIMIT = 1_000_000
LIMIT = 30.0
"""Seconds after which a test gives up waiting for something that takes milliseconds."""


class Shop(NamedTuple):
    """A service with one agent's shell in a workspace of its own."""

    service: ShellService
    shell: AgentShell
    policy: Policy
    logs: Path

    @property
    def workspace(self) -> Path:
        return self.policy.workspace

    async def run(
        self, command: str, timeout: float = LIMIT, on_output: Callable[[str], None] | None = None
    ) -> ShellRun:
        return await run_in(self.shell, command, timeout, on_output)


async def run_in(
    shell: AgentShell, command: str, timeout: float = LIMIT, on_output: Callable[[str], None] | None = None
) -> ShellRun:
    return await shell.run(command, timeout=timeout, on_output=on_output or _unseen)


def _unseen(text: str) -> None:
    """Nobody looks."""


@asynccontextmanager
async def shop(
    folder: Path, sandbox: Sandbox | None = None, env: Mapping[str, str] | None = None, keep_env: tuple[str, ...] = ()
) -> AsyncIterator[Shop]:
    """Below `folder`: workspace, temporary folder, home and logs."""
    root = Path(os.path.realpath(folder))
    for name in ("workspace", "temp", "home"):
        (root / name).mkdir(exist_ok=True)
    usual = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), "LC_ALL": "C.UTF-8"}
    service = ShellService(
        sandbox or NoSandbox(),
        workspace=root / "workspace",
        env=usual | dict(env or {}),
        keep_env=keep_env,
        logs=root / "logs",
        log_limit=TEST_LOG_LIMIT,
    )
    policy = Policy("workspace", False, root / "workspace", root / "temp")
    try:
        yield Shop(service, service.for_agent("parent", policy), policy, root / "logs")
    finally:
        await service.aclose()


def runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


async def number_in(path: Path) -> int:
    """The process number in a file that a command writes."""
    await until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


async def until(true: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(LIMIT):
        while not true():  # noqa: ASYNC110  # other processes set no events
            await asyncio.sleep(0.005)
