"""Runs `attached_worker` on one file, with limits of time and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.errors import ToolError
from orchestrator.search_process import PAYLOAD, Command, run_engine

_START = (
    "import sys; n = int(sys.argv.pop(1)); sys.path += sys.argv[1 : n + 1]; del sys.argv[1 : n + 1]; "
    "from orchestrator.attached_worker import main; main()"
)
_MAX_OUTPUT = 32 << 20


class Worked(NamedTuple):
    """`said`: the lines of JSON; `data`: the bytes after them; `ended` is empty, "timeout" or "crashed"."""

    said: tuple[Mapping[str, Any], ...]
    data: bytes
    ended: str


def library_folder(name: str) -> Path | None:
    """The folder that the installed library `name` is imported from; `None` when it is not installed."""
    spec = find_spec(name)
    return Path(spec.origin).parent.parent if spec and spec.origin else None


async def run_worker(
    kind: str, settings: Mapping[str, object], data: bytes, library: Path, time_limit: float
) -> Worked:
    """What the worker says of `data`, also when it did not come to its end."""
    folders = [str(Path(__file__).resolve().parent.parent), str(library)]
    start = (sys.executable, "-I", "-S", "-c", _START, str(len(folders)), *folders)
    output = bytearray()

    def consume(chunk: bytes) -> None:
        output.extend(chunk)
        if len(output) > _MAX_OUTPUT:
            raise ToolError("too_large", "the worker says too much")

    ended = ""
    try:
        finished = await run_engine(
            Command((*start, kind, json.dumps(settings), PAYLOAD), data), Path("/"), consume, time_limit
        )
        ended = "crashed" if finished.code else ""
    except ToolError as error:
        ended = "timeout" if error.code == "timeout" else "crashed"
    said, rest = _parsed(bytes(output))
    return Worked(said, rest, ended)


def _parsed(output: bytes) -> tuple[tuple[Mapping[str, Any], ...], bytes]:
    """The whole lines of JSON at the start. The line of an image, which has a `media_type`, is the last one."""
    said: list[Mapping[str, Any]] = []
    at = 0
    while (end := output.find(b"\n", at)) >= 0:
        said.append(json.loads(output[at:end]))
        at = end + 1
        if "media_type" in said[-1]:
            break
    return tuple(said), output[at:]
