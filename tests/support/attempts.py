"""Makes an attempt to escape: in a fresh world, confined by a sandbox or not."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from orchestrator.sandbox import Level, Policy, Sandbox
from tests.support.escape_world import World, open_world
from tests.support.escapes import Escape, argv

SECONDS = 30
PATIENCE = 5
"""Seconds that the harm of a free attempt is waited for, unless the attempt said why there is none."""


class Attempt(NamedTuple):
    """`harm` is what happened; empty when it was stopped."""

    harm: list[str]
    output: str
    exit_code: int
    explained: str


def attempt(escape: Escape, sandbox: Sandbox, *, confined: bool = True) -> Attempt:
    """Run `escape` in a world of its own under `sandbox`, or free (for comparison)."""
    folder = Path(tempfile.mkdtemp(prefix="orch-escape-")).resolve()
    with open_world(folder) as world, _setting(escape, world) as (more, fds):
        level = escape.level
        policy = world.policy(level, escape.network)
        env = {**world.env, **more}
        world.remember(level)
        if confined:
            started = _start(sandbox, policy, escape, world, env, fds if escape.needs == "terminal" else ())
        else:
            free = Policy("off", True, world.workspace, world.temp)
            started = _start(sandbox, free, escape, world, env, fds)
        said = started.communicate(timeout=SECONDS)[0].decode("utf-8", "replace")
        harm = world.harm(level, said) if confined else _harm_to_come(world, level, said)
        return Attempt(harm, said, started.returncode, sandbox.explain(policy, started.returncode, said))


def _harm_to_come(world: World, level: Level, said: str) -> list[str]:
    """What a free attempt does, which may show only after its command has ended: signals, keys, children."""
    until = time.monotonic() + (PATIENCE if not said.strip() else 0)
    while not (harm := world.harm(level, said)) and time.monotonic() < until:
        time.sleep(0.01)
    return harm


def _start(
    sandbox: Sandbox, policy: Policy, escape: Escape, world: World, env: dict[str, str], fds: tuple[int, ...]
) -> subprocess.Popen[bytes]:
    return sandbox.popen(
        argv(escape, sys.executable),
        policy,
        cwd=world.workspace,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=fds,
    )


@contextmanager
def _setting(escape: Escape, world: World) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """What an attempt needs beside the world: variables, and descriptors that are only handed over on purpose."""
    match escape.needs:
        case "inherited":
            fd = os.open(world.outside, os.O_RDONLY)
            os.set_inheritable(fd, True)  # as by a library that does not care
            try:
                yield {"LEAKED": str(fd)}, (fd,)
            finally:
                os.close(fd)
        case "terminal":
            yield {"TERMINAL": str(world.terminal_end)}, (world.terminal_end,)
        case "tmux":
            socket = str(world.folder / "tmux.sock")
            subprocess.run(
                ["tmux", "-S", socket, "-f", "/dev/null", "new-session", "-d", "bash --norc"],
                check=True,
                env=world.env | {"HISTFILE": "/dev/null"},
            )
            try:
                yield {"TMUX_SOCKET": socket}, ()
            finally:
                subprocess.run(["tmux", "-S", socket, "kill-server"], check=True)
        case _:
            yield {}, ()


def impossible(escape: Escape) -> str:
    """Why an attempt cannot even be made here, or an empty text."""
    if escape.needs in ("root", "terminal") and os.geteuid() != 0:
        return "only the superuser can do this at all"
    if escape.needs == "x86_64" and platform.machine() != "x86_64":
        return "another architecture"
    if escape.name == "ports" and os.geteuid() != 0:
        return "only the superuser can do this at all"
    words = set(escape.program.replace("\n", " ").replace("|", " ").replace(";", " ").split())
    missing = [
        name for name in ("gcc", "gdb", "tmux", "curl", "unshare", "git") if name in words and not shutil.which(name)
    ]
    return f"{', '.join(missing)} not installed" if missing else ""
