"""Runs a search engine as a process that never outlives the search: killed and reaped on cancellation and timeout."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from orchestrator.errors import ToolError

TIME_LIMIT = 50.0
"""Seconds, somewhat less than a tool call may take."""

PAYLOAD = "{payload}"
"""Stands in a command for the name of the file that holds its payload."""

_CHUNK = 1 << 18
_MAX_COMPLAINTS = 1 << 16
_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class Command:
    argv: tuple[str, ...]
    payload: bytes = b""


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    complaints: str


async def run_engine(
    command: Command, folder: Path, consume: Callable[[bytes], object], time_limit: float = TIME_LIMIT
) -> Finished:
    """Run `command` in `folder`; each piece of its output goes to `consume`. Raises `ToolError` after `time_limit`."""
    with ExitStack() as files:
        complaints = files.enter_context(_scratch(b""))
        argv = list(command.argv)
        passed: tuple[int, ...] = ()
        if command.payload:
            payload = files.enter_context(_scratch(command.payload)).fileno()
            argv = [f"/dev/fd/{payload}" if part == PAYLOAD else part for part in argv]
            passed = (payload,)
        try:
            async with asyncio.timeout(time_limit):
                code = await _run(argv, folder, passed, complaints, consume)
        except TimeoutError:
            reason = f"the search took over {time_limit:g} seconds; narrow it with path or glob"
            raise ToolError("timeout", reason) from None
        complaints.seek(0)
        return Finished(code, complaints.read(_MAX_COMPLAINTS).decode("utf-8", "replace"))


async def _run(
    argv: list[str], folder: Path, passed: tuple[int, ...], complaints: BinaryIO, consume: Callable[[bytes], object]
) -> int:
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=folder,
            env=_ENVIRONMENT,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=complaints,
            pass_fds=passed,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError("search_failed", f"{argv[0]} could not be started: {error.strerror}") from error
    output = process.stdout
    assert output is not None
    try:
        while chunk := await output.read(_CHUNK):
            consume(chunk)
        return await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            while await output.read(_CHUNK):  # what is left in the pipe, else it would never be closed
                pass
            await process.wait()


def _scratch(content: bytes) -> BinaryIO:
    """A file without a name that holds `content`."""
    if hasattr(os, "memfd_create"):
        file: BinaryIO = os.fdopen(os.memfd_create("orch-search"), "w+b")
    else:
        import tempfile

        file = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
    file.write(content)
    file.seek(0)
    return file
