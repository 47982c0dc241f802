"""Changes of files as git's unified diffs: also of modes, links and folders, and of what is no text."""

from __future__ import annotations

from orchestrator.decoding import NotText, decode
from orchestrator.file_states import State
from orchestrator.path_names import shown_path
from orchestrator.unified_diff import unified_diff

_MAX_SHOWN = 4 * 1024 * 1024
"""Bytes of the largest file whose lines are compared."""
_TYPES = {"file": "100", "link": "120"}


def change_diff(path: str, before: State, after: State, former: bytes | None, latter: bytes | None) -> str:
    """The diff from `before` to `after`, ending with a line break; the bytes are `None` where they are not at hand."""
    name = shown_path(path)
    if "folder" in (before.kind, after.kind) and {before.kind, after.kind} <= {"folder", "missing"}:
        return _folder(name, before, after)
    if before.kind != after.kind and "missing" not in (before.kind, after.kind):
        gone = change_diff(path, before, State("missing"), former, None)
        return gone + change_diff(path, State("missing"), after, None, latter)
    head = _head(name, before, after)
    body = _body(name, _text(before, former), _text(after, latter), before, after)
    return f"diff --git a/{name} b/{name}\n{head}{body}" if head or body else ""


def _folder(name: str, before: State, after: State) -> str:
    if before.kind == after.kind:
        return f"folder {name}: mode {before.mode:04o} becomes {after.mode:04o}\n"
    return f"folder {name} is {'made' if before.kind == 'missing' else 'removed'}\n"


def _head(name: str, before: State, after: State) -> str:
    if before.kind == "missing":
        return f"new file mode {_mode(after)}\n"
    if after.kind == "missing":
        return f"deleted file mode {_mode(before)}\n"
    if before.mode != after.mode:
        return f"old mode {_mode(before)}\nnew mode {_mode(after)}\n"
    return ""


def _mode(state: State) -> str:
    return f"{_TYPES.get(state.kind, '000')}{state.mode & 0o777:03o}"


def _body(name: str, former: str | None, latter: str | None, before: State, after: State) -> str:
    if before.sha == after.sha and before.target == after.target and before.kind == after.kind:
        return "" if before.sha or before.kind == "link" else f"File {name}: what changed is not known\n"
    if former is None or latter is None:
        return f"Binary files a/{name} and b/{name} differ ({_size(before)} to {_size(after)})\n"
    first = None if before.kind == "missing" else former
    second = None if after.kind == "missing" else latter
    diff = unified_diff(name, first, second)
    return diff[diff.index("--- ") :] if "--- " in diff else ""


def _size(state: State) -> str:
    return "nothing" if state.kind == "missing" else f"{state.size:,} bytes"


def _text(state: State, data: bytes | None) -> str | None:
    """`None` for what cannot be shown as lines."""
    if state.kind == "missing":
        return ""
    if state.kind == "link":
        return state.target
    if data is None or len(data) > _MAX_SHOWN:
        return None
    try:
        return decode(data)[0]
    except NotText:
        return None
