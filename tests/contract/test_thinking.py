"""`think` over every way to a model: what is sent, what a refusal changes, and that a history stays one that is taken.

The server refuses what the real ones do: a budget that is too large, a temperature, an answer that begins to think in
its middle.
"""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.litellm_model import LitellmModel, import_litellm
from orchestrator.messages import Message, Reasoning, ToolCall, tool_result, user
from orchestrator.model import Model, ModelInfo, ReasoningDelta, Think
from tests.contract.conftest import KEY, LITELLM, MakeModel
from tests.support.asking import error_of, pieces_of, reply_of, request_of
from tests.support.model_server import ModelServer

INFO = ModelInfo(window=200_000, max_output=32_000, thinks=True)
ADAPTIVE = ModelInfo(window=200_000, max_output=32_000, thinks=True, thinking="adaptive")
DEFAULT = ModelInfo(window=200_000, max_output=32_000, thinks=True, thinking="adaptive default")
NEVER = ModelInfo(window=200_000, max_output=32_000, thinks=False)
UNKNOWN = ModelInfo(window=200_000, max_output=32_000)
SIGNED = (Reasoning("First.", "c2ln"),)


KNOWN = {"litellm-anthropic": "anthropic/claude-haiku-4-5", "litellm-openai": "openai/gpt-5.2"}
"""Names that litellm's table knows: it drops an effort for any other."""


def by_litellm(name: str, url: str, info: ModelInfo) -> Model:
    import_litellm()
    base = url if name.startswith("anthropic") else f"{url}/v1"
    return LitellmModel(name, model=name, base_url=base, api_key=KEY, info=info, idle_timeout=20)


def asks(name: str, *reasoning: Reasoning) -> Message:
    return Message("assistant", "", (ToolCall(name, "grep", '{"pattern": "x"}'),), reasoning)


async def bodies(
    make_model: MakeModel, wire: str, script: list[Any], info: ModelInfo, *asked: Any, **quirks: Any
) -> Any:
    """What the server was sent, for requests (fields of them) asked one after the other of one model."""
    async with ModelServer(script) as server:
        known = KNOWN.get(wire)
        model = by_litellm(known, server.url, info) if known else make_model(wire, server.url, info=info, quirks=quirks)
        for fields in asked:
            await reply_of(model, request_of(*fields.pop("messages", ()), **fields))
        if known:
            await model.aclose()
        return [request.body for request in server.requests]


async def test_nothing_is_said_of_it_unless_asked(wire: str, make_model: MakeModel) -> None:
    for info in (INFO, ADAPTIVE, DEFAULT, UNKNOWN, NEVER):
        (body,) = await bodies(make_model, wire, ["a"], info, {})
        assert not {"thinking", "output_config", "reasoning_effort", "reasoning"} & set(body)


async def test_a_model_that_does_not_think_is_not_asked_to(wire: str, make_model: MakeModel) -> None:
    sent = await bodies(make_model, wire, ["a", "b"], NEVER, {"think": "high"}, {"think": "off"})
    assert not any({"thinking", "output_config", "reasoning_effort"} & set(body) for body in sent)


@pytest.mark.parametrize(("think", "budget"), [("low", 1024), ("medium", 2048), ("high", 4096)])
@pytest.mark.parametrize("way", ["anthropic", pytest.param("litellm-anthropic", marks=LITELLM)])
async def test_claude_with_a_budget(make_model: MakeModel, way: str, think: Think, budget: int) -> None:
    (body,) = await bodies(make_model, way, ["a"], INFO, {"think": think, "temperature": 0.0, "max_output_tokens": 500})
    assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert body["max_tokens"] == 500 + budget
    assert "temperature" not in body


async def test_a_model_that_decides_for_itself_is_given_an_effort(make_model: MakeModel) -> None:
    (body,) = await bodies(make_model, "anthropic", ["a"], ADAPTIVE, {"think": "medium", "temperature": 0.5})
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "medium"}
    assert "temperature" not in body


async def test_off_says_so_only_where_the_model_would_think(make_model: MakeModel) -> None:
    asked = {"think": "off", "temperature": 0.5}
    sent = [
        (await bodies(make_model, "anthropic", ["a"], info, dict(asked)))[0]
        for info in (INFO, ADAPTIVE, DEFAULT, UNKNOWN)
    ]
    assert [body.get("thinking") for body in sent] == [None, None, {"type": "disabled"}, {"type": "disabled"}]
    assert {body["temperature"] for body in sent} == {0.5}


async def test_a_small_output_limit_leaves_no_room_to_think(make_model: MakeModel) -> None:
    tiny = ModelInfo(window=200_000, max_output=1000, thinks=True)
    (body,) = await bodies(make_model, "anthropic", ["a"], tiny, {"think": "high"})
    assert "thinking" not in body
    (body,) = await bodies(make_model, "anthropic", ["a"], ModelInfo(max_output=2000, thinks=True), {"think": "high"})
    assert body["thinking"]["budget_tokens"] == 1999


@pytest.mark.parametrize("way", ["anthropic", pytest.param("litellm-anthropic", marks=LITELLM)])
async def test_an_answer_in_the_making_does_not_begin_to_think(make_model: MakeModel, way: str) -> None:
    """Another model began it, or thinking was switched on in its middle; the next answer thinks again."""
    begun = (user("Hi"), asks("c1"), tool_result("c1", "x"))
    done = (*begun, Message("assistant", "So."), user("And?"))
    asked = [{"think": "high", "messages": each} for each in (begun, done)]
    first, second = await bodies(make_model, way, ["a", "b"], INFO, *asked)
    assert ("thinking" in first, "thinking" in second) == (False, True)


@pytest.mark.parametrize("way", ["anthropic", pytest.param("litellm-anthropic", marks=LITELLM)])
async def test_thoughts_are_sent_back_while_the_model_thinks_and_not_when_it_does_not(
    make_model: MakeModel, way: str
) -> None:
    history = (user("Hi"), asks("c1", *SIGNED), tool_result("c1", "x"))
    asked: list[dict[str, Any]] = [{"think": think, "messages": history} for think in ("high", "off", None)]
    sent = await bodies(make_model, way, ["a", "b", "c"], INFO, *asked)
    kinds = [[block["type"] for block in body["messages"][1]["content"]] for body in sent]
    assert kinds == [["thinking", "tool_use"], ["tool_use"], ["tool_use"]]
    asked = [{"think": think, "messages": history} for think in ("off", None)]
    sent = await bodies(make_model, way, ["a", "b"], DEFAULT, *asked)
    kinds = [[block["type"] for block in body["messages"][1]["content"]] for body in sent]
    assert kinds == [["tool_use"], ["thinking", "tool_use"]]


async def test_a_model_that_the_table_does_not_know_is_asked_in_the_way_it_takes(make_model: MakeModel) -> None:
    refusal = {"status": 400, "error": {"message": "adaptive thinking is not supported on this model"}}
    sent = await bodies(make_model, "anthropic", [refusal, "a", "b"], UNKNOWN, {"think": "low"}, {"think": "low"})
    assert [body["thinking"]["type"] for body in sent] == ["adaptive", "enabled", "enabled"]


async def test_a_model_that_takes_no_way_is_not_asked_again(make_model: MakeModel) -> None:
    refusal = {"status": 400, "error": {"message": "thinking: Extra inputs are not permitted"}}
    asked = [{"think": "low"}, {"think": "high"}]
    sent = await bodies(make_model, "anthropic", [refusal, refusal, "a", "b"], UNKNOWN, *asked)
    assert ["thinking" in body for body in sent] == [True, True, False, False]


async def test_a_model_that_always_thinks_refuses_off(make_model: MakeModel) -> None:
    refusal = {"status": 400, "error": {"message": "thinking.type: 'disabled' is not supported for this model"}}
    sent = await bodies(make_model, "anthropic", [refusal, "a", "b"], UNKNOWN, {"think": "off"}, {"think": "off"})
    assert ["thinking" in body for body in sent] == [True, False, False]


async def test_a_temperature_that_is_not_taken_is_left_out(make_model: MakeModel) -> None:
    refusal = {"status": 400, "error": {"message": "`temperature` is deprecated for this model."}}
    asked = [{"temperature": 0.0}, {"temperature": 0.0}]
    sent = await bodies(make_model, "anthropic", [refusal, "a", "b"], UNKNOWN, *asked)
    assert ["temperature" in body for body in sent] == [True, False, False]


async def test_other_refusals_are_not_taken_for_this_one(make_model: MakeModel) -> None:
    refusal = {"status": 400, "error": {"message": "model: claude-9 does not exist"}}
    async with ModelServer([refusal, refusal]) as server:
        for wire in ("openai", "anthropic"):
            error = await error_of(make_model(wire, server.url, info=UNKNOWN), request_of(think="high"))
            assert error.kind == "bad_request"
        assert len(server.requests) == 2


# --- the OpenAI-compatible ways --------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["openai", pytest.param("litellm-openai", marks=LITELLM)])
async def test_the_effort_that_is_asked_for(make_model: MakeModel, way: str) -> None:
    asked = [{"think": "low"}, {"think": "medium"}, {"think": "high"}]
    sent = await bodies(make_model, way, ["a", "b", "c"], INFO, *asked)
    assert [body["reasoning_effort"] for body in sent] == ["low", "medium", "high"]


@pytest.mark.parametrize(
    ("quirk", "high", "off"),
    [
        ("reasoning", {"reasoning": {"effort": "high"}}, {"reasoning": {"effort": "none"}}),
        ("thinking", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
        ("", {}, {}),
    ],
)
async def test_the_field_of_the_provider(
    make_model: MakeModel, quirk: str, high: dict[str, Any], off: dict[str, Any]
) -> None:
    sent = await bodies(make_model, "openai", ["a", "b"], INFO, {"think": "high"}, {"think": "off"}, think=quirk)
    keys = ("reasoning", "thinking", "reasoning_effort")
    assert [{key: body[key] for key in keys if key in body} for body in sent] == [high, off]


async def test_an_effort_that_is_not_taken_becomes_the_nearest_that_is(make_model: MakeModel) -> None:
    message = (
        "Unsupported value: 'reasoning_effort' does not support 'medium' with this model. Supported values are: 'low', "
        "'high', and 'max'."
    )
    script = [{"status": 400, "error": {"message": message}}, "a", "b"]
    sent = await bodies(make_model, "openai", script, INFO, {"think": "medium"}, {"think": "off"})
    assert [body["reasoning_effort"] for body in sent] == ["medium", "high", "low"]


async def test_a_field_that_is_not_taken_is_left_out(make_model: MakeModel) -> None:
    for field in ("reasoning_effort", "thinking", "reasoning"):
        script = {"turns": ["a", "b"], "reject": [field]}
        async with ModelServer(script) as server:
            model = make_model("openai", server.url, info=UNKNOWN, quirks={"think": field})
            await reply_of(model, request_of(think="high"))
            await reply_of(model, request_of(think="high"))
            assert [field in request.body for request in server.requests] == [True, False, False]


async def test_what_the_user_configured_is_sent_whatever_is_asked(make_model: MakeModel) -> None:
    quirks = {"extra_body": {"reasoning_effort": "minimal"}}
    async with ModelServer(["a"]) as server:
        await reply_of(make_model("openai", server.url, info=INFO, quirks=quirks), request_of(think="high"))
        assert server.requests[0].body["reasoning_effort"] == "minimal"


async def test_reasoning_that_must_be_passed_back_is_filled_in(make_model: MakeModel) -> None:
    """A history that another model began has none."""
    message = "The `reasoning_content` in the thinking mode must be passed back to the API."
    own = asks("c2", Reasoning("mine"))
    history = (user("Hi"), asks("c1"), tool_result("c1", "x"), own, tool_result("c2", "y"))
    script = [{"status": 400, "error": {"message": message}}, "a"]
    asked = {"think": "high", "messages": history}
    sent = await bodies(make_model, "openai", script, INFO, asked, send_reasoning="reasoning_content")
    said = [[m.get("reasoning_content") for m in body["messages"] if m["role"] == "assistant"] for body in sent]
    assert said == [[None, "mine"], [" ", "mine"]]


async def test_ids_that_are_too_long_for_a_provider_are_shortened(make_model: MakeModel) -> None:
    message = (
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a "
        "string with length 60 instead."
    )
    name = "x" * 60
    history = (user("Hi"), asks(name), tool_result(name, "x"), asks("c2"), tool_result("c2", "y"))
    sent = await bodies(
        make_model, "openai", [{"status": 400, "error": {"message": message}}, "a"], INFO, {"messages": history}
    )
    ids = [call["id"] for call in (m["tool_calls"][0] for m in sent[1]["messages"] if "tool_calls" in m)]
    assert len(ids[0]) <= 40
    assert ids[1] == "c2"


async def test_thoughts_are_shown_and_kept_apart_from_the_answer(wire: str, make_model: MakeModel) -> None:
    turn = {"text": "So.", "reasoning": {"text": "Hm.", "signature": "c2ln"}}
    async with ModelServer([turn]) as server:
        pieces = await pieces_of(make_model(wire, server.url, info=INFO), request_of(think="high"))
    assert "".join(piece.text for piece in pieces if isinstance(piece, ReasoningDelta)) == "Hm."
    reply = pieces[-1].reply  # type: ignore[union-attr]  # the last piece is `Done`
    assert reply.message.content == "So."
    assert reply.message.reasoning[0].text == "Hm."
