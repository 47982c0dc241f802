"""What every view of a run offers, and the view that writes one plain line after another."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from orchestrator.events import (
    AgentFinished,
    AgentStarted,
    CacheBroken,
    Compacted,
    Event,
    FilesChanged,
    PermissionAsked,
    PermissionSettled,
    Progress,
    Retry,
    TodosChanged,
    ToolFinished,
    ToolOutput,
)
from orchestrator.safe_text import safe_line, safe_text
from orchestrator.ui.phrases import count, duration, money, retry_line, tool_line
from orchestrator.ui.sink import Sink
from orchestrator.ui.terminal import Glyphs


class View(Protocol):
    """Shows a run on standard error. Nothing here ever blocks the run or raises when nobody reads."""

    def emit(self, event: Event) -> None: ...

    def print(self, text: str) -> None:
        """Write lines that stay."""

    def suspended(self) -> AbstractContextManager[None]:
        """The screen belongs to somebody else (a question to the user) until the context ends."""

    def close(self) -> None:
        """Stop, and take away what does not stay. May be called more than once."""


class PlainView:
    """One line after another, no control sequences. `follow`: also what each agent does."""

    def __init__(self, sink: Sink, glyphs: Glyphs, *, follow: bool, quiet: bool = False) -> None:
        self._sink = sink
        self._glyphs = glyphs
        self._follow = follow
        self._quiet = quiet

    def emit(self, event: Event) -> None:
        if self._follow or (isinstance(event, Retry) and not self._quiet):
            name = safe_line(event.agent)
            for line in _line_of(event, self._glyphs).split("\n"):
                if line:
                    self.print(f"{name}: {line}")

    def print(self, text: str) -> None:
        self._sink.write(text + "\n")

    def suspended(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Nothing to take away."""


def _line_of(event: Event, glyphs: Glyphs) -> str:
    match event:
        case AgentStarted(role=role, model=model, task=task):
            return f"started ({safe_line(role)}, {safe_line(model)}) {safe_line(task[:200])}".rstrip()
        case ToolFinished(ok=ok):
            mark = glyphs.done if ok else glyphs.failed
            return f"{mark} {tool_line(event.tool, event.summary)} ({duration(event.duration_s)})"
        case AgentFinished():
            figures = f"{event.turns} turns, {event.tool_calls} tool calls, {count(event.tokens)} tokens"
            return f"{safe_line(event.status)} ({safe_line(event.stop_reason)}), {figures}, {money(event.cost_usd)}"
        case Retry():
            return retry_line(event)
        case Progress(text=text):
            return safe_line(text)
        case _:
            return _acting_line(event, glyphs)


def _acting_line(event: Event, glyphs: Glyphs) -> str:
    match event:
        case Compacted():
            sizes = f"{count(event.before_tokens)} to {count(event.after_tokens)} tokens"
            return f"shortened its conversation ({event.kind}): {sizes}"
        case CacheBroken(where=where):
            return f"the provider's cache is of no use from here: {safe_line(where)}"
        case ToolOutput(text=text):
            return "\n".join(f"| {line.rstrip()}" for line in safe_text(text).strip("\n").split("\n"))
        case PermissionAsked():
            return f"asks for {tool_line(event.tool, event.summary)}: {safe_line('; '.join(event.why))}"
        case PermissionSettled():
            said = "refused" if event.decision == "no" else f"allowed {safe_line(event.decision)}"
            return f"{safe_line(event.tool)} {said} by {safe_line(event.by)}: {safe_line(event.reason)}".rstrip(": ")
        case FilesChanged(paths=paths):
            return f"changed {safe_line(', '.join(paths))}"
        case TodosChanged(items=items):
            done = sum(status == "completed" for _, _, status in items)
            now = next((f", now: {safe_line(active)}" for _, active, status in items if status == "in_progress"), "")
            return f"{glyphs.done} {done} of {len(items)} done{now}"
    return ""
