"""What the scripted model server answers in each measure, and the folders that the questions are about."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHILD_TASK = "Read the numbered parts of the file."
TURNS_OF_A_CHILD = 5
LINES_READ = 12


def one_reply() -> dict[str, Any]:
    """The same short answer to every request."""
    return {"turns": ["Hello."], "repeat": True, "validate": False, "record": False}


def tool_turns(count: int) -> dict[str, Any]:
    """`count` turns that each read another part of the file, then an answer."""
    return {"turns": [*_reads(count), "Done."], "validate": False, "record": False}


def fan_out(children: int, *, delay: float, record: bool = False) -> dict[str, Any]:
    """One message that delegates to `children` explorers; each reads for some turns and reports."""
    task = {"role": "explorer", "task": CHILD_TASK}
    delegating = {"tool_calls": [{"name": "delegate", "arguments": task} for _ in range(children)]}
    report = {"tool_calls": [{"name": "report", "arguments": {"summary": "Read.", "findings": []}}]}
    child = {"match": CHILD_TASK, "by": "depth", "turns": [*_reads(TURNS_OF_A_CHILD), report]}
    return {
        "routes": [child],
        "turns": [delegating, "Done."],
        "delay": delay,
        "validate": False,
        "record": record,
    }


def _reads(count: int) -> Sequence[dict[str, Any]]:
    calls = (
        {"name": "read_file", "arguments": {"path": "part.txt", "offset": 1 + number, "limit": LINES_READ}}
        for number in range(count)
    )
    return [{"tool_calls": [call]} for call in calls]


def numbered_file(folder: Path) -> Path:
    """A folder with the file that the turns read: lines of about 60 characters."""
    folder.mkdir()
    lines = (f"{number:4} the quick brown fox jumps over the lazy dog, once more" for number in range(1000))
    (folder / "part.txt").write_text("\n".join(lines))
    return folder


def small_repository(folder: Path) -> Path:
    """The sources of a published package of some sixty Python files."""
    spec = importlib.util.find_spec("aiohttp")
    assert spec is not None and spec.origin is not None
    skipped = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
    shutil.copytree(Path(spec.origin).parent, folder / "aiohttp", ignore=skipped)
    return folder
