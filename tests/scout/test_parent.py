"""The scout as the parent: it delegates the question as it is, and passes on what comes back, also when it is bad."""

from __future__ import annotations

import json

from orchestrator.messages import Message, ToolCall, tool_result, user
from orchestrator.model import ModelInfo, ToolSchema
from orchestrator.scout import ScoutModel
from tests.support.drive_scout import reply_to

TOOLS = (ToolSchema("delegate", "Delegate.", {}), ToolSchema("grep", "Search.", {}))
CALL = ToolCall("a", "delegate", "{}")


def report(status: str, summary: str, findings: str = "findings: 2 verified") -> str:
    return (
        f"status: {status}\nexplorer-1: 2 turns, 2 tool calls, 0 tokens\n<summary>\n{summary}\n</summary>\n{findings}"
    )


async def answer(result: Message, question: str = "where is foo used") -> str:
    reply = await reply_to((user(question), Message("assistant", "", (CALL,)), result), TOOLS)
    assert not reply.tool_calls
    return reply.content


async def test_the_question_is_delegated_word_for_word() -> None:
    reply = await reply_to((user("where is  `foo` used?"),), TOOLS)
    assert [call.name for call in reply.tool_calls] == ["delegate"]
    assert json.loads(reply.tool_calls[0].arguments) == {"role": "explorer", "task": "where is  `foo` used?"}


async def test_a_second_question_is_delegated_anew_with_the_first_as_its_context() -> None:
    first = (user("where is foo used"), Message("assistant", "", (CALL,)), tool_result("a", report("ok (done)", "x")))
    reply = await reply_to((*first, Message("assistant", "x"), user("who calls it?")), TOOLS)
    arguments = json.loads(reply.tool_calls[0].arguments)
    assert arguments == {"role": "explorer", "task": "who calls it?", "context": "where is foo used"}
    assert reply.tool_calls[0].id != "a"


async def test_the_summary_is_passed_on_with_the_verdict() -> None:
    said = await answer(tool_result("a", report("ok (done)", "`foo` is used.\n\n- a.py:1: `foo()`")))
    assert said == "`foo` is used.\n\n- a.py:1: `foo()`\n\nChecked against the files: 2 verified."


async def test_what_is_not_verified_is_said_in_the_language_of_the_question() -> None:
    text = report("ok (done)", "答案", "findings: 2 verified, 1 unverified")
    assert (await answer(tool_result("a", text), "foo 在哪里使用")).endswith("2 处已核实、1 处未核实。")


async def test_a_search_that_ended_early_says_so_first() -> None:
    said = await answer(tool_result("a", report("incomplete (max_turns)", "Half of it.")))
    assert said.startswith("The search ended early (max_turns)")
    assert "Half of it." in said


async def test_a_refused_delegation_is_no_answer() -> None:
    said = await answer(tool_result("a", "error: budget: Nothing is left.", is_error=True))
    assert said == "The search failed: error: budget: Nothing is left."


async def test_an_empty_question_gets_a_hint_and_no_delegation() -> None:
    reply = await reply_to((user("  "),), TOOLS)
    assert not reply.tool_calls
    assert "where is NAME used" in reply.content


def test_it_costs_nothing_and_has_room_for_any_history() -> None:
    model = ScoutModel()
    assert model.name == "scout"
    assert isinstance(model.info, ModelInfo)
    assert (model.info.input_price, model.info.output_price) == (0.0, 0.0)
    assert (model.info.window or 0) >= 10**8
