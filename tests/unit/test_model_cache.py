"""Replies kept between runs, in the real store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from orchestrator.code.json_store import JsonStore
from orchestrator.errors import ModelError
from orchestrator.messages import Message, Reasoning, Usage, tool_result, user
from orchestrator.model import CallReady, Done, ModelRequest, Retrying, TextDelta
from orchestrator.model_cache import CachedModel
from orchestrator.run_text import RunText
from orchestrator.testing import ScriptedModel, ScriptedTurn, Turn, call
from tests.support.asking import error_of, pieces_of, reply_of, request_of
from tests.unit.test_replay import EVERY_PIECE, GivenPieces


class World:
    """A user's cache, asked from any number of runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, *turns: Turn, workspace: str = "w", name: str = "scripted") -> tuple[CachedModel, ScriptedModel]:
        """The model of a new run over what was kept before, and the one behind it."""
        inner = ScriptedModel(turns, name=name)
        text = RunText(workspace=self._folder / workspace, state=self._folder / "state", secrets={"hunter2-hunter2"})
        return CachedModel(inner, JsonStore(self._folder / "cache", 10_000_000), text), inner


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def asked_twice(world: World, turn: Turn, request: ModelRequest | None = None) -> Sequence[ModelRequest]:
    """The requests that reach a model when two runs ask the same; it can answer both."""
    first, inner = world.open(turn)
    await pieces_of(first, request)
    again, other = world.open("asked again")
    await pieces_of(again, request)
    return [*inner.requests, *other.requests]


async def test_the_second_run_gets_the_reply_for_nothing(world: World) -> None:
    turn = ScriptedTurn("Looking.", (call("grep", pattern="é"),), (Reasoning("hm", "signed"),))
    first, inner = world.open(turn)
    before = await pieces_of(first)
    assert inner.requests[0].temperature == 0.0
    again, other = world.open()
    after = await pieces_of(again)
    assert (again.hits, first.hits, other.requests) == (1, 0, [])
    assert after[:-1] == before[:-1]
    assert isinstance(before[-1], Done)
    assert isinstance(after[-1], Done)
    assert before[-1].reply.usage == turn.usage
    assert after[-1].reply.usage == Usage()
    assert after[-1].reply.message == before[-1].reply.message


@pytest.mark.parametrize(
    "other",
    [
        request_of(user("Hello!")),
        request_of(system="You are another."),
        request_of(tools=()),
        request_of(max_output_tokens=5),
        request_of(temperature=1.0),
    ],
)
async def test_another_request_is_asked(world: World, other: ModelRequest) -> None:
    first, _ = world.open("one")
    await pieces_of(first)
    again, inner = world.open("two")
    assert (await reply_of(again, other)).message.content == "two"
    assert inner.requests == [other if other.temperature else other._replace(temperature=0.0)]


async def test_another_model_is_asked(world: World) -> None:
    await pieces_of(world.open("one")[0])
    assert (await reply_of(world.open("two", name="other")[0])).message.content == "two"


async def test_another_day_is_another_request(world: World) -> None:
    system = "You are it.\n\n# Environment\nGit: branch main\nDate: 2026-12-03"
    await pieces_of(world.open("one")[0], request_of(system=system))
    other = request_of(system=system.replace("03", "04"))
    assert (await reply_of(world.open("two")[0], other)).message.content == "two"


async def test_a_request_at_another_temperature_is_never_kept(world: World) -> None:
    assert len(await asked_twice(world, "one", request_of(temperature=0.7))) == 2


@pytest.mark.parametrize(
    "turn",
    [
        ScriptedTurn("cut", finish_reason="length"),
        ScriptedTurn("refused", finish_reason="content_filter"),
        ScriptedTurn("unclear", finish_reason="unknown"),
        ScriptedTurn("  "),
        ScriptedTurn("it is hunter2-hunter2"),
    ],
    ids=lambda turn: turn.text,
)
async def test_what_is_not_whole_or_holds_a_secret_is_not_kept(world: World, turn: ScriptedTurn) -> None:
    assert len(await asked_twice(world, turn)) == 2


async def test_an_error_is_not_kept(world: World) -> None:
    await error_of(world.open(ScriptedTurn("so far", error=ModelError("server", "broken")))[0])
    assert (await reply_of(world.open("whole")[0])).message.content == "whole"


async def test_an_attempt_that_failed_is_not_kept_with_the_reply(tmp_path: Path, world: World) -> None:
    text = RunText(workspace=tmp_path / "w", state=tmp_path / "state")
    store = JsonStore(tmp_path / "cache", 10_000_000)
    await pieces_of(CachedModel(GivenPieces(*EVERY_PIECE), store, text))
    pieces = await pieces_of(CachedModel(GivenPieces(), store, text))
    assert not any(isinstance(piece, Retrying) for piece in pieces)
    assert TextDelta("half") not in pieces
    assert any(isinstance(piece, CallReady) for piece in pieces)


async def test_folders_and_times_of_a_run_do_not_make_another_request(tmp_path: Path, world: World) -> None:
    def told(workspace: str, session: str, took: str) -> ModelRequest:
        folder = tmp_path / "state" / "sessions" / f"20261203-101112-{session}"
        result = f"transcript: {folder}/explorer-1.jsonl\n1 failed in {took}"
        history = (user("Go."), Message("assistant", "", (call("delegate"),)), tool_result("", result))
        return request_of(*history, system=f"Workspace: {tmp_path / workspace}")

    first, _ = world.open(f"See {tmp_path / 'one'}/a.py.", workspace="one")
    await pieces_of(first, told("one", "aaaaaa", "0.12s"))
    again, inner = world.open(workspace="two")
    reply = await reply_of(again, told("two", "bbbbbb", "0.34s"))
    assert reply.message.content == f"See {tmp_path / 'two'}/a.py."
    assert inner.requests == []


async def test_what_others_put_into_the_store_is_not_taken_for_a_reply(tmp_path: Path) -> None:
    class Rubbish:
        values = iter([[{"text": 1}], {"a": 1}, "text", [[]], 7, [{"done": {}}], [{"text": "only"}]])

        def get(self, keys: list[str]) -> list[object]:
            return [next(self.values)]

        def set(self, values: object) -> None:
            """Lost."""

    text = RunText(workspace=tmp_path / "w", state=tmp_path / "state")
    inner = ScriptedModel([str(n) for n in range(7)])
    model = CachedModel(inner, Rubbish(), text)
    assert [(await reply_of(model)).message.content for _ in range(7)] == [str(n) for n in range(7)]
