"""Many files at once: the same results as one after the other, and no process left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from orchestrator.code.tasks import Task, occurrences_task, symbols_task
from orchestrator.code.workers import run_over

CHILDREN = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
pytestmark = pytest.mark.skipif(not CHILDREN.exists(), reason="the system does not list the children of a process")


def bulk(number: int) -> bytes:
    functions = "".join(f"def f{at}(x):\n    return key(x, {at}, 'é') + x.key\n\n" for at in range(40))
    return f"class Big{number}(Base):\n    '''Doc.'''\n{functions}".encode()


FILES = {f"m{number}.py": bulk(number) for number in range(60)}


def children() -> set[int]:
    return {int(pid) for pid in CHILDREN.read_text().split()}


async def until_a_child_runs(before: set[int]) -> set[int]:
    while not (new := children() - before):  # noqa: ASYNC110  # the system tells of no event
        await asyncio.sleep(0)
    return new


@pytest.mark.parametrize("task", [occurrences_task("key"), occurrences_task("Big7.key"), symbols_task()])
async def test_processes_give_the_same_as_working_alone(task: Task[Any]) -> None:
    before = children()
    alone = [task(path, data) for path, data in FILES.items()]
    watching = asyncio.create_task(until_a_child_runs(before))
    assert await run_over(task, list(FILES), FILES.get, processes=2) == alone
    assert watching.done(), "no process was started"
    assert children() <= before


async def test_a_file_without_content_gives_nothing() -> None:
    task = occurrences_task("key")
    found = await run_over(task, ["m1.py", "gone.py", "m2.py"], FILES.get, processes=1)
    assert [result is None for result in found] == [False, True, False]


async def test_cancelling_ends_the_processes() -> None:
    before = children()
    many = [f"m{number % 60}.py" for number in range(6000)]
    working = asyncio.create_task(run_over(occurrences_task("key"), many, FILES.get, processes=2))
    await until_a_child_runs(before)
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert children() <= before


async def test_the_work_of_a_process_that_died_is_done_all_the_same() -> None:
    task = occurrences_task("key")
    before = children()
    many = [f"m{number % 60}.py" for number in range(150)]
    working = asyncio.create_task(run_over(task, many, FILES.get, processes=1))
    for pid in await until_a_child_runs(before):
        os.kill(pid, signal.SIGKILL)
    assert await working == [task(path, FILES[path]) for path in many]
    assert children() <= before
