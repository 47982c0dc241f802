"""The repositories that git would look at from a folder, and what in their configuration runs programs or writes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from orchestrator.command_rules.git_config import SIGNATURE, Entry, Unclear, is_false, outer_config, read_config
from orchestrator.errors import ConfigError
from orchestrator.small_file import read_small_file

_MAX_MODULES = 32
_MAX_INDEX = 256 * 1024 * 1024
_GITLINK = b"\x00\x00\xe0\x00"
_LFS_COMMANDS = re.compile(r"git-lfs (?:(?:clean|smudge(?: --skip)?) -- %f|filter-process(?: --skip)?)\Z")
_LFS_HARMLESS = re.compile(r"lfs\.(?:repositoryformatversion|.*\.(?:access|locksverify))\Z")
_PLAIN_PAGERS = frozenset(("cat", "less", "more", "true", "false", ""))
_ENV_HARMLESS = re.compile(
    r"""GIT_(?:OPTIONAL_LOCKS|TERMINAL_PROMPT|PAGER|PAGER_IN_USE|EDITOR|SEQUENCE_EDITOR|ASKPASS|MERGE_AUTOEDIT|SSH|SSH_COMMAND
    |SSH_VARIANT|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|CONFIG_NOSYSTEM|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_COUNT
    |CONFIG_KEY_\d+|CONFIG_VALUE_\d+|NO_LAZY_FETCH|ATTR_NOSYSTEM|ADVICE|PS1_.*|PROMPT_.*|PREFIX|HTTP_.*|SSL_.*|PROTOCOL.*
    |ALLOW_PROTOCOL|DEFAULT_HASH|NO_REPLACE_OBJECTS|FLUSH|TEMPLATE_DIR|PYTHON)
    |GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_(?:LITERAL|GLOB|NOGLOB|ICASE)_PATHSPECS""",
    re.VERBOSE,
)
_TRACE_TO_STDERR = ("", "0", "1", "2", "true", "false")


class Use(NamedTuple):
    """What a git command makes use of, and so which keys count.

    `work_tree`: the index and the files; `patch`: differences; `textconv`: files made readable by programs; `history`:
    commits as text.
    """

    work_tree: bool = False
    patch: bool = False
    textconv: bool = False
    history: bool = False


class Repository(NamedTuple):
    """`own` is the folder of this work tree in git's data, `common` the one that all work trees share."""

    own: Path
    common: Path
    tree: Path


def danger(folders: Sequence[Path], use: Use, env: Mapping[str, str], home: Path, git_dir: Path | None = None) -> str:
    """What could run a program or write when git works in one of `folders`; empty when nothing could."""
    if why := _environment_danger(env):
        return why
    try:
        outer = outer_config(env, home)
        for folder in folders:
            found = _common(git_dir, folder) if git_dir else _discovered(folder)
            for repository in found:
                if why := _repository_danger(repository, outer, use, env, home):
                    return why
    except Unclear as unclear:
        return f"git's configuration is not clear: {unclear}"
    return "" if folders else "it is not known which repository git would look at"


def _environment_danger(env: Mapping[str, str]) -> str:
    for name, value in env.items():
        if not name.startswith("GIT_") or not value or _ENV_HARMLESS.fullmatch(name):
            continue
        if not (name.startswith("GIT_TRACE") and value.lower() in _TRACE_TO_STDERR):
            return f"{name} is set"
    return ""


# --- finding ---------------------------------------------------------------------------------------------------------


def _discovered(folder: Path) -> list[Repository]:
    """The repository that git finds from a folder upwards; more than one where it is not clear which."""
    found: list[Repository] = []
    here = Path(os.path.realpath(folder))
    for tree in (here, *here.parents):
        dot_git = tree / ".git"
        if dot_git.is_file():
            return [*found, *_common(_pointed_to(dot_git), tree)]
        for data in (dot_git, tree):
            if os.path.lexists(data / "HEAD") and ((data / "objects").exists() or (data / "commondir").exists()):
                found.extend(_common(data, tree))
                if (data / "refs").is_dir() or (data / "commondir").is_file():
                    return found
    return found


def _pointed_to(dot_git: Path) -> Path:
    text = _text(dot_git)
    if not text.startswith("gitdir:"):
        raise Unclear(f"{dot_git} does not say where the repository is")
    return Path(os.path.normpath(dot_git.parent / text[7:].strip()))


def _common(data: Path, tree: Path) -> list[Repository]:
    pointer = data / "commondir"
    if not os.path.lexists(pointer):
        return [Repository(data, data, tree)]
    return [Repository(data, Path(os.path.normpath(data / _text(pointer).strip())), tree)]


def _text(path: Path) -> str:
    try:
        return read_small_file(path, 8192).decode("utf-8", "surrogateescape")
    except (OSError, ValueError, ConfigError) as error:
        raise Unclear(f"{path} cannot be read ({error})") from None


# --- judging ---------------------------------------------------------------------------------------------------------


def _repository_danger(
    repository: Repository, outer: Sequence[Entry], use: Use, env: Mapping[str, str], home: Path, depth: int = 0
) -> str:
    own = [
        *read_config(repository.common / "config", "repository", home),
        *read_config(repository.own / "config.worktree", "repository", home),
    ]
    entries = [*outer, *own]
    if why := next((why for entry in entries if (why := _entry_danger(entry, use, env, own))), ""):
        return why
    if not use.work_tree:
        return ""
    if any(entry.key == "extensions.objectformat" and entry.value.casefold() != "sha1" for entry in own):
        return "the repository names its objects in a way that is not read"
    moved = any(entry.key == "core.worktree" for entry in own)
    return _hook(repository, entries, env, home) or _modules_danger(
        repository, outer, use, env, home, depth, moved=moved
    )


def _entry_danger(entry: Entry, use: Use, env: Mapping[str, str], own: Sequence[Entry]) -> str:
    if not _ANY_KEY.fullmatch(entry.key):
        return ""
    for pattern, counts in _KEYS:
        if pattern.fullmatch(entry.key) and counts(entry, use, env):
            if entry.key.startswith("filter.lfs.") and _usual_lfs(entry, own):
                continue
            return f"git's configuration sets {entry.key}, which can run a program or write"
    return ""


def _usual_lfs(entry: Entry, own: Sequence[Entry]) -> bool:
    """Git LFS as its installer sets it up for the user, with nothing of it changed by the repository."""
    changed = any(each.key.startswith("lfs.") and not _LFS_HARMLESS.match(each.key) for each in own)
    return entry.scope in ("system", "user") and _LFS_COMMANDS.match(entry.value) is not None and not changed


def _pager(entry: Entry, use: Use, env: Mapping[str, str]) -> bool:
    """A pager of the repository; the user's own is the user's choice, and it only runs on a terminal."""
    return entry.scope == "repository" and entry.value not in _PLAIN_PAGERS and env.get("GIT_PAGER") != "cat"


def _writes_trace(entry: Entry, use: Use, env: Mapping[str, str]) -> bool:
    return entry.value.lower() not in _TRACE_TO_STDERR and entry.scope != "repository"


_Counts = Callable[[Entry, Use, Mapping[str, str]], bool]
_KEYS: tuple[tuple[re.Pattern[str], _Counts], ...] = tuple(
    (re.compile(pattern, re.DOTALL), counts)
    for pattern, counts in (
        (
            r"core\.(?:fsmonitor|virtualfilesystem|usebuiltinfsmonitor)",
            lambda e, use, env: use.work_tree and not is_false(e.value),
        ),
        (r"filter\..*\.(?:clean|smudge|process)", lambda e, use, env: use.work_tree and bool(e.value)),
        (r"hook\..*\.(?:command|event)", lambda e, use, env: use.work_tree),
        (r"diff\.external|diff\..*\.command", lambda e, use, env: use.patch and bool(e.value)),
        (r"diff\..*\.textconv", lambda e, use, env: use.textconv and bool(e.value)),
        (r"log\.showsignature", lambda e, use, env: use.history and not is_false(e.value)),
        (r"format\.pretty|pretty\..*", lambda e, use, env: use.history and SIGNATURE.search(e.value) is not None),
        (r"(?:branch|tag)\.sort", lambda e, use, env: "signature" in e.value),
        (r"diff\.submodule", lambda e, use, env: (use.patch or use.history) and e.value.casefold() != "short"),
        (r"remote\..*\.promisor", lambda e, use, env: not is_false(e.value)),
        (r"remote\..*\.partialclonefilter|extensions\.partialclone", lambda e, use, env: True),
        (r"trace2\.(?:normal|perf|event)target", _writes_trace),
        (r"core\.pager|pager\..*", _pager),
    )
)


_ANY_KEY = re.compile("|".join(pattern.pattern for pattern, _ in _KEYS), re.DOTALL)


def _hook(repository: Repository, entries: Sequence[Entry], env: Mapping[str, str], home: Path) -> str:
    """The hook that git runs after it has refreshed the index; without optional locks it does not refresh it."""
    if env.get("GIT_OPTIONAL_LOCKS") == "0":
        return ""
    folders = [repository.common / "hooks"]
    for entry in entries:
        if entry.key == "core.hookspath" and entry.value:
            path = home / entry.value[2:] if entry.value.startswith("~/") else repository.tree / entry.value
            folders.append(path)
    hook = next(
        (each / "post-index-change" for each in folders if os.access(each / "post-index-change", os.X_OK)), None
    )
    return f"git would run the hook {hook}" if hook else ""


# --- submodules ------------------------------------------------------------------------------------------------------


def _modules_danger(
    repository: Repository,
    outer: Sequence[Entry],
    use: Use,
    env: Mapping[str, str],
    home: Path,
    depth: int,
    *,
    moved: bool,
) -> str:
    """Git looks into submodules with their own configuration."""
    if depth == 0 and moved and next(_gitlinks(repository), None):
        return "the repository has submodules in a work tree elsewhere"
    for count, path in enumerate(_gitlinks(repository)):
        if count >= _MAX_MODULES or depth > 2:
            return "the repository has many submodules, which are not looked at"
        tree = repository.tree / path
        data = tree / ".git"
        if data.is_file():
            found = _common(_pointed_to(data), tree)
        elif data.is_dir():
            found = _common(data, tree)
        else:
            continue
        for module in found:
            if why := _repository_danger(module, outer, use, env, home, depth + 1):
                return f"in the submodule {path}: {why}"
    return ""


def _gitlinks(repository: Repository) -> Iterator[str]:
    """The paths of the index that are repositories of their own."""
    data = _read_index(repository.own)
    at = data.find(_GITLINK)
    if at >= 0 and data[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        raise Unclear("the index has a format that is not read")
    while at >= 0:
        start = at - 24
        if start >= 12 and start % 4 == 0 and (path := _path_at(data, start)):
            yield path
        at = data.find(_GITLINK, at + 1)


def _read_index(folder: Path) -> bytes:
    """Empty where there is none. Never waits: something else may have been put in its place."""
    try:
        if any(name.startswith("sharedindex.") for name in os.listdir(folder)):  # noqa: PTH208
            raise Unclear("the index is in several parts")
        descriptor = os.open(folder / "index", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unclear("the index is not a file")
            return file.read(_MAX_INDEX)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise Unclear(f"the index cannot be read ({error.strerror})") from None


def _path_at(data: bytes, start: int) -> str:
    """The path of the entry of the index that starts there, if one does."""
    extended = data[start + 60] & 0x40 if start + 62 < len(data) else 0
    begin = start + (64 if extended else 62)
    path = data[begin : data.find(b"\0", begin)]
    return os.fsdecode(path) if path and len(path) < 4096 and b"\n" not in path else ""
