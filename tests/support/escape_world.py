"""A small world around a workspace, in scratch folders, that a confined command must not be able to change or read.

What counts is what happens, not what a command says: `World.harm` looks at files, sockets, processes and memory.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import pty
import shutil
import signal
import socket
import stat
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from orchestrator.sandbox import Level, Policy, secret_places

SECRET = "s3cret-" + "kept-by-the-user"
"""What must never be printed by a confined command. Files and memory outside hold it."""
REACHED = "REACHED"
"""What a program prints when the kernel did what only an unconfined one may ask for."""
_GETFLAGS = 0x80086601
_MEMORY = 64

_VICTIM = 'exec 3<"$1"; rm "$1"; echo ready; exec sleep 120'
"""A process of the user: a deleted file open as 3, a secret in its environment, its folder where keys are."""


@dataclass
class World:
    """The folders, and what listens in them. `shared` is a System V segment, `terminal` another terminal's master."""

    folder: Path
    victim: subprocess.Popen[bytes]
    listeners: Mapping[str, socket.socket]
    terminal: int
    shared: int
    memory: Any = field(default_factory=lambda: ctypes.create_string_buffer(SECRET.encode(), _MEMORY))
    before: dict[str, object] = field(default_factory=dict)
    signals: list[int] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def temp(self) -> Path:
        return self.folder / "temp"

    @property
    def outside(self) -> Path:
        return self.folder / "outside"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def env(self) -> dict[str, str]:
        """What an attempt is told: where everything is that it should not reach."""
        port = {name: str(each.getsockname()[1]) for name, each in self.listeners.items() if name in ("tcp", "udp")}
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "ORCH_HOME": str(self.home / ".orch-home"),
            "TMPDIR": str(self.temp),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "W": str(self.workspace),
            "OUT": str(self.outside),
            "VICTIM": str(self.victim.pid),
            "ORCH": str(os.getpid()),
            "ADDRESS": str(ctypes.addressof(self.memory)),
            "TCP": port["tcp"],
            "UDP": port["udp"],
            "STREAM": str(self.folder / "daemon.sock"),
            "DATAGRAM": str(self.folder / "log.sock"),
            "ABSTRACT": f"orch-test-{self.folder.name}-{os.getpid()}",
            "PTS": os.ttyname(self.terminal_end),
            "SHM": str(self.shared),
            "PYTHON": sys.executable,
        }

    terminal_end: int = -1

    def policy(self, level: Level, network: bool) -> Policy:
        return Policy(level, network, self.workspace, self.temp, unreadable=secret_places(self.home, self.env))

    def remember(self, level: Level) -> None:
        """Take down what may not change at `level`."""
        self.before = self._state(level)

    def harm(self, level: Level, output: str) -> list[str]:
        """What the attempt did, since `remember`, that it should not have been able to; empty when it was stopped."""
        after = self._state(level)
        found = [
            f"changed {name}" for name in sorted({*self.before, *after}) if self.before.get(name) != after.get(name)
        ]
        found += [f"connected to {name}" for name, each in self.listeners.items() if _was_reached(each)]
        found += ["read a secret"] if SECRET in output else []
        found += ["reached the kernel"] if REACHED in output else []
        found += ["ended another process"] if self.victim.poll() is not None else []
        found += ["sent orch a signal"] if self.signals else []
        found += ["typed into another terminal"] if _pending(self.terminal) else []
        return found

    def _state(self, level: Level) -> dict[str, object]:
        folders = [self.outside, self.home, *([self.workspace] if level == "read-only" else [])]
        state: dict[str, object] = {}
        for folder in folders:
            for path in [folder, *sorted(folder.rglob("*"))]:
                state[str(path.relative_to(self.folder))] = _state_of(path)
        nodes = [path for path in self.workspace.rglob("*") if _is_device(path)]
        state |= {f"device {path.name}": True for path in nodes}
        state["memory of orch"] = self.memory.raw
        state["shared memory"] = _segment(self.shared) if self.shared >= 0 else b""
        state["mounts"] = Path("/proc/self/mountinfo").read_text().count(str(self.folder))
        with suppress(ProcessLookupError):
            state["priority of the victim"] = os.getpriority(os.PRIO_PROCESS, self.victim.pid)
        return state


@contextmanager
def open_world(folder: Path) -> Iterator[World]:
    """A world in `folder`, which is emptied of mounts, processes and sockets at the end."""
    _lay_out(folder)
    held = folder / "held"
    held.write_text(SECRET)
    victim = subprocess.Popen(
        ["bash", "-c", _VICTIM, "victim", str(held)],
        env={"PATH": os.environ["PATH"], "TOKEN": SECRET},
        cwd=folder / "home" / ".ssh",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    master, slave = pty.openpty()
    listeners = _listeners(folder)
    shared = _new_segment()
    world = World(folder, victim, listeners, master, shared, terminal_end=slave)
    former = signal.signal(signal.SIGURG, lambda number, _: world.signals.append(number))
    _quiet(master, slave)
    assert victim.stdout is not None
    victim.stdout.readline()
    try:
        yield world
    finally:
        signal.signal(signal.SIGURG, former)
        for path in _mounted_below(folder):
            subprocess.run(["umount", "-l", path], check=True)
        with suppress(ProcessLookupError):
            os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()
        victim.stdout.close()
        for each in listeners.values():
            each.close()
        os.close(master)
        os.close(slave)
        if shared >= 0:
            _libc().shmctl(shared, 0, None)
        shutil.rmtree(folder, ignore_errors=True)


def _lay_out(folder: Path) -> None:
    for name in ("workspace/src", "temp", "outside/sub", "home/.ssh", "home/.orch-home", "home/dotfiles/aws"):
        (folder / name).mkdir(parents=True)
    for name in ("home/.ssh/id_ed25519", "home/.netrc", "home/.orch-home/config.yaml", "home/dotfiles/aws/credentials"):
        (folder / name).write_text(SECRET + "\n")
    (folder / "home/.aws").symlink_to("dotfiles/aws")
    (folder / "home/.bashrc").write_text("# quiet\n")
    (folder / "home/.gitconfig").write_text("[user]\nname = n\nemail = n@example.org\n")
    (folder / "outside/old").write_text("old\n")
    (folder / "outside/run.sh").write_text("#!/bin/sh\n")
    (folder / "workspace/src/a.txt").write_text("a\n")
    (folder / "workspace/.env").write_text(f"KEY={SECRET}\n")
    for name in ("objects", "refs/heads"):
        (folder / "workspace/.git" / name).mkdir(parents=True)
    (folder / "workspace/.git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / "workspace/.git/config").write_text("[core]\nrepositoryformatversion = 0\nbare = false\n")


def _mounted_below(folder: Path) -> list[str]:
    """Where something is mounted, the last first. Only the kernel knows it of a folder that is mounted elsewhere."""
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in reversed(points) if point.startswith(f"{folder}/")]


def _listeners(folder: Path) -> dict[str, socket.socket]:
    abstract = f"\0orch-test-{folder.name}-{os.getpid()}"
    made: dict[str, tuple[int, int, Any]] = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "a UNIX socket": (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "daemon.sock")),
        "a UNIX datagram socket": (socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "log.sock")),
        "an abstract socket": (socket.AF_UNIX, socket.SOCK_STREAM, abstract),
    }
    listeners: dict[str, socket.socket] = {}
    for name, (family, kind, address) in made.items():
        each = listeners[name] = socket.socket(family, kind)
        each.bind(address)
        if kind == socket.SOCK_STREAM:
            each.listen(8)
        each.setblocking(False)
    return listeners


def _was_reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(100)
    except BlockingIOError:
        return False
    return True


def _state_of(path: Path) -> tuple[object, ...]:
    info = path.lstat()
    kept: tuple[object, ...] = (info.st_mode, info.st_uid, info.st_gid, info.st_nlink if path.is_file() else 0)
    if stat.S_ISLNK(info.st_mode):
        return (*kept, os.readlink(path))  # noqa: PTH115  # bytes of the link itself
    attributes = tuple((name, os.getxattr(path, name)) for name in os.listxattr(path))
    kept = (*kept, info.st_mtime_ns, attributes, _flags(path))
    return (*kept, sha256(path.read_bytes()).hexdigest()) if stat.S_ISREG(info.st_mode) else kept


def _flags(path: Path) -> int:
    if not path.is_file() and not path.is_dir():
        return 0
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return int.from_bytes(fcntl.ioctl(fd, _GETFLAGS, bytes(8)), sys.byteorder)
    except OSError:
        return 0
    finally:
        os.close(fd)


def _is_device(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _quiet(master: int, slave: int) -> None:
    """No echo, so that what shows up at the master was written to the terminal."""
    settings = termios.tcgetattr(slave)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    os.set_blocking(master, False)


def _pending(master: int) -> bool:
    try:
        return bool(os.read(master, 100))
    except (BlockingIOError, OSError):
        return False


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    return libc


def _new_segment() -> int:
    """A System V segment that holds the secret; -1 where there is no such memory."""
    libc = _libc()
    segment: int = libc.shmget(0, ctypes.c_size_t(4096), 0o1600)
    if segment >= 0:
        at = libc.shmat(segment, None, 0)
        ctypes.memmove(at, SECRET.encode(), len(SECRET))
        libc.shmdt(ctypes.c_void_p(at))
    return segment


def _segment(segment: int) -> bytes:
    libc = _libc()
    at = libc.shmat(segment, None, 0)
    content = ctypes.string_at(at, _MEMORY)
    libc.shmdt(ctypes.c_void_p(at))
    return content
