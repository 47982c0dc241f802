"""Which file or folder a question means by a path, a part of one, or a module's name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.scouting import lookups
from orchestrator.scouting.names import is_identifier
from orchestrator.scouting.notebook import Notebook
from orchestrator.scouting.question import Subject
from orchestrator.scouting.readings import Paths


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a path leads: a folder, or the files that fit, the shortest path first; neither when there is nothing."""

    asked: str
    folder: str = ""
    files: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        return bool(self.folder or self.files)


def locate(book: Notebook, subject: Subject) -> Spot | None:
    """The file or folder that `subject` means; `None` while it is not known."""
    asked = subject.name if subject.shape == "path" else subject.dotted.replace(".", "/")
    outcome = book.look_up("list_files", path=asked) if book.has("list_files") else None
    if outcome is None and book.has("list_files"):
        return None
    if outcome is not None and not outcome.error:
        return Spot(asked, folder=asked)
    if outcome is not None and outcome.error == "not_directory":
        return Spot(asked, files=(asked,))
    return _anywhere(book, asked)


def _anywhere(book: Notebook, asked: str) -> Spot | None:
    """Files that end in `asked`, with any ending when it has none; else a folder of that name."""
    as_file = lookups.paths(book, f"**/{asked}")
    with_ending = lookups.paths(book, f"**/{asked}.*") if is_identifier(asked.rpartition("/")[2]) else Paths()
    inside = lookups.paths(book, f"**/{asked}/**")
    if as_file is None or with_ending is None or inside is None:
        return None
    files = sorted({*as_file.paths, *with_ending.paths}, key=lambda path: (path.count("/"), len(path), path))
    if files:
        return Spot(asked, files=tuple(files))
    folders = {found[1] for path in inside.paths if (found := re.match(rf"((?:.*?/)?{re.escape(asked)})/", path))}
    return Spot(asked, folder=min(folders, key=len)) if folders else Spot(asked)


_MODULE = re.compile(r"\.(?:pyi?|[cm]?[jt]sx?|rb|go|rs|php|java|kt|cs|scala|swift|ex|lua|pl|pm|vue|svelte|h|hpp)$")


def module_file(book: Notebook, subject: Subject) -> str | None:
    """The file or folder of code that a dotted name stands for as a module, empty when there is none; `None` while it
    is not known."""
    if subject.shape != "name":
        return ""
    spot = locate(book, Subject("name", subject.name, subject.owner))
    if spot is None:
        return None
    files = [path for path in spot.files if _MODULE.search(path)]
    return files[0] if files else spot.folder


def as_name(subject: Subject) -> Subject | None:
    """`response.json` is a name too; a path with a folder in it, or `a-b.py`, is not."""
    owner, dot, last = subject.name.rpartition(".")
    pieces = owner.split(".")
    if not dot:
        return Subject("name", subject.name, asked=subject.asked) if is_identifier(subject.name) else None
    if all(map(is_identifier, (*pieces, last))):
        return Subject("name", last, owner, subject.asked)
    return None
