"""The loop, the same for parent and child: ask the model, run what it calls, go on until there is a reason to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.arguments import stored_arguments
from orchestrator.budget import Budget
from orchestrator.cache_watch import CacheWatch
from orchestrator.errors import ModelError
from orchestrator.events import (
    CacheBroken,
    Compacted,
    Emit,
    ReplyVoided,
    Retry,
    Text,
    Thinking,
    TurnFinished,
    TurnStarted,
)
from orchestrator.gate import Who
from orchestrator.messages import Attachment, Message, ToolCall, Usage, tool_result, user
from orchestrator.model import (
    CallReady,
    Done,
    Model,
    ModelRequest,
    ReasoningDelta,
    Reply,
    Retrying,
    TextDelta,
    Think,
    ToolSchema,
)
from orchestrator.result import Status, StopReason
from orchestrator.result_batch import fit_batch
from orchestrator.room import Room
from orchestrator.tool_runner import ABORTED, Outcome, ToolRunner
from orchestrator.transcript import Transcript

if TYPE_CHECKING:
    from orchestrator.compaction import Kind

MAX_CONTINUATIONS = 3
MAX_SENT_BACK = 8
"""How often a Stop hook may send an agent back to work."""
CONTINUE = "Your reply was cut at the output limit. Go on exactly where it stopped; repeat nothing."
EMPTY = "Your last reply was empty. Give your answer now, or call a tool. If you are done, say so in one sentence."


class Next(Enum):
    """Why the loop goes on. A closed set."""

    TOOL_RESULTS = "tool_results"
    CONTINUE_CUT = "continue_cut"
    ASK_AGAIN = "ask_again"
    SENT_BACK = "sent_back"


class Ending(NamedTuple):
    """How an agent ended. `text` is its answer, or what it had said so far; `report` what it handed in."""

    status: Status
    stop_reason: StopReason
    text: str
    report: Mapping[str, Any] | None = None
    error: ModelError | None = None


class AgentSetup(NamedTuple):
    """Everything that an agent is, fixed before its first turn."""

    name: str
    role: str
    parent: str | None
    system: str
    schemas: tuple[ToolSchema, ...]
    max_turns: int
    must_report: bool
    """A sub-agent: it ends by calling `report`."""
    think: Think | None = None


class Agent:
    """One conversation with a model that may use tools. Every call in `history` gets its result.

    `run` may be called again, with what the user says next.
    """

    def __init__(
        self,
        setup: AgentSetup,
        model: Model,
        runner: ToolRunner,
        budget: Budget,
        *,
        emit: Emit,
        clock: Callable[[], float],
        transcript: Transcript,
        watch: CacheWatch,
        small: Callable[[], Model | None] = lambda: None,
    ) -> None:
        """`watch` looks for what breaks the provider's cache; `small` gives the model for summaries, if any."""
        self.setup = setup
        self.model = model
        self.runner = runner
        self.budget = budget
        self.history: list[Message] = []
        self.usage = Usage()
        self.cost: float | None = 0.0
        self.turns = 0
        self.tool_calls = 0
        self._emit = emit
        self._clock = clock
        self._transcript = transcript
        self._watch = watch
        self._reply: _Incoming = _Incoming()
        self.room = Room(setup, model, small)
        self._task = ""
        self._former: list[Message] = []
        self._start_anew()

    @property
    def transcript_path(self) -> Path:
        return self._transcript.path

    @property
    def transcript_failure(self) -> OSError | None:
        return self._transcript.failure

    def _start_anew(self) -> None:
        """Each task has all its turns, and may be cut, empty and sent back as often as another."""
        self._last_turn = self.turns + self.setup.max_turns
        self._cut_text = ""
        self._continuations = 0
        self._asked_again = False
        self._sent_back = 0

    def close(self) -> None:
        """No more turns for now: the transcript's file is closed."""
        if self.setup.must_report:
            self._watch.forget(self.setup.name)
        self._transcript.close()

    @property
    def said(self) -> str:
        """The last text of this agent, whole or as far as it has come."""
        if self._reply.text.strip():
            return self._cut_text + self._reply.text
        texts = (m.content for m in reversed(self.history) if m.role == "assistant" and m.content.strip())
        return next(texts, "")

    @property
    def calls_done(self) -> Sequence[ToolCall]:
        """The calls that succeeded, in their order, those of shortened parts of the conversation included."""
        messages = [*self._former, *self.history]
        done = {m.tool_call_id for m in messages if m.role == "tool" and not m.is_error}
        found = {call.id: call for m in messages for call in m.tool_calls if call.id in done}
        return list(found.values())

    async def run(self, task: str, attachments: Sequence[Attachment] = ()) -> Ending:
        """Work on `task` to an ending. Only cancellation leaves by an exception, with every call answered."""
        self._start_anew()
        self._task = task
        self.runner.begin(Who(self.setup.name, self.setup.role, task))
        self._append(user(task, attachments))
        while True:
            if self.turns >= self._last_turn:
                return Ending("incomplete", "max_turns", self.said)
            if self.budget.exhausted:
                return Ending("incomplete", "budget", self.said)
            try:
                await self.make_room()
                reply, outcomes = await self._turn_that_fits()
            except ModelError as error:
                return Ending("failed", "error", self.said, error=error)
            step = await self._decide(reply, outcomes)
            if isinstance(step, Ending):
                return step

    # --- room in the window ------------------------------------------------------------------------------------------

    async def make_room(self, force: Kind | None = None, focus: str = "") -> bool:
        """Shorten the conversation if it needs it, or as `force` says; `focus` is what is to be kept then.

        Gives whether it is shorter now. Raises `ModelError` when it has to be and cannot.
        """
        kind = force or self.room.due(self.history)
        if kind is None:
            return False
        context = await self.runner.gate.before_compaction(kind)
        done = await self.room.compacted(self.history, self._task, self.runner.todos, context, force, focus)
        self.usage += done.usage
        self.cost = None if self.cost is None or done.cost is None else self.cost + done.cost
        self.budget.charge(done.usage, done.cost)
        if done.error is not None:
            raise done.error
        before, self.history = self.history, list(done.history)
        if done.kind == "none":
            return False
        kept = {id(message) for message in self.history}
        self._former += [m for m in before if id(m) not in kept and (m.tool_calls or m.role == "tool")]
        self.runner.forgotten()
        self._watch.forget(self.setup.name)
        self._emit(Compacted(self.setup.name, self._clock(), done.kind, done.before_tokens, done.after_tokens))
        return True

    async def _turn_that_fits(self) -> tuple[Reply, list[Outcome]]:
        """One turn; where the provider says that the conversation is too long, it is shortened and sent again."""
        for force in ("full", "emergency"):
            try:
                return await self._turn()
            except ModelError as error:
                if error.kind != "context_too_long":
                    raise
                self.room.meter.refused(self.history)
                if not await self.make_room(force):
                    raise
        return await self._turn()

    # --- one turn ----------------------------------------------------------------------------------------------------

    async def _turn(self) -> tuple[Reply, list[Outcome]]:
        self.turns += 1
        self._emit(TurnStarted(self.setup.name, self._clock(), self.turns))
        self._reply = incoming = _Incoming()
        try:
            async with asyncio.TaskGroup() as group:
                failure = await self._receive(incoming, group)
                if failure is None:
                    self._keep(incoming.done)
                    await self._run_calls(incoming, group)
        except asyncio.CancelledError:
            self._close_interrupted(incoming)
            raise
        if failure is not None:
            self._close_interrupted(incoming)
            raise failure
        outcomes = [incoming.tasks[call.id].result() for call in incoming.done.message.tool_calls]
        self._answer([outcome.message for outcome in outcomes], incoming.done.message.tool_calls)
        return incoming.done, outcomes

    async def _receive(self, incoming: _Incoming, group: asyncio.TaskGroup) -> ModelError | None:
        """Stream one reply; eager calls start at once. The error is returned, since a task group would wrap it."""
        setup = self.setup
        request = ModelRequest(
            setup.system, tuple(self.history), setup.schemas, cache_key=setup.role, think=setup.think
        )
        if found := self._watch.saw(setup.name, request, self.model.name):
            self._emit(CacheBroken(setup.name, self._clock(), str(found)))
        try:
            async for piece in self.model.stream(request):
                match piece:
                    case TextDelta(text):
                        incoming.text += text
                        self._emit(Text(self.setup.name, self._clock(), text))
                    case ReasoningDelta(text):
                        self._emit(Thinking(self.setup.name, self._clock(), text))
                    case CallReady(call):
                        if self.runner.is_eager(call):
                            incoming.tasks[call.id] = group.create_task(self.runner.run(call))
                    case Retrying():
                        self._void(incoming, piece)
                    case Done(reply):
                        incoming.original = reply.message
                        incoming.reply = _storable(reply)
                        self.room.meter.replied(request.messages, incoming.reply)
                        self._charge(reply)
        except ModelError as error:
            incoming.cancel()
            return error
        if incoming.reply is None:
            return ModelError("connection", "the model's stream ended without a reply", "Try again.")
        return None

    async def _run_calls(self, incoming: _Incoming, group: asyncio.TaskGroup) -> None:
        """Start what has not started: what only reads at once, the rest in order, the report last."""
        cut = incoming.done.finish_reason == "length"
        calls = [call for call in incoming.original.tool_calls if call.id not in incoming.tasks]
        for call in calls:
            if self.runner.is_parallel(call) and call.name != "report":
                incoming.tasks[call.id] = group.create_task(self.runner.run(call, cut=cut))
        for call in calls:
            if call.id not in incoming.tasks:
                incoming.tasks[call.id] = task = group.create_task(self.runner.run(call, cut=cut))
                await asyncio.wait([task])

    def _void(self, incoming: _Incoming, retry: Retrying) -> None:
        incoming.cancel()
        incoming.text = ""
        name, now = self.setup.name, self._clock()
        self._emit(ReplyVoided(name, now, retry.reason))
        self._emit(Retry(name, now, retry.attempt, retry.attempts, retry.delay, retry.reason))

    def _charge(self, reply: Reply) -> None:
        cost = self.model.info.cost(reply.usage)
        self.usage += reply.usage
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        self.budget.charge(reply.usage, cost)
        totals = (self.usage.total - self.usage.output_tokens, self.usage.output_tokens, self.cost)
        self._emit(TurnFinished(self.setup.name, self._clock(), self.turns, *totals))

    # --- the history -------------------------------------------------------------------------------------------------

    def _append(self, message: Message) -> None:
        self.history.append(message)
        self._transcript.append(message)

    def _keep(self, reply: Reply) -> None:
        message = reply.message
        self.tool_calls += len(message.tool_calls)
        if message.content.strip() or message.tool_calls or message.reasoning:
            self._append(message)
        self._reply.text = ""

    def _answer(self, results: list[Message], calls: Sequence[ToolCall]) -> None:
        """Append the results of one reply, within the share of the window that a batch may take."""
        if results:
            note = self._last_turn_note() if self.turns == self._last_turn - 1 else ""
            reminder = self.runner.round_note(calls)
            note += f"\n\n[orch: {reminder}]" if reminder else ""
            results[-1] = replace(results[-1], content=results[-1].content + note)
        for message in fit_batch(results, self.model.info.window):
            self._append(message)

    def _last_turn_note(self) -> str:
        what = "call `report` now with what you have found" if self.setup.must_report else "answer now"
        return f"\n\n[orch: one turn is left; {what}.]"

    def _close_interrupted(self, incoming: _Incoming) -> None:
        """After a cut: what was said stays, calls that are in the history are answered, half calls are dropped."""
        if incoming.reply is None or not self.history or self.history[-1] is not incoming.reply.message:
            if incoming.text.strip():
                self._append(Message("assistant", incoming.text, interrupted=True))
            self._reply = _Incoming()
            return
        for call in incoming.reply.message.tool_calls:
            self._append(incoming.result_of(call))

    # --- what next ---------------------------------------------------------------------------------------------------

    async def _decide(self, reply: Reply, outcomes: list[Outcome]) -> Ending | Next:
        stop = next((o for o in outcomes if o.stop is not None), None)
        if stop is not None and stop.stop is not None:
            return Ending("denied" if stop.stop == "denied" else "incomplete", stop.stop, self.said)
        report = next((o.report for o in outcomes if o.report is not None), None)
        if report is not None:
            return await self._ended(Ending("ok", "done", str(report["summary"]), report=report))
        text = self._cut_text + reply.message.content
        if outcomes and self.runner.guard.said(reply.message.content).action == "stop":
            return Ending("incomplete", "loop_guard", text)
        if outcomes:
            self._cut_text = ""
            self._continuations = 0
            return Next.TOOL_RESULTS
        if reply.finish_reason == "length" and self._continuations < MAX_CONTINUATIONS:
            return self._continue_cut(text)
        return await self._end(reply, text)

    async def _ended(self, ending: Ending) -> Ending | Next:
        """The ending, unless a Stop hook has more for the agent to do."""
        if self._sent_back >= MAX_SENT_BACK:
            return ending
        again = await self.runner.gate.sent_back(ending.text, self._sent_back, is_child=self.setup.must_report)
        if not again:
            return ending
        self._sent_back += 1
        self._append(user(again))
        return Next.SENT_BACK

    def _continue_cut(self, text: str) -> Next:
        self._continuations += 1
        self._cut_text = text
        self._append(user(CONTINUE))
        return Next.CONTINUE_CUT

    async def _end(self, reply: Reply, text: str) -> Ending | Next:
        if reply.finish_reason == "content_filter":
            error = ModelError(
                "content_filter", "the provider's content filter stopped the reply", "Rephrase the task."
            )
            return Ending("failed", "error", text, error=error)
        if text.strip():
            cut = reply.finish_reason == "length"
            return Ending("incomplete", "budget", text) if cut else await self._ended(Ending("ok", "done", text))
        if self._asked_again:
            error = ModelError("server", "the model gave an empty reply twice", "Ask again, or use another model.")
            return Ending("failed", "error", self.said, error=error)
        self._asked_again = True
        self._append(user(EMPTY))
        return Next.ASK_AGAIN


class _Incoming:
    """A reply while it comes in, and the calls of it that run."""

    def __init__(self) -> None:
        self.text = ""
        self.reply: Reply | None = None
        self.original: Message = Message("assistant")
        self.tasks: dict[str, asyncio.Task[Outcome]] = {}

    @property
    def done(self) -> Reply:
        assert self.reply is not None
        return self.reply

    def cancel(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        self.tasks.clear()

    def result_of(self, call: ToolCall) -> Message:
        task = self.tasks.get(call.id)
        if task is not None and task.done() and not task.cancelled() and task.exception() is None:
            return task.result().message
        return tool_result(call.id, ABORTED, is_error=True)


def _storable(reply: Reply) -> Reply:
    """The reply with arguments that can always be sent back: valid JSON objects."""
    calls = tuple(replace(call, arguments=stored_arguments(call.arguments)) for call in reply.message.tool_calls)
    return (
        reply if calls == reply.message.tool_calls else replace(reply, message=replace(reply.message, tool_calls=calls))
    )
