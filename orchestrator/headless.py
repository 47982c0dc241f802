"""Events and the result of a run, written for people and for programs: `text`, `json`, `stream-json`.

Standard output carries the result only; everything else goes to standard error. See docs/headless.md.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal, Protocol, TextIO

from orchestrator.errors import OrchError
from orchestrator.events import Event, FilesChanged, Notice, as_dict
from orchestrator.messages import scrub
from orchestrator.result import ErrorInfo, Result
from orchestrator.safe_text import safe_line, safe_text
from orchestrator.ui.phrases import count, duration, money
from orchestrator.ui.plain import PlainView, View
from orchestrator.ui.sink import Sink
from orchestrator.ui.terminal import Terminal, terminal_size

Output = Literal["text", "json", "stream-json"]
OUTPUTS: tuple[Output, ...] = ("text", "json", "stream-json")

_EXIT_CODES = {"ok": 0, "failed": 1, "incomplete": 3, "denied": 4, "aborted": 130}
_STOPPED: Mapping[str, tuple[str, str]] = {
    "max_turns": ("the limit of turns was reached", "raise it with --max-turns"),
    "budget": ("the budget was used up", "raise it with --max-usd or --max-tokens"),
    "timeout": ("the time was up", "raise it with --timeout"),
    "loop_guard": ("the model repeated itself without progress", "ask more narrowly, or try another model"),
    "denied": ("a permission was denied", "see docs/permissions-and-sandbox.md"),
    "aborted": ("stopped on request", ""),
    "error": ("something failed", ""),
}


def exit_code_for(result: Result) -> int:
    """The exit code of the process; an error that knows its own (2 configuration, 75 provider) keeps it."""
    if result.status == "failed" and result.exit_code:
        return result.exit_code
    return _EXIT_CODES[result.status]


class Writer(Protocol):
    """Takes the events of one run and then its result."""

    def emit(self, event: Event) -> None: ...

    def finish(self, result: Result) -> int:
        """Write the result. Gives the exit code: 1 if it could not be written, else that of the result."""

    def suspended(self) -> AbstractContextManager[None]:
        """The screen and the keyboard belong to a question to the user until the context ends."""

    def close(self) -> None:
        """Leave the screen clean; for a run that ends without a result. May be called more than once."""


class Diagnostics:
    """What goes to standard error in every output format: notices, retries, errors, how the run ended."""

    def __init__(self, view: View, *, quiet: bool) -> None:
        self.view = view
        self._quiet = quiet
        self._changed: dict[str, None] = {}

    def emit(self, event: Event) -> None:
        if isinstance(event, FilesChanged):
            self._changed.update(dict.fromkeys(event.paths))
        if isinstance(event, Notice):
            self._notice(event)
        else:
            self.view.emit(event)

    def _notice(self, event: Notice) -> None:
        if self._quiet and event.level != "error":
            return
        level = "" if event.level == "info" else f"{safe_line(event.level)}: "
        self.view.print(f"orch: {level}{safe_line(event.message)}" + _hint(event.hint))

    def error(self, error: ErrorInfo | OrchError) -> None:
        self.view.print(f"orch: error: {safe_text(error.message)}" + _hint(error.hint))

    def ending(self, result: Result) -> None:
        """Say why the run is not `ok`; said also when quiet, since the exit code alone explains nothing."""
        if result.error is not None:
            self.error(result.error)
        elif result.status != "ok":
            reason, hint = _STOPPED.get(result.stop_reason, (result.stop_reason, ""))
            partial = "; the answer is partial" if result.answer and result.status in ("incomplete", "aborted") else ""
            self.view.print(f"orch: {result.status}: {reason} ({result.stop_reason}){partial}" + _hint(hint))
        for line in result.denied:
            self.view.print(f"orch: denied: {safe_line(line)}")
        if self._changed and not self._quiet:
            self.view.print(_changed_line(list(self._changed)))


_MOST_NAMED = 8


def _changed_line(paths: Sequence[str]) -> str:
    named = [safe_line(path) for path in paths[:_MOST_NAMED]]
    more = [f"{len(paths) - len(named)} more"] if len(paths) > len(named) else []
    files = f"{len(paths)} file{'s' if len(paths) != 1 else ''}"
    return f"orch: changed {files}: {', '.join([*named, *more])}" + _hint(
        "`orch diff` shows it, `orch undo` takes it back"
    )


def report_error(error: OrchError, stderr: TextIO | None) -> int:
    """Say an error that came before any run on standard error; gives its exit code."""
    sink = Sink(stderr, lossy=True)
    sink.write(f"orch: error: {safe_text(error.message)}{_hint(error.hint)}\n")
    return error.exit_code


class _Writer:
    """What the writers share: a result that cannot be written is an error, a reader that left is none."""

    def __init__(self, stdout: Sink, diagnostics: Diagnostics, on_closed: Callable[[], None] | None = None) -> None:
        self._stdout = stdout
        self._diagnostics = diagnostics
        self._on_closed = on_closed
        self._failure: OSError | None = None

    def emit(self, event: Event) -> None:
        self._diagnostics.emit(event)

    def suspended(self) -> AbstractContextManager[None]:
        return self._diagnostics.view.suspended()

    def close(self) -> None:
        self._diagnostics.view.close()

    def _put(self, write: Callable[[str], None], text: str) -> None:
        try:
            write(text)
        except OSError as error:
            self._failure = error
            if self._on_closed is not None:
                self._on_closed()

    def _exit_code(self, result: Result) -> int:
        if self._failure is None or self._failure.errno == errno.EPIPE:
            return exit_code_for(result)
        message = f"cannot write the result to standard output: {self._failure.strerror or self._failure}"
        self._diagnostics.error(OrchError(message, "free some space or write somewhere else, then run it again"))
        return 1


class TextWriter(_Writer):
    """The answer for people: drawn on a terminal, else its Markdown as it is. `draw` turns a result into text."""

    def __init__(self, stdout: Sink, diagnostics: Diagnostics, draw: Callable[[Result], str], footer: bool) -> None:
        super().__init__(stdout, diagnostics)
        self._draw = draw
        self._footer = footer

    def finish(self, result: Result) -> int:
        self.close()
        text = self._draw(result)
        if text:
            self._put(self._stdout.write, text)
        self._diagnostics.ending(result)
        if self._footer:
            self._diagnostics.view.print(footer(result))
        return self._exit_code(result)


class JsonWriter(_Writer):
    """The result as one JSON object on one line."""

    def finish(self, result: Result) -> int:
        self.close()
        self._put(self._stdout.write, json_line(result.to_dict()))
        self._diagnostics.ending(result)
        return self._exit_code(result)


class StreamJsonWriter(_Writer):
    """Every event as one JSON object a line, as it happens, and the result as the last line.

    A reader that does not keep up never holds up the run: events wait in memory.
    """

    def emit(self, event: Event) -> None:
        if self._failure is None:
            self._put(self._stdout.offer, json_line(as_dict(event)))
        self._diagnostics.emit(event)

    def finish(self, result: Result) -> int:
        self.close()
        if self._failure is None:
            self._put(self._stdout.write, json_line({"type": "result", **result.to_dict()}))
        self._diagnostics.ending(result)
        return self._exit_code(result)


_PIECE = 1000
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def json_line(data: Mapping[str, Any]) -> str:
    """`data` as one line of pure ASCII JSON: safe in every encoding, for every line splitter, on every terminal."""
    text = _object(data)
    if "\\ud" in text:  # perhaps half a surrogate pair, which many JSON readers refuse
        text = _object(_scrubbed(data))
    return text + "\n"


def _object(data: Mapping[str, Any]) -> str:
    return "{" + ",".join(f"{_encode(key)}:{_value(value)}" for key, value in data.items()) + "}"


def _value(value: Any) -> str:
    """A long list in pieces: while it writes one text, the encoder holds some 30 small ones for each citation."""
    if not isinstance(value, list) or len(value) <= _PIECE:
        return _encode(value)
    pieces = (_encode(value[at : at + _PIECE])[1:-1] for at in range(0, len(value), _PIECE))
    return f"[{','.join(pieces)}]"


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {scrub(key): _scrubbed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(item) for item in value]
    return value


def footer(result: Result) -> str:
    """One line about the run: model, agents, tokens, cost, time, unverified places."""
    agents = len(result.agents)
    unverified = sum(citation.status == "unverified" for citation in result.citations)
    parts = [safe_line(result.model)] if result.model else []
    parts += [f"{agents} agent{'s' if agents != 1 else ''}"] if agents else []
    cached = f" ({count(result.usage.cache_read_tokens)} cached)" if result.usage.cache_read_tokens else ""
    parts += [f"{count(result.usage.total)} tokens{cached}", money(result.cost_usd), duration(result.duration_s)]
    if result.citations:
        places = f"{len(result.citations)} place{'s' if len(result.citations) != 1 else ''}"
        parts.append(f"{places} cited, {f'{unverified} unverified' if unverified else 'all verified'}")
    return "orch: " + ", ".join(parts)


def _hint(hint: str) -> str:
    return f"\n  hint: {safe_text(hint)}" if hint else ""


def open_writer(
    output: Output,
    *,
    stdout: TextIO | None,
    stderr: TextIO | None,
    quiet: bool,
    verbose: bool,
    terminal: Terminal,
    workspace: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    on_closed: Callable[[], None] | None = None,
) -> Writer:
    """The writer for `--output`. `on_closed` is called once when the reader of stream-json has gone away.

    `workspace` makes verified places clickable. The caller calls `close` when the run ends without `finish`.
    """
    view = _view(output, stderr, terminal, quiet=quiet, verbose=verbose)
    diagnostics = Diagnostics(view, quiet=quiet)
    if output == "json":
        return JsonWriter(Sink(stdout), diagnostics)
    if output == "stream-json":
        return StreamJsonWriter(Sink(stdout), diagnostics, on_closed)
    draw = _drawer(stdout, terminal, workspace, environ)
    return TextWriter(Sink(stdout), diagnostics, draw, footer=not quiet)


def _view(output: Output, stderr: TextIO | None, terminal: Terminal, *, quiet: bool, verbose: bool) -> View:
    sink = Sink(stderr, lossy=True)
    glyphs = terminal.glyphs
    if output != "text" or quiet or stderr is None:
        return PlainView(sink, glyphs, follow=verbose and not quiet, quiet=quiet)
    if terminal.live and not verbose:
        from orchestrator.ui.live import LiveView

        return LiveView(sink, stderr, terminal)
    return PlainView(sink, glyphs, follow=verbose or (terminal.stdout_tty and terminal.stderr_tty))


def _drawer(
    stdout: TextIO | None, terminal: Terminal, workspace: Path | None, environ: Mapping[str, str]
) -> Callable[[Result], str]:
    def plain(result: Result) -> str:
        from orchestrator.ui.places import mark_unverified

        return _ending_in_newline(mark_unverified(safe_text(result.answer), result.citations))

    def drawn(result: Result) -> str:
        from orchestrator.ui.answer import render_answer
        from orchestrator.ui.places import Places, file_url, mark_unverified

        checked = [citation for citation in result.citations if citation.status != "unverified"]
        places = Places(checked, result.answer)

        def links(text: str) -> list[tuple[int, int, str]]:
            if workspace is None or terminal.links == "none":
                return []
            return [(p.start, p.end, file_url(workspace, p, terminal.links, environ)) for p in places.find(text)]

        width = terminal_size(stdout).columns if stdout is not None and terminal.stdout_tty else 80
        answer = mark_unverified(safe_text(result.answer), result.citations)
        return render_answer(answer, width=width, color=terminal.color, unicode=terminal.unicode, links=links)

    return drawn if terminal.rendered else plain


def _ending_in_newline(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"
