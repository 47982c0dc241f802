"""Hooks: what the user wants to be asked or told at certain moments of a session. See docs/hooks.md.

A hook that decides whether something may be done denies it when it fails in any way. Another's failure changes nothing
and is told to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

from orchestrator.config import HookEvent, HookSettings
from orchestrator.hook_answers import GATING, HookFailed, HookOutcome, read_answer
from orchestrator.hook_files import load_hook_file, register_hook
from orchestrator.hook_process import ShellHook, hook_environment

__all__ = ["HookOutcome", "Hooks", "open_hooks", "register_hook"]

Notify = Callable[[str, str, str], None]
"""Tells the user something: level, message, hint."""

_ABOUT_TOOLS = ("PreToolUse", "PostToolUse")
_KEPT: Mapping[HookEvent, str] = {
    "PostToolUse": "the result was kept as it was",
    "SubagentStop": "the sub-agent ended as it wanted to",
    "PreCompact": "the conversation was shortened without it",
    "Stop": "the agent ended as it wanted to",
    "SessionEnd": "nothing else depends on it",
}
"""What happens all the same when a hook of an event that cannot be denied fails."""


class Hook(Protocol):
    """One hook of one event."""

    @property
    def event(self) -> HookEvent: ...

    @property
    def match(self) -> str | None: ...

    @property
    def name(self) -> str: ...

    @property
    def fault(self) -> str: ...

    async def ask(self, payload: Mapping[str, Any]) -> object: ...


class Hooks:
    """The hooks of a session, in the order in which they are asked."""

    def __init__(self, hooks: Sequence[Hook], *, workspace: Path, session_id: str, notice: Notify) -> None:
        self._hooks: dict[HookEvent, list[Hook]] = {}
        self._workspace = workspace
        self._session_id = session_id
        self._notice = notice
        for hook in hooks:
            self._hooks.setdefault(hook.event, []).append(hook)

    def has(self, event: HookEvent) -> bool:
        """Whether there is any hook for `event`, whatever it matches."""
        return event in self._hooks

    async def fire(self, event: HookEvent, payload: Mapping[str, Any]) -> HookOutcome:
        """What the hooks of `event` want together. `payload` must be JSON.

        Each is asked with what those before it have changed; the first that denies is the last that is asked.
        Cancelled, it ends the hook that runs.
        """
        told = {"event": event, "session_id": self._session_id, "workspace": str(self._workspace), **payload}
        name = str(payload.get("tool_name" if event in _ABOUT_TOOLS else "role", ""))
        outcome = HookOutcome()
        for hook in self._hooks.get(event, ()):
            if not matches(hook.match, name):
                continue
            said = await self._answer(hook, told)
            if said.deny:
                return HookOutcome(deny=said.deny)
            outcome = _together(outcome, said)
            told |= _changes(said)
        return outcome

    async def _answer(self, hook: Hook, payload: Mapping[str, Any]) -> HookOutcome:
        try:
            return read_answer(hook.event, await hook.ask(payload))
        except HookFailed as failure:
            message = f"the {hook.event} hook {hook.name} failed: {failure}"
        if hook.event in GATING:
            self._notice("error", message, "what it should have decided about was refused; mend it or take it out")
            return HookOutcome(deny=message)
        self._notice("warning", message, f"{_KEPT[hook.event]}; mend it or take it out")
        return HookOutcome()


def open_hooks(
    settings: Mapping[HookEvent, Sequence[HookSettings]],
    *,
    workspace: Path,
    session_id: str,
    env: Mapping[str, str],
    files: Sequence[Path],
    notice: Notify,
) -> Hooks:
    """The hooks of the configuration and of the Python `files`, asked in this order.

    Commands run in `workspace` with `env` less the keys of model providers; what can be seen not to run is told at
    once. Raises `ConfigError` for a file that cannot be loaded, since what it would have forbidden is not known.
    """
    child_env = hook_environment(env, workspace, session_id)
    hooks: list[Hook] = [
        ShellHook(event, each.command, each.match, each.timeout, workspace, child_env)
        for event, of_event in settings.items()
        for each in of_event
    ]
    for file in files:
        hooks += load_hook_file(file)
    for hook in hooks:
        if hook.fault:
            effect = "until it can, all that it should decide about is refused" if hook.event in GATING else ""
            notice("error", f"the {hook.event} hook {hook.name} could not run: {hook.fault}", effect)
    return Hooks(hooks, workspace=workspace, session_id=session_id, notice=notice)


def matches(pattern: str | None, name: str) -> bool:
    """Whether a hook with this `match` is meant for the tool or role `name`; `a|b` are alternatives."""
    return pattern is None or any(fnmatchcase(name, each.strip()) for each in pattern.split("|"))


def _together(first: HookOutcome, second: HookOutcome) -> HookOutcome:
    return HookOutcome(
        arguments=first.arguments if second.arguments is None else second.arguments,
        context="\n\n".join(filter(None, (first.context, second.context))),
        output=first.output if second.output is None else second.output,
        again="\n\n".join(filter(None, (first.again, second.again))),
    )


def _changes(said: HookOutcome) -> dict[str, Any]:
    """What the hooks after this one see instead."""
    changed: dict[str, Any] = {}
    if said.arguments is not None:
        changed["tool_input"] = said.arguments
    if said.output is not None:
        changed["tool_output"] = said.output
    return changed
