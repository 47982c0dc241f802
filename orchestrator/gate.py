"""What stands between a parsed call and its run: mode, hooks, permission, and the rights that the call runs with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from orchestrator.approval import Approver, AskRefused, PermissionReply, PermissionRequest
from orchestrator.arguments import validate_arguments
from orchestrator.deadline import Deadline
from orchestrator.errors import ToolError
from orchestrator.events import Emit, PermissionAsked, PermissionSettled
from orchestrator.messages import ToolCall
from orchestrator.secret_files import is_secret
from orchestrator.tool import Effects, Files, Tool, ToolContext, ToolResult

if TYPE_CHECKING:
    from orchestrator.config import HookEvent
    from orchestrator.hooks import HookOutcome
    from orchestrator.permissions import Verdict
    from orchestrator.sandbox import Level, Policy
    from orchestrator.shell import AgentShell


class Judge(Protocol):
    """Rules and grants; see `permissions.Permissions`."""

    def judge(self, tool: Tool[Any], effects: Effects, *, read_only: bool) -> Verdict: ...

    def keep(self, pattern: str) -> None: ...

    @property
    def concerns_reading(self) -> bool:
        """Whether a rule may hold for a tool that only reads."""


class FireHooks(Protocol):
    """See `hooks.Hooks`."""

    def has(self, event: HookEvent) -> bool: ...

    async def fire(self, event: HookEvent, payload: Mapping[str, Any]) -> HookOutcome: ...


class ShellWatch(Protocol):
    """Notices what commands change in the workspace; see `checkpoints.Checkpoints`."""

    async def before_shell(self) -> None: ...

    async def after_shell(self, agent: str) -> Sequence[str]: ...

    def while_hooks_run(self, agent: str, paths: Sequence[str]) -> AbstractAsyncContextManager[None]: ...


@dataclass(slots=True)
class Refusals:
    """What was refused in a session, one line each; `final` ends the whole run."""

    lines: list[str] = field(default_factory=list)
    final: bool = False


class Safety(NamedTuple):
    """What is the same for every agent of a session."""

    judge: Judge
    approver: Approver
    hooks: FireHooks
    policy: Callable[[Level, bool], Policy]
    """The sandbox's policy for a level and whether the network may be used."""
    watch: ShellWatch
    with_secrets: Callable[[Files, Sequence[str]], Files]
    """The files, in which these secrets may be read."""
    refusals: Refusals


class Who(NamedTuple):
    """The agent that asks, as the user is told."""

    agent: str
    role: str
    task: str


class Rights(NamedTuple):
    """A call that may run: with these arguments, in this context."""

    args: Any
    context: ToolContext
    effects: Effects
    verdict: Verdict | None
    notes: tuple[str, ...] = ()


class Gate:
    """The checks of one agent. Everything that is refused is a `ToolError`, noted among the refusals."""

    def __init__(
        self, safety: Safety, *, read_only: bool, emit: Emit, clock: Callable[[], float], deadline: Deadline
    ) -> None:
        self._safety = safety
        self.read_only = read_only
        self._emit = emit
        self._clock = clock
        self._deadline = deadline
        self.who = Who("parent", "parent", "")
        self.end_was_told = False

    @property
    def ended(self) -> bool:
        """Whether a refusal has ended the whole run."""
        return self._safety.refusals.final

    async def admit(self, call: ToolCall, tool: Tool[Any], args: Any, context: ToolContext) -> Rights:
        """What `call` may run with. Raises `ToolError` when it may not."""
        if self.read_only and not tool.read_only and not tool.judged:
            raise self._refused(call, "mode", f"{tool.name} changes things, and this run is read-only", "read_only")
        args, notes = await self._after_hooks(call, tool, args)
        effects = await tool.effects(args, context)
        free = not self._safety.judge.concerns_reading and not any(map(is_secret, effects.reads))
        if tool.read_only and free:
            return Rights(args, context, effects, None, notes)
        verdict = self._safety.judge.judge(tool, effects, read_only=self.read_only)
        if verdict.decision == "deny":
            code = "read_only" if self.read_only and verdict.by == "mode" else "denied"
            raise self._refused(call, verdict.by, "; ".join(verdict.why), code)
        if verdict.decision == "ask":
            verdict = await self._asked(call, tool, effects, verdict)
        return Rights(args, self._context_for(context, effects, verdict), effects, verdict, notes)

    async def run(
        self, call: ToolCall, rights: Rights, run: Callable[[ToolContext], Awaitable[ToolResult]]
    ) -> ToolResult:
        """Run an admitted call; what a command changes is noticed, and one that the sandbox stopped may be let out."""
        if not rights.effects.command or rights.verdict is None:
            return await run(rights.context)
        watched = rights.verdict.level != "read-only"
        if watched:
            await self._safety.watch.before_shell()
        try:
            result = await run(rights.context)
            if result.confined and await self._let_out(call, rights, result):
                outside = self._context_for(rights.context, rights.effects, rights.verdict._replace(level="off"))
                result = await run(outside)
            return result
        finally:
            if watched:
                await self._safety.watch.after_shell(self.who.agent)

    async def finished(self, call: ToolCall, rights: Rights, result: ToolResult, code: str) -> ToolResult:
        """The result after the hooks that look at results."""
        hooks = self._safety.hooks
        if not hooks.has("PostToolUse"):
            return result
        payload = {**self._payload(call, rights.args), "tool_output": result.output, "is_error": bool(code)}
        written = () if code else rights.effects.writes
        async with self._safety.watch.while_hooks_run(self.who.agent, written) if written else nullcontext():
            outcome = await hooks.fire("PostToolUse", payload)
        output = result.output if outcome.output is None else outcome.output
        return replace(result, output=with_notes(output, (outcome.context,)))

    async def sent_back(self, answer: str, times: int, *, is_child: bool, status: str = "ok") -> str:
        """What a Stop hook wants of an agent that has ended; empty when it may. Only one that is done can go on.

        The hooks are asked to their end also when the agent is stopped meanwhile: each is told of an end once.
        """
        event: HookEvent = "SubagentStop" if is_child else "Stop"
        hooks = self._safety.hooks
        if not hooks.has(event):
            return ""
        payload = {"agent": self.who.agent, "role": self.who.role, "status": status, "times_sent_back": times}
        told = asyncio.ensure_future(hooks.fire(event, {**payload, "summary" if is_child else "answer": answer}))
        self.end_was_told = True
        try:
            outcome = await asyncio.shield(told)
        except asyncio.CancelledError:
            await asyncio.wait([told])
            raise
        again = outcome.again if status == "ok" else ""
        self.end_was_told = not again
        return again

    async def before_compaction(self, kind: str) -> str:
        """What the hooks have to say to whoever shortens the conversation."""
        hooks = self._safety.hooks
        if not hooks.has("PreCompact"):
            return ""
        payload = {"agent": self.who.agent, "role": self.who.role, "kind": kind}
        return (await hooks.fire("PreCompact", payload)).context

    async def ask_to_go_on(self, call: ToolCall, why: str) -> bool:
        """Whether the user lets an agent go on that repeats itself. Nobody there to ask: no."""
        request = PermissionRequest(
            self.who.agent, self.who.role, self.who.task, call.id, call.name, (_line(call),), (why,)
        )
        try:
            return (await self._question(request)).choice != "no"
        except AskRefused:
            return False

    # --- hooks ------------------------------------------------------------------------------------------------------

    async def _after_hooks(self, call: ToolCall, tool: Tool[Any], args: Any) -> tuple[Any, tuple[str, ...]]:
        hooks = self._safety.hooks
        if not hooks.has("PreToolUse"):
            return args, ()
        outcome = await hooks.fire("PreToolUse", self._payload(call, args))
        if outcome.deny:
            raise self._refused(call, "hook", outcome.deny)
        if outcome.arguments is not None:
            args = validate_arguments(tool.args, dict(outcome.arguments))
        return args, (outcome.context,) if outcome.context else ()

    def _payload(self, call: ToolCall, args: Any) -> dict[str, Any]:
        who = self.who
        return {
            "agent": who.agent,
            "role": who.role,
            "tool_name": call.name,
            "tool_input": args.model_dump(mode="json"),
            "tool_call_id": call.id,
        }

    # --- permission -------------------------------------------------------------------------------------------------

    def _context_for(self, context: ToolContext, effects: Effects, verdict: Verdict) -> ToolContext:
        safety = self._safety
        if verdict.secrets:
            context = replace(context, files=safety.with_secrets(context.files, verdict.secrets))
        if effects.command:
            shell: AgentShell = context.shell  # type: ignore[assignment]  # tools know only its protocol
            confined = shell.under(safety.policy(verdict.level, verdict.network))
            context = replace(context, open_shell=lambda: confined)
        return context

    async def _asked(self, call: ToolCall, tool: Tool[Any], effects: Effects, verdict: Verdict) -> Verdict:
        request = PermissionRequest(
            *self.who, call.id, tool.name, verdict.lines, verdict.why, effects.diff, verdict.pattern
        )
        self._emit(
            PermissionAsked(self.who.agent, self._clock(), call.id, tool.name, _first(verdict.lines), verdict.why)
        )
        try:
            reply = await self._question(request)
        except AskRefused as refused:
            self._safety.refusals.final = True
            raise self._refused(call, "headless", str(refused)) from None
        if reply.choice == "no":
            raise self._refused(call, reply.by, reply.reason or "the user said no")
        if reply.choice == "always" and reply.pattern:
            self._safety.judge.keep(reply.pattern)
        self._settled(call, reply.choice, reply.by, reply.pattern)
        return verdict

    async def _question(self, request: PermissionRequest) -> PermissionReply:
        with self._deadline.paused():
            return await self._safety.approver.ask(request)

    async def _let_out(self, call: ToolCall, rights: Rights, result: ToolResult) -> bool:
        """Whether the user allows the command once outside of the sandbox, which kept it from something."""
        if self.read_only or rights.verdict is None or rights.verdict.level == "off":
            return False
        why = (f"the sandbox kept it from something: {result.confined}", "run it again WITHOUT the sandbox, this once?")
        request = PermissionRequest(*self.who, call.id, call.name, rights.verdict.lines, why)
        try:
            reply = await self._question(request)
        except AskRefused:
            return False
        if reply.choice == "no":
            return False
        self._settled(call, "once", reply.by, "outside the sandbox")
        return True

    def _refused(self, call: ToolCall, by: str, reason: str, code: str = "denied") -> ToolError:
        self._safety.refusals.lines.append(f"{self.who.agent}: {_line(call)}: {reason}")
        self._settled(call, "no", by, reason)
        advice = (
            "Report what you would change." if code == "read_only" else "Do not try to get round it; go on without it."
        )
        return ToolError(code, f"{reason.rstrip('.')}. {advice}", refused_by=by)

    def _settled(self, call: ToolCall, decision: str, by: str, reason: str) -> None:
        self._emit(PermissionSettled(self.who.agent, self._clock(), call.id, call.name, decision, by, reason))


def with_notes(output: str, notes: Sequence[str]) -> str:
    """The result with what hooks add to it for the model."""
    added = "".join(f"\n\n[hook: {note}]" for note in notes if note)
    return output + added


def _line(call: ToolCall) -> str:
    """A call in one line for people: the command or the path if it has one, else its arguments."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = {}
    told = next(
        (arguments[key] for key in ("command", "path") if isinstance(arguments, dict) and key in arguments), None
    )
    text = " ".join(str(told if told is not None else call.arguments).split())
    return f"{call.name} {text if len(text) <= 160 else text[:159] + '…'}"


def _first(lines: Sequence[str]) -> str:
    return lines[0] if lines else ""
