"""Makes room in a conversation that outgrows its window: light, full, or in an emergency without a model.

Light: old tool results become stubs. Full: everything but the last turns becomes a summary by a model. Emergency: what
was done is written down by the program, and results of the last turn are cut. Each gives a valid history in which
every call has its results, or leaves the history as it was and says why.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Literal, NamedTuple

from orchestrator.compacted_text import (
    Standing,
    cut_tokens,
    former_of,
    images_of,
    is_summary,
    summary_message,
)
from orchestrator.context_meter import ContextMeter
from orchestrator.errors import ModelError
from orchestrator.kept_tail import fit, split
from orchestrator.message_sizes import message_tokens, messages_tokens
from orchestrator.messages import Message, Usage
from orchestrator.model import Done, Model, ModelRequest, Reply, Think
from orchestrator.repair import repair
from orchestrator.result_batch import USUAL_WINDOW
from orchestrator.result_stubs import with_stubs
from orchestrator.summary_request import OVERHEAD, Wanted, as_text, on_cached_prefix
from orchestrator.tokens import estimate_tokens
from orchestrator.tool import Todo
from orchestrator.work_record import record_of

Kind = Literal["light", "full", "emergency"]

LIGHT_AT = 0.6
"""Share of the window from which on old results are left out, if that pays."""
WORTH = 0.15
"""Share of the window that must come free for it: everything behind the first stub is out of the prompt cache."""
FULL_AT = 0.75
"""Share of the window at which the conversation is summarised."""
_LEAST_ROOM = 0.05
"""Share of the window without which no conversation can go on."""
_FILLED = 0.9
"""Of the room for the conversation, what a compacted one may take at the most."""
_FULL = 0.92
"""Share of the window that a request may take at the very most: the reply needs the rest."""
_MOST_SUMMARY, _LEAST_SUMMARY = 4000, 150
"""Tokens."""
_READ_SHARE = 0.8
"""Of a window, what a conversation to be summarised may take of it."""
_IN_A_ROW = 12
"""Compactions with one reply or none between them: then the window is too small for the work."""

_HINT = "Use a model with a larger window, or give the agent a smaller task; `/context` shows what fills the window."


class Compacted(NamedTuple):
    """`history` is the given one, repaired, when `kind` is `none`; `error` then says what stood in the way, if it did.

    `usage` and `cost` (US dollars, `None` when a price is unknown) are of all calls that were made for it, at the price
    of the model that was asked; `model_name` is whose summary it is, empty when no model was needed.
    """

    history: tuple[Message, ...]
    kind: Kind | Literal["none"]
    before_tokens: int
    after_tokens: int
    usage: Usage = Usage()
    cost: float | None = 0.0
    model_name: str = ""
    error: ModelError | None = None


class Compactor:
    """The compaction of one agent. `small` is the model that summaries are made with where they fit, if there is one.

    `cache_key` and `think` are those of the agent's requests, so that its own model finds its cached prefix.
    """

    def __init__(
        self,
        model: Model,
        small: Model | None,
        meter: ContextMeter,
        *,
        cache_key: str = "",
        think: Think | None = None,
    ) -> None:
        self._model = model
        self._small = small if small is not None and small.name != model.name else None
        self.meter = meter
        self._cache_key = cache_key
        self._think = think
        self._end: Message | None = None
        self._in_a_row = 0

    def due(self, history: Sequence[Message]) -> Kind | None:
        """What is to be done before `history` is sent; never anything for one that was just compacted."""
        meter = self.meter
        used = meter.used(history)
        if used < LIGHT_AT * meter.window or (history and history[-1] is self._end):
            return None
        freed = self._freed_by_stubs(repair(history))
        if freed >= WORTH * meter.window and used - freed < LIGHT_AT * meter.window:
            return "light"
        return "full" if used >= FULL_AT * meter.window else None

    async def compact(
        self,
        history: Sequence[Message],
        *,
        task: str,
        todos: Sequence[Todo] = (),
        plan: str = "",
        role: str = "",
        focus: str = "",
        context: str = "",
        force: Kind | None = None,
    ) -> Compacted:
        """Make `history` smaller: as is `due`, or as `force` says.

        `task`, `todos`, `plan` and `role` (a sentence) are restated to the agent; `focus` is what the user wants kept,
        `context` what hooks have to say to whoever makes the summary. Never raises `ModelError`: see `Compacted.error`.
        """
        given = repair(history)
        standing = Standing(task, tuple(todos), plan, role, images_of(task, given))
        job = _Job(self._model, self._small, self.meter, given, standing, self._cache_key, self._think)
        kind = force or self.due(given)
        if kind == "light":
            return self._light(job)
        if kind is None:
            return job.unchanged()
        if force is None and self._is_a_loop(given):
            return job.failed(_loop_error(self.meter))
        done = await job.full(focus, context) if kind == "full" else job.emergency()
        if done.kind != "none":
            self._end = done.history[-1]
        return job.going_on(done) if force is None else done

    def _light(self, job: _Job) -> Compacted:
        history = with_stubs(job.history)
        return job.done(history, "light") if self._freed_by_stubs(job.history) else job.unchanged()

    def _freed_by_stubs(self, history: Sequence[Message]) -> int:
        return self.meter.tokens(history) - self.meter.tokens(with_stubs(history))

    def _is_a_loop(self, history: Sequence[Message]) -> bool:
        """Whether hardly anything was done between the last compactions."""
        since = _replies_since(self._end, history)
        self._in_a_row = self._in_a_row + 1 if since is not None and since <= 1 else 0
        return self._in_a_row >= _IN_A_ROW


class _Job:
    """One compaction of one history."""

    def __init__(
        self,
        model: Model,
        small: Model | None,
        meter: ContextMeter,
        history: tuple[Message, ...],
        standing: Standing,
        cache_key: str,
        think: Think | None,
    ) -> None:
        self.history = history
        self._model = model
        self._small = small
        self._meter = meter
        self._standing = standing
        self._cache_key = cache_key
        self._think = think
        self._before = meter.used(history)
        self._room = int((FULL_AT * meter.window - meter.fixed) / meter.scale)
        self._usage = Usage()
        self._cost: float | None = 0.0

    # --- the outcome -------------------------------------------------------------------------------------------------

    def done(self, history: tuple[Message, ...], kind: Kind, model_name: str = "") -> Compacted:
        after = self._meter.used(history)
        if messages_tokens(history) >= messages_tokens(self.history):  # like with like: `used` may be measured
            return self.failed(_no_gain(self._before))
        return Compacted(history, kind, self._before, after, self._usage, self._cost, model_name)

    def unchanged(self) -> Compacted:
        return Compacted(self.history, "none", self._before, self._before, self._usage, self._cost)

    def failed(self, error: ModelError) -> Compacted:
        return self.unchanged()._replace(error=error)

    def going_on(self, done: Compacted) -> Compacted:
        """Without the error as long as the conversation fits as it is: it is no reason to stop yet."""
        fits = self._before < _FULL * self._meter.window
        harmless = done.error is not None and done.error.kind == "context_too_long"
        return done._replace(error=None) if fits and harmless else done

    # --- the two ways ------------------------------------------------------------------------------------------------

    async def full(self, focus: str, context: str) -> Compacted:
        wanted = Wanted(min(_MOST_SUMMARY, max(_LEAST_SUMMARY, self._room // 4)), focus, context)
        older, kept = split(self.history, self._room // 4)
        new = messages_tokens(message for message in older if not is_summary(message))
        if new <= wanted.tokens // 2:  # a summary would free nothing
            return self.emergency() if self._is_too_full() else self.unchanged()
        if self._too_little_room():
            return self.failed(_no_room(self._meter))
        try:
            name, summary = await self._summary(wanted)
        except ModelError as error:
            return self.failed(error)
        if not summary:
            return self.emergency()
        history = self._assembled(older, kept, summary)
        if history is None:
            return self.failed(_too_long(kept, self._meter))
        whole = history[-len(kept) :] == kept
        return self.done(history, "full" if whole else "emergency", name)

    def emergency(self) -> Compacted:
        """Without a model: the task, the list, what was done in short lines, and the last turns, cut where needed."""
        if self._too_little_room():
            return self.failed(_no_room(self._meter))
        older, kept = split(self.history, self._room // 3)
        history = self._assembled(older, kept, record_of(older, self._room * 35 // 100))
        return self.failed(_too_long(kept, self._meter)) if history is None else self.done(history, "emergency")

    def _assembled(
        self, older: Sequence[Message], kept: tuple[Message, ...], summary: str
    ) -> tuple[Message, ...] | None:
        if not older:
            return fit(kept, int(self._room * _FILLED)) or fit(kept, self._hard_room())
        files = former_of(self.history).files
        head = summary_message(self._standing, summary, files, kept, self._room // 3)
        size = message_tokens(head)
        tail = fit(kept, int(self._room * _FILLED) - size) or fit(kept, self._hard_room() - size)
        return None if tail is None else (head, *tail)

    def _hard_room(self) -> int:
        """What fits if nothing less will do, as when the user's own words are that long: it is sent once like that."""
        return int((_FULL * self._meter.window - self._meter.fixed) / self._meter.scale)

    def _is_too_full(self) -> bool:
        return self._before >= FULL_AT * self._meter.window

    def _too_little_room(self) -> bool:
        return self._room < _LEAST_ROOM * self._meter.window

    # --- the summary -------------------------------------------------------------------------------------------------

    async def _summary(self, wanted: Wanted) -> tuple[str, str]:
        """Whose summary it is, and its text; empty when no model gave one although all could be asked.

        Raises the `ModelError` of the agent's own model if it is one that concerns more than this request.
        """
        for model, request in self._ways(wanted):
            try:
                text = await self._ask(model, request)
            except ModelError as error:
                if model is self._model and error.kind not in ("context_too_long", "bad_request", "content_filter"):
                    raise
                continue
            if text:
                return model.name, cut_tokens(text, wanted.tokens)
        return "", ""

    def _ways(self, wanted: Wanted) -> Iterator[tuple[Model, ModelRequest]]:
        """Whom to ask, and how, in order: each only where it fits."""
        if self._small is not None:
            request = _within_limit(as_text(self.history, wanted), self._small)
            if _size(request) + wanted.tokens <= (self._small.info.window or USUAL_WINDOW) * _READ_SHARE:
                yield self._small, request
        meter = self._meter
        left = int((meter.window - self._before) / meter.scale) - OVERHEAD
        if left >= wanted.tokens // 2:
            shorter = wanted._replace(tokens=min(left, wanted.tokens))
            system, schemas = meter.system, meter.schemas
            request = on_cached_prefix(system, schemas, self.history, shorter, self._cache_key, self._think)
            yield self._model, request
        room = int(meter.window / meter.scale)
        for _ in range(2):
            request = as_text(self.history, wanted, room // 2)
            yield self._model, _within_limit(request, self._model)
            room = min(room // 2, _size(request))

    async def _ask(self, model: Model, request: ModelRequest) -> str:
        reply = await _reply(model, request)
        cost = model.info.cost(reply.usage)
        self._usage += reply.usage
        self._cost = None if self._cost is None or cost is None else self._cost + cost
        text = reply.message.content.strip()
        return f"{text}\n[the summary was cut here]" if text and reply.finish_reason == "length" else text


async def _reply(model: Model, request: ModelRequest) -> Reply:
    pieces = model.stream(request)
    try:
        async for piece in pieces:
            if isinstance(piece, Done):
                return piece.reply
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
    raise ModelError("connection", f"{model.name}: the stream ended without a reply", "Try again.")


def _within_limit(request: ModelRequest, model: Model) -> ModelRequest:
    most = model.info.max_output
    wanted = request.max_output_tokens
    return request._replace(max_output_tokens=most) if most and wanted and wanted > most else request


def _size(request: ModelRequest) -> int:
    return estimate_tokens(request.system) + messages_tokens(request.messages)


def _replies_since(end: Message | None, history: Sequence[Message]) -> int | None:
    """The replies in `history` after the message that a compaction ended with; `None` when that is not there."""
    replies = 0
    for message in reversed(history):
        if message is end:
            return replies
        replies += message.role == "assistant"
    return None


# --- what stands in the way ------------------------------------------------------------------------------------------


def _no_room(meter: ContextMeter) -> ModelError:
    message = (
        f"the system prompt and the tools take {meter.fixed:,} of the {meter.window:,} tokens of the model's window, "
        "which leaves no room for a conversation"
    )
    return ModelError("context_too_long", message, "Use a model with a larger window, or a role with fewer tools.")


def _too_long(kept: Sequence[Message], meter: ContextMeter) -> ModelError:
    message = (
        f"the last messages alone are about {meter.tokens(kept):,} tokens and the model's window has {meter.window:,}: "
        "they do not fit, however much is left out before them"
    )
    return ModelError("context_too_long", message, "Shorten the last message, or give the text as a file.")


def _no_gain(before: int) -> ModelError:
    message = f"compacting would not make the conversation smaller than it is ({before:,} tokens)"
    return ModelError("context_too_long", message, _HINT)


def _loop_error(meter: ContextMeter) -> ModelError:
    message = (
        "the conversation has to be compacted again right after it was: what a step of this task needs does not fit "
        f"the model's window of {meter.window:,} tokens"
    )
    return ModelError("context_too_long", message, _HINT)
