"""Hooks opened as a session opens them, and what they tell the user."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.config import HookEvent, HookSettings
from orchestrator.hooks import Hooks, open_hooks

PATIENCE = 30.0
"""Seconds to wait for what must happen at some time."""


class Opened(NamedTuple):
    hooks: Hooks
    notices: list[tuple[str, str, str]]

    def told(self, level: str) -> list[str]:
        return [message for each, message, _ in self.notices if each == level]


def opened(
    folder: Path,
    settings: Mapping[HookEvent, Sequence[Mapping[str, Any]]] | None = None,
    *,
    files: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
) -> Opened:
    """The hooks of a workspace; `settings` as in the configuration."""
    notices: list[tuple[str, str, str]] = []
    hooks = open_hooks(
        {event: tuple(HookSettings(**each) for each in of_event) for event, of_event in (settings or {}).items()},
        workspace=folder,
        session_id="s1",
        env=dict(os.environ if env is None else env),
        files=files,
        notice=lambda level, message, hint: notices.append((level, message, hint)),
    )
    return Opened(hooks, notices)


def hook_file(folder: Path, text: str) -> Path:
    """A file with Python hooks."""
    path = folder / "hooks.py"
    path.write_text("from orchestrator.hooks import HookOutcome, register_hook\n" + textwrap.dedent(text))
    return path


def python(folder: Path, text: str, name: str = "hook.py") -> str:
    """A command that runs this Python text from a file."""
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return f"{sys.executable} -S {path}"


def call(tool: str = "edit_file", **arguments: Any) -> dict[str, Any]:
    """What is told of a tool call."""
    return {
        "agent": "parent",
        "role": "parent",
        "tool_name": tool,
        "tool_input": arguments,
        "tool_call_id": "c1",
    }


def alive(pid: int) -> bool:
    """Whether a process still runs (one that is dead but not reaped does not)."""
    try:
        os.kill(pid, 0)
        return not Path("/proc/self").exists() or Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False


def eventually(happened: Callable[[], bool]) -> bool:
    """Wait until `happened()`; false when it never does."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
