"""Files that no rule and no mode opens: only the user can, each time anew."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from orchestrator.path_names import raw_path
from orchestrator.permission_patterns import Spot
from orchestrator.secret_files import is_secret
from orchestrator.secret_places import secret_places, startup_files

_INVISIBLE = dict.fromkeys((*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
"""Characters that some file systems leave out of names."""
_SHELL_FILES = """.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
    .zlogout .kshrc .cshrc .tcshrc .login .inputrc config.fish"""
_STREAMS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty")
"""What may be written to without anything being changed."""
_SAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist")


class ProtectedPaths:
    """Judges the files of one workspace. Links are followed first; both the name given and where it leads count."""

    def __init__(self, workspace: Path, home: Path, env: Mapping[str, str]) -> None:
        self._root = os.path.realpath(workspace)
        self._home = os.path.realpath(home)
        self._named_home = str(home)
        self._env = env
        self._places: dict[str, tuple[str, ...]] = {}

    def spots(self, path: str) -> tuple[Spot, ...]:
        """Every file that `path` may name: as written and with its escapes resolved, before and after links."""
        names = dict.fromkeys((path, raw_path(path)))
        found: dict[Spot, None] = {}
        for name in names:
            if "\0" not in name:
                found.update(dict.fromkeys(self._spots(name)))
        return tuple(found)

    def _spots(self, name: str) -> Iterator[Spot]:
        joined = os.path.join(self._root, name)  # noqa: PTH118  # `..` and links must stay as they are
        real = self._spot(os.path.realpath(joined))
        plain = self._spot(os.path.normpath(joined))
        yield real
        if plain.relative is not None or real.relative is None:  # the workspace may itself be named through a link
            yield plain

    def _spot(self, absolute: str) -> Spot:
        homes = (self._home, self._named_home)
        in_home = next((f"~/{rest}" for home in homes if (rest := _below(absolute, home)) is not None), None)
        return Spot(_below(absolute, self._root), absolute, in_home)

    def writing(self, spots: Sequence[Spot], *, whole_folder: bool = False) -> str:
        """Why the file may only be written after asking, or an empty text.

        `whole_folder`: it may be a folder that is taken away or changed with all that it holds.
        """
        if not spots:
            return "that is no name of a file"
        if any(_is_stream(spot.absolute) for spot in spots) and all(_is_device(spot.absolute) for spot in spots):
            return ""
        reasons = (self._guarded(spot) or self._folder_reason(spot, whole_folder) for spot in spots)
        return next((reason for reason in reasons if reason), "")

    def reading(self, spots: Sequence[Spot]) -> str:
        """Why the file may only be read after asking, or an empty text."""
        for spot in spots:
            shown = spot.relative or spot.absolute
            if _is_secret(spot) or self._in_places("secret", spot.absolute):
                return f"{shown} usually holds keys or passwords"
        return ""

    def _guarded(self, spot: Spot) -> str:
        shown = spot.relative or spot.in_home or spot.absolute
        parts = [_plain(part) for part in (spot.relative or spot.absolute).split("/")]
        if ".git" in parts or "git~1" in parts or self._in_bare_repository(parts[:-1], spot):
            return f"{shown} belongs to git itself"
        if _is_secret(spot):
            return f"{shown} usually holds keys or passwords"
        if self._in_places("startup", spot.absolute):
            return f"{shown} runs by itself at login or when a program starts"
        if spot.relative is None:
            return f"{shown} is outside the workspace"
        if ".orch" in parts or (".claude" in parts and "agents" in parts):
            return f"{shown} is configuration that orch obeys"
        if parts[-1] in _SHELL_FILES.split():
            return f"{shown} is a start-up file of a shell"
        return ""

    def _folder_reason(self, spot: Spot, whole_folder: bool) -> str:
        if not whole_folder or spot.relative is None:
            return ""
        held = next((name for name in (".git", ".orch") if os.path.lexists(f"{spot.absolute}/{name}")), "")
        return f"{spot.relative} holds {held}" if held else ""

    def _in_bare_repository(self, folders: Sequence[str], spot: Spot) -> bool:
        """Whether a folder on the way is what git keeps in `.git`, under another name."""
        at = spot.absolute
        for _ in folders:
            at = os.path.dirname(at)  # noqa: PTH120
            if all(os.path.lexists(f"{at}/{name}") for name in ("HEAD", "objects", "refs")):
                return True
        return False

    def _in_places(self, kind: str, absolute: str) -> bool:
        folded = absolute.casefold()
        return any(folded == place or folded.startswith(f"{place}/") for place in self._places_of(kind))

    def _places_of(self, kind: str) -> tuple[str, ...]:
        """The places of a kind, links followed, without those that the workspace itself lies in."""
        if kind not in self._places:
            home = Path(self._named_home)
            named = secret_places(home, self._env) if kind == "secret" else startup_files(home)
            every = {path.casefold() for place in named for path in (str(place), os.path.realpath(place))}
            root = self._root.casefold()
            self._places[kind] = tuple(
                sorted(place for place in every if root != place and not root.startswith(f"{place}/"))
            )
        return self._places[kind]


def _is_secret(spot: Spot) -> bool:
    name = spot.relative if spot.relative is not None else spot.absolute
    last = _plain(name.rpartition("/")[2])
    return is_secret(name) or is_secret(last) or (last.startswith(".env") and last not in _SAMPLES)


def _plain(part: str) -> str:
    """A component of a path as the most forgiving file system reads it."""
    return part.translate(_INVISIBLE).casefold().rstrip(". ") or part


def _below(absolute: str, folder: str) -> str | None:
    if absolute == folder:
        return "."
    prefix = folder if folder.endswith("/") else f"{folder}/"
    return absolute[len(prefix) :] if absolute.startswith(prefix) else None


def _is_stream(absolute: str) -> bool:
    return absolute in _STREAMS or absolute.startswith("/dev/fd/")


def _is_device(absolute: str) -> bool:
    return absolute.startswith(("/dev/", "/proc/"))
