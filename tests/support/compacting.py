"""Conversations that grow long, and a compactor for them over a real wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal

from orchestrator.anthropic_wire import AnthropicModel
from orchestrator.compaction import Compactor
from orchestrator.context_meter import ContextMeter
from orchestrator.http import HttpPool
from orchestrator.messages import Message, ToolCall, Usage, tool_result, user
from orchestrator.model import Model, ModelInfo, Reply, ToolSchema
from orchestrator.openai_wire import OpenAIModel
from tests.support.asking import GLOB, GREP

Wire = Literal["openai", "anthropic"]
SYSTEM = "You are an explorer. You end by calling `report`."
TASK = "Find every use of legacy_auth."
SCHEMAS = (GREP, GLOB)
INFO = ModelInfo(window=8000, max_output=2000, input_price=3e-6, output_price=15e-6)
KEY = "sk-test-0123456789abcdef"


def lines(tokens: int, mark: str = "x") -> str:
    """A text of about so many tokens, in lines."""
    return "\n".join(f"{number}\t{mark} = {number:>24}" for number in range(1, tokens // 8 + 1))


def step(number: int, tokens: int, tool: str = "grep", *, arguments: str = "", calls: int = 1) -> list[Message]:
    """A reply that calls `tool`, and results that are about `tokens` long together."""
    arguments = arguments or f'{{"pattern":"p{number}"}}'
    asked = tuple(ToolCall(f"c{number}_{index}", tool, arguments) for index in range(calls))
    results = [tool_result(call.id, lines(tokens // calls, f"r{number}")) for call in asked]
    return [Message("assistant", f"Step {number}.", asked), *results]


def steps(count: int, tokens: int, tool: str = "grep") -> list[Message]:
    return [user(TASK), *(message for number in range(count) for message in step(number, tokens, tool))]


def reported(tokens: int, output: int = 0) -> Reply:
    """A reply to which the provider counted a prompt of so many tokens."""
    return Reply(Message("assistant", "ok"), Usage(input_tokens=tokens, output_tokens=output))


@asynccontextmanager
async def model_at(wire: str, url: str, *, info: ModelInfo = INFO, name: str = "scripted") -> AsyncIterator[Model]:
    """A model behind the scripted server. `name` is also what the server is told."""
    pool = HttpPool(connect_timeout=5.0)
    try:
        if wire == "openai":
            yield OpenAIModel(
                f"openai/{name}",
                model_id=name,
                base_url=f"{url}/v1",
                api_key=KEY,
                pool=pool,
                info=info,
                idle_timeout=20,
            )
        else:
            yield AnthropicModel(
                f"anthropic/{name}", model_id=name, base_url=url, api_key=KEY, pool=pool, info=info, idle_timeout=20
            )
    finally:
        await pool.aclose()


def compactor(model: Model, small: Model | None = None, schemas: Sequence[ToolSchema] = SCHEMAS) -> Compactor:
    return Compactor(model, small, ContextMeter(SYSTEM, schemas, model.info.window), cache_key="explorer")


def small_info(**changes: object) -> ModelInfo:
    cheap = ModelInfo(window=100_000, max_output=4000, input_price=1e-7, output_price=4e-7)
    return replace(cheap, **changes)  # type: ignore[arg-type]  # test data
