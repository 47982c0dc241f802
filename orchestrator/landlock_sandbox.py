"""The sandbox of Linux kernels with Landlock: no helper program, nothing to install, a few milliseconds a command.

Landlock's rules, the filter of system calls and the loss of privileges bind single threads. Each command is therefore
started by a thread of its own, which confines itself, starts the command and ends; the command inherits it all.
"""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from orchestrator.landlock import (
    CHANGE,
    DEVICE_NODES,
    READ,
    SCOPE_SINCE,
    TRUNCATE_SINCE,
    Fs,
    Ruleset,
    forbid_new_privileges,
    landlock_abi,
)
from orchestrator.privileges import drop_capabilities, hide_memory
from orchestrator.sandbox import NoSandbox, Policy, private_env
from orchestrator.seccomp import Filter, bind_filter, seccomp_works
from orchestrator.secret_places import secret_places, startup_files
from orchestrator.unreadable import hidden_paths

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_SHARED_MEMORY = "/dev/shm"
USEFUL_ABI = TRUNCATE_SINCE
"""The first version that keeps files from being cut short; with less, bubblewrap is better."""
_ALL = READ | CHANGE | DEVICE_NODES | Fs.IOCTL_DEV

Layer = Literal["privileges", "landlock", "filter"]
LAYERS: frozenset[Layer] = frozenset(("privileges", "landlock", "filter"))

_LIMITS = (
    "what a command creates in the workspace may lie anywhere in it, also in .git/hooks and .orch: Landlock cannot take"
    " a folder out of one that may be written",
    "at the level `workspace` a command can change the permissions and times of the user's files outside the workspace",
    "at the level `workspace` a command can change the shared memory in /dev/shm of the user's other programs",
    "the names in folders of secrets can be listed, and the command lines of other processes read",
    "programs that need a UNIX socket (docker, ssh-agent, forkserver of Python), a pseudo-terminal, a namespace or"
    " System V shared memory do not work",
    "at the level `read-only`, chmod, touch and the like do not work in the temporary folder either",
)
_LATER_ABIS = (
    (2, "a file cannot be moved or linked from one folder to another (the kernel's Landlock is too old)"),
    (6, "a command can send signals to other processes of the user, though not to orch itself"),
)


class LandlockSandbox:
    """Landlock together with a filter of system calls. `home` is whose startup files are guarded.

    It may make do with an older version `abi` than the kernel's. With fewer `layers` it is shown what each of them
    stops; commands of agents always get all. While there is one, other processes of the user cannot look into this
    process, nor can a debugger: what it knows (keys) is not for the commands that it starts.
    """

    name = "landlock"

    def __init__(self, home: Path, env: Mapping[str, str], *, abi: int = 0, layers: Collection[Layer] = LAYERS) -> None:
        self._abi = min(landlock_abi(), abi or landlock_abi())
        self._layers = layers
        self._guarded = tuple(os.path.realpath(path) for path in (*startup_files(home), *secret_places(home, env)))
        self.limits = _LIMITS + tuple(text for version, text in _LATER_ABIS if self._abi < version)
        hide_memory()

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

        def start() -> subprocess.Popen[bytes]:
            return NoSandbox().popen(
                argv, policy, cwd=cwd, env=given, stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=pass_fds
            )

        if policy.level == "off":
            return start()
        with Ruleset(self._abi, _ALL, tcp=not policy.network, scope=True) as rules:
            self._fill(rules, policy, [fd for fd in (stdout, stderr) if fd >= 0])
            return _in_a_thread(lambda: self._confined(rules, policy, start))

    def explain(self, policy: Policy, exit_code: int | None, output: str) -> str:
        from orchestrator.sandbox_failures import explain_failure

        return explain_failure(policy, exit_code, output)

    def _confined(
        self, rules: Ruleset, policy: Policy, start: Callable[[], subprocess.Popen[bytes]]
    ) -> subprocess.Popen[bytes]:
        if "privileges" in self._layers:
            drop_capabilities()
        forbid_new_privileges()
        if "landlock" in self._layers:
            rules.bind()
        if "filter" in self._layers:
            # This thread is confined like the command until it ends, so Landlock lets the command reach it.
            bind_filter(self._filter(policy), untouchable=(os.getpid(), threading.get_native_id()))
        return start()

    def _filter(self, policy: Policy) -> Filter:
        may_change = policy.level == "workspace"
        return Filter(
            policy.network,
            metadata=may_change,
            debugging=may_change,
            truncate=self._abi >= TRUNCATE_SINCE,
            signals=self._abi >= SCOPE_SINCE,
        )

    def _fill(self, rules: Ruleset, policy: Policy, outputs: Sequence[int]) -> None:
        hidden = hidden_paths(policy)
        rules.allow("/", Fs.READ_DIR)
        rules.allow_all(visible("/", {*hidden, "/dev"}), READ)
        rules.allow_all((f"/dev/{name}" for name in _DEVICES), Fs.READ_FILE | Fs.WRITE_FILE)
        rules.allow_all(visible(str(policy.workspace), hidden), READ)
        rules.allow(os.path.realpath(policy.temp), READ | CHANGE)
        for fd in outputs:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                rules.allow_open(fd, Fs.WRITE_FILE | Fs.TRUNCATE)
        if policy.level == "workspace":
            self._fill_writable(rules, policy, hidden)

    def _fill_writable(self, rules: Ruleset, policy: Policy, hidden: Collection[str]) -> None:
        rules.allow_all(visible(os.path.realpath(policy.workspace), self._guarded), CHANGE)
        rules.allow(_SHARED_MEMORY, READ | CHANGE)  # locks and queues of Python's processes are files there
        for path in policy.writable:
            real = os.path.realpath(path)
            rules.allow_all(visible(real, hidden), READ)
            rules.allow_all(visible(real, self._guarded), CHANGE | Fs.IOCTL_DEV)


def open_landlock(home: Path, env: Mapping[str, str], *, at_least: int) -> LandlockSandbox | None:
    """The sandbox, when the kernel has Landlock of version `at_least` and filters system calls."""
    return LandlockSandbox(home, env) if landlock_abi() >= at_least and seccomp_works() else None


def confine_writing(writable: Sequence[Path]) -> bool:
    """Bind the calling thread: files change only in `writable` and devices. Gives whether the kernel can do so."""
    abi = landlock_abi()
    if abi < USEFUL_ABI:
        return False
    forbid_new_privileges()
    with Ruleset(abi, CHANGE | DEVICE_NODES) as rules:
        rules.allow("/dev", Fs.WRITE_FILE)
        rules.allow_all((_SHARED_MEMORY, *(os.path.realpath(path) for path in writable)), CHANGE)
        rules.bind()
    return True


def visible(root: str, hidden: Collection[str]) -> Iterator[str]:
    """The topmost paths at or below `root` that hold nothing of `hidden`, links left out."""
    return _visible(root, frozenset(hidden), _folders_above(hidden))


def _folders_above(paths: Collection[str]) -> set[str]:
    found = {"/"} if paths else set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found


def _visible(root: str, hidden: Collection[str], parents: Collection[str]) -> Iterator[str]:
    if root in hidden:
        return
    if root not in parents:
        yield root
        return
    try:
        names = os.listdir(root)  # noqa: PTH208  # names are enough, and this is done for every command
    except OSError:
        return
    for name in names:
        path = f"{root.rstrip('/')}/{name}"
        if path in parents:
            yield from _visible(path, hidden, parents)
        elif path not in hidden:
            yield path


def _in_a_thread(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    """Call `start` in a thread that exists for nothing else."""
    started: list[subprocess.Popen[bytes]] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            started.append(start())
        except BaseException as error:  # noqa: BLE001  # raised again below, where the caller is
            failed.append(error)

    thread = threading.Thread(target=run, name="confined-start")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return started[0]
