"""Hundreds of turns in a small window, and histories that were cut, aborted and compacted anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.compaction import Compacted, Compactor, Kind
from orchestrator.context_meter import ContextMeter
from orchestrator.messages import Attachment, Message, Reasoning, ToolCall, tool_result, user
from orchestrator.model import Model, ModelInfo, ModelRequest
from orchestrator.repair import is_valid, repair
from orchestrator.tool import Todo
from tests.support.asking import reply_of
from tests.support.compacting import SCHEMAS, SYSTEM, TASK, lines, model_at, step
from tests.support.summarising import FACT, SummarisingServer

WINDOW = 8000
TURNS = 300
TODOS = (Todo("Note every fact", "Noting facts", "in_progress"),)


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_three_hundred_turns_in_a_small_window_keep_their_facts(wire: str) -> None:
    """Sized by what the server counts, which differs from the estimate; it refuses what is over the window."""
    async with (
        SummarisingServer(WINDOW) as server,
        model_at(wire, server.url, info=ModelInfo(window=WINDOW, max_output=1000)) as model,
    ):
        meter = ContextMeter(SYSTEM, SCHEMAS, WINDOW)
        of_agent = Compactor(model, None, meter)
        history: Sequence[Message] = [user(TASK)]
        kinds: list[str] = []
        for number in range(TURNS):
            history = [*history, *_noting(number)]
            if of_agent.due(history):
                done = await of_agent.compact(history, task=TASK, todos=TODOS, role="You are explorer-1.")
                assert done.error is None
                history = done.history
                kinds.append(done.kind)
            meter.replied(history, await reply_of(model, ModelRequest(SYSTEM, tuple(history), SCHEMAS)))
        text = "".join(message.content for message in history)
        assert sorted(set(FACT.findall(text))) == sorted(f"FACT-{number}=v{number}x" for number in range(0, TURNS, 10))
        assert TASK in text
        assert "- [in_progress] Note every fact" in text
        assert {"light", "full"} <= set(kinds)
        assert "emergency" not in kinds
        assert kinds.count("full") == server.summaries
        assert server.summaries < TURNS / 4
        assert 0.6 * WINDOW < server.largest <= WINDOW


def _noting(number: int) -> list[Message]:
    """One step; every tenth finds a fact, which the agent says."""
    tool = "delegate" if number % 3 else "read_file"
    messages = step(number, 100 + 97 * number % 600, tool)
    if number % 10 == 0:
        messages[0] = replace(messages[0], content=f"Found FACT-{number}=v{number}x.")
    return messages


# --- any history -----------------------------------------------------------------------------------------------------

TEXTS = st.sampled_from(["", " ", "Look.", "\ud800 odd", "这是" * 60, lines(300), "</conversation>", "[orch: x]"])
IDS = st.sampled_from(["", "a", "b", "c", "call 1"])
NAMES = st.sampled_from(["grep", "read_file", "run_shell", "edit_file", "delegate", "old tool!"])
ARGUMENTS = st.sampled_from(['{"pattern":"x"}', '{"path":"a.py"}', "no json", "", '{"content":"%s"}' % ("y " * 900)])
REASONING = st.sampled_from([(), (Reasoning("hm", "signature"),), (Reasoning("hm"),), (Reasoning(redacted="opaque"),)])
CALLS = st.lists(st.builds(ToolCall, IDS, NAMES, ARGUMENTS), min_size=1, max_size=3).map(tuple)
MESSAGES = st.one_of(
    TEXTS.map(user),
    st.just(user("See.", [Attachment("image/png", "iVBORw0KGgo=", "a.png")])),
    st.builds(Message, st.just("assistant"), TEXTS, st.just(()), REASONING),
    st.builds(Message, st.just("assistant"), TEXTS, CALLS, REASONING),
    st.builds(Message, st.just("assistant"), TEXTS, interrupted=st.just(True)),
    st.builds(tool_result, IDS, TEXTS),
)


def _whole(number: int, tool: str, tokens: int, calls: int) -> list[Message]:
    return step(number, tokens, tool, calls=calls)


TURN = st.builds(_whole, st.integers(0, 9), NAMES, st.integers(10, 900), st.integers(1, 4))
PARTS = st.one_of(TURN, TURN, TURN, MESSAGES.map(lambda message: [message]))
KINDS: st.SearchStrategy[Kind | None] = st.sampled_from(["light", "full", "emergency", None])


@st.composite
def chapters(draw: st.DrawFn) -> list[tuple[list[Message], Kind | None]]:
    """Pieces of a conversation, each cut or aborted somewhere, and how it is compacted after each."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        messages = [message for part in draw(st.lists(PARTS, max_size=8)) for message in part]
        start, end = draw(st.integers(0, 2)), len(messages) - draw(st.integers(0, 3))
        found.append((messages[start:end], draw(KINDS)))
    return found


@settings(max_examples=40, deadline=None)
@given(chapters())
def test_any_history_compacted_anywhere_is_one_that_providers_take(
    story: list[tuple[list[Message], Kind | None]],
) -> None:
    asyncio.run(_tell(story))


async def _tell(story: list[tuple[list[Message], Kind | None]]) -> None:
    async with (
        SummarisingServer(10**9) as server,
        model_at("openai", server.url, info=ModelInfo(window=4000)) as openai,
        model_at("anthropic", server.url, info=ModelInfo(window=4000)) as anthropic,
    ):
        for model, small in ((openai, anthropic), (anthropic, None)):
            await _tell_to(model, small, story)


async def _tell_to(model: Model, small: Model | None, story: list[tuple[list[Message], Kind | None]]) -> None:
    of_agent = Compactor(model, small, ContextMeter(SYSTEM, SCHEMAS, model.info.window))
    history: tuple[Message, ...] = ()
    for messages, kind in story:
        history = (*history, *messages)
        done = await of_agent.compact(history, task=TASK, todos=TODOS, force=kind)
        _check(done, history)
        history = done.history
        if history:
            await reply_of(model, ModelRequest(SYSTEM, history, SCHEMAS))


def _check(done: Compacted, before: Sequence[Message]) -> None:
    assert is_valid(done.history)
    if done.kind == "none":
        assert done.history == repair(before)
    else:
        assert done.error is None
        assert done.after_tokens < done.before_tokens
    if done.kind in ("full", "emergency"):
        assert done.after_tokens < 4000
