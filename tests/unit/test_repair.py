"""Category 3 of the reports; what the providers say to the result is in the contract tests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.messages import Message, ToolCall, tool_result, unanswered, user
from orchestrator.repair import NOT_EXECUTED, is_valid, repair

IDS = st.sampled_from(["", "a", "b", "c", "a_2"])
TEXTS = st.sampled_from(["", " ", "text", "more"])


def asks(*ids: str, text: str = "") -> Message:
    return Message("assistant", text, tuple(ToolCall(each, "grep", "{}") for each in ids))


MESSAGES = st.one_of(
    TEXTS.map(user),
    st.builds(asks, text=TEXTS),
    st.lists(IDS, min_size=1, max_size=3).map(lambda ids: asks(*ids)),
    st.builds(tool_result, IDS, TEXTS),
)
HISTORIES = st.lists(MESSAGES, max_size=12)


@given(HISTORIES)
def test_any_history_becomes_valid(history: list[Message]) -> None:
    repaired = repair(history)
    assert is_valid(repaired)
    assert unanswered(repaired) == ()
    calls = [call.id for message in repaired for call in message.tool_calls]
    assert len(set(calls)) == len(calls)


@given(HISTORIES)
def test_what_is_said_is_kept_in_order(history: list[Message]) -> None:
    def said(messages: list[Message]) -> list[str]:
        return [m.content for m in messages if m.role != "tool" and m.content.strip()]

    assert said(list(repair(history))) == said(history)


@given(HISTORIES)
def test_results_are_never_made_up(history: list[Message]) -> None:
    texts = {message.content for message in history if message.role == "tool"} | {NOT_EXECUTED}
    assert {message.content for message in repair(history) if message.role == "tool"} <= texts


@given(HISTORIES)
def test_a_valid_history_is_left_alone(history: list[Message]) -> None:
    repaired = repair(history)
    again = repair(repaired)
    assert len(again) == len(repaired)
    assert all(a is b for a, b in zip(again, repaired, strict=True))


@given(HISTORIES, HISTORIES)
def test_what_was_repaired_stays_the_same_when_more_is_said(history: list[Message], more: list[Message]) -> None:
    """The prefix that a provider has cached must not change: true once every call has its result."""
    first = repair(history)
    assert repair([*first, user("next"), *more])[: len(first) + 1] == (*first, user("next"))


def test_a_missing_result_says_that_the_call_was_not_executed() -> None:
    history = (user("Hi"), asks("a"), user("And?"))
    assert repair(history) == (*history[:2], tool_result("a", NOT_EXECUTED, is_error=True), history[2])


def test_of_two_results_the_first_wins() -> None:
    """B038."""
    history = (user("Hi"), asks("a"), tool_result("a", "one"), tool_result("a", "two"))
    assert repair(history) == history[:3]


def test_a_late_result_is_moved_to_its_call() -> None:
    history = (user("Hi"), asks("a", "b"), tool_result("b", "B"), user("Wait"), tool_result("a", "A"))
    assert repair(history) == (*history[:2], history[4], history[2], history[3])


def test_an_id_used_again_is_renamed_with_its_result() -> None:
    history = (asks("a"), tool_result("a", "one"), asks("a"), tool_result("a", "two"))
    repaired = repair(history)
    assert repaired[:2] == history[:2]
    assert repaired[2].tool_calls[0].id == repaired[3].tool_call_id != "a"
    assert repaired[3].content == "two"


def test_empty_ids_pair_in_order() -> None:
    """B040."""
    repaired = repair((asks("", ""), tool_result("", "one"), tool_result("", "two")))
    assert [m.content for m in repaired[1:]] == ["one", "two"]
    assert [m.tool_call_id for m in repaired[1:]] == [call.id for call in repaired[0].tool_calls]
