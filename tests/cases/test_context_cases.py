"""The fault reports about context size and compaction, and those about calls that compaction parted from results."""

from __future__ import annotations

import pytest

from orchestrator.compaction import Kind
from orchestrator.kept_tail import split, units_of
from orchestrator.messages import Message, ToolCall, tool_result, user
from orchestrator.model import ModelInfo, ModelRequest
from orchestrator.repair import NOT_EXECUTED, is_valid
from tests.support.asking import reply_of, request_of
from tests.support.compacting import SCHEMAS, SYSTEM, TASK, compactor, lines, model_at, reported, step, steps
from tests.support.model_server import ModelServer
from tests.support.summarising import SummarisingServer

WIRES = pytest.mark.parametrize("wire", ["openai", "anthropic"])
KINDS: tuple[Kind, ...] = ("light", "full", "emergency")
SUMMARY = "## Goal\nGo on."


def asks(call_id: str) -> Message:
    return Message("assistant", "", (ToolCall(call_id, "grep", '{"pattern":"x"}'),))


@WIRES
async def test_b116_text_that_was_not_sent_yet_is_reason_to_compact(wire: str) -> None:
    """The last usage was 60% of the window and the user pastes 50%: what is sent fits."""
    async with SummarisingServer(8000) as server, model_at(wire, server.url) as model:
        of_agent = compactor(model)
        history = steps(18, 250, "delegate")
        of_agent.meter.replied(history, reported(4800))
        assert of_agent.due(history) is None
        history = [*history, user(lines(4000))]
        assert of_agent.due(history) == "full"
        done = await of_agent.compact(history, task=history[-1].content)
        assert done.history[-1] is history[-1]
        reply = await reply_of(model, ModelRequest(SYSTEM, done.history, SCHEMAS))
        assert reply.message.content == "ok"


@WIRES
async def test_b119_an_output_limit_as_large_as_the_window_is_no_reason_to_compact(wire: str) -> None:
    """22,000 tokens of input in a window of 262,144, of which all may be output."""
    info = ModelInfo(window=262_144, max_output=262_144)
    async with ModelServer(["ok"]) as server, model_at(wire, server.url, info=info) as model:
        history = [*steps(40, 540), user("So?")]
        of_agent = compactor(model)
        of_agent.meter.replied(history, reported(22_000))
        assert of_agent.due(history) is None
        await reply_of(model, request_of(*history, max_output_tokens=262_144))
        assert server.requests[0].body["max_tokens"] + 22_000 <= 262_144


@WIRES
async def test_b120_the_request_for_a_summary_is_repaired_like_any_other(wire: str) -> None:
    """An open call in it gets its answer, in the request and in what comes of it."""
    info = ModelInfo(window=16_000)
    history = [*steps(45, 250, "delegate"), asks("open")]
    async with ModelServer([SUMMARY, "ok"]) as server, model_at(wire, server.url, info=info) as model:
        done = await compactor(model).compact(history, task=TASK, force="full")
        assert done.kind == "full"
        assert "open" in str(server.requests[0].body["messages"])
        assert done.history[-1] == tool_result("open", NOT_EXECUTED, is_error=True)
        await reply_of(model, ModelRequest(SYSTEM, done.history, SCHEMAS))


@WIRES
async def test_b120_a_failed_request_for_a_summary_leaves_the_history_as_it_was(wire: str) -> None:
    history = steps(30, 250, "delegate")
    error = {"type": "authentication_error", "message": "invalid x-api-key"}
    async with ModelServer([{"status": 401, "error": error}]) as server, model_at(wire, server.url) as model:
        done = await compactor(model).compact(history, task=TASK)
        assert done.error is not None
        assert done.error.kind == "auth"
        assert done.history == tuple(history)


def test_b033_what_is_kept_begins_with_a_reply_or_a_user() -> None:
    history = [user("Hi")]
    for name in ("c1", "c2", "c3"):
        history += [asks(name), tool_result(name, "x")]
    history.append(Message("assistant", "Done."))
    for room in range(200):
        older, kept = split(history, room)
        assert (*older, *kept) == tuple(history)
        assert kept[0].role != "tool"
        assert is_valid(kept)
        assert is_valid(older)


def test_all_that_the_user_said_last_is_kept() -> None:
    history = [*steps(3, 100), user("first " * 500), user("second " * 500)]
    assert split(history, 10)[1] == tuple(history[-2:])


@pytest.mark.parametrize("kind", KINDS)
async def test_b034_a_call_whose_result_never_came_is_answered(kind: Kind) -> None:
    history = [*steps(30, 250), asks("c9")]
    async with ModelServer([SUMMARY]) as server, model_at("openai", server.url) as model:
        done = await compactor(model).compact(history, task=TASK, force=kind)
        assert done.kind == kind
        assert is_valid(done.history)
        assert done.history[-1].content == NOT_EXECUTED


@pytest.mark.parametrize("kind", KINDS)
async def test_b035_a_call_and_its_results_go_or_stay_together(kind: Kind) -> None:
    """Batches of four calls, one of them answered by the program after an abort."""
    batches = [step(number, 800, calls=4) for number in range(10)]
    for batch in batches:
        batch[2] = tool_result(batch[2].tool_call_id, "aborted", is_error=True)
    history = [user(TASK), *(message for batch in batches for message in batch)]
    async with ModelServer([SUMMARY]) as server, model_at("openai", server.url) as model:
        done = await compactor(model).compact(history, task=TASK, force=kind)
        assert done.kind == kind
        assert is_valid(done.history)
        assert {len(unit) for unit in units_of(done.history)} == {1, 5}
