"""Reading the files that a search named, and remembering which could not be read."""

from __future__ import annotations

from collections import Counter

from orchestrator.errors import ToolError
from orchestrator.tool import Files

MAX_FILE = 20_000_000
"""Bytes of the largest file that is looked into."""

_REASONS = {
    "binary": "binary {files} skipped",
    "too_large": f"{{files}} over {MAX_FILE // 1_000_000} MB skipped",
    "denied": "secret or protected {files} skipped",
    "not_found": "{files} skipped that went away in the meantime",
}


class Reader:
    """Gives the content of files as UTF-8; a file that cannot be read gives `None` and is counted.

    Used in a `with` block, in which the folders of the files are held open.
    """

    def __init__(self, files: Files) -> None:
        self._reading = files.reading()
        self._skipped: Counter[str] = Counter()

    def __enter__(self) -> Reader:
        self._read_text = self._reading.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._reading.__exit__(None, None, None)

    def read(self, path: str) -> bytes | None:
        try:
            file = self._read_text(path)
        except ToolError as error:
            self._skipped[_REASONS.get(error.code, "{files} skipped that cannot be read")] += 1
            return None
        if file.size > MAX_FILE:
            self._skipped[_REASONS["too_large"]] += 1
            return None
        return file.text.encode("utf-8", "surrogatepass")

    def notes(self) -> list[str]:
        """`3 binary files skipped`: one note for each reason."""
        counted = self._skipped.items()
        return [f"{count} {reason.format(files='file' if count == 1 else 'files')}" for reason, count in counted]
