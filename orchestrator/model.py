"""What a model is to the rest of orch: a request goes in, a stream of pieces comes out.

Implemented by `openai_wire`, `anthropic_wire`, `litellm_model` and `scout`. A stream ends with exactly one `Done`, or
raises `ModelError`. Cancelling the consumer closes the connection. Implementations never run tools and never print.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from orchestrator.messages import Message, ToolCall, Usage

Think = Literal["off", "low", "medium", "high"]
"""How much a model is to think before it answers."""
FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "unknown"]


class ToolSchema(NamedTuple):
    """A tool as the model is told about it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, object]


class ModelRequest(NamedTuple):
    """One call of a model. `messages` is not mutated while the request is in flight."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_output_tokens: int | None = None
    temperature: float | None = None
    cache_key: str = ""
    """Requests that share a prefix share this key (one per role and session)."""
    think: Think | None = None
    """`None` leaves it to the provider; `off` switches it off where that is possible."""


class TextDelta(NamedTuple):
    text: str


class ReasoningDelta(NamedTuple):
    text: str


class CallReady(NamedTuple):
    """A tool call whose arguments are complete, sent while the rest of the reply may still be streaming."""

    call: ToolCall


class Retrying(NamedTuple):
    """The attempt failed and another follows after `delay` seconds; every piece of this request so far is void."""

    attempt: int
    attempts: int
    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole answer of one model call."""

    message: Message
    usage: Usage = field(default_factory=Usage)
    finish_reason: FinishReason = "stop"
    usage_estimated: bool = False
    """The provider reported no usage; the figures are an estimate."""


class Done(NamedTuple):
    reply: Reply


Piece = TextDelta | ReasoningDelta | CallReady | Retrying | Done


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Limits in tokens and prices in USD per token; `None` where the table does not know the model."""

    window: int | None = None
    max_output: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    cache_write_price: float | None = None
    thinks: bool | None = None
    """Whether the model can think before it answers."""
    thinking: str = ""
    """How it does, in words: `adaptive` (it decides how much), `always` (it cannot be switched off), `default` (it does
    unless it is switched off), and the levels of effort that it takes (`none low medium high`), if they are known."""
    vision: bool | None = None
    """Whether the model takes images."""

    def cost(self, usage: Usage) -> float | None:
        """USD of `usage`, or `None` when the prices are unknown (never 0 for unknown)."""
        if self.input_price is None or self.output_price is None:
            return None
        read = self.input_price if self.cache_read_price is None else self.cache_read_price
        write = self.input_price if self.cache_write_price is None else self.cache_write_price
        return (
            usage.input_tokens * self.input_price
            + usage.output_tokens * self.output_price
            + usage.cache_read_tokens * read
            + usage.cache_write_tokens * write
        )

    def saved(self, usage: Usage) -> float | None:
        """USD less than the tokens that came from the cache would have cost as input; `None` for unknown prices."""
        if self.input_price is None or self.cache_read_price is None:
            return None
        return usage.cache_read_tokens * (self.input_price - self.cache_read_price)


class Model(Protocol):
    """One model that can be asked; the same object serves any number of agents at the same time."""

    @property
    def name(self) -> str: ...

    @property
    def info(self) -> ModelInfo: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[Piece]: ...

    async def aclose(self) -> None: ...
