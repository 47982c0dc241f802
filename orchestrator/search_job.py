"""One run of a search engine, as plain data: ripgrep and the Python engine take the same job and write the same bytes.

`files`   each path followed by NUL
`counts`  path, NUL, the number of matching lines, LF; only files with a match and without a NUL byte
`rows`    path, NUL, then `line:column:text` for a match or `line-text` for context, LF

Paths begin with `./` and are relative to the workspace root; columns count bytes from 1. Complaints go to standard
error; the exit code is 0 for something found, 1 for nothing, 2 for a complaint.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Job:
    mode: Literal["files", "counts", "rows"]
    roots: tuple[str, ...]
    """Files and folders to start from; they themselves are never ignored."""
    rules: tuple[str, ...] = ()
    """Lines of .gitignore from above the roots, relative to the workspace root."""
    names: tuple[str, ...] = ()
    """Globs; a file whose bare name matches none may be left out. No limit when empty."""
    hidden: bool = False
    pattern: str = ""
    literal: bool = False
    word: bool = False
    ignore_case: bool = False
    context: int = 0
    per_file: int = 0
    """Matching lines to write for one file, in `rows`."""

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode("ascii")

    @classmethod
    def from_json(cls, data: bytes) -> Job:
        values: dict[str, Any] = json.loads(data)
        for key in ("roots", "rules", "names"):
            values[key] = tuple(values[key])
        return cls(**values)
