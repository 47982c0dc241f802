"""The folders on the way to one file after the other, each opened once and never through a link."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class OpenFolders:
    """Descriptors of the folders from `root` to the one used last. `close` must be called at the end.

    Each is opened from the one before, so that none can be swapped for a link to another place.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: list[str] = []
        self._descriptors: list[int] = []

    def descriptor_of(self, names: Sequence[str]) -> int:
        """The folder below the root that `names` lead to. It stays open until another one is asked for.

        Raises `OSError` (`ELOOP`, `ENOTDIR`) for a link on the way.
        """
        if not self._descriptors:
            self._descriptors.append(os.open(self._root, OPEN_FOLDER))
        if names != self._names:
            self._go_to(names)
        return self._descriptors[-1]

    def close(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.pop())
        self._names.clear()

    def _go_to(self, names: Sequence[str]) -> None:
        common = 0
        for here, there in zip(self._names, names, strict=False):
            if here != there:
                break
            common += 1
        while len(self._names) > common:
            os.close(self._descriptors.pop())
            self._names.pop()
        for name in names[common:]:
            self._descriptors.append(os.open(name, OPEN_FOLDER, dir_fd=self._descriptors[-1]))
            self._names.append(name)
