"""What the streams that we write to can show, worked out once from the streams and the environment."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Literal, NamedTuple, TextIO

Links = Literal["none", "file", "file_line"]
"""Whether the terminal follows OSC 8 links, and whether it takes a line number in a `file:` link."""


class Glyphs(NamedTuple):
    """The drawing characters; every one is a single cell."""

    spinner: str
    branch: str
    last_branch: str
    done: str
    failed: str
    waiting: str
    dot: str
    ellipsis: str
    pointer: str


UNICODE = Glyphs("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "├", "└", "✓", "✗", "↻", "·", "…", "▸")
ASCII = Glyphs("|/-\\", "|", "`", "+", "x", "~", "-", "~", ">")


class Terminal(NamedTuple):
    """`escapes`: a terminal that understands control sequences. `color` is about colours only, not bold.

    `forced`: `FORCE_COLOR` asks for the drawn answer even where standard output is not a terminal.
    """

    stdout_tty: bool = False
    stderr_tty: bool = False
    escapes: bool = False
    color: bool = False
    forced: bool = False
    links: Links = "none"
    unicode: bool = True

    @property
    def live(self) -> bool:
        """Whether a view that redraws itself makes sense."""
        return self.stdout_tty and self.stderr_tty and self.escapes

    @property
    def rendered(self) -> bool:
        """Whether the answer is drawn rather than printed as its Markdown source."""
        return self.forced or (self.stdout_tty and self.escapes)

    @property
    def glyphs(self) -> Glyphs:
        return UNICODE if self.unicode else ASCII


def detect_terminal(stdout: TextIO | None, stderr: TextIO | None, environ: Mapping[str, str]) -> Terminal:
    """The capabilities of the two streams under `environ` (TERM, NO_COLOR, FORCE_COLOR, FORCE_HYPERLINK, …)."""
    escapes = environ.get("TERM", "dumb") not in ("dumb", "unknown", "")
    forced = environ.get("FORCE_COLOR", "") not in ("", "0", "false") and not environ.get("NO_COLOR")
    refused = bool(environ.get("NO_COLOR")) or environ.get("FORCE_COLOR") in ("0", "false")
    return Terminal(
        stdout_tty=_is_tty(stdout),
        stderr_tty=_is_tty(stderr),
        escapes=escapes,
        color=forced or (escapes and not refused),
        forced=forced,
        links=_links(environ) if escapes and _is_tty(stdout) else "none",
        unicode=_carries_glyphs(stdout) and _carries_glyphs(stderr),
    )


def terminal_size(stream: TextIO) -> os.terminal_size:
    """Columns and lines of the terminal behind `stream` right now; 80 x 24 where it does not say."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except OSError:
        return os.terminal_size((80, 24))
    return os.terminal_size((size.columns or 80, size.lines or 24))


def tolerate_encoding(*streams: TextIO | None) -> None:
    """Make `streams` print `?` for a character that their encoding lacks, instead of raising."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _is_tty(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _carries_glyphs(stream: TextIO | None) -> bool:
    glyphs = UNICODE
    every = (
        glyphs.spinner
        + glyphs.branch
        + glyphs.last_branch
        + glyphs.done
        + glyphs.failed
        + glyphs.waiting
        + glyphs.pointer
    )
    try:
        every.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _links(environ: Mapping[str, str]) -> Links:
    wish = environ.get("FORCE_HYPERLINK", "")
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if wish in ("0", "false"):
        return "none"
    if "kitty" in term or environ.get("KITTY_WINDOW_ID") or program == "vscode":
        return "file_line"
    marks = ("WT_SESSION", "KONSOLE_VERSION", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR", "ALACRITTY_WINDOW_ID")
    known_program = program in ("iTerm.app", "WezTerm", "ghostty", "Hyper", "rio", "Tabby")
    known_term = term.startswith(("foot", "alacritty", "xterm-ghostty", "wezterm"))
    by_vte = environ.get("VTE_VERSION", "").isdigit() and int(environ["VTE_VERSION"]) >= 5000
    if wish or known_program or known_term or by_vte or any(environ.get(name) for name in marks):
        return "file"
    return "none"
