"""The rule that "always" would add: as narrow as it can be and still be of use the next time."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.permission_patterns import COMMAND_TOOL, exact_command, exact_path

_SUBCOMMANDS = {
    "git": "add commit merge switch stash tag mv cherry-pick",
    "npm": "install ci test",
    "pnpm": "install test",
    "yarn": "install test",
    "pip": "install",
    "pip3": "install",
    "cargo": "build test check clippy fmt doc bench add",
    "go": "fmt mod get",
    "dotnet": "build test restore",
    "bundle": "install",
    "composer": "install",
    "poetry": "install lock add",
    "uv": "sync lock add",
    "docker": "build",
}
"""Programs that are many in one, with those of their commands that may be allowed with whatever follows.

What runs any program that an option names (`npm exec`, `uv run`, `docker run`, `git rebase`, `git push`, `go test`) is
not among them.
"""
_SCRIPTS = frozenset({"npm", "pnpm", "yarn"})


def offer_for_command(words: Sequence[str]) -> str:
    """`run_shell(git push *)` for a command of a program that is many in one, else the exact command; maybe empty."""
    named = _length(words)
    pattern = exact_command(words[:named] if named else words)
    if not pattern:
        return ""
    return f"{COMMAND_TOOL}({pattern} *)" if named else f"{COMMAND_TOOL}({pattern})"


def _length(words: Sequence[str]) -> int:
    """How many words name the command of a program that is many in one; 0 where it is not."""
    if len(words) < 2:
        return 0
    if words[0] in _SCRIPTS and words[1] == "run" and len(words) > 2 and not words[2].startswith("-"):
        return 3
    return 2 if words[1] in _SUBCOMMANDS.get(words[0], "").split() else 0


def offer_for_files(tool: str, paths: Sequence[str]) -> str:
    """`edit_file(src/*)` for files of one folder, the file itself at the root; empty where one rule does not do.

    `paths` are relative to the workspace, with links followed.
    """
    folders = {path.rpartition("/")[0] for path in paths}
    if len(folders) != 1 or any(path == "." for path in paths):
        return ""
    folder = folders.pop()
    if not folder:
        return f"{tool}({only})" if len(set(paths)) == 1 and (only := exact_path(paths[0])) else ""
    shown = exact_path(folder)
    return f"{tool}({shown}/*)" if shown else ""
