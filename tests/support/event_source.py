"""A run without agents: reads commands from standard input and gives them to the real writer of this process.

    python -m tests.support.event_source [--output text] [--quiet] [--verbose] [--workspace DIR] < commands

A command is one JSON object a line: an event (`{"type": "turn_started", …}`), a `{"type": "result", …}` that ends
the run, `{"type": "crash"}`, or `{"type": "ask", "question": …}` which reads a line from the terminal.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from orchestrator import events
from orchestrator.headless import open_writer
from orchestrator.messages import Usage
from orchestrator.result import AgentSummary, Citation, ErrorInfo, Result
from orchestrator.ui.terminal import detect_terminal

EVENTS = {cls.type: cls for cls in vars(events).values() if isinstance(cls, type) and issubclass(cls, events.Event)}


def event_from(data: Mapping[str, Any]) -> events.Event:
    fields = dict(data)
    return EVENTS[fields.pop("type")](**fields)


def result_from(data: Mapping[str, Any]) -> Result:
    fields = {key: value for key, value in data.items() if key not in ("type", "schema")}
    fields["citations"] = [Citation(**citation) for citation in fields.get("citations", ())]
    fields["agents"] = [
        AgentSummary(**{**agent, "usage": Usage(**agent["usage"])}) for agent in fields.get("agents", ())
    ]
    fields["usage"] = Usage(**fields.get("usage", {}))
    fields["error"] = ErrorInfo(**fields["error"]) if fields.get("error") else None
    return Result(**fields)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", default="text")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--workspace", type=Path)
    options = parser.parse_args()
    stopped: list[str] = []
    writer = open_writer(
        options.output,
        stdout=sys.stdout,
        stderr=sys.stderr,
        quiet=options.quiet,
        verbose=options.verbose,
        terminal=detect_terminal(sys.stdout, sys.stderr, os.environ),
        workspace=options.workspace,
        on_closed=lambda: stopped.append("closed"),
    )
    with closing(writer):
        for line in sys.stdin.buffer:
            command = json.loads(line)
            if command["type"] == "result":
                return writer.finish(result_from(command))
            if command["type"] == "crash":
                raise RuntimeError("a bug")
            if command["type"] == "ask":
                with writer.suspended():
                    os.write(1, command["question"].encode())
                    with Path("/dev/tty").open() as keyboard:
                        keyboard.readline()
            elif stopped:
                return 99
            else:
                writer.emit(event_from(command))
    return 98


if __name__ == "__main__":
    sys.exit(main())
