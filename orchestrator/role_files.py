"""Finding the role files of a workspace, of the user and of orch itself, and reading each one as far as it can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from orchestrator.claude_agents import read_claude_agent
from orchestrator.paths import Places
from orchestrator.problems import START, Problem
from orchestrator.roles import Place
from orchestrator.shipped import shipped_folder
from orchestrator.strict_yaml import Document, Parsed, read_yaml


class Folder(NamedTuple):
    """A folder that may hold roles, in files with this suffix; messages name its files below `shown`."""

    path: Path
    place: Place
    suffix: str
    shown: str


class RoleFile(NamedTuple):
    """One role file. `document` is `None` when nothing could be read from it."""

    name: str
    path: Path
    file: str
    folder: Folder
    document: Document | None
    problems: tuple[Problem, ...]

    @property
    def place(self) -> Place:
        return self.folder.place


def role_folders(workspace: Path, places: Places) -> tuple[Folder, ...]:
    """Every folder that may hold roles; a role of an earlier one hides its namesakes in later ones."""
    user, claude = places.config / "roles", places.claude_agents
    return (
        Folder(workspace / ".orch" / "roles", "workspace", ".yaml", ".orch/roles"),
        Folder(workspace / ".claude" / "agents", "workspace", ".md", ".claude/agents"),
        Folder(user, "user", ".yaml", str(user)),
        Folder(claude, "user", ".md", str(claude)),
        Folder(shipped_folder("roles"), "built-in", ".yaml", "built-in"),
    )


def role_files(folder: Folder, tools: Mapping[str, bool]) -> Iterator[RoleFile]:
    """The role files of one folder, by name; what cannot be listed or read is a `RoleFile` with its problems."""
    try:
        names = sorted(entry.name for entry in folder.path.iterdir() if not entry.name.startswith("."))
    except FileNotFoundError:
        return
    except OSError as error:
        problem = Problem(folder.shown, START, f"cannot be listed: {error.strerror}")
        yield RoleFile("", folder.path, folder.shown, folder, None, (problem,))
        return
    for name in names:
        if name.endswith(folder.suffix):
            yield read_role_file(folder.path / name, f"{folder.shown}/{name}", folder, tools)
        elif folder.suffix == ".yaml" and name.endswith(".yml"):
            yield _not_read(folder.path / name, f"{folder.shown}/{name}", folder)


def read_role_file(path: Path, file: str, folder: Folder, tools: Mapping[str, bool]) -> RoleFile:
    """Read the file at `path`, called `file` in messages. Its role is named in the file, else by the file's name."""
    parsed = read_claude_agent(path, file, tools) if folder.suffix == ".md" else read_yaml(path, file)
    stem = path.name.removesuffix(folder.suffix)
    name = parsed.document.data.get("name") if parsed.document else None
    if not isinstance(name, str):
        return RoleFile(stem, path, file, folder, parsed.document, parsed.problems)
    problems = (*parsed.problems, *_name_warning(name, stem, file, parsed))
    return RoleFile(name, path, file, folder, parsed.document, problems)


def _name_warning(name: str, stem: str, file: str, parsed: Parsed) -> list[Problem]:
    if parsed.document is None or name == stem:
        return []
    position = parsed.document.position(("name",))
    message = f"the role is called `{name}`, its file `{stem}`"
    return [Problem(file, position, message, "give both the same name, so that the role is easy to find", "warning")]


def _not_read(path: Path, file: str, folder: Folder) -> RoleFile:
    problem = Problem(file, START, "not read: role files end in .yaml", "rename it", "warning")
    return RoleFile("", path, file, folder, None, (problem,))
