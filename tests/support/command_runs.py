"""Runs commands for real in a scratch repository, and tells what they changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestrator.command_rules import Surroundings
from orchestrator.sandbox import Policy, Sandbox
from orchestrator.shell_syntax import Word

Tree = Mapping[str, tuple[int, str]]


class Scratch:
    """A git repository, a home and a temporary folder below `folder`; commands run confined to them."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.root, self.home, self.temp = folder / "repo", folder / "home", folder / "temp"
        for each in (self.root / "sub" / "empty", self.home, self.temp):
            each.mkdir(parents=True)
        self.sandbox = sandbox
        self.policy = Policy("workspace", False, self.root, self.temp, writable=(self.home,))
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.temp),
            "LC_ALL": "C.UTF-8",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_PAGER": "cat",
            "PAGER": "cat",
            "GIT_CONFIG_NOSYSTEM": "1",
            "EDITOR": "false",
        }
        self._fill()
        self.before = self.tree()

    def _fill(self) -> None:
        (self.root / "a.txt").write_text("b 2\na 1\na 1\n")
        (self.root / "names").write_text("a.txt\n")
        (self.root / "sub" / "b.txt").write_text("c\n")
        (self.home / ".gitconfig").write_text("[user]\nname = n\nemail = n@example.org\n[init]\ndefaultBranch = main\n")
        for argv in (
            ["tar", "-cf", "x.tar", "names"],
            ["git", "init", "-q"],
            ["git", "add", "."],
            ["git", "commit", "-qm", "1"],
        ):
            subprocess.run(argv, cwd=self.root, env=self.env, check=True)
        (self.root / "a.txt").write_text("b 2\na 1\na 3\n")

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(self.root, self.root, self.home, self.env)

    def tree(self) -> Tree:
        """Every file and folder with its mode and content."""
        return dict(_entries(self.root.parent))

    def run(self, text: str, limit: float = 5.0) -> None:
        """Run `text` in bash until it ends, or `limit` seconds."""
        started = self.sandbox.popen(
            ["bash", "-c", text],
            self.policy,
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _end(started, limit)

    def changed(self, text: str) -> list[str]:
        """What running `text` changed."""
        self.run(text)
        after = self.tree()
        return sorted(path for path in {*self.before, *after} if self.before.get(path) != after.get(path))


_RECORD = """command_not_found_handle() { printf '%s\\0' "$@" > "$LOG/$BASHPID"; return 0; }
"""


def programs_run(text: str, folder: Path) -> list[list[str]]:
    """The words of every program that bash would start for `text`, run with a PATH on which there is none.

    `folder` is made; bash runs in it, and redirections write there.
    """
    log, here = folder / "log", folder / "here"
    log.mkdir(parents=True)
    here.mkdir()
    (here / "a.txt").write_text("x\n")
    started = subprocess.Popen(
        ["/bin/bash", "--norc", "-c", _RECORD + text],
        cwd=here,
        env={"PATH": "/nonexistent", "LOG": str(log), "HOME": str(here), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _end(started, 5.0)
    records = (file.read_bytes().decode("utf-8", "replace").split("\0")[:-1] for file in log.iterdir())
    return [record for record in records if record]


def is_call_of(argv: list[str], words: tuple[Word, ...]) -> bool:
    """Whether a command of these words may come to `argv` when its expansions are made."""
    if not words:
        return not argv
    word, rest = words[0], words[1:]
    if word.splits or word.many:
        return any(is_call_of(argv[at:], rest) for at in range(len(argv) + 1))
    if not argv:
        return False
    fits = argv[0] == word.value if word.value is not None else word.tilde or argv[0].startswith(word.prefix)
    return fits and is_call_of(argv[1:], rest)


def _end(started: subprocess.Popen[bytes], limit: float) -> None:
    """Wait for a process, at most `limit` seconds; then end what is left of its group."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        started.wait(limit)
    # Also what is left in the background.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    started.wait()


def _entries(root: Path) -> Iterator[tuple[str, tuple[int, str]]]:
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)  # noqa: PTH118  # thousands of times
            mode = os.lstat(path).st_mode
            content = ""
            if os.path.islink(path):  # noqa: PTH114
                content = os.readlink(path)  # noqa: PTH115
            elif name in files:
                content = hashlib.blake2b(Path(path).read_bytes()).hexdigest()
            yield path, (mode, content)
