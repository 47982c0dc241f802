"""How much a model is to think: what the table knows of it, and what each wire says."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from orchestrator.messages import Message, Reasoning, ToolCall, tool_result, user
from orchestrator.model import ModelInfo, Think
from orchestrator.model_info import find_info
from orchestrator.quirks import OpenAIQuirks
from orchestrator.thinking import (
    EFFORTS,
    ThinkField,
    allowed_efforts,
    anthropic_fields,
    anthropic_shape,
    begun_without,
    effort,
    openai_fields,
    think_notice,
    with_room,
)

OLD = ModelInfo(thinks=True)
ADAPTIVE = ModelInfo(thinks=True, thinking="adaptive")
DEFAULT = ModelInfo(thinks=True, thinking="adaptive default")
ALWAYS = ModelInfo(thinks=True, thinking="adaptive always default")
NEVER = ModelInfo(thinks=False)
UNKNOWN = ModelInfo()


@pytest.mark.parametrize(
    ("think", "levels", "level"),
    [
        ("low", "", "low"),
        ("off", "", "none"),
        ("off", "none low medium high", "none"),
        ("off", "minimal low medium high", "minimal"),
        ("off", "low high max", "low"),
        ("medium", "low high max", "high"),
        ("low", "none high", "high"),
        ("high", "none low medium", "medium"),
        ("high", "always low medium high", "high"),
    ],
)
def test_the_nearest_level_of_effort(think: Think, levels: str, level: str) -> None:
    assert effort(think, ModelInfo(thinks=True, thinking=levels)) == level


def test_the_levels_of_a_refusal_come_before_those_of_the_table() -> None:
    assert effort("medium", ModelInfo(thinks=True, thinking="none low medium high"), ("low", "high")) == "high"


REFUSALS = [
    (
        "Unsupported value: 'reasoning_effort' does not support 'medium' with this model. Supported values are: 'low', "
        "'high', and 'max'.",
        ("low", "high", "max"),
    ),
    ("reasoning_effort medium is not accepted, allowed: ['low', 'high', 'max']", ("low", "high", "max")),
    ("1 validation error for `reasoning_effort`: expected one of 'low' | 'medium' | 'high', received 'xhigh'", None),
    ("Unrecognized request argument supplied: reasoning_effort", ()),
    ("Unsupported parameter: 'reasoning_effort' is not supported with this model.", ()),
]


@pytest.mark.parametrize(("message", "levels"), REFUSALS)
def test_the_levels_that_a_refusal_names(message: str, levels: tuple[str, ...] | None) -> None:
    named = allowed_efforts(message)
    if levels is None:
        assert {"low", "medium", "high"} <= set(named)
    else:
        assert named == levels


def test_a_model_that_cannot_do_what_is_asked_is_named() -> None:
    assert "does not think" in think_notice("openai/gpt-4o", NEVER, "high")
    assert "always thinks" in think_notice("anthropic/x", ALWAYS, "off")
    silent: list[tuple[ModelInfo, Think | None]] = [(NEVER, "off"), (NEVER, None), (UNKNOWN, "high"), (DEFAULT, "off")]
    assert [think_notice("x", info, think) for info, think in silent] == [""] * len(silent)


FIELDS: list[tuple[ThinkField, dict[str, Any], dict[str, Any]]] = [
    ("", {}, {}),
    ("reasoning_effort", {"reasoning_effort": "high"}, {"reasoning_effort": "none"}),
    ("reasoning", {"reasoning": {"effort": "high"}}, {"reasoning": {"effort": "none"}}),
    ("thinking", {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
    (
        "thinking+effort",
        {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        {"thinking": {"type": "disabled"}},
    ),
]


@pytest.mark.parametrize(("field", "high", "off"), FIELDS)
def test_the_fields_of_openai_compatible_providers(
    field: ThinkField, high: dict[str, Any], off: dict[str, Any]
) -> None:
    assert openai_fields(field, "high", "high") == high
    assert openai_fields(field, "off", "none") == off


def test_the_quirk_knows_every_field() -> None:
    assert [field for field, _, _ in FIELDS] == list(get_args(ThinkField))
    for field in get_args(ThinkField):
        assert OpenAIQuirks(think=field).think == field


@pytest.mark.parametrize(
    ("info", "high", "off"),
    [
        (OLD, "budget", None),
        (ADAPTIVE, "adaptive", None),
        (DEFAULT, "adaptive", "disabled"),
        (ALWAYS, "adaptive", None),
        (NEVER, None, None),
        (UNKNOWN, "adaptive", "disabled"),
    ],
)
def test_the_way_the_anthropic_wire_is_told(info: ModelInfo, high: str | None, off: str | None) -> None:
    assert anthropic_shape(None, info, ()) is None
    assert anthropic_shape("high", info, ()) == high
    assert anthropic_shape("off", info, ()) == off


def test_a_way_that_was_refused_is_not_tried_again() -> None:
    assert anthropic_shape("high", UNKNOWN, {"adaptive"}) == "budget"
    assert anthropic_shape("high", OLD, {"budget"}) == "adaptive"
    assert anthropic_shape("high", UNKNOWN, {"adaptive", "budget"}) is None
    assert anthropic_shape("off", UNKNOWN, {"disabled"}) is None


def test_a_budget_is_smaller_than_the_output_limit_or_there_is_none() -> None:
    for limit in (1, 1024, 1025, 2000, 4096, 4097, 100_000):
        fields: dict[str, Any] = anthropic_fields("budget", "high", limit)
        if limit > 1024:
            assert 1024 <= fields["thinking"]["budget_tokens"] < limit
        else:
            assert fields == {}


def test_the_answer_keeps_its_room() -> None:
    small = ModelInfo(max_output=5000)
    assert with_room(1000, "budget", "high", UNKNOWN) == 1000 + 4096
    assert with_room(1000, "budget", "high", small) == 5000
    assert with_room(9000, "adaptive", "low", small) == 9000
    assert with_room(1000, "disabled", "off", UNKNOWN) == with_room(1000, None, None, UNKNOWN) == 1000


def asks(*reasoning: Reasoning) -> Message:
    return Message("assistant", "", (ToolCall("c1", "grep"),), reasoning)


SIGNED = Reasoning("hm", "sig")
RESULT = tool_result("c1", "x")


@pytest.mark.parametrize(
    ("history", "late"),
    [
        ((user("a"),), False),
        ((user("a"), asks(SIGNED), RESULT), False),
        ((user("a"), asks(), RESULT), True),
        ((user("a"), asks(Reasoning("unsigned")), RESULT), True),
        ((user("a"), asks(SIGNED), RESULT, asks(), RESULT), False),
        ((user("a"), asks(), RESULT, asks(SIGNED), RESULT), True),
        ((user("a"), asks(), RESULT, Message("assistant", "done"), user("b")), False),
        ((user("a"), asks(), RESULT, user("a note in the same turn")), True),
        ((), False),
    ],
)
def test_whether_it_is_too_late_to_begin_to_think(history: tuple[Message, ...], late: bool) -> None:
    assert begun_without(history, lambda block: block.signature) is late


# --- the table -------------------------------------------------------------------------------------------------------


def info_of(provider: str = "acme", **row: Any) -> ModelInfo:
    return find_info({"m": {"litellm_provider": provider, "mode": "chat", **row}}, provider, "m")


def test_what_the_table_says_is_taken() -> None:
    assert (info_of(supports_reasoning=True).thinks, info_of(supports_vision=False).vision) == (True, False)
    assert (info_of(supports_reasoning=False).thinks, info_of(supports_vision=True).vision) == (False, True)


def test_what_a_row_leaves_out_is_unknown_unless_its_provider_is_well_kept() -> None:
    assert (info_of().thinks, info_of().vision) == (None, None)
    assert (info_of("openai").thinks, info_of("openai").vision) == (False, False)
    assert info_of("openai", supports_reasoning=None, mode="embedding").thinks is None


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({}, ""),
        ({"supports_adaptive_thinking": True}, "adaptive"),
        ({"supports_adaptive_thinking": True, "thinking_on_by_default": True}, "adaptive default"),
        ({"supports_adaptive_thinking": True, "thinking_always_on": True}, "adaptive always default"),
        ({"reasoning_effort_levels": ["max", "low", "high"]}, "always default low high max"),
        ({"reasoning_effort_levels": ["none", "high"]}, "none high"),
        (
            {"supports_none_reasoning_effort": False, "supports_minimal_reasoning_effort": True},
            "always default minimal low medium high",
        ),
        (
            {"supports_none_reasoning_effort": True, "supports_low_reasoning_effort": False},
            "none medium high",
        ),
    ],
)
def test_the_words_of_the_table(row: dict[str, Any], words: str) -> None:
    assert info_of(supports_reasoning=True, **row).thinking == words
    assert info_of(supports_reasoning=False, **row).thinking == ""
    assert set(words.split()) <= {"adaptive", "always", "default", *EFFORTS}
