"""Which folders the user told orch to trust, and for which content.

Trust is bound to what the folder supplied at that moment: its path and a hash over `.orch/` (plans apart) and
`.claude/agents/`. When any of it changes, the folder is no longer trusted until it is looked at and trusted again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from orchestrator.errors import ConfigError
from orchestrator.paths import Places
from orchestrator.small_file import read_small_file

_SUPPLIED = (".orch", ".claude/agents")
_NOT_SUPPLIED = frozenset({".orch/plans"})
"""Written by orch itself and bound to their own approval."""

_MAX_ENTRIES = 2000
_MAX_BYTES = 8 * 1024 * 1024
_MAX_RECORD = 64 * 1024


class Trust(NamedTuple):
    """Whether a folder is trusted, and why it is or is not, in one phrase."""

    trusted: bool
    reason: str


def is_trusted(workspace: Path, places: Places) -> bool:
    """Whether the user trusts `workspace` with what it supplies now."""
    return trust_of(workspace, places).trusted


def trust_of(workspace: Path, places: Places) -> Trust:
    """The same with its reason. Never raises: a record or a folder that cannot be read is not trusted."""
    folder = _records(places)
    if not os.path.isdir(folder):  # noqa: PTH112  # Path.is_dir raises where a parent cannot be read
        return Trust(False, "it was never trusted")
    root = workspace.resolve()
    try:
        record = json.loads(read_small_file(folder / _record_name(root), _MAX_RECORD))
    except FileNotFoundError:
        return Trust(False, "it was never trusted")
    except (OSError, ValueError, ConfigError):
        return Trust(False, "its trust record cannot be read")
    if not isinstance(record, dict) or record.get("path") != str(root):
        return Trust(False, "its trust record is damaged")
    try:
        same = record.get("hash") == supplied_hash(root)
    except (OSError, ConfigError) as error:
        return Trust(False, f"what it supplies cannot be checked: {error}")
    if same:
        return Trust(True, "it was trusted with what it supplies now")
    return Trust(False, "what it supplies has changed since it was trusted")


def trust(workspace: Path, places: Places) -> None:
    """Trust `workspace` with what it supplies now.

    Raises `ConfigError` when that cannot be checked, `OSError` when it cannot be read or the state not be written.
    """
    root = workspace.resolve()
    record = json.dumps({"path": str(root), "hash": supplied_hash(root)}, ensure_ascii=True)
    folder = _records(places)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = folder / _record_name(root)
    temporary = target.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(record, encoding="utf-8")
    temporary.replace(target)


def distrust(workspace: Path, places: Places) -> bool:
    """Forget the trust in `workspace`; whether there was any."""
    target = _records(places) / _record_name(workspace.resolve())
    if not target.exists():
        return False
    target.unlink()
    return True


def supplied_hash(root: Path) -> str:
    """A hash over the names and the content of everything that the folder at `root` supplies to orch."""
    from hashlib import sha256

    digest = sha256()
    total = 0
    for path in supplied_files(root):
        try:
            data = read_small_file(path, _MAX_BYTES)
        except ConfigError as error:
            raise ConfigError(f"{path.relative_to(root)}: {error.message}", error.hint) from None
        total += len(data)
        if total > _MAX_BYTES:
            raise ConfigError(f"the folder supplies more than {_MAX_BYTES // 1024**2} MB", "make .orch smaller")
        name = os.fsencode(path.relative_to(root))
        digest.update(b"%d:%s%d:" % (len(name), name, len(data)))
        digest.update(data)
    return digest.hexdigest()


def supplied_files(root: Path) -> list[Path]:
    """The files that `root` supplies to orch, sorted; links to files included.

    Raises `ConfigError` for a link to a folder inside (it may lead round in a circle) and when there are too many.
    """
    pending = [root / name for name in _SUPPLIED if (root / name).exists()]
    found: list[Path] = []
    seen = 0
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                seen += 1
                if seen > _MAX_ENTRIES:
                    raise ConfigError(f"the folder supplies more than {_MAX_ENTRIES} files", "make .orch smaller")
                path = Path(entry.path)
                if entry.is_dir():
                    pending += _folder_inside(path, root)
                elif path.exists():
                    found.append(path)
    return sorted(found)


def _folder_inside(path: Path, root: Path) -> list[Path]:
    name = path.relative_to(root).as_posix()
    if name in _NOT_SUPPLIED:
        return []
    if path.is_symlink():
        raise ConfigError(f"{name} is a link to a folder", "put the folder itself there")
    return [path]


def _records(places: Places) -> Path:
    return places.state / "trust"


def _record_name(root: Path) -> str:
    from hashlib import sha256

    return sha256(os.fsencode(root)).hexdigest()[:32] + ".json"
