"""Runs a search engine as a process that never outlives the search: killed and reaped on cancellation and timeout."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import Process
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
    """`at_once`: the output is handed on whole at the end. Many small pieces of it can cost more than the search."""

    argv: tuple[str, ...]
    payload: bytes = b""
    at_once: bool = False


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
                if command.at_once:
                    output = files.enter_context(_scratch(b""))
                    code = await _finished(await _start(argv, folder, passed, output, complaints))
                    output.seek(0)
                    consume(output.read())
                else:
                    process = await _start(argv, folder, passed, asyncio.subprocess.PIPE, complaints)
                    code = await _consumed(process, consume)
        except TimeoutError:
            reason = f"the search took over {time_limit:g} seconds; narrow it with path or glob"
            raise ToolError("timeout", reason) from None
        complaints.seek(0)
        return Finished(code, complaints.read(_MAX_COMPLAINTS).decode("utf-8", "replace"))


async def _start(
    argv: list[str], folder: Path, passed: tuple[int, ...], output: BinaryIO | int, complaints: BinaryIO
) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            *argv,
            cwd=folder,
            env=_ENVIRONMENT,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=complaints,
            pass_fds=passed,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError("search_failed", f"{argv[0]} could not be started: {error.strerror}") from error


async def _finished(process: Process) -> int:
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _consumed(process: Process, consume: Callable[[bytes], object]) -> int:
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
