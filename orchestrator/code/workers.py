"""One pure function over many files, on all processors, started only where that pays.

The files are worked off in this process from the front of the list, with a pause after each in which the event loop
runs. When that is going to take long, worker processes join in from the end of the list. Results come back in order.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, TypeVar

from orchestrator.code.tasks import Task

T = TypeVar("T")

Read = Callable[[str], bytes | None]
"""The content of a file, `None` if it is to be left out."""

_Batch = list[tuple[int, bytes]]
"""Files by their place in the list, with their content."""

FIRST_LOOK = 0.15
"""Seconds of work after which the rest is estimated."""
WORTH_WORKERS = 0.5
"""Seconds of work that must be left for workers to be started: each takes about 0.1 s to start."""
MAX_WORKERS = 7
_BATCH = 200_000
"""Bytes of the files that are sent to a worker at once."""
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from orchestrator.code.worker import main; main()"


def unwatched(done: int) -> None:
    """The progress that nobody wants to know."""


async def run_over(
    task: Task[T],
    paths: Sequence[str],
    read: Read,
    *,
    processes: int | None = None,
    progress: Callable[[int], None] = unwatched,
) -> list[T | None]:
    """The result of `task` for each file, in the order of `paths`; `None` where `read` gives no content.

    `processes` are started at once; by default as many as the machine has processors for, if and when that pays.
    `progress` is called with the number of files that are done, after each or after a few.
    """
    work = _Work(task, paths, read, progress)
    helpers = await _helpers_worth_starting(work) if processes is None else processes
    async with asyncio.TaskGroup() as group:
        for _ in range(helpers):
            group.create_task(_help(work))
        await _finish(work)
    await _finish(work)  # what a worker that died gave back
    return work.results


async def _helpers_worth_starting(work: _Work[Any]) -> int:
    """Work for a moment, and tell from how far that went how many processes would make the rest sooner done."""
    began, total = perf_counter(), len(work.left)
    while work.left and perf_counter() - began < FIRST_LOOK:
        work.do_one()
        await asyncio.sleep(0)
    done = total - len(work.left)
    remaining = (perf_counter() - began) * len(work.left) / done if done else 0.0
    return min(processors() - 1, MAX_WORKERS, len(work.left) // 8) if remaining > WORTH_WORKERS else 0


async def _finish(work: _Work[T]) -> None:
    while work.left:
        work.do_one()
        await asyncio.sleep(0)


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Work(Generic[T]):
    """The files that are left, and the results so far."""

    def __init__(self, task: Task[T], paths: Sequence[str], read: Read, progress: Callable[[int], None]) -> None:
        self.task = task
        self.paths = paths
        self.left = deque(range(len(paths)))
        self.results: list[T | None] = [None] * len(paths)
        self._read = read
        self._progress = progress
        self._done = 0

    def do_one(self) -> None:
        at = self.left.popleft()
        data = self._read(self.paths[at])
        if data is not None:
            self.results[at] = self.task(self.paths[at], data)
        self._count(1)

    def store(self, batch: _Batch, values: list[Any]) -> None:
        for (at, _), value in zip(batch, values, strict=True):
            self.results[at] = self.task.read(value)
        self._count(len(batch))

    def _count(self, files: int) -> None:
        self._done += files
        self._progress(self._done)

    def take_batch(self) -> _Batch:
        """Files from the end of the list, which nobody else will then work on; empty when none are left."""
        batch: _Batch = []
        size = 0
        while self.left and size < _BATCH:
            at = self.left.pop()
            data = self._read(self.paths[at])
            if data is not None:
                batch.append((at, data))
                size += len(data)
        return batch


async def _help(work: _Work[Any]) -> None:
    """Let a new process work on batches until nothing is left. One that cannot start or dies gives its files back."""
    sent: deque[_Batch] = deque()
    try:
        async with _process() as (requests, answers):
            while work.left or sent:
                while len(sent) < 2 and (batch := work.take_batch()):  # one batch is always on its way ahead
                    sent.append(batch)
                    _send(requests, work, batch)
                if not sent:
                    break
                await requests.drain()
                work.store(sent[0], await _answer(answers))
                sent.popleft()
    except (OSError, EOFError):
        work.left.extend(at for batch in sent for at, _ in batch)


async def _answer(answers: asyncio.StreamReader) -> list[Any]:
    line = await answers.readline()
    if not line:
        raise EOFError
    results: list[Any] = json.loads(await answers.readexactly(int(line)))
    return results


def _send(requests: asyncio.StreamWriter, work: _Work[Any], batch: _Batch) -> None:
    files = [[work.paths[at], len(data)] for at, data in batch]
    header = {"task": work.task.name, "arguments": work.task.arguments, "files": files}
    requests.write(json.dumps(header).encode("ascii") + b"\n")
    requests.writelines([data for _, data in batch])


@asynccontextmanager
async def _process() -> AsyncIterator[tuple[asyncio.StreamWriter, asyncio.StreamReader]]:
    """A worker, in a session of its own so that no signal of the terminal reaches it; it is gone when this ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        "-c",
        _START,
        json.dumps(_import_path()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
        cwd="/",
        limit=1 << 26,
        start_new_session=True,
    )
    assert process.stdin and process.stdout
    try:
        yield process.stdin, process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        process.stdin.close()
        await process.stdout.read()
        await process.wait()


def _import_path() -> list[str]:
    """Where this process finds its modules, without the working folder."""
    package_parent = str(Path(__file__).resolve().parent.parent.parent)
    return [*(path for path in sys.path if Path(path).is_absolute()), package_parent]
