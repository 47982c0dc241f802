"""Runs one command to its end and says what it took."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ran:
    """`began` is of `time.monotonic()`, times are in seconds, `peak` is the largest resident set in MB (10^6 bytes).

    The kernel counts what the starting process held at the moment of the start as well, so `peak` is never below the
    size of the benchmark itself, about 30 MB.
    """

    began: float
    wall: float
    cpu: float
    peak: float
    output: str


def run(
    command: Sequence[str | Path], env: Mapping[str, str], *, cwd: Path | None = None, codes: Sequence[int] = (0,)
) -> Ran:
    """Run `command`; raises `RuntimeError` with its output when the exit code is none of `codes`."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.monotonic()
        process = subprocess.Popen(
            command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = code = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        text = output.read().decode(errors="replace")
        if code not in codes:
            raise RuntimeError(f"{command} ended with {code}:\n{text}\n{errors.read().decode(errors='replace')}")
    return Ran(began, wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6, text)
