"""How full the window of one agent is, and what fills it.

What the provider reported with the last reply is the truth for everything up to that reply; only what came since is
estimated, and estimates are scaled by how far off they were in the request that was counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import NamedTuple

from orchestrator.message_sizes import (
    PER_MESSAGE,
    call_tokens,
    image_tokens_of,
    message_tokens,
    reasoning_tokens,
    schema_tokens,
)
from orchestrator.messages import Message, Usage
from orchestrator.model import Reply, ToolSchema
from orchestrator.result_batch import USUAL_WINDOW
from orchestrator.tokens import estimate_tokens

_LEAST_SCALE, _MOST_SCALE = 0.7, 1.5
"""How far off an estimate may be taken to be. What came since is never scaled down: better too early than too late."""
_REMEMBERED = 4096


class Part(NamedTuple):
    label: str
    tokens: int


class Breakdown(NamedTuple):
    """What fills a window of `window` tokens. The parts add up to `used`.

    `measured`: a provider has counted it, all but what came since; else it is an estimate. `window_known` is false for
    a model that no table has, for which a usual window is taken.
    """

    parts: tuple[Part, ...]
    used: int
    window: int
    measured: bool
    window_known: bool

    @property
    def free(self) -> int:
        return max(0, self.window - self.used)

    @property
    def share(self) -> float:
        return self.used / self.window


class _Counted(NamedTuple):
    """A request whose size a provider reported, and the reply to it."""

    sent: tuple[Message, ...]
    reply: Message
    prompt: int
    output: int

    def reaches(self, history: Sequence[Message]) -> bool:
        """Whether `history` still begins with what was counted."""
        return len(history) >= len(self.sent) and all(map(is_, self.sent, history))


class ContextMeter:
    """The meter of one agent. `system` and `schemas` go with every request; `window` is `None` when it is not known."""

    def __init__(self, system: str, schemas: Sequence[ToolSchema], window: int | None) -> None:
        self.system = system
        self.schemas = tuple(schemas)
        self.window_known = window is not None
        self._window = window or USUAL_WINDOW
        self._system_tokens = estimate_tokens(system)
        self._tools_tokens = sum(map(schema_tokens, schemas))
        self._counted: _Counted | None = None
        self._scale = 1.0
        self._sizes: dict[int, tuple[Message, int]] = {}

    @property
    def window(self) -> int:
        return self._window

    @property
    def scale(self) -> float:
        """How many tokens one estimated token is, by the last request that was counted."""
        return self._scale

    @property
    def fixed(self) -> int:
        """Tokens of the system prompt and the tools, which no compaction can free."""
        return round((self._system_tokens + self._tools_tokens) * self._scale)

    def replied(self, sent: Sequence[Message], reply: Reply) -> None:
        """Note what the provider reported. `sent` are the messages of the request, the same objects as in the history.

        A reply whose usage was estimated tells nothing new.
        """
        prompt = _prompt_tokens(reply.usage)
        if reply.usage_estimated or not prompt:
            return
        self._counted = _Counted(tuple(sent), reply.message, prompt, reply.usage.output_tokens)
        estimate = self._system_tokens + self._tools_tokens + self.estimate(sent)
        self._scale = min(_MOST_SCALE, max(_LEAST_SCALE, prompt / max(1, estimate)))

    def refused(self, sent: Sequence[Message]) -> None:
        """The provider said that `sent` is too long: the window is smaller than it was thought to be."""
        self._window = max(1, min(self._window, int(self.used(sent) * 0.95)))

    def used(self, history: Sequence[Message]) -> int:
        """Tokens of a request with `history`, all that was not sent yet included (B116)."""
        counted = self._counted
        if counted is None or not counted.reaches(history):
            return self.fixed + self.tokens(history)
        since = history[len(counted.sent) :]
        total = counted.prompt
        if since and since[0] == counted.reply:
            total += self._reply_tokens(counted)
            since = since[1:]
        return total + round(self.estimate(since) * max(1.0, self._scale))

    def share(self, history: Sequence[Message]) -> float:
        return self.used(history) / self.window

    def tokens(self, messages: Sequence[Message]) -> int:
        """An estimate of the messages alone, scaled."""
        return round(self.estimate(messages) * self._scale)

    def estimate(self, messages: Sequence[Message]) -> int:
        """The same, as it is before it is scaled."""
        return sum(self._size(message) for message in messages)

    def breakdown(self, history: Sequence[Message]) -> Breakdown:
        """What fills the window, for `/context`. An estimate of each part, made to add up to `used`."""
        used = self.used(history)
        parts = [("system prompt", self._system_tokens), ("tools", self._tools_tokens), *_by_kind(history).items()]
        counted = self._counted
        measured = counted is not None and counted.reaches(history)
        return Breakdown(_adding_up(parts, used), used, self.window, measured, self.window_known)

    def _reply_tokens(self, counted: _Counted) -> int:
        """The reply as it goes back. Reasoning that stays behind was counted as output, but is not sent again."""
        return min(counted.output, 2 * self._size(counted.reply) + 16)

    def _size(self, message: Message) -> int:
        known = self._sizes.get(id(message))
        if known is not None:
            return known[1]
        if len(self._sizes) >= _REMEMBERED:
            self._sizes.clear()
        size = message_tokens(message)
        self._sizes[id(message)] = (message, size)  # with the message: an id is never used again while it is a key
        return size


def _prompt_tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def _by_kind(history: Sequence[Message]) -> dict[str, int]:
    labels = ("summary", "user", "assistant", "reasoning", "tool calls", "tool results", "images")
    sums = dict.fromkeys(labels, 0)
    for message in history:
        images, calls = image_tokens_of(message), sum(map(call_tokens, message.tool_calls))
        reasoning = reasoning_tokens(message)
        sums["images"] += images
        sums["tool calls"] += calls
        sums["reasoning"] += reasoning
        sums[_label(message)] += PER_MESSAGE + estimate_tokens(message.content)
    return sums


def _label(message: Message) -> str:
    from orchestrator.compacted_text import is_summary  # late: only `/context` asks for it

    match message.role:
        case "tool":
            return "tool results"
        case "user" if is_summary(message):
            return "summary"
        case role:
            return role


def _adding_up(parts: Sequence[tuple[str, int]], total: int) -> tuple[Part, ...]:
    """The parts that are not empty, scaled so that they are `total` together."""
    filled = [(label, size) for label, size in parts if size]
    whole = sum(size for _, size in filled)
    if not whole:
        return ()
    scaled = [Part(label, size * total // whole) for label, size in filled]
    largest = max(range(len(scaled)), key=lambda index: scaled[index].tokens)
    missing = total - sum(part.tokens for part in scaled)
    scaled[largest] = scaled[largest]._replace(tokens=scaled[largest].tokens + missing)
    return tuple(scaled)
