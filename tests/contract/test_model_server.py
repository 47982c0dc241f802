"""The scripted server itself: strict, and the same in a thread and in a process of its own."""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.contract.conftest import MakeModel
from tests.support.asking import error_of, pieces_of, reply_of, request_of, text_of
from tests.support.model_server import ModelServer, ServerProcess, ServerThread


def post(url: str, body: Any) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "anthropic-version": "2023-06-01"}
    try:
        with urlopen(Request(url, data, headers), timeout=20) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


async def test_a_request_beyond_the_script_fails_here_and_there(wire: str, make_model: MakeModel) -> None:
    with pytest.raises(AssertionError, match="request 2 is beyond the script"):
        async with ModelServer(["one"]) as server:
            model = make_model(wire, server.url)
            await reply_of(model)
            error = await error_of(model)
            assert (error.kind, error.status) == ("server", 500)
            assert "beyond the script" in error.message


async def test_routes_have_their_own_queues(wire: str, make_model: MakeModel) -> None:
    routes = [{"match": "explorer", "turns": ["e1", "e2"]}, {"match": "Task B", "turns": ["b"], "repeat": True}]
    async with ModelServer({"turns": ["main"], "routes": routes}) as server:
        model = make_model(wire, server.url)
        explorer, other = request_of(system="an explorer"), request_of(system="Task B")
        asked = [explorer, other, request_of(), explorer, other]
        assert [text_of(await pieces_of(model, each)) for each in asked] == ["e1", "b", "main", "e2", "b"]


CALL = {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": "{}"}}
USER = {"role": "user", "content": "Hi"}
ASSISTANT = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "x"}

OPENAI_REFUSED: list[tuple[list[Any], str]] = [
    ([], "empty array"),
    ([USER, ASSISTANT], "must be followed by tool messages"),
    ([USER, ASSISTANT, USER], "must be followed by tool messages"),
    ([USER, RESULT], "must be a response to a preceeding message"),
    ([USER, ASSISTANT, RESULT, RESULT], "must be a response to a preceeding message"),
    ([USER, {"role": "assistant", "content": None}], "expected a string, got null"),
    ([USER, {**ASSISTANT, "tool_calls": [CALL, CALL]}, RESULT], "Duplicate value"),
    ([USER, {**ASSISTANT, "tool_calls": [{**CALL, "id": ""}]}], "Missing required parameter"),
]


@pytest.mark.parametrize(("messages", "said"), OPENAI_REFUSED)
def test_it_refuses_what_openai_refuses(messages: list[Any], said: str) -> None:
    with ServerThread(["fine"]) as server:
        status, body = post(f"{server.url}/v1/chat/completions", {"model": "x", "messages": messages})
        assert said in server.failures.pop()
    assert status == 400
    assert said in body["error"]["message"]


TEXT = {"type": "text", "text": "Hi"}
USE = {"type": "tool_use", "id": "c1", "name": "grep", "input": {}}
BACK = {"type": "tool_result", "tool_use_id": "c1", "content": "x"}


def turns(*contents: list[Any], first: str = "user") -> list[Any]:
    roles = ["user", "assistant"] if first == "user" else ["assistant", "user"]
    return [{"role": roles[n % 2], "content": content} for n, content in enumerate(contents)]


ANTHROPIC_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"messages": turns([TEXT]), "max_tokens": None}, "max_tokens: Field required"),
    ({"messages": turns([TEXT], first="assistant")}, "first message must use"),
    ({"messages": [*turns([TEXT]), *turns([TEXT])]}, "roles must alternate"),
    ({"messages": turns([{"type": "text", "text": ""}])}, "must be non-empty"),
    ({"messages": turns([{"type": "text", "text": " "}])}, "non-whitespace"),
    ({"messages": turns([TEXT], [USE], [TEXT])}, "without `tool_result` blocks immediately after"),
    ({"messages": turns([TEXT], [USE], [TEXT, BACK])}, "without `tool_result` blocks immediately after"),
    ({"messages": turns([BACK])}, "unexpected `tool_use_id`"),
    ({"messages": turns([TEXT], [USE], [BACK, BACK])}, "must have a single result"),
    ({"messages": turns([TEXT], [USE], [BACK], [USE], [BACK])}, "ids must be unique"),
    ({"messages": turns([TEXT], [{**USE, "id": "a:b"}], [BACK])}, "should match pattern"),
    ({"messages": turns([TEXT], [{**USE, "input": "{}"}], [BACK])}, "valid dictionary"),
    ({"messages": turns([TEXT], [{"type": "thinking", "thinking": "x"}, TEXT], [TEXT])}, "signature: Field required"),
    ({"messages": turns([TEXT], [TEXT])}, "prefill"),
    ({"messages": turns([{**TEXT, "cache_control": {}}] * 5)}, "A maximum of 4 blocks"),
]


@pytest.mark.parametrize(("body", "said"), ANTHROPIC_REFUSED)
def test_it_refuses_what_anthropic_refuses(body: dict[str, Any], said: str) -> None:
    with ServerThread(["fine"]) as server:
        status, answer = post(f"{server.url}/v1/messages", {"model": "x", "max_tokens": 5, **body})
        assert said in server.failures.pop()
    assert status == 400
    assert said.lower() in answer["error"]["message"].lower()


def test_it_refuses_lone_surrogates_and_unknown_paths() -> None:
    with ServerThread(["fine"]) as server:
        body = b'{"model": "x", "messages": [{"role": "user", "content": "\\ud835"}]}'
        assert post(f"{server.url}/v1/chat/completions", body)[0] == 400
        assert post(f"{server.url}/v1/responses", {})[0] == 404
        assert len(server.failures) == 2
        server.failures.clear()


def test_an_unknown_word_in_a_script_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"\['txt'\]"):
        ModelServer([{"txt": "Hi"}])


async def test_the_server_in_a_process_of_its_own(wire: str, make_model: MakeModel) -> None:
    route = {"match": "test", "by": "depth", "turns": [{"tool_calls": [{"name": "grep", "arguments": {}}]}, "done"]}
    with ServerProcess({"routes": [route]}) as server:
        model = make_model(wire, server.url)
        assert (await reply_of(model)).finish_reason == "tool_calls"
        assert (await reply_of(model)).finish_reason == "tool_calls"
        state = server.state()
    assert [row["path"].rsplit("/", 1)[-1] for row in state["requests"]] == [
        "messages" if wire.endswith("anthropic") else "completions"
    ] * 2
    assert all(row["responded"] >= row["received"] > 0 for row in state["requests"])
    assert state["failures"] == []
