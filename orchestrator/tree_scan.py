"""The state of a whole tree by what the system says of each file, without reading any."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestrator.git_tree import Listing
from orchestrator.tree_files import Key, is_settled, key_of

_MAX_EMPTY = 64
"""Folders below one that holds no files that are looked through to see whether all of it is empty."""

_OWN = re.compile(r"(?:.*/)?\.orch-[0-9a-f]+(?:-[0-9]+)?\.(?:new|old|tmp)", re.DOTALL)
"""What edits and undo write for a moment beside the file that they replace."""


class Snapshot(NamedTuple):
    """`keys` of the files and links that are there, `folders` with their permissions: those of files and empty ones."""

    keys: dict[str, Key]
    folders: dict[str, int]
    listing: Listing
    began_ns: int


class _Inside(NamedTuple):
    """What a folder holds while its own key stays the same: folders, and whether there is anything else."""

    key: Key
    settled: bool
    folders: list[str]
    files: bool


class TreeScan:
    """Looks at every listed file of the tree below `root`. What a folder holds is only looked at when it changed."""

    def __init__(self, root: Path, exclude: Sequence[str] = ()) -> None:
        self._prefix = f"{root}/"
        self._exclude = tuple(f"{each}/" for each in exclude)
        self._listing: Listing | None = None
        self._by_folder: dict[str, list[str]] = {}
        self._known: dict[str, _Inside] = {}

    def look(self, listing: Listing, began_ns: int) -> Snapshot:
        """The state of the files in `listing`; `began_ns` is when that was asked for."""
        self._group(listing)
        keys: dict[str, Key] = {}
        real = self._real_folders()
        prefix, lstat = self._prefix, os.lstat
        for folder, paths in self._by_folder.items():
            if folder and folder not in real:
                continue
            for path in paths:
                try:
                    status = lstat(prefix + path)
                except OSError:
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    keys[path] = key_of(status)
        folders = {folder: stat.S_IMODE(status.st_mode) for folder, status in real.items() if folder}
        folders.update(self._empty_folders(real))
        return Snapshot(keys, folders, listing, began_ns)

    def _group(self, listing: Listing) -> None:
        """The paths by folder, and every folder above them, each after the one that holds it."""
        if listing is self._listing:
            return
        self._listing = listing
        groups: dict[str, list[str]] = {"": []}
        for path in (*listing.tracked, *listing.others):
            if (self._exclude and path.startswith(self._exclude)) or (".orch-" in path and _OWN.fullmatch(path)):
                continue
            folder = path.rpartition("/")[0]
            if folder not in groups:
                _add_with_parents(groups, folder)
            groups[folder].append(path)
        self._by_folder = dict(sorted(groups.items()))

    def _real_folders(self) -> dict[str, os.stat_result]:
        """The folders that are there and are no links, nor below one."""
        real: dict[str, os.stat_result] = {}
        for folder in self._by_folder:
            parent = folder.rpartition("/")[0]
            if parent and parent not in real:
                continue
            try:
                status = os.lstat(self._prefix + folder)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                real[folder] = status
        return real

    def _empty_folders(self, real: dict[str, os.stat_result]) -> dict[str, int]:
        """Folders in which there is nothing but such folders. Git does not list them, nor what it ignores."""
        found: dict[str, int] = {}
        for folder, status in real.items():
            for path in self._inside(folder, key_of(status)).folders:
                if path not in self._by_folder and not (self._exclude and f"{path}/".startswith(self._exclude)):
                    found.update(self._all_empty(path))
        return found

    def _all_empty(self, folder: str) -> dict[str, int]:
        """`folder` and all below it with their permissions, when there are no files; else nothing."""
        pending, found = [folder], dict[str, int]()
        while pending:
            path = pending.pop()
            try:
                status = os.lstat(self._prefix + path)
            except OSError:
                return {}
            inside = self._inside(path, key_of(status))
            if inside.files or len(found) == _MAX_EMPTY:
                return {}
            found[path] = stat.S_IMODE(status.st_mode)
            pending += inside.folders
        return found

    def _inside(self, folder: str, key: Key) -> _Inside:
        known = self._known.get(folder)
        if known is None or not known.settled or known.key != key:
            known = self._known[folder] = _look_inside(self._prefix, folder, key)
        return known


def changed_between(former: Snapshot, now: Snapshot, also: Callable[[str], bool]) -> list[str]:
    """The paths that differ, sorted; `also` names those that may have changed although nothing shows it."""
    keys, now_keys = former.keys, now.keys
    found = {path for path, key in keys.items() if now_keys.get(path) != key or also(path)}
    found.update(path for path in now_keys if path not in keys)
    folders, now_folders = former.folders, now.folders
    found.update(path for path, mode in folders.items() if now_folders.get(path) != mode)
    found.update(path for path in now_folders if path not in folders)
    return sorted(found)


def _add_with_parents(groups: dict[str, list[str]], folder: str) -> None:
    while folder not in groups:
        groups[folder] = []
        folder = folder.rpartition("/")[0]


def _look_inside(prefix: str, folder: str, key: Key) -> _Inside:
    start = f"{folder}/" if folder else ""
    folders: list[str] = []
    files = False
    settled = is_settled(key, time.time_ns())
    try:
        with os.scandir(prefix + folder) as entries:
            for entry in entries:
                if entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    folders.append(start + entry.name)
                else:
                    files = True
    except OSError:
        files = True
    return _Inside(key, settled, sorted(folders), files)
