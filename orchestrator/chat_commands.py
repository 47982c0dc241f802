"""The commands of the interactive session, and what it says when it begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from orchestrator.checkpoint_commands import Wanted, diff_command, redo_command, undo_command
from orchestrator.context_meter import Breakdown
from orchestrator.errors import OrchError, UsageError
from orchestrator.permissions import Mode
from orchestrator.role_commands import Output
from orchestrator.session import Session
from orchestrator.ui.chat import Command, Read, Say
from orchestrator.ui.phrases import count
from orchestrator.wiring import Setup

_MODES: Mapping[Mode, str] = {
    "default": "asks before it changes anything",
    "plan": "only reads",
    "accept-edits": "edits files here without asking, asks for commands",
}


def greeting(model: str, mode: Mode) -> str:
    """One line: the model, the mode and what that means, and where the help is."""
    return f"orch: {model}, {mode} mode ({_MODES[mode]}). /help lists the commands."


def chat_commands(setup: Setup, session: Session, read: Read, say: Say) -> Mapping[str, Command]:
    """`/undo`, `/redo` and `/diff` of this session; each prompt is one turn."""
    places, workspace = setup.places, setup.workspace

    async def take(command: Callable[..., Output]) -> str:
        shown = command(places, workspace, Wanted(session.id, dry_run=True))
        if not shown.data.get("files"):
            return shown.text
        say(shown.text.removesuffix("; nothing was changed (--dry-run)"))
        if not await _agrees(read):
            return "nothing was changed"
        done = command(places, workspace, Wanted(session.id))
        return done.text.rpartition("\n")[2]

    async def diff() -> str:
        return diff_command(places, workspace, session=session.id).text

    async def compact(focus: str) -> str:
        before = session.context().used
        if not await session.compact(focus):
            return "there is nothing to shorten"
        return f"shortened from about {count(before)} to {count(session.context().used)} tokens"

    async def context(rest: str) -> str:
        return context_text(session.context())

    return {
        "context": Command("what fills the model's window", context),
        "compact": Command("shorten the conversation; /compact TEXT says what to keep", _told(compact)),
        "undo": Command("take back what the last prompt changed", _guarded(session, lambda: take(undo_command))),
        "redo": Command("make again what was taken back", _guarded(session, lambda: take(redo_command))),
        "diff": Command("all that this session changed", _guarded(session, diff)),
    }


def context_text(breakdown: Breakdown) -> str:
    """What fills the window, a line each, and what is free."""
    rows = [(part.label, part.tokens) for part in breakdown.parts if part.tokens]
    rows.append(("free", breakdown.free))
    width = max(len(label) for label, _ in rows)
    lines = [f"{label:<{width}} {tokens:>9,}  {tokens / breakdown.window:>4.0%}" for label, tokens in rows]
    kind = "counted by the provider, newer parts estimated" if breakdown.measured else "estimated"
    known = "" if breakdown.window_known else "; the model's window is not known, a usual one is taken"
    return "\n".join([*lines, f"of {breakdown.window:,} tokens ({kind}{known})"])


def _told(run: Callable[[str], Awaitable[str]]) -> Callable[[str], Awaitable[str]]:
    """What goes wrong is said, and the session goes on."""

    async def command(rest: str) -> str:
        try:
            return await run(rest)
        except OrchError as error:
            return f"{error.message}; {error.hint}" if error.hint else error.message

    return command


async def _agrees(read: Read) -> bool:
    try:
        return (await read("do it? [y/N] ")).strip().casefold() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False


def _guarded(session: Session, run: Callable[[], Awaitable[str]]) -> Callable[[str], Awaitable[str]]:
    async def command(rest: str) -> str:
        session.release()
        try:
            return await run()
        except UsageError:
            return "this session has changed nothing"

    return _told(command)
