"""The sandbox made by the `bwrap` program (bubblewrap): namespaces and mounts, and the filter of system calls."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.sandbox import NoSandbox, Policy, private_env
from orchestrator.seccomp import Filter, filter_program, seccomp_works
from orchestrator.secret_places import startup_files
from orchestrator.unreadable import hidden_paths

_ALONE = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL")
_GUARDED = (".git/hooks", ".git/config", ".git/info", ".orch", ".envrc", ".vscode", ".idea", ".claude")
"""In the workspace, what runs by itself or widens rights: read-only for commands where it exists."""
_KERNEL_SETTINGS = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/fs")
"""Owned by the superuser, who can write them without any capability."""
_TRIAL_SECONDS = 10

_LIMITS = (
    "a file that runs by itself, such as a hook of git, is guarded in the workspace only if it is there already",
    "programs that need a UNIX socket, a namespace or System V shared memory do not work",
)
_UNFILTERED = "system calls are not filtered on this machine: a command can reach UNIX sockets such as Docker's"


class BubblewrapSandbox:
    """Everything read-only but what the policy lets be written; other processes, devices and secrets are not there.

    With the network off a command has a loopback interface of its own.
    """

    name = "bubblewrap"

    def __init__(self, program: str, home: Path) -> None:
        self._program = program
        self._home = home
        self._filters = seccomp_works()
        self.limits = _LIMITS if self._filters else (*_LIMITS, _UNFILTERED)

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
        given = private_env(policy, env)

        def start(command: Sequence[str], fds: Sequence[int]) -> subprocess.Popen[bytes]:
            return NoSandbox().popen(
                command, policy, cwd=cwd, env=given, stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=fds
            )

        if policy.level == "off":
            return start(argv, pass_fds)
        options = [*_ALONE, *bubblewrap_options(policy, self._home), "--chdir", str(cwd)]
        if not self._filters:
            return start([self._program, *options, "--", *argv], pass_fds)
        filter_fd = _in_memory(filter_program(Filter(network=True, metadata=True, debugging=True)))
        try:
            filtered = [self._program, *options, "--seccomp", str(filter_fd), "--", *argv]
            return start(filtered, (*pass_fds, filter_fd))
        finally:
            os.close(filter_fd)

    def explain(self, policy: Policy, exit_code: int | None, output: str) -> str:
        from orchestrator.sandbox_failures import explain_failure

        return explain_failure(policy, exit_code, output)


def bubblewrap_options(policy: Policy, home: Path) -> list[str]:
    """What `bwrap` is to mount for a policy; what comes later covers what came before.

    `home` is whose startup files are guarded.
    """
    temp, workspace = os.path.realpath(policy.temp), os.path.realpath(policy.workspace)
    writable = [temp]
    if policy.level == "workspace":
        writable += [workspace, *(os.path.realpath(path) for path in policy.writable)]
    hidden = sorted(hidden_paths(policy))
    options = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    options += [word for path in _KERNEL_SETTINGS for word in ("--ro-bind-try", path, path)]
    options += [] if policy.network else ["--unshare-net"]
    for path in hidden:
        options += _hide(path)
    options += ["--ro-bind", workspace, workspace]
    for path in writable:
        options += ["--dev-bind-try" if path.startswith("/dev/") else "--bind-try", path, path]
    for path in _inside(hidden, (workspace, *writable)):
        options += _hide(path)
    if policy.level == "workspace":
        guarded = [*_guarded(Path(workspace)), *_inside(_existing(startup_files(home)), writable)]
        options += [word for path in guarded for word in ("--ro-bind", path, path)]
    return [*options, *(word for path in hidden if Path(path).is_dir() for word in ("--remount-ro", path))]


def open_bubblewrap(home: Path) -> BubblewrapSandbox | None:
    """The sandbox, when `bwrap` is installed and a trial shows that it may make namespaces."""
    program = shutil.which("bwrap")
    if program is None:
        return None
    sandbox = BubblewrapSandbox(program, home)
    with tempfile.TemporaryDirectory(prefix="orch-trial-") as temp:
        folder = Path(temp)
        nowhere = subprocess.DEVNULL
        started = sandbox.popen(
            ["true"],
            Policy("workspace", False, folder, folder),
            cwd=folder,
            env=os.environ,
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
        )
        try:
            return sandbox if started.wait(_TRIAL_SECONDS) == 0 else None
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()
            return None


def _hide(path: str) -> list[str]:
    return ["--tmpfs", path] if Path(path).is_dir() else ["--ro-bind", "/dev/null", path]


def _inside(paths: Iterable[str], folders: Iterable[str]) -> list[str]:
    return [path for path in paths if any(path.startswith(f"{folder}/") for folder in folders)]


def _existing(paths: Iterable[Path]) -> Iterator[str]:
    return (os.path.realpath(path) for path in paths if path.exists())


def _guarded(workspace: Path) -> Iterator[str]:
    for name in _GUARDED:
        path = workspace / name
        if path.exists() and not path.is_symlink() and not (workspace / ".git").is_symlink():
            yield str(path)


def _in_memory(program: bytes) -> int:
    fd = os.memfd_create("system-call-filter")
    os.write(fd, program)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
