"""The proxy that the environment names."""

from __future__ import annotations

import pytest

from tests.contract.conftest import MakeModel
from tests.support.asking import error_of, pieces_of, text_of
from tests.support.model_server import ModelServer

FAR = "http://models.example:81"


async def test_requests_go_through_it(make_model: MakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(["fine"]) as server:
        monkeypatch.setenv("http_proxy", server.url.removeprefix("http://"))
        assert text_of(await pieces_of(make_model("openai", FAR))) == "fine"
        assert server.requests[0].path == f"{FAR}/v1/chat/completions"


async def test_not_to_this_machine_nor_to_what_no_proxy_names(
    make_model: MakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.2")
    async with ModelServer(["one"]) as server:
        assert text_of(await pieces_of(make_model("openai", server.url))) == "one"
    error = await error_of(make_model("openai", "http://127.0.0.2:9"))
    assert "Cannot connect to http://127.0.0.2:9" in error.message


async def test_one_that_cannot_be_used_is_named(make_model: MakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    error = await error_of(make_model("openai", FAR))
    assert (error.kind, "socks5" in error.message) == ("bad_request", True)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    error = await error_of(make_model("anthropic", f"{FAR}/second"))
    assert (error.kind, "the proxy" in error.message) == ("connection", True)
