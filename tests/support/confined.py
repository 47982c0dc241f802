"""Runs a command under a sandbox, in folders of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from orchestrator.sandbox import Level, Policy, Sandbox

IGNORE_USER = {"GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}


class Done(NamedTuple):
    code: int
    output: str
    explained: str


@dataclass(frozen=True)
class Place:
    """A sandbox, and a policy to change with `but`."""

    sandbox: Sandbox
    policy: Policy
    home: Path

    def but(self, **changes: object) -> Place:
        return replace(self, policy=replace(self.policy, **changes))  # type: ignore[arg-type]  # checked by `replace`

    def at(self, level: Level) -> Place:
        return self.but(level=level)

    def run(self, *argv: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done:
        started = self.sandbox.popen(
            argv,
            self.policy,
            cwd=cwd or self.policy.workspace,
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output = started.communicate(timeout=60)[0].decode("utf-8", "replace")
        return Done(started.returncode, output, self.sandbox.explain(self.policy, started.returncode, output))

    def bash(self, command: str, env: Mapping[str, str] | None = None) -> Done:
        return self.run("bash", "-c", command, env=env)

    def python(self, program: str, env: Mapping[str, str] | None = None) -> Done:
        return self.run(sys.executable, "-c", program, env=env)

    @property
    def env(self) -> dict[str, str]:
        here = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TMPDIR": str(self.policy.temp)}
        return here | IGNORE_USER


def make_place(folder: Path, sandbox: Sandbox) -> Place:
    """A git repository with one commit, a private temporary folder and a home, below `folder`."""
    workspace, temp, home = folder / "workspace", folder / "temp", folder / "home"
    for each in (workspace, temp, home / ".ssh"):
        each.mkdir(parents=True)
    (home / ".gitconfig").write_text("[user]\nname = n\nemail = n@example.org\n[init]\ndefaultBranch = main\n")
    (home / ".ssh" / "id_ed25519").write_text("private\n")
    (workspace / "a.txt").write_text("a\n")
    env = {**os.environ, **IGNORE_USER, "HOME": str(home)}
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *arguments], cwd=workspace, env=env, check=True)
    return Place(sandbox, Policy("workspace", False, workspace, temp, unreadable=(home / ".ssh",)), home)
