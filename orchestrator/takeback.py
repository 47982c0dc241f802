"""What taking a turn back (or making it again) would do: which paths come to which state, what stands in the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from orchestrator.checkpoint_history import Turn
from orchestrator.file_states import Change, State
from orchestrator.tree_files import Found, Key, TreeFiles

_MAX_HELD = 256 * 1024 * 1024
"""Bytes of the largest file that undo replaces or takes away: it keeps what stands there."""


class Step(NamedTuple):
    """`path` is `now` (as the system knows it, `key`), and is to become `target`. `data` is what it holds now."""

    path: str
    now: State
    target: State
    key: Key | None
    data: bytes | None


class Conflict(NamedTuple):
    """`path` is not what the session left. `left` and `now` say what differs, where both are known."""

    path: str
    why: str
    left: State | None = None
    now: Found | None = None


class Takeback(NamedTuple):
    """`steps` in the order of their paths. `lost` are paths whose former content was never kept; they stay as they are.

    `notes` say what else to know. With a conflict nothing may be done.
    """

    turn: Turn
    steps: tuple[Step, ...]
    conflicts: tuple[Conflict, ...]
    lost: tuple[str, ...]
    notes: tuple[str, ...]


class _Net(NamedTuple):
    """All changes of one path in one: from `before` to `after` (`None`: not known)."""

    path: str
    before: State
    after: State | None
    broken: bool = False
    """Something else changed it between two of the changes."""


def plan_takeback(turn: Turn, tree: TreeFiles) -> Takeback:
    """How to get from what `turn` left back to what was before it. Raises `OSError` for what cannot be looked at."""
    steps: list[Step] = []
    conflicts: list[Conflict] = []
    lost: list[str] = []
    notes: list[str] = []
    for net in net_changes(turn.changes):
        if net.after is not None and net.before.same(net.after):
            continue
        if not net.before.restorable:
            lost.append(net.path)
            continue
        found = tree.look(net.path, hold=_MAX_HELD)
        if found.state.same(net.before):
            continue
        conflict = _conflict(net, found)
        if conflict is not None:
            conflicts.append(conflict)
            continue
        if net.after is None and found.state.kind != "folder":
            notes.append(f"the session ended while it wrote {net.path}; what stands there is taken for its work")
        steps.append(Step(net.path, found.state, net.before, found.key, found.data))
    return Takeback(turn, tuple(steps), tuple(conflicts), tuple(lost), tuple(notes))


def net_changes(changes: Iterable[Change]) -> list[_Net]:
    """One change for each path, sorted by path."""
    nets: dict[str, _Net] = {}
    for change in changes:
        known = nets.get(change.path)
        if known is None:
            nets[change.path] = _Net(change.path, change.before, change.after)
            continue
        folder = "folder" in (change.before.kind, known.before.kind)
        broken = known.after is not None and not known.after.same(change.before) and known.after.kind != "other"
        nets[change.path] = _Net(change.path, known.before, change.after, known.broken or (broken and not folder))
    return [nets[path] for path in sorted(nets)]


def _conflict(net: _Net, found: Found) -> Conflict | None:
    if net.broken:
        return Conflict(net.path, "something else changed it between two changes of the session")
    if found.state.kind == "file" and found.data is None:
        return Conflict(net.path, "its content cannot be read or is too large, so it could not be brought back again")
    if net.after is None or found.state.same(net.after) or _is_same_folder(net, found.state):
        return None
    return Conflict(net.path, f"it {_how_it_differs(net.after, found.state)}", net.after, found)


def _is_same_folder(net: _Net, now: State) -> bool:
    """A folder that the session made may have got other permissions; it goes only if it is empty anyway."""
    made = net.before.kind == "missing" and net.after is not None and net.after.kind == "folder"
    return made and now.kind in ("folder", "missing")


def _how_it_differs(left: State, now: State) -> str:
    if now.kind == "missing":
        return "is gone"
    if left.kind == "missing":
        return f"is there again, as a {_KINDS[now.kind]}"
    if now.kind != left.kind:
        return f"is a {_KINDS[now.kind]} now"
    if now.kind == "file" and now.sha == left.sha:
        return f"has the mode {now.mode:04o} now, and not {left.mode:04o}"
    if now.kind == "folder":
        return f"has the mode {now.mode:04o} now, and not {left.mode:04o}"
    return "has changed since" if now.kind == "file" else f"leads to {now.target} now"


_KINDS = {"file": "file", "link": "link", "folder": "folder", "other": "pipe, socket or device", "missing": "missing"}
