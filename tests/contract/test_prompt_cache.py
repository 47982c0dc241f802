"""What the provider's cache holds is found again, by the rules by which Claude looks for it.

An entry ends at a mark. A request looks at each of its marks, and from there at most 20 blocks back, for the longest
entry that it begins with.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.messages import Message, ToolCall, Usage, tool_result, user
from orchestrator.model import ModelInfo
from tests.contract.conftest import LITELLM, MakeModel
from tests.support.asking import reply_of, request_of
from tests.support.model_server import ModelServer

CLAUDE = pytest.mark.parametrize("way", ["anthropic", pytest.param("litellm-anthropic", marks=LITELLM)])
LOOKBACK = 20


class ClaudeCache:
    """Entries by the text of all blocks up to a mark."""

    def __init__(self) -> None:
        self._entries: set[str] = set()

    def take(self, body: dict[str, Any]) -> tuple[int, int, int]:
        """How many blocks of a request were read from the cache, how many it has up to its last mark, and its marks."""
        blocks = [*body.get("tools", ()), *body.get("system", ())]
        for message in body["messages"]:
            content = message["content"]
            given = content if isinstance(content, list) else [{"type": "text", "text": content}]
            blocks += [{"role": message["role"], **block} for block in given]
        marks = [index for index, block in enumerate(blocks) if block.pop("cache_control", None)]
        texts = [json.dumps(block, sort_keys=True) for block in blocks]
        prefixes = ["\n".join(texts[: index + 1]) for index in range(len(texts))]
        reachable = {at for mark in marks for at in range(max(0, mark - LOOKBACK + 1), mark + 1)}
        read = max((at + 1 for at in reachable if prefixes[at] in self._entries), default=0)
        self._entries |= {prefixes[mark] for mark in marks}
        return read, marks[-1] + 1, len(marks)


def batch(turn: int, size: int) -> list[Message]:
    names = [f"c{turn}_{index}" for index in range(size)]
    said = Message("assistant", f"Turn {turn}.", tuple(ToolCall(name, "grep", '{"pattern": "x"}') for name in names))
    return [said, *(tool_result(name, f"result {name}") for name in names)]


@CLAUDE
@pytest.mark.parametrize("size", [1, 9, 10, 18, 19, 40])
async def test_all_that_was_written_is_read_by_the_next_request(make_model: MakeModel, way: str, size: int) -> None:
    """However many calls a turn has; a note after the results does not change that."""
    cache, history, written = ClaudeCache(), [user("Hi")], 0
    async with ModelServer({"turns": ["fine"], "repeat": True}) as server:
        model = make_model(way, server.url)
        for turn in range(5):
            await reply_of(model, request_of(*history))
            read, end, marks = cache.take(server.requests[-1].body)
            assert read >= written
            assert marks <= 4
            written = end
            note = [user("A note.")] if turn == 2 else []
            history = [*history, *batch(turn, size if turn % 2 else 1), *note]
    assert written > 4 * size // 2


@CLAUDE
async def test_siblings_read_what_the_first_one_wrote(make_model: MakeModel, way: str) -> None:
    cache = ClaudeCache()
    async with ModelServer(["a", "b"]) as server:
        model = make_model(way, server.url)
        await reply_of(model, request_of(user("Task one.")))
        await reply_of(model, request_of(user("Task two.")))
        for request, expected in zip(server.requests, (0, 3), strict=True):
            assert cache.take(request.body)[0] == expected, "two tools and the system prompt"


@CLAUDE
async def test_no_request_has_more_than_four_marks(make_model: MakeModel, way: str) -> None:
    for history in ([user("Hi")], [user("Hi"), *batch(0, 1)], [user("Hi"), *batch(0, 30), *batch(1, 30), user("So?")]):
        async with ModelServer(["fine"]) as server:
            await reply_of(make_model(way, server.url), request_of(*history))
            assert 1 <= ClaudeCache().take(server.requests[0].body)[2] <= 4


async def test_a_provider_that_has_a_cache_key_is_given_it(make_model: MakeModel) -> None:
    async with ModelServer(["a", "b"]) as server:
        for quirks in ({}, {"prompt_cache_key": True}):
            model = make_model("openai", server.url, quirks=quirks)
            await reply_of(model, request_of(cache_key="explorer"))
        assert [request.body.get("prompt_cache_key") for request in server.requests] == [None, "explorer"]


def test_the_money_that_the_cache_saved() -> None:
    info = ModelInfo(input_price=4e-6, output_price=1e-5, cache_read_price=1e-6)
    assert info.saved(Usage(100, 100, 1000, 50)) == pytest.approx(0.003)
    assert info.saved(Usage(100, 100)) == 0.0
    assert ModelInfo(input_price=4e-6, output_price=1e-5).saved(Usage(cache_read_tokens=10)) is None
    assert ModelInfo().saved(Usage(cache_read_tokens=10)) is None
