"""Models that follow a script, for tests of your own roles and tools.

    model = ScriptedModel([
        ScriptedTurn(tool_calls=(call("grep", pattern="legacy_auth"),)),
        "It is used in src/auth.py:12.",
    ])

Nothing here touches the network. A request beyond the script raises `ScriptExhausted`: a test never passes because a
model said nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from orchestrator.errors import ModelError
from orchestrator.messages import Message, Reasoning, ToolCall, Usage
from orchestrator.model import (
    CallReady,
    Done,
    FinishReason,
    ModelInfo,
    ModelRequest,
    Piece,
    ReasoningDelta,
    Reply,
    TextDelta,
)


class ScriptExhausted(AssertionError):
    """The code under test asked the model more often than its script foresees."""


def call(name: str, /, **arguments: object) -> ToolCall:
    """A tool call with these arguments; its id is given when the turn is played."""
    return ToolCall("", name, json.dumps(arguments, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """What the model does when it is asked: say `text`, call tools, fail with `error`.

    `finish_reason` follows from the content unless it is given; `delay` is in seconds, before the first piece; a turn
    that `hangs` gives its pieces and then nothing more, until it is cancelled.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()
    finish_reason: FinishReason | None = None
    usage: Usage = field(default_factory=lambda: Usage(input_tokens=100, output_tokens=20))
    error: ModelError | None = None
    delay: float = 0.0
    hangs: bool = False


Turn = ScriptedTurn | str | Callable[[ModelRequest], "ScriptedTurn | str"]
"""A turn, the text of one, or a function that makes one out of the request."""


class ScriptedModel:
    """A model that plays `turns` in order, whoever asks.

    `routes` has scripts for agents that are told apart by a text in their system prompt or first message: the first
    key that occurs in either plays its own turns. `requests` holds what was asked.
    """

    def __init__(
        self,
        turns: Iterable[Turn] = (),
        *,
        routes: Mapping[str, Iterable[Turn]] | None = None,
        name: str = "scripted",
        info: ModelInfo | None = None,
    ) -> None:
        self._name = name
        self._info = info or ModelInfo()
        self._turns = list(turns)
        self._routes = {key: list(script) for key, script in (routes or {}).items()}
        self._calls = 0
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Play the next turn; raises its `error`, or `ScriptExhausted`."""
        self.requests.append(request)
        turn = self._next(request)
        await asyncio.sleep(turn.delay)
        for block in turn.reasoning:
            yield ReasoningDelta(block.text)
        if turn.text:
            yield TextDelta(turn.text)
        calls = tuple(self._with_id(each) for each in turn.tool_calls)
        for each in calls:
            yield CallReady(each)
        if turn.hangs:
            await asyncio.Event().wait()
        if turn.error is not None:
            raise turn.error
        finish = turn.finish_reason or ("tool_calls" if calls else "stop")
        yield Done(Reply(Message("assistant", turn.text, calls, turn.reasoning), turn.usage, finish))

    async def aclose(self) -> None:
        """Nothing to close."""

    def assert_finished(self) -> None:
        """Raise `AssertionError` when turns of the script were never asked for."""
        left = {"the script": len(self._turns), **{repr(key): len(script) for key, script in self._routes.items()}}
        waiting = [f"{count} of {where}" for where, count in left.items() if count]
        assert not waiting, f"turns that were never asked for: {', '.join(waiting)}"

    def _next(self, request: ModelRequest) -> ScriptedTurn:
        first = request.messages[0].content if request.messages else ""
        keys = [key for key in self._routes if key in request.system or key in first]
        script = self._routes[keys[0]] if keys else self._turns
        if not script:
            which = f"the route {keys[0]!r}" if keys else "its script"
            last = request.messages[-1].content[:200] if request.messages else ""
            raise ScriptExhausted(f"{self._name}: request {len(self.requests)} is beyond {which}; it ends in {last!r}")
        turn = script.pop(0)
        made = turn(request) if callable(turn) else turn
        return ScriptedTurn(made) if isinstance(made, str) else made

    def _with_id(self, each: ToolCall) -> ToolCall:
        self._calls += 1
        return each if each.id else replace(each, id=f"scripted_{self._calls}")
