"""Where a search looks: the named files and folders checked, and the .gitignore rules that reach them from above."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import ToolError
from orchestrator.ignore import IgnoreRules, is_ignored, parse_rules, read_lines, rebased
from orchestrator.path_names import raw_path, shown_path
from orchestrator.secret_files import is_secret
from orchestrator.tool import Located
from orchestrator.workspace import WorkspaceFiles

_PROBE = "orch-probe"
"""A name that no rule is written for: if even it is ignored in a folder, the folder's whole content is."""


@dataclass(frozen=True, slots=True)
class Group:
    """Roots (raw, relative) that the same rules from above apply to."""

    roots: tuple[str, ...]
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    groups: tuple[Group, ...]
    files: frozenset[str]
    """The roots that are files: searched whatever the globs and rules say."""
    folders: tuple[str, ...]
    notes: tuple[str, ...]


def find_scope(files: WorkspaceFiles, under: Sequence[str], *, reading: bool) -> Scope:
    """Check `under`. With `reading`, secrets files are refused and binary files left out with a note.

    A folder that is itself ignored is searched when it is named: the rules that ignore it are not applied then.
    """
    named_files: dict[str, None] = {}
    folders: dict[str, Located] = {}
    notes: list[str] = []
    for path in under:
        located = files.locate(path)
        name = raw_path(located.path)
        if located.is_dir:
            _require_no_pipe(located.absolute, located.path)
            folders[name] = located
        elif not reading or _is_searchable(files, located, notes):
            named_files[name] = None
    rules: dict[str, tuple[str, ...]] = {}
    ignored: list[str] = []
    followed: list[str] = list(named_files)
    for name in folders:
        above = _rules_above(files, name)
        if _is_ignored_folder(above, name):
            ignored.append(name)
        else:
            followed.append(name)
            rules.update(above)
    lines = tuple(line for base in sorted(rules, key=len) for line in rebased(rules[base], base))
    groups = (Group(tuple(followed), lines), Group(tuple(ignored)))
    return Scope(tuple(group for group in groups if group.roots), frozenset(named_files), tuple(folders), tuple(notes))


def _require_no_pipe(folder: Path, shown: str) -> None:
    """An engine would wait for ever for a .gitignore that is a named pipe."""
    with suppress(OSError):
        if stat.S_ISFIFO((folder / ".gitignore").stat().st_mode):
            raise ToolError("special_file", f"the .gitignore in {shown} is a named pipe, so nothing can be searched")


def require_no_pipes(root: Path) -> None:
    """The same for every folder below `root`: takes seconds on a large tree, and only a search that hangs needs it."""
    for folder, _, names in os.walk(root):
        if ".gitignore" in names:
            _require_no_pipe(Path(folder), shown_path(os.path.relpath(folder, root)))


def _is_searchable(files: WorkspaceFiles, located: Located, notes: list[str]) -> bool:
    if is_secret(located.path):
        raise ToolError("denied", f"{located.path} is a secrets file, which orch does not search")
    with files.opened(located) as (descriptor, _):
        if _holds_nul(descriptor):
            notes.append(f"{located.path} is binary and was not searched")
            return False
    return True


def _holds_nul(descriptor: int) -> bool:
    chunk = os.read(descriptor, 1 << 16)
    if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    while chunk:
        if b"\0" in chunk:
            return True
        chunk = os.read(descriptor, 1 << 20)
    return False


def _rules_above(files: WorkspaceFiles, folder: str) -> dict[str, tuple[str, ...]]:
    """The lines of each .gitignore in the folders above `folder` up to the root, by that folder, outermost first."""
    if folder == ".":
        return {}
    parts = folder.split("/")
    bases = ["/".join(parts[:depth]) for depth in range(len(parts))]
    found = {base: tuple(read_lines(files.root / base / ".gitignore")) for base in bases}
    return {base: lines for base, lines in found.items() if lines}


def _is_ignored_folder(above: dict[str, tuple[str, ...]], folder: str) -> bool:
    parsed = [parse_rules(base, lines) for base, lines in above.items()]
    stack: list[IgnoreRules] = [rules for rules in parsed if rules is not None]
    parts = folder.split("/")
    for depth in range(1, len(parts) + 1):
        path = "/".join(parts[:depth])
        reaching = [rules for rules in stack if not rules.base or path.startswith(rules.base + "/")]
        if is_ignored(reaching, path, True):
            return True
    return is_ignored(stack, f"{folder}/{_PROBE}", False) and is_ignored(stack, f"{folder}/{_PROBE}", True)
