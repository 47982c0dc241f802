"""Giving up on an answer closes its connection at once, and nothing is left behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from orchestrator.model import Model, Retrying
from orchestrator.retry import with_retries
from tests.contract.conftest import MakeModel
from tests.support.asking import first_piece, pieces_of, request_of
from tests.support.model_server import ModelServer, ServerThread

ROOT = Path(__file__).resolve().parents[2]
STALLED = {"text": ["one", "two"], "stall": "forever"}


async def until_gone(server: ModelServer) -> None:
    await server.until(lambda: all(request.disconnected for request in server.requests))


async def read_until_cancelled(model: Model, started: asyncio.Event) -> None:
    async for _ in model.stream(request_of()):
        started.set()


async def test_cancelling_the_reader_closes_the_connection(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([STALLED]) as server:
        started = asyncio.Event()
        task = asyncio.create_task(read_until_cancelled(with_retries(make_model(wire, server.url)), started))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until_gone(server)


async def test_closing_the_stream_closes_the_connection(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([STALLED]) as server:
        async with first_piece(make_model(wire, server.url)):
            pass
        await until_gone(server)


async def test_cancelling_before_the_first_byte(wire: str, make_model: MakeModel) -> None:
    async with ModelServer([{"text": "one", "delay": 30}]) as server:
        task = asyncio.create_task(pieces_of(make_model(wire, server.url)))
        await server.until(lambda: bool(server.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until_gone(server)


async def test_a_pause_between_attempts_can_be_cancelled(wire: str, make_model: MakeModel) -> None:
    limited = {"status": 429, "error": {"message": "later"}, "headers": {"Retry-After": "50"}}
    async with ModelServer([limited]) as server:
        stream = with_retries(make_model(wire, server.url)).stream(request_of())
        assert isinstance(stream, AsyncGenerator)
        assert isinstance(await anext(stream), Retrying)
        pause = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.01)
        pause.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pause


async def test_many_streams_share_the_pool_and_end_apart(wire: str, make_model: MakeModel) -> None:
    """One model object serves many agents at once; one that is given up does not touch the others."""
    async with ModelServer({"turns": [{"text": ["a", "b"], "gap": 0.002}], "repeat": True}) as server:
        model = make_model(wire, server.url)
        tasks = [asyncio.create_task(pieces_of(model)) for _ in range(20)]
        await asyncio.sleep(0.005)
        tasks[0].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    assert sum(isinstance(result, list) for result in results) >= 19


SCRIPT = """
import asyncio, sys
from orchestrator.http import HttpPool
from orchestrator.messages import user
from orchestrator.model import ModelInfo, ModelRequest
from orchestrator.openai_wire import OpenAIModel

async def main(url):
    assert "aiohttp" not in sys.modules and "litellm" not in sys.modules
    pool = HttpPool()
    model = OpenAIModel("x", model_id="x", base_url=url, api_key=None, pool=pool, info=ModelInfo())
    try:
        async with asyncio.timeout(1):
            async for piece in model.stream(ModelRequest("", (user("Hi"),))):
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    await pool.aclose()
    await pool.aclose()
    assert "aiohttp" in sys.modules and "litellm" not in sys.modules

asyncio.run(main(sys.argv[1]))
"""


def test_leaving_in_mid_stream_ends_without_a_word() -> None:
    """B180, B181: nothing on standard error, with every warning an error; aiohttp comes with the first request only."""
    with ServerThread([STALLED]) as server:
        command = [sys.executable, "-W", "error", "-c", SCRIPT, server.url]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
