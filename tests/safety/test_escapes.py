"""Every attempt to escape works outside the sandbox, and comes to nothing in it. Real commands, the real kernel."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from orchestrator.landlock_sandbox import LandlockSandbox
from orchestrator.sandbox import Sandbox, open_sandbox
from tests.support.attempts import attempt, impossible
from tests.support.escapes import ESCAPES, Escape

HARMLESS_IN_BUBBLEWRAP = ("shared-memory-file", "listen")
"""There a command has shared memory and a loopback interface of its own."""
WITH_BUBBLEWRAP = """new-file symlink hard-link exchange proc-root proc-victim-cwd inherited shell-startup ssh-key chmod
    kernel-setting workspace-write workspace-commit environment-file read-key read-linked move-key victim-environment
    tcp udp raw-online unix unix-online abstract unix-pair tmux kill signal-orch trace read-memory shared-segment
    other-terminal user-namespace mount io-uring old-abi own-set-user-id take-terminal"""
"""Namespaces and mounts are few and simple: an attempt of each kind is enough."""
WITH_EARLY_LANDLOCK = (
    "new-file truncate truncate-call move-out read-key tcp udp unix signal-orch signal-orch-by-file chmod"
)
EARLY_ABI = 3


@cache
def opened(name: str) -> Sandbox:
    return open_sandbox(True, os.environ, prefer=name)


def sandbox(name: str) -> Sandbox:
    if opened(name).name != name:
        pytest.skip(f"no {name} here")
    return opened(name)


def named(names: str) -> list[Escape]:
    return [escape for escape in ESCAPES if escape.name in names.split()]


def check(escape: Escape, box: Sandbox) -> None:
    if why := impossible(escape):
        pytest.skip(why)
    free = attempt(escape, box, confined=False)
    if escape.rare and not free.harm:
        pytest.skip("this kernel does not offer it at all")
    assert free.harm, f"it must work outside the sandbox, else it shows nothing:\n{free.output}"
    confined = attempt(escape, box)
    assert confined.harm == [], confined.output


def test_there_are_many_attempts_and_no_two_have_one_name() -> None:
    names = [escape.name for escape in ESCAPES]
    assert len(set(names)) == len(names) >= 60
    assert {*WITH_BUBBLEWRAP.split(), *WITH_EARLY_LANDLOCK.split()} | set(HARMLESS_IN_BUBBLEWRAP) <= set(names)


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda escape: escape.name)
def test_landlock_stops(escape: Escape) -> None:
    check(escape, sandbox("landlock"))


@pytest.mark.parametrize("escape", named(WITH_BUBBLEWRAP), ids=lambda escape: escape.name)
def test_bubblewrap_stops(escape: Escape) -> None:
    check(escape, sandbox("bubblewrap"))


@pytest.mark.parametrize("escape", named(WITH_EARLY_LANDLOCK), ids=lambda escape: escape.name)
def test_an_early_landlock_stops(escape: Escape) -> None:
    """What a later kernel does by itself, the filter of system calls does for an earlier one."""
    sandbox("landlock")
    check(escape, LandlockSandbox(Path.home(), os.environ, abi=EARLY_ABI))
