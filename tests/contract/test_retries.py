"""Requests that are tried again, and those that are not."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from orchestrator.errors import ModelError
from orchestrator.model import Done, ModelInfo, ModelRequest, Piece, Retrying, TextDelta
from orchestrator.retry import with_retries
from orchestrator.testing import ScriptedModel, ScriptedTurn
from tests.contract.conftest import MakeModel
from tests.support.asking import calls_of, error_of, first_piece, pieces_of, request_of
from tests.support.model_server import ModelServer

SOON = {"retry-after-ms": "1"}
LIMITED = {"status": 429, "error": {"message": "Rate limit reached"}, "headers": SOON}


def pauses(pieces: Sequence[Piece]) -> list[Retrying]:
    return [piece for piece in pieces if isinstance(piece, Retrying)]


async def test_a_rate_limit_is_waited_out_and_shown(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([LIMITED, LIMITED, "fine"]) as server:
        pieces = await pieces_of(with_retries(make_model(wire, server.url)))
        assert len(server.requests) == 3
    shown = pauses(pieces)
    assert [(each.attempt, each.attempts) for each in shown] == [(1, 5), (2, 5)]
    assert all("Rate limit reached" in each.reason and 0.001 <= each.delay < 0.1 for each in shown)
    assert isinstance(pieces[-1], Done)
    assert pieces[-1].reply.message.content == "fine"


BREAKS: dict[str, dict[str, Any]] = {
    "dropped": {"text": ["one", "two"], "drop_after": 1},
    "no end": {"text": "one", "finish_reason": None},
    "silent": {"text": ["one", "two"], "stall": "forever"},
    "error": {"text": "one", "error": {"type": "overloaded_error", "message": "Overloaded. Try again in 1ms."}},
}


@pytest.mark.parametrize("name", BREAKS)
async def test_a_broken_stream_is_asked_for_again(wire: str, make_model: MakeModel, name: str) -> None:
    """B127, B129: the pieces before the pause are void; the reply holds the second answer alone."""
    async with ModelServer([BREAKS[name], "fine"]) as server:
        model = make_model(wire, server.url, idle_timeout=0.3)
        pieces = await pieces_of(with_retries(model, cap=0.01))
    assert len(pauses(pieces)) == 1
    assert isinstance(pieces[-1], Done)
    assert pieces[-1].reply.message.content == "fine"


async def test_a_call_given_before_the_break_is_given_again(wire: str, make_model: MakeModel) -> None:
    calls = [{"name": "grep", "arguments": {"pattern": str(n)}, "id": f"c{n}"} for n in range(2)]
    async with ModelServer([{"tool_calls": calls, "drop_after": 5}, {"tool_calls": calls}]) as server:
        pieces = await pieces_of(with_retries(make_model(wire, server.url), cap=0.01))
    at = pieces.index(pauses(pieces)[0])
    assert [call.id for call in calls_of(pieces[:at])] == ["c0"]
    assert [call.id for call in calls_of(pieces[at:])] == ["c0", "c1"]


async def test_it_gives_up_after_so_many_attempts(wire: str, make_model: MakeModel) -> None:
    async with ModelServer({"turns": [LIMITED], "repeat": True}) as server:
        error = await error_of(with_retries(make_model(wire, server.url), attempts=3))
        assert len(server.requests) == 3
    assert (error.kind, error.exit_code) == ("rate_limit", 75)
    assert "3 times" in error.message
    assert error.hint


async def test_an_error_that_cannot_pass_is_raised_at_once(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"status": 401, "error": {"message": "Incorrect API key"}}]) as server:
        error = await error_of(with_retries(make_model(wire, server.url)))
        assert len(server.requests) == 1
    assert (error.kind, error.exit_code) == ("auth", 1)


async def test_hours_of_waiting_are_not_slept(wire: str, make_model: MakeModel) -> None:
    """B122: `Retry-After: 10800` ends the request and says when to come back."""
    limited = {"status": 429, "error": {"message": "Daily limit"}, "headers": {"Retry-After": "10800"}}
    async with ModelServer([limited]) as server:
        error = await error_of(with_retries(make_model(wire, server.url)))
        assert len(server.requests) == 1
    assert error.retry_after == 10800
    assert error.exit_code == 75
    assert "3 h 0 min" in error.hint
    assert "try again after" in error.hint


def failing(times: int, error: ModelError) -> ScriptedModel:
    return ScriptedModel([*[ScriptedTurn(error=error)] * times, "fine"])


async def test_the_pause_doubles_up_to_the_cap_with_a_random_part() -> None:
    model = with_retries(failing(6, ModelError("server", "x")), attempts=7, cap=0.002, rng=random.Random(1))
    delays = [each.delay for each in pauses(await pieces_of(model))]
    assert all(0.001 <= delay <= 0.002 for delay in delays)
    assert len(set(delays)) == 6


@pytest.mark.parametrize(("kind", "first"), [("server", 0.5), ("connection", 0.5), ("rate_limit", 2.0)])
async def test_the_first_pauses(kind: Any, first: float) -> None:
    """Read off the pieces, not slept: the stream is left at each pause."""
    model = with_retries(failing(1, ModelError(kind, "x")), rng=random.Random(1))
    stream = model.stream(request_of())
    pause = await anext(stream)
    assert isinstance(pause, Retrying)
    assert first / 2 <= pause.delay <= first


async def test_name_and_limits_are_the_models_own() -> None:
    inner = ScriptedModel(name="mine")
    model = with_retries(inner)
    assert (model.name, model.info) == ("mine", inner.info)
    await model.aclose()


class Watched:
    """A model that knows whether its stream has ended."""

    name = "watched"
    info = ModelInfo()
    open = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        self.open = True
        try:
            yield TextDelta("one")
            yield TextDelta("two")
        finally:
            self.open = False

    async def aclose(self) -> None:
        """Nothing to close."""


async def test_giving_up_closes_the_stream_beneath_before_it_returns() -> None:
    model = Watched()
    async with first_piece(with_retries(model)):
        assert model.open
    assert not model.open
