"""A task for a sub-agent: role and task in, a checked report out. Every ending gives a report, also a failed one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from orchestrator.agent import Agent, AgentSetup, Ending
from orchestrator.budget import Budget, Limits
from orchestrator.cache_watch import CacheWatch
from orchestrator.citations import check, findings_of, mentions
from orchestrator.deadline import Deadline, Expired
from orchestrator.errors import ConfigError, ToolError
from orchestrator.events import AgentFinished, AgentStarted, Emit, Progress, TodosChanged
from orchestrator.gate import Gate, Safety
from orchestrator.messages import ToolCall, Usage
from orchestrator.model import Model, Think
from orchestrator.result import AgentSummary, Citation
from orchestrator.roles import PARENT, Role
from orchestrator.todos import TodoList
from orchestrator.tokens import characters_for, estimate_tokens
from orchestrator.tool import Shown, Spawn, ToolContext, ToolResult
from orchestrator.tool_runner import ToolRunner
from orchestrator.toolbox import Toolbox
from orchestrator.transcript import Transcript

LISTED = 40
"""Findings that the parent reads; all of them are in the result."""
SALVAGED_CALLS = 12
LEAST_TOKENS = 500
"""A child with less than this cannot make one useful request."""


class Spent(NamedTuple):
    """What an agent has used so far. `cost` in US dollars, `None` when a price is unknown."""

    turns: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0

    @classmethod
    def of(cls, agent: Agent) -> Spent:
        return cls(agent.turns, agent.tool_calls, agent.usage, agent.cost)

    def since(self, before: Spent) -> Spent:
        cost = None if self.cost is None or before.cost is None else self.cost - before.cost
        return Spent(self.turns - before.turns, self.tool_calls - before.tool_calls, self.usage - before.usage, cost)


@dataclass(slots=True)
class Record:
    """An agent of the tree and how far it has come; `ending` is set when it has ended.

    `before` is what the agent had used already when the prompt came that this is the record of.
    """

    agent: Agent
    began: float
    ended: float | None = None
    ending: Ending | None = None
    citations: tuple[Citation, ...] = ()
    before: Spent = field(default_factory=Spent)

    @property
    def spent(self) -> Spent:
        return Spent.of(self.agent).since(self.before)

    def summary(self, now: float) -> AgentSummary:
        agent, ending, spent = self.agent, self.ending or Ending("aborted", "aborted", ""), self.spent
        return AgentSummary(
            agent.setup.name,
            agent.setup.role,
            agent.setup.parent,
            ending.status,
            ending.stop_reason,
            *spent,
            round((now if self.ended is None else self.ended) - self.began, 4),
        )


Workbench = Callable[[ToolContext, bool], ToolContext]
"""The context of one agent with what is its own: what it has read, its shell. The flag: it only reads."""


class Crew(NamedTuple):
    """What is the same for every agent of a session."""

    toolbox: Toolbox
    context: ToolContext
    read_only: bool
    """The mode's ceiling over every role."""
    safety: Safety
    workbench: Workbench
    denied_tools: frozenset[str]
    system: Callable[[Role], str]
    model_for: Callable[[Role], Model]
    small: Callable[[], Model | None]
    """The model for summaries, if one is configured."""
    emit: Emit
    clock: Callable[[], float]
    transcripts: Path
    begin_turn: Callable[[int], None]
    """Told the number of each prompt before it is worked on: what is changed from then on is undone as one."""
    release: Callable[[], None]
    """Lets go of what is kept for undo, so that it can be taken back."""
    close: Callable[[], Awaitable[None]]
    """Ends what the tools have left running."""
    watch: CacheWatch
    think: Think | None = None
    max_output: int = 50_000
    """Characters of a tool result, for tools that set no limit of their own."""

    def build(
        self,
        role: Role,
        name: str,
        parent: str | None,
        budget: Budget,
        extra: str,
        *,
        deadline: Deadline,
        spawn: Spawn | None = None,
    ) -> Agent:
        """An agent of `role`; `extra` is the one tool that its place in the tree gives it."""
        allowed = frozenset({*role.effective_tools(self.toolbox.read_only, self.denied_tools), extra})
        read_only = self.read_only or role.read_only
        offered = self.toolbox.usable(allowed, read_only=read_only)
        setup = AgentSetup(
            name,
            role.name,
            parent,
            self.system(role),
            self.toolbox.schemas(offered),
            role.max_turns,
            must_report=parent is not None,
            think=self.think,
        )
        transcript = Transcript(self.transcripts / f"{name}.jsonl")
        runner = self._runner(name, allowed, read_only, deadline, spawn)
        return Agent(
            setup,
            self.model_for(role),
            runner,
            budget,
            emit=self.emit,
            clock=self.clock,
            transcript=transcript,
            watch=self.watch,
            small=self.small,
        )

    def _runner(
        self, name: str, allowed: frozenset[str], read_only: bool, deadline: Deadline, spawn: Spawn | None
    ) -> ToolRunner:
        context = replace(
            self.context, agent=name, spawn=spawn, progress=lambda text: self.emit(Progress(name, self.clock(), text))
        )
        todos = TodoList(name, lambda items: self.emit(TodosChanged(name, self.clock(), items)))
        gate = Gate(self.safety, read_only=read_only, emit=self.emit, clock=self.clock, deadline=deadline)
        return ToolRunner(
            self.toolbox,
            allowed,
            self.workbench(replace(context, todos=todos), read_only),
            gate,
            todos,
            max_output=self.max_output,
            emit=self.emit,
            clock=self.clock,
        )


class Delegation:
    """Spawns the sub-agents of one parent: at most `max_parallel` at a time, one level deep."""

    def __init__(
        self, crew: Crew, roles: Mapping[str, Role], budget: Budget, max_parallel: int, records: list[Record]
    ) -> None:
        self._crew = crew
        self._roles = roles
        self._budget = budget
        self._places = asyncio.Semaphore(max_parallel)
        self._records = records
        self._numbers: Counter[str] = Counter()
        self._waiting = 0

    async def spawn(self, role_name: str, task: str, context: str) -> ToolResult:
        """Run one sub-agent to its end. The result is its report as text, with what it rests on as evidence."""
        role = self._role(role_name)
        self._numbers[role.name] += 1
        name = f"{role.name}-{self._numbers[role.name]}"
        shares = await self._place()
        try:
            budget = self._reserve(role, shares)
            try:
                return await self._run(role, name, task, context, budget)
            finally:
                self._budget.settle(budget)
        finally:
            self._places.release()

    async def _place(self) -> int:
        """Wait for a free place. Gives among how many, this one included, what is left must be shared."""
        self._waiting += 1
        try:
            await asyncio.sleep(0)  # so that all calls of one message are counted before the first reserves
            await self._places.acquire()
            return self._waiting
        finally:
            self._waiting -= 1

    def _role(self, name: str) -> Role:
        role = self._roles.get(name)
        if role is None:
            raise ToolError(
                "unknown_role", f"There is no role called {name[:80]!r}.", roles=", ".join(sorted(self._roles))
            )
        return role

    def _reserve(self, role: Role, shares: int) -> Budget:
        left = self._budget.left()
        if self._budget.exhausted or (left.tokens is not None and left.tokens < LEAST_TOKENS):
            raise ToolError("budget", "Nothing is left of the budget to hand out. Answer with what you have.")
        return self._budget.set_aside(Limits(role.budget.tokens, role.budget.usd), shares)

    async def _run(self, role: Role, name: str, task: str, context: str, budget: Budget) -> ToolResult:
        crew = self._crew
        deadline = Deadline(role.timeout)
        task = await self._after_hooks(role, name, task)
        try:
            agent = crew.build(role, name, PARENT, budget, "report", deadline=deadline)
        except ConfigError as error:
            raise ToolError("role_unusable", f"The role {role.name} cannot be used: {error.message}") from None
        self._require_price(agent)
        record = Record(agent, crew.clock())
        self._records.append(record)
        crew.emit(AgentStarted(name, crew.clock(), role.name, PARENT, task, agent.model.name))
        try:
            record.ending = await _in_time(agent, deadline, f"{task}\n\nContext:\n{context}" if context else task)
        finally:
            self._finish(record)
            await _told_of_its_end(record)
        text = render_report(record, role.max_summary_tokens, agent_text(record))
        return ToolResult(text, _display(record), evidence_of(record.citations))

    def _require_price(self, agent: Agent) -> None:
        if self._budget.limits.usd is not None and agent.model.info.input_price is None:
            reason = f"the price of its model {agent.model.name} is not known, and money is limited in this run"
            raise ToolError("role_unusable", f"The role {agent.setup.role} cannot be used: {reason}.")

    async def _after_hooks(self, role: Role, name: str, task: str) -> str:
        """The task with what the hooks add to it. Raises `ToolError` when one of them refuses the sub-agent."""
        hooks = self._crew.safety.hooks
        if not hooks.has("SubagentStart"):
            return task
        outcome = await hooks.fire("SubagentStart", {"agent": name, "role": role.name, "task": task})
        if outcome.deny:
            self._crew.safety.refusals.lines.append(f"{PARENT}: delegate {role.name}: {outcome.deny}")
            raise ToolError("denied", f"A hook refused the sub-agent: {outcome.deny}")
        return f"{task}\n\n{outcome.context}" if outcome.context else task

    def _finish(self, record: Record) -> None:
        """Close the books of one child, also when it was cut off by an abort."""
        agent, crew = record.agent, self._crew
        record.ended = crew.clock()
        ending = record.ending or Ending("aborted", "aborted", agent.said)
        record.ending = ending
        findings = findings_of(ending.report) if ending.report is not None else mentions(ending.text)
        record.citations = check(findings, agent.runner.evidence, crew.context.files, agent.setup.name)
        agent.close()
        finish_event(record, crew)


async def _told_of_its_end(record: Record) -> None:
    """The hooks learn of a sub-agent that was cut off or failed; one that was done has asked them itself."""
    ending = record.ending
    gate = record.agent.runner.gate
    if ending is not None and ending.status != "ok" and not gate.end_was_told:
        await gate.sent_back(ending.text, 0, is_child=True, status=ending.status)


async def _in_time(agent: Agent, deadline: Deadline, task: str) -> Ending:
    try:
        return await deadline.keep(agent.run(task))
    except Expired:
        return Ending("incomplete", "timeout", agent.said)


def finish_event(record: Record, crew: Crew) -> None:
    """Tell the subscribers that an agent has ended, exactly once for each that started."""
    agent, ending, spent = record.agent, record.ending or Ending("aborted", "aborted", ""), record.spent
    figures = (spent.turns, spent.tool_calls, spent.usage.total, spent.cost)
    crew.emit(AgentFinished(agent.setup.name, crew.clock(), ending.status, ending.stop_reason, *figures))


def evidence_of(citations: Sequence[Citation]) -> tuple[Shown, ...]:
    """What a parent may cite after reading a report: the places that were found to be right."""
    good = (c for c in citations if c.status != "unverified")
    return tuple(Shown(c.path, c.line, tuple(c.quote.split("\n"))) for c in good)


# --- the text that the parent reads ----------------------------------------------------------------------------------


def agent_text(record: Record) -> str:
    """The child's summary; where it ended early, what it was doing and had found."""
    ending = record.ending
    assert ending is not None
    if ending.status == "ok":
        return ending.text
    why = f"Stopped before it was done: {_reason(record)}."
    said = f"What it had said so far:\n{ending.text.strip()}" if ending.text.strip() else "It had said nothing yet."
    return "\n".join([why, said, *_work_done(record.agent)])


def _reason(record: Record) -> str:
    ending, agent = record.ending, record.agent
    assert ending is not None
    match ending.stop_reason:
        case "max_turns":
            return f"its limit of {agent.setup.max_turns} turns was reached"
        case "timeout":
            return f"it timed out after {record.summary(0).duration_s:.0f} s"
        case "budget":
            return "its budget was spent"
        case "loop_guard":
            return "it repeated itself without getting further (loop guard)"
        case "denied":
            return "a permission that it needed was refused"
        case "error" if ending.error is not None:
            return f"the model failed ({ending.error.kind}): {ending.error.message}"
        case other:
            return other


def _work_done(agent: Agent) -> list[str]:
    """The calls of an agent that ended early, so that its parent need not do them again."""
    calls = agent.calls_done
    if not calls:
        return []
    rows = [f"- {_call_line(call)}" for call in calls[-SALVAGED_CALLS:]]
    return [f"Tool calls it had made ({len(calls)}, the last {len(rows)} shown):", *rows]


def _call_line(call: ToolCall) -> str:
    arguments = " ".join(call.arguments.split())
    return f"{call.name} {arguments if len(arguments) <= 160 else arguments[:159] + '…'}"


def render_report(record: Record, max_tokens: int, text: str) -> str:
    """A report as the parent reads it: status and figures, the summary within its cap, the verdicts, open questions."""
    agent, ending = record.agent, record.ending
    assert ending is not None
    cost = "" if not agent.cost else f", ${agent.cost:.4f}"
    head = (
        f"status: {ending.status} ({ending.stop_reason})\n{agent.setup.name}: {agent.turns} turns, "
        f"{agent.tool_calls} tool calls, {agent.usage.total:,} tokens{cost}"
    )
    questions = [] if ending.report is None else [f"- {q}" for q in ending.report["open_questions"]]
    parts = [
        head,
        f"<summary>\n{_capped(text, max_tokens, agent)}\n</summary>",
        *_verdicts(record.citations),
        *(["open questions:", *questions] if questions else []),
        f"transcript: {agent.transcript_path}",
    ]
    return "\n".join(parts)


def _capped(text: str, max_tokens: int, agent: Agent) -> str:
    text = text.strip() or "(The sub-agent handed in no summary; only the findings below.)"
    if estimate_tokens(text) <= max_tokens:
        return text
    size = characters_for(max_tokens, text)
    mark = f"[summary cut: {size:,} of {len(text):,} characters; the whole text is in {agent.transcript_path}]"
    return f"{text[:size]}\n{mark}"


def _verdicts(citations: Sequence[Citation]) -> list[str]:
    if not citations:
        return ["findings: none"]
    counts = Counter(c.status for c in citations)
    head = ", ".join(f"{counts[s]} {s}" for s in ("verified", "moved", "unverified") if counts[s])
    first = sorted(citations, key=lambda c: c.status != "unverified")[:LISTED]
    rest = len(citations) - len(first)
    return [f"findings: {head}", *map(_verdict, first), *([f"and {rest} more, all in the result"] if rest else [])]


def _verdict(citation: Citation) -> str:
    quote = citation.quote.split("\n")[0]
    quote = quote if len(quote) <= 120 else quote[:119] + "…"
    note = f" ({citation.note})" if citation.note else ""
    return f"{citation.status} {citation.path}:{citation.line}{note} | {quote}"


def _display(record: Record) -> str:
    ending = record.ending
    assert ending is not None
    return f"{record.agent.setup.name} {ending.status}: {' '.join(ending.text.split())[:100]}"


def clock_from(start: float) -> Callable[[], float]:
    """Seconds since `start`, rounded for people and logs."""
    return lambda: round(perf_counter() - start, 4)
