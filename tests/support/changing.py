"""A session that changes real files, as its checkpoints see it, and the whole tree as it is at a moment."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from orchestrator.checkpoint_commands import Wanted, diff_command, redo_command, undo_command
from orchestrator.checkpoints import Checkpoints
from orchestrator.paths import Places
from orchestrator.role_commands import Output

Tree = dict[str, tuple[str, int, bytes]]
"""Kind, mode and content (of a link its target) of everything below a folder, by path; git's own files apart."""


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def whole_tree(root: Path) -> Tree:
    found: Tree = {}
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in [*folders, *files]:
            path = Path(folder, name)
            status = path.lstat()
            mode = stat.S_IMODE(status.st_mode)
            key = path.relative_to(root).as_posix()
            if stat.S_ISLNK(status.st_mode):
                found[key] = ("link", 0, os.fsencode(os.readlink(path)))  # noqa: PTH115  # its bytes are compared
            elif stat.S_ISDIR(status.st_mode):
                found[key] = ("folder", mode, b"")
            elif not stat.S_ISREG(status.st_mode):
                found[key] = ("other", mode, b"")
            else:
                found[key] = ("file", mode, path.read_bytes())
    return found


class ChangingSession:
    """`notices` holds what the user is told, as (level, message, hint)."""

    def __init__(self, base: Path, root: Path, session: str = "s1") -> None:
        self.places = Places(base / "config", base / "state", base / "cache", base / "claude")
        self.root = root
        self.notices: list[tuple[str, str, str]] = []
        self.folder = self.places.state / "sessions" / session / "checkpoints"
        self.checkpoints = Checkpoints(
            self.folder, root, shadow=self.places.cache / "shadow", notice=lambda *told: self.notices.append(told)
        )

    def turn(self, number: int) -> None:
        self.checkpoints.turn(number)

    def edit(self, paths: Sequence[str], change: Callable[[], object], agent: str = "parent") -> None:
        """What an edit does: announce it, change files, say that it is done. New folders are announced as such."""
        missing = {
            parent.as_posix()
            for path in paths
            for parent in Path(path).parents
            if parent != Path() and not (self.root / parent).exists()
        }
        for folder in sorted(missing):
            (self.root / folder).mkdir()
        token = self.checkpoints.begin(agent, paths, sorted(missing))
        change()
        self.checkpoints.finish(token)

    def write(self, path: str, data: bytes, agent: str = "parent") -> None:
        self.edit([path], lambda: (self.root / path).write_bytes(data), agent)

    def delete(self, path: str) -> None:
        self.edit([path], (self.root / path).unlink)

    async def shell(self, command: str, agent: str = "parent") -> list[str]:
        """Run a command between two looks at the tree; gives the paths that are said to have changed."""
        await self.checkpoints.before_shell()
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", command, cwd=self.root, stdin=asyncio.subprocess.DEVNULL
        )
        await process.wait()
        return list(await self.checkpoints.after_shell(agent))

    def end(self) -> None:
        self.checkpoints.close()

    def undo(self, *, session: str | None = None, dry_run: bool = False) -> Output:
        self.end()
        return undo_command(self.places, self.root, Wanted(session, dry_run))

    def redo(self) -> Output:
        self.end()
        return redo_command(self.places, self.root)

    def diff(self) -> str:
        return diff_command(self.places, self.root).text
