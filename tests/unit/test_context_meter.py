"""What fills the window: the provider's figures where there are any, estimates for the rest."""

from __future__ import annotations

import base64
import struct
from dataclasses import replace

from orchestrator.compacted_text import Standing, summary_message
from orchestrator.context_meter import ContextMeter
from orchestrator.message_sizes import message_tokens, schema_tokens
from orchestrator.messages import Attachment, Message, Reasoning, ToolCall, Usage, tool_result, user
from orchestrator.model import Reply, ToolSchema
from orchestrator.result_batch import USUAL_WINDOW
from tests.support.asking import GLOB, GREP

SYSTEM = "You are a test. " * 20


def meter(window: int | None = 10_000) -> ContextMeter:
    return ContextMeter(SYSTEM, (GREP, GLOB), window)


def counted(prompt: int, text: str = "Found it.", **usage: int) -> Reply:
    return Reply(Message("assistant", text), Usage(input_tokens=prompt, **usage))


def png(width: int, height: int) -> Attachment:
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBBI", 13, b"IHDR", width, height, 8, 2, 0, 0, 0, 0)
    return Attachment("image/png", base64.b64encode(header).decode(), "a.png")


def test_before_the_first_reply_all_is_an_estimate() -> None:
    history = [user("word " * 400)]
    fixed = len(SYSTEM) // 4 + schema_tokens(GREP) + schema_tokens(GLOB)
    assert meter().used(history) == fixed + 4 + 500
    assert not meter().breakdown(history).measured


def test_what_the_provider_counted_is_the_truth_for_all_up_to_its_reply() -> None:
    history = [user("word " * 400)]
    of_agent = meter()
    reply = counted(700, output_tokens=4, cache_read_tokens=300, cache_write_tokens=50)
    of_agent.replied(history, reply)
    assert of_agent.used(history) == 1050
    assert of_agent.used([*history, reply.message]) == 1054
    assert of_agent.breakdown(history).measured


def test_what_came_since_is_estimated_and_scaled_by_how_far_off_the_last_estimate_was() -> None:
    history = [user("word " * 400)]
    exact, off = meter(), meter()
    exact.replied(history, counted(exact.used(history)))
    off.replied(history, counted(round(1.4 * exact.used(history))))
    more = user("word " * 200)
    assert exact.used([*history, more]) - exact.used(history) == 254
    assert off.used([*history, more]) - off.used(history) in range(350, 360)


def test_b116_text_that_was_not_sent_yet_counts() -> None:
    history = [user("Hi")]
    of_agent = meter()
    reply = counted(6000, output_tokens=3)
    of_agent.replied(history, reply)
    assert of_agent.share([*history, reply.message, user("x" * 20_000)]) > 1.0


def test_reasoning_that_does_not_go_back_is_not_part_of_what_is_used() -> None:
    history = [user("Hi")]
    of_agent = meter()
    of_agent.replied(history, counted(500, "Yes.", output_tokens=5000))
    assert of_agent.used([*history, counted(0, "Yes.").message]) < 600


def test_usage_that_is_estimated_or_missing_tells_nothing() -> None:
    history = [user("word " * 400)]
    of_agent = meter()
    before = of_agent.used(history)
    of_agent.replied(history, replace(counted(9000), usage_estimated=True))
    of_agent.replied(history, Reply(Message("assistant", "Yes."), Usage()))
    assert of_agent.used(history) == before


def test_a_history_that_was_changed_is_estimated_anew() -> None:
    history = [user("word " * 4000), Message("assistant", "Yes.")]
    of_agent = meter()
    of_agent.replied(history, counted(5600))
    short = [user("word"), history[1]]
    assert of_agent.used(short) < 500
    assert not of_agent.breakdown(short).measured


def test_a_refused_request_makes_the_window_smaller() -> None:
    of_agent = meter(128_000)
    history = [user("word " * 8000)]
    of_agent.refused(history)
    assert of_agent.window < of_agent.used(history)
    assert of_agent.window > 0.9 * of_agent.used(history)


def test_an_unknown_window_is_taken_to_be_a_usual_one() -> None:
    assert meter(None).window == USUAL_WINDOW
    assert not meter(None).breakdown([]).window_known


def test_every_character_of_chinese_text_is_a_token() -> None:
    assert message_tokens(user("这是一个测试" * 100)) == 604


def test_an_image_counts_by_its_pixels_not_by_its_bytes() -> None:
    large = message_tokens(user("", [png(1500, 1000)]))
    assert large == 4 + 2000
    assert message_tokens(user("", [replace(png(1500, 1000), data="A" * 4_000_000)])) < 4000


def test_the_parameters_of_a_tool_count() -> None:
    plain = ToolSchema("grep", "Search.", {"type": "object", "properties": {}})
    described = plain._replace(parameters={"type": "object", "properties": {"pattern": {"description": "x" * 400}}})
    assert schema_tokens(described) - schema_tokens(plain) > 100


def test_the_parts_add_up_to_what_is_used() -> None:
    signed = (Reasoning("hm " * 50, "sig"),)
    history = [
        summary_message(Standing("the task"), "found " * 50, (), (), 1000),
        user("look", [png(750, 750)]),
        Message("assistant", "Looking.", (ToolCall("c1", "grep", '{"pattern":"x"}'),), signed),
        tool_result("c1", "line\n" * 300),
    ]
    of_agent = meter()
    of_agent.replied(history, counted(3001))
    seen = of_agent.breakdown(history)
    labels = [part.label for part in seen.parts]
    assert labels == [
        *("system prompt", "tools", "summary", "user", "assistant", "reasoning", "tool calls", "tool results", "images")
    ]
    assert sum(part.tokens for part in seen.parts) == seen.used == 3001
    assert seen.free == 6999
    assert seen.share == 0.3001


def test_without_a_conversation_the_prompt_and_the_tools_fill_the_window() -> None:
    seen = meter().breakdown([])
    assert [part.label for part in seen.parts] == ["system prompt", "tools"]
    assert sum(part.tokens for part in seen.parts) == meter().fixed
