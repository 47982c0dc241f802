"""A question to the user at the terminal that is answered with yes or no."""

from __future__ import annotations

from typing import TextIO

from orchestrator.safe_text import safe_text


def confirm(stdin: TextIO, stderr: TextIO, shown: str, question: str) -> bool:
    """Show a text, ask, read one line. Only `y` or `yes` is yes; the end of input is no."""
    stderr.write(f"{safe_text(shown)}\n{safe_text(question)} [y/N] ")
    stderr.flush()
    answer = stdin.readline()
    if not answer.endswith("\n"):
        stderr.write("\n")
    return answer.strip().casefold() in ("y", "yes")
