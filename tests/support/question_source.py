"""A program that asks permission questions at its terminal, for tests that play the user.

    python -m tests.support.question_source '{"requests": [{…}], "live": false}' < commands

It asks once a line comes on standard input. `cancel` on a further line cancels the questions, which Ctrl+C does too.
Replies are printed as `reply: {…}`, and that the event loop went on meanwhile as `beats: yes`.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from orchestrator.approval import PermissionRequest
from orchestrator.events import AgentStarted
from orchestrator.queued_approval import QueuedApprover
from orchestrator.ui.approval import TerminalApprover
from orchestrator.ui.live import LiveView
from orchestrator.ui.sink import Sink
from orchestrator.ui.terminal import Terminal

DEFAULT = {"agent": "explorer-1", "role": "explorer", "task": "look round", "call_id": "c", "tool": "run_shell"}


def request_from(data: Mapping[str, Any]) -> PermissionRequest:
    fields = {**DEFAULT, "lines": ["make"], "why": [], **data}
    return PermissionRequest(**{**fields, "lines": tuple(fields["lines"]), "why": tuple(fields["why"])})


async def ask_all(given: Mapping[str, Any]) -> None:
    live = LiveView(Sink(sys.stderr), sys.stderr, Terminal(True, True, True)) if given.get("live") else None
    if live:
        live.emit(AgentStarted("parent", 0.0, "parent", None, "the task", "m"))
    print("ready", file=sys.stderr, flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    with Path("/dev/tty").open() as keys:  # noqa: ASYNC230  # opening a terminal waits for nothing
        approver = QueuedApprover(TerminalApprover(keys, sys.stderr, live.suspended if live else nullcontext))
        tasks = [asyncio.create_task(approver.ask(request_from(each))) for each in given["requests"]]
        await answered(tasks)
    if live:
        live.close()


async def answered(tasks: list[asyncio.Task[Any]]) -> None:
    loop = asyncio.get_running_loop()

    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGINT, stop.set)
    loop.add_reader(sys.stdin.fileno(), stop.set)
    beats = 0
    while not all(task.done() for task in tasks):
        beats += 1
        await asyncio.wait(tasks, timeout=0.01)
        for task in tasks if stop.is_set() and beats > 1 else ():
            task.cancel()
    loop.remove_reader(sys.stdin.fileno())
    for task in tasks:
        with suppress(asyncio.CancelledError):
            reply = await task
            print("reply:", json.dumps([reply.choice, reply.reason, reply.pattern, reply.by]))
    if any(task.cancelled() for task in tasks):
        print("cancelled")
    print("beats:", "yes" if beats > 1 else "no", flush=True)


if __name__ == "__main__":
    asyncio.run(ask_all(json.loads(sys.argv[1])))
