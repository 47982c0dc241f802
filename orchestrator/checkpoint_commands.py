"""What `orch undo`, `orch redo` and `orch diff` do and say. Nothing here prints or asks; the command line does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from orchestrator.change_diff import change_diff
from orchestrator.checkpoint_history import History, read_history
from orchestrator.checkpoint_store import CheckpointStore, StoreInUse, read_header
from orchestrator.errors import OrchError, UsageError
from orchestrator.file_states import DamagedRecord, State
from orchestrator.path_names import shown_path
from orchestrator.paths import Places
from orchestrator.role_commands import Output
from orchestrator.takeback import Conflict, Takeback, net_changes, plan_takeback
from orchestrator.tree_files import TreeFiles
from orchestrator.undoing import take_back

Ask = Callable[[str, str], bool]
"""Shows a text, asks a question; whether the answer is yes."""


class _Opened(NamedTuple):
    store: CheckpointStore
    history: History
    tree: TreeFiles


class Wanted(NamedTuple):
    """Which session: `session` by its name, else the newest here that changed files. `own` is the store of the session
    that this process runs, for which it is asked. `ask` is called with the diff before anything is done; `None`: it was
    said beforehand that it may be done.
    """

    session: str | None = None
    dry_run: bool = False
    ask: Ask | None = None
    own: CheckpointStore | None = None


def undo_command(places: Places, workspace: Path, wanted: Wanted = Wanted()) -> Output:  # noqa: B008  # it is frozen
    """Take back the last turn of a session, all of it or nothing.

    Exit code 1 when there is nothing to take back, the user said no or something stands in the way, 3 when the former
    content of some of it was never kept.

    Raises `UsageError` for a session that is not there or still runs, `OrchError` when it fails.
    """
    return _take(places, workspace, wanted, redo=False)


def redo_command(places: Places, workspace: Path, wanted: Wanted = Wanted()) -> Output:  # noqa: B008  # it is frozen
    """Make again what the last `undo_command` took back; all else as there."""
    return _take(places, workspace, wanted, redo=True)


def asker(stdin: TextIO | None, stderr: TextIO | None, *, yes: bool, what: str) -> Ask | None:
    """How the user is asked; `None` with `--yes`. Raises `UsageError` where nobody can be asked."""
    if yes:
        return None
    if stdin is None or stderr is None or not (stdin.isatty() and stderr.isatty()):
        hint = f"look with `orch {what} --dry-run`, then give --yes"
        raise UsageError(f"`orch {what}` asks before it changes files, and this is not a terminal", hint)
    from orchestrator.ui.confirm import confirm

    return lambda shown, question: confirm(stdin, stderr, shown, question)


def diff_command(places: Places, workspace: Path, *, session: str | None = None) -> Output:
    """All that the newest session here that changed files (or `session`) changed and did not take back, as one diff.

    Raises `UsageError` for a session that is not there, `OrchError` for one that cannot be read.
    """
    with _opened(places, workspace, session, lock=False) as opened:
        changes = [change for turn in opened.history.done for change in turn.changes]
        parts: list[str] = []
        files: list[dict[str, Any]] = []
        since: list[str] = []
        for net in net_changes(changes):
            after = opened.tree.look(net.path, hold=None).state if net.after is None else net.after
            if net.before.same(after):
                continue
            text = change_diff(net.path, net.before, after, *_contents(opened, net.path, net.before, after))
            parts.append(text)
            files.append({"path": shown_path(net.path), "before": net.before.kind, "after": after.kind, "diff": text})
            if not opened.tree.look(net.path).state.same(after) and after.kind != "folder":
                since.append(shown_path(net.path))
        text = "".join(parts).rstrip("\n") or f"session {opened.history.session} left no changes"
        if since:
            text += f"\n\nchanged again since, which is not shown here: {', '.join(since)}"
        return Output(text, {"session": opened.history.session, "files": files, "changed_since": since})


# --- undo, redo ------------------------------------------------------------------------------------------------------


def _take(places: Places, workspace: Path, wanted: Wanted, *, redo: bool) -> Output:
    verb = "redo" if redo else "undo"
    with _opened(places, workspace, wanted.session, lock=not wanted.dry_run, own=wanted.own) as opened:
        turns = opened.history.undone if redo else opened.history.done
        if not turns:
            return _nothing(places, workspace, opened.history.session, verb)
        plan = plan_takeback(turns[-1], opened.tree)
        if plan.conflicts:
            return _refused(opened, plan, verb)
        shown = _shown(opened, plan)
        data = _data(opened, plan)
        head = _headline(opened.history, plan, redo)
        ask = wanted.ask
        if wanted.dry_run:
            return Output(f"{shown}{head}; nothing was changed (--dry-run)", {**data, "done": False}, _exit_code(plan))
        if (
            ask is not None
            and plan.steps
            and not ask(f"{shown}{head}", "take it back?" if not redo else "make it again?")
        ):
            return Output("nothing was changed", {**data, "done": False}, 1)
        left = take_back(plan, opened.store, opened.tree, redo=redo)
        text = "\n".join([_done_text(opened.history, plan, redo), *_rest_text(plan, left)])
        return Output(text if ask is not None else f"{shown}{text}", {**data, "done": True}, _exit_code(plan))


def _exit_code(plan: Takeback) -> int:
    return 3 if plan.lost else 0


def _nothing(places: Places, workspace: Path, session: str, verb: str) -> Output:
    others = [name for name, _ in _sessions(places, workspace) if name != session][:5]
    more = f"; others here: {', '.join(others)} (give one with --session)" if others else ""
    text = f"there is nothing left to {verb} in session {session}{more}"
    return Output(text, {"session": session, "files": [], "done": False}, 1)


def _refused(opened: _Opened, plan: Takeback, verb: str) -> Output:
    lines = [f"{verb} would lose what was changed since, so nothing was changed:"]
    for conflict in plan.conflicts:
        lines.append(f"  {shown_path(conflict.path)}: {conflict.why}")
        lines += [f"    {line}" for line in _since(opened, conflict).splitlines()[:40]]
    lines.append("put that back as the session left it, or take over by hand what `orch diff` shows")
    conflicts = [{"path": shown_path(each.path), "why": each.why} for each in plan.conflicts]
    return Output("\n".join(lines), {**_data(opened, plan), "done": False, "conflicts": conflicts}, 1)


def _since(opened: _Opened, conflict: Conflict) -> str:
    """What differs between what the session left and what stands there now."""
    if conflict.left is None or conflict.now is None or "folder" in (conflict.left.kind, conflict.now.state.kind):
        return ""
    left = _content(opened.store, conflict.left)
    return change_diff(conflict.path, conflict.left, conflict.now.state, left, conflict.now.data)


def _shown(opened: _Opened, plan: Takeback) -> str:
    parts = [
        change_diff(step.path, step.now, step.target, step.data, _content(opened.store, step.target))
        for step in plan.steps
    ]
    notes = [f"note: {note}\n" for note in plan.notes]
    lost = [f"note: {shown_path(path)} stays as it is: its former content was not kept\n" for path in plan.lost]
    return "".join([*parts, *notes, *lost])


def _headline(history: History, plan: Takeback, redo: bool) -> str:
    what = "makes again" if redo else "takes back"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(plan.turn.at))
    return f"this {what} turn {plan.turn.number} of session {history.session} ({when}): {_paths(plan)}"


def _done_text(history: History, plan: Takeback, redo: bool) -> str:
    what = "made again" if redo else "took back"
    how = "`orch undo` takes it back" if redo else "`orch redo` makes it again"
    return f"{what} turn {plan.turn.number} of session {history.session}: {_paths(plan)}; {how}"


def _rest_text(plan: Takeback, left: Sequence[str]) -> list[str]:
    lines = [f"{shown_path(folder)} was left: it is not empty" for folder in left]
    if plan.lost:
        lines.append(f"not taken back: {', '.join(shown_path(path) for path in plan.lost)}")
    return lines


def _paths(plan: Takeback) -> str:
    count = len(plan.steps)
    return f"{count} path{'' if count == 1 else 's'}"


def _data(opened: _Opened, plan: Takeback) -> dict[str, Any]:
    return {
        "session": opened.history.session,
        "turn": plan.turn.number,
        "files": [
            {"path": shown_path(step.path), "now": step.now.kind, "becomes": step.target.kind} for step in plan.steps
        ],
        "not_kept": [shown_path(path) for path in plan.lost],
    }


# --- sessions --------------------------------------------------------------------------------------------------------


@contextmanager
def _opened(
    places: Places, workspace: Path, session: str | None, *, lock: bool, own: CheckpointStore | None = None
) -> Iterator[_Opened]:
    if own is not None and not own.exists:
        raise UsageError("this session changed nothing so far")
    store = own or CheckpointStore(_folder_of(places, workspace, session))
    try:
        if lock:
            store.lock()
        history = read_history(store)
    except StoreInUse:
        raise UsageError(
            f"session {store.folder.parent.name} still runs", "wait for it to end, or stop it, then try again"
        ) from None
    except (DamagedRecord, OSError) as error:
        raise OrchError(f"the checkpoints of {store.folder.parent.name} cannot be read: {error}") from None
    try:
        yield _Opened(store, history, TreeFiles(workspace))
    except OSError as error:
        raise OrchError(f"{error.filename or store.folder} cannot be read: {error.strerror}") from None
    finally:
        if own is None:
            store.close()


def _folder_of(places: Places, workspace: Path, session: str | None) -> Path:
    known = _sessions(places, workspace)
    if session is None:
        if not known:
            raise UsageError("no session changed anything here", "`orch run` does; name its folder with -C")
        return known[0][1]
    for name, folder in known:
        if name == session:
            return folder
    names = ", ".join(name for name, _ in known[:5]) or "none"
    raise UsageError(f"there is no session {session!r} that changed files here", f"those that did: {names}")


def _sessions(places: Places, workspace: Path) -> list[tuple[str, Path]]:
    """The sessions that changed files in `workspace`, the newest first."""
    root = str(TreeFiles(workspace).root)
    found: list[tuple[float, str, Path]] = []
    for folder in (places.state / "sessions").glob("*/checkpoints"):
        header = read_header(folder)
        started = header.get("started") if header else None
        if header and header.get("root") == root and isinstance(started, int | float):
            found.append((float(started), folder.parent.name, folder))
    return [(name, folder) for _, name, folder in sorted(found, reverse=True)]


def _contents(opened: _Opened, path: str, before: State, after: State) -> tuple[bytes | None, bytes | None]:
    return _content(opened.store, before), _content(opened.store, after) or _on_disk(opened.tree, path, after)


def _on_disk(tree: TreeFiles, path: str, state: State) -> bytes | None:
    found = tree.look(path)
    return found.data if found.state.same(state) else None


def _content(store: CheckpointStore, state: State) -> bytes | None:
    """A file's content in the store; `None` where it was not kept or is damaged."""
    if state.kind != "file" or not state.kept or not state.sha:
        return None
    try:
        return store.content(state.sha)
    except (DamagedRecord, OSError):
        return None
