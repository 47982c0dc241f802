"""Runs the installed `orch` command as a user would, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ORCH = Path(sys.executable).with_name("orch")
KEY = "sk-test-0123456789abcdef"


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What `orch` needs and nothing of the user's."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "ORCH_HOME", "TMPDIR", "LANG") if name in os.environ}
    return {**kept, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, **(more or {})}


def orch(
    *arguments: str, folder: Path, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run to the end; `stdin=None` is an empty standard input."""
    return subprocess.run(
        [str(ORCH), *arguments],
        cwd=folder,
        input=stdin or "",
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(env),
        check=False,
    )


def start(*arguments: str, folder: Path, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start it and leave it running."""
    return subprocess.Popen(
        [str(ORCH), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(env),
    )


def result_of(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The json result on standard output, which must be all that is there."""
    data = json.loads(run.stdout)
    assert isinstance(data, dict)
    return data


def model_flags(url: str, wire: str = "openai") -> list[str]:
    base = f"{url}/v1" if wire == "openai" else url
    return ["--model", f"{wire}/scripted", "--base-url", base]
