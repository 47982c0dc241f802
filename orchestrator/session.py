"""One conversation from question to result: the parent agent, its sub-agents, their one budget and their one stop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.abort import AbortToken
from orchestrator.agent import Ending
from orchestrator.budget import Budget
from orchestrator.citations import Finding, check, mentions
from orchestrator.config import HookEvent
from orchestrator.context_meter import Breakdown
from orchestrator.deadline import Deadline
from orchestrator.delegation import Crew, Delegation, Record, Spent, agent_text, finish_event
from orchestrator.errors import ModelError, UsageError
from orchestrator.events import AgentStarted, Notice
from orchestrator.messages import Usage
from orchestrator.result import Citation, ErrorInfo, Result, Status, StopReason
from orchestrator.roles import PARENT, RoleBook
from orchestrator.workspace import WorkspaceFiles

if TYPE_CHECKING:
    from orchestrator.attachments import Attached


_SCOUT = "scout"


class SessionLimits(NamedTuple):
    """Seconds for the whole tree (`None`: no limit), and how many sub-agents may run at a time."""

    timeout: float | None = None
    max_turns: int = 50
    max_parallel: int = 8


class Session:
    """One conversation with one parent agent, a prompt at a time."""

    def __init__(self, session_id: str, crew: Crew, roles: RoleBook, budget: Budget, limits: SessionLimits) -> None:
        self.id = session_id
        self.prompts = 0
        self.records: list[Record] = []
        self._crew = crew
        self._limits = limits
        delegation = Delegation(
            crew, {role.name: role for role in roles.delegates()}, budget, limits.max_parallel, self.records
        )
        role = roles.get(PARENT).model_copy(update={"max_turns": limits.max_turns})
        self._parent = crew.build(
            role, PARENT, None, budget, "delegate", deadline=Deadline(None), spawn=delegation.spawn
        )

    async def ask(self, question: str, abort: AbortToken, attach: Sequence[str] = (), *, named: bool = True) -> Result:
        """The outcome of `question`, and what it alone has cost. Every ending is a result; only bugs and foreign
        cancellations are raised. `abort` stops the whole tree; the result then holds what was found so far.

        `attach` are files that go with it, relative to the current folder; so do those that it names with `@`, unless
        `named` is false. Raises `UsageError` for what cannot be attached; nothing was asked then.
        """
        crew = self._crew
        attached = await self._attached(question, attach, named)
        self._begin()
        record = Record(self._parent, crew.clock(), before=Spent.of(self._parent))
        self.records[:] = [record]
        crew.emit(AgentStarted(PARENT, crew.clock(), PARENT, None, question, self._parent.model.name))
        record.ending = await self._stoppable(question, attached, abort)
        record.ended = crew.clock()
        record.citations = self._cited_by_parent(record.ending)
        self._parent.close()
        finish_event(record, crew)
        self._report_unwritten()
        return self._result(record.ending)

    def _begin(self) -> None:
        self.prompts += 1
        self._crew.begin_turn(self.prompts)
        refusals = self._crew.safety.refusals
        refusals.lines.clear()
        refusals.final = False

    @property
    def model(self) -> str:
        """The name of the model that the user talks to."""
        return self._parent.model.name

    async def compact(self, focus: str) -> bool:
        """Shorten the conversation between two prompts; `focus` is what is to be kept. Gives whether it is shorter.

        Raises `ModelError` when it cannot be done.
        """
        return await self._parent.make_room("full", focus)

    def context(self) -> Breakdown:
        """What fills the window of the agent that the user talks to."""
        return self._parent.room.meter.breakdown(self._parent.history)

    def release(self) -> None:
        """Between two prompts: let go of what is kept for undo."""
        self._crew.release()

    async def aclose(self) -> None:
        """End what still runs in the background and tell the hooks that the session is over."""
        try:
            if self._crew.safety.hooks.has("SessionEnd"):
                await self._crew.safety.hooks.fire("SessionEnd", {"agent": PARENT, "role": PARENT})
        finally:
            await self._crew.close()

    async def _answered(self, question: str, attached: Attached | None) -> Ending:
        """The parent's ending, once the hooks have let the question pass."""
        hooks = self._crew.safety.hooks
        notes = []
        moments: dict[HookEvent, dict[str, str]] = {"SessionStart": {}} if self.prompts == 1 else {}
        moments["UserPromptSubmit"] = {"prompt": question}
        for event, payload in moments.items():
            if hooks.has(event):
                outcome = await hooks.fire(event, {"agent": PARENT, "role": PARENT, **payload})
                if outcome.deny:
                    self._crew.safety.refusals.lines.append(f"{PARENT}: {event}: {outcome.deny}")
                    return Ending("denied", "denied", f"A hook refused the prompt: {outcome.deny}")
                notes += [outcome.context] if outcome.context else []
        if attached is None:
            return await self._parent.run("\n\n".join([question, *notes]))
        self._parent.runner.saw(attached.shown)
        return await self._parent.run("\n\n".join([attached.prompt, *notes]), attached.attachments)

    async def _attached(self, question: str, attach: Sequence[str], named: bool) -> Attached | None:
        """What goes with the question; `None` for nothing. The scout reads the files itself."""
        model = self._parent.model
        if model.name == _SCOUT and attach:
            raise UsageError("the built-in scout takes no attachments", "choose a model with --model")
        if model.name == _SCOUT or not (attach or (named and "@" in question)):
            return None
        from orchestrator.attachments import Target, read_attachments

        context = self._crew.context
        assert isinstance(context.files, WorkspaceFiles)
        attached = await read_attachments(
            question,
            attach,
            files=context.files,
            search=context.open_search,
            cwd=Path.cwd(),
            target=Target(model.name, model.info.vision, model.info.window),
            named=named,
        )
        for level, lines in (("warning", attached.notes), ("info", attached.listed)):
            for line in lines:
                self._crew.emit(Notice(PARENT, self._crew.clock(), level, line))
        return attached

    async def _stoppable(self, question: str, attached: Attached | None, abort: AbortToken) -> Ending:
        agent = self._parent
        task = asyncio.current_task()
        assert task is not None
        abort.on_trigger(task.cancel)
        limit = asyncio.timeout(self._limits.timeout)
        try:
            async with limit:
                return await self._answered(question, attached)
        except TimeoutError:
            if not limit.expired():
                raise
            return Ending("incomplete", "timeout", agent.said)
        except asyncio.CancelledError:
            if not abort.triggered:
                raise
            task.uncancel()
            return Ending("aborted", "aborted", agent.said)

    def _cited_by_parent(self, ending: Ending) -> tuple[Citation, ...]:
        """What the answer's text names, beyond what the sub-agents' reports have settled already."""
        settled = {(c.path, c.line) for record in self.records[1:] for c in record.citations}
        named = mentions(ending.text, {path for path, _ in settled})
        open_places: list[Finding] = [f for f in named if (f.path, f.line) not in settled]
        return check(open_places, self._parent.runner.evidence, self._crew.context.files, PARENT)

    def _report_unwritten(self) -> None:
        for record in self.records:
            failure = record.agent.transcript_failure
            if failure is not None:
                hint = "The answer is complete, but this run leaves no whole transcript."
                message = f"the transcript {record.agent.transcript_path} could not be written: {failure.strerror}"
                self._crew.emit(Notice(record.agent.setup.name, self._crew.clock(), "warning", message, hint))

    def _result(self, ending: Ending) -> Result:
        now = self._crew.clock()
        agents = [record.summary(now) for record in self.records]
        costs = [agent.cost_usd for agent in agents]
        usage = sum((agent.usage for agent in agents), Usage())
        denied = list(self._crew.safety.refusals.lines)
        status, stop_reason = _judged(ending, denied)
        return Result(
            session_id=self.id,
            status=status,
            stop_reason=stop_reason,
            answer=self._answer(ending),
            model=self._parent.model.name,
            citations=_once(c for record in [*self.records[1:], self.records[0]] for c in record.citations),
            agents=agents,
            usage=usage,
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
            duration_s=now - (self.records[0].began if self.prompts > 1 else 0.0),
            denied=denied,
            error=_error_info(ending.error),
            exit_code=0 if ending.error is None else ending.error.exit_code,
        )

    def _answer(self, ending: Ending) -> str:
        """The parent's text; where it ended early, with what the sub-agents had found."""
        if ending.status == "ok":
            return ending.text
        texts = {r.agent.setup.name: agent_text(r).strip() for r in self.records[1:] if r.ending is not None}
        reports = [f"**{name}** — {text}" for name, text in texts.items() if text not in ending.text]
        found = ["What the sub-agents had found:", *reports] if reports else []
        return "\n\n".join([part for part in (ending.text.strip(), *found) if part])


def _judged(ending: Ending, denied: Sequence[str]) -> tuple[Status, StopReason]:
    """An answer that came although a refused call blocked part of the task is not a plain success."""
    if denied and (ending.status == "ok" or ending.stop_reason == "loop_guard"):
        return "denied", "denied"
    return ending.status, ending.stop_reason


def _once(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    best: dict[tuple[str, int, str], Citation] = {}
    for citation in citations:
        best.setdefault((citation.path, citation.line, citation.kind), citation)
    return tuple(best.values())


def _error_info(error: ModelError | None) -> ErrorInfo | None:
    return None if error is None else ErrorInfo(error.kind, error.message, error.hint)
