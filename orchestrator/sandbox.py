"""What the kernel keeps commands from: levels, policies, and the choice of what this system offers.

`landlock_sandbox` (Linux, no helper program), `bubblewrap` (Linux, the `bwrap` program) and `seatbelt` (macOS)
implement the same protocol. Each one says in `limits` what it cannot keep a command from.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from orchestrator.secret_places import secret_places

__all__ = [
    "Level",
    "NoSandbox",
    "Policy",
    "Sandbox",
    "confine_process",
    "confine_to_reading",
    "open_sandbox",
    "private_env",
    "sandbox_rows",
    "secret_places",
]

Level = Literal["read-only", "workspace", "off"]
"""`read-only`: no write but to the private temporary folder; `workspace`: the workspace too; `off`: not confined."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What one command may do. All paths are absolute.

    `temp` is a private folder that may always be written; `writable` are more folders or devices that the level
    `workspace` may write. `unreadable` files and folders may not be read, wherever they are: see `secret_places`.
    With `network` off no socket can be opened but pairs that are connected to each other.

    `temp` must exist. A confined command finds it in the variable TMPDIR, and below it the caches that programs cannot
    do without: the sandbox sets them (`private_env`), whoever starts commands need not.
    """

    level: Level
    network: bool
    workspace: Path
    temp: Path
    writable: tuple[Path, ...] = ()
    unreadable: tuple[Path, ...] = ()


_CACHES = {"npm_config_cache": "npm", "GOCACHE": "go-build", "UV_CACHE_DIR": "uv"}
"""Programs that fail when they cannot write their cache, and the folder for it in the private temporary one."""


def private_env(policy: Policy, env: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command: temporary files and caches go where it may write. A cache set by the user stays."""
    if policy.level == "off":
        return dict(env)
    temp = str(policy.temp)
    return {name: f"{temp}/{folder}" for name, folder in _CACHES.items()} | dict(env) | {"TMPDIR": temp}


class Sandbox(Protocol):
    """Starts commands under a policy."""

    @property
    def name(self) -> str:
        """`landlock`, `bubblewrap`, `seatbelt` or `none`."""

    @property
    def limits(self) -> tuple[str, ...]:
        """What it cannot keep a command from, or what does not work in it; a sentence each."""

    def popen(
        self,
        argv: Sequence[str],
        policy: Policy,
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: int,
        stdout: int,
        stderr: int,
        pass_fds: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        """Start `argv` in a session and process group of its own, without a terminal. Blocks for a few milliseconds.

        `stdin`, `stdout` and `stderr` are descriptors or the constants of `subprocess`; besides these and `pass_fds`
        nothing that is open here is handed on. Raises `OSError` when the program cannot be started (bubblewrap says
        so in the command's output instead), or when it cannot be confined: nothing runs then.
        """

    def explain(self, policy: Policy, exit_code: int | None, output: str) -> str:
        """One line that says what the sandbox probably kept a failed command from, else an empty text."""


class NoSandbox:
    """Runs commands as they are."""

    name = "none"
    limits = ("commands may do all that you may do yourself",)

    def popen(
        self,
        argv: Sequence[str],
        policy: Policy,
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: int,
        stdout: int,
        stderr: int,
        pass_fds: Sequence[int] = (),
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )

    def explain(self, policy: Policy, exit_code: int | None, output: str) -> str:
        return ""


def sandbox_rows(sandbox: Sandbox) -> list[tuple[str, str]]:
    """For `orch doctor`: which sandbox is in force, what it cannot do, and what to install when there is none."""
    rows = [(sandbox.name, _WHAT_IT_IS[sandbox.name])]
    if sandbox.name == "none" and sys.platform == "linux":
        rows.append(("to have one", _TO_HAVE_ONE))
    return rows + [("limit", each) for each in sandbox.limits]


_WHAT_IT_IS = {
    "landlock": "commands are confined by the kernel's Landlock and a filter of system calls; nothing to install",
    "bubblewrap": "commands are confined by namespaces that `bwrap` makes, and a filter of system calls",
    "seatbelt": "commands are confined by macOS itself (sandbox-exec)",
    "none": "COMMANDS ARE NOT CONFINED: only permissions stand between a command and your files",
}
_TO_HAVE_ONE = (
    "use Linux 6.2 or later with Landlock switched on (`lsm=` of the kernel's command line names it), or install"
    " bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap` or `apk add bubblewrap`. In a container, allow the"
    " system calls landlock_* or user namespaces"
)


def open_sandbox(enabled: bool, env: Mapping[str, str], *, prefer: str | None = None) -> Sandbox:
    """The strongest sandbox that works here, tried out; `NoSandbox` when `enabled` is false or there is none.

    `prefer` names the only one to try (`landlock`, `bubblewrap`, `seatbelt`, `none`).
    """
    if not enabled or prefer == "none":
        return NoSandbox()
    for name, opened in _candidates(Path(env.get("HOME") or Path.home()), env):
        if prefer in (None, name) and (sandbox := opened()) is not None:
            return sandbox
    return NoSandbox()


def _candidates(home: Path, env: Mapping[str, str]) -> Iterator[tuple[str, Callable[[], Sandbox | None]]]:
    if sys.platform == "darwin":
        from orchestrator.seatbelt import open_seatbelt

        yield "seatbelt", lambda: open_seatbelt(home)
    elif sys.platform == "linux":
        from orchestrator.bubblewrap import open_bubblewrap
        from orchestrator.landlock_sandbox import USEFUL_ABI, open_landlock

        yield "landlock", lambda: open_landlock(home, env, at_least=USEFUL_ABI)
        yield "bubblewrap", lambda: open_bubblewrap(home)
        yield "landlock", lambda: open_landlock(home, env, at_least=1)


def confine_process(policy: Policy) -> bool:
    """Keep this process, and all that it starts later, from changing files but where `policy` says. For good.

    To be called before any thread is started. Only writing is confined: to `temp`, and `writable`; at the level
    `workspace` to the workspace too. Reading, the network and signals stay as they are, and so does what is open.
    Gives whether it holds: false where the kernel has no Landlock, or an early one.
    """
    if policy.level == "off" or sys.platform != "linux":
        return False
    from orchestrator.landlock_sandbox import confine_writing

    workspace = (policy.workspace,) if policy.level == "workspace" else ()
    return confine_writing((policy.temp, *policy.writable, *workspace))


def confine_to_reading(writable: Sequence[Path]) -> bool:
    """Keep this process from changing any file outside the folders `writable`, which are made if need be.

    Temporary files of this process go to the folder `tmp` in the last of them, since the usual one is everyone's and
    may hold the workspace. See `confine_process`.
    """
    temp = writable[-1] / "tmp"
    for folder in (*writable, temp):
        folder.mkdir(parents=True, exist_ok=True)
    holds = confine_process(Policy("read-only", True, temp, temp, tuple(writable)))
    if holds:
        tempfile.tempdir = str(temp)
    return holds
