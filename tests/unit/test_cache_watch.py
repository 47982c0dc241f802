"""A break in the prompt cache is told with the first byte that differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cache_watch import CacheBreak, CacheWatch
from orchestrator.messages import Attachment, Message, ToolCall, tool_result, user
from orchestrator.model import ModelRequest, ToolSchema

TOOLS = (ToolSchema("grep", "Search.", {"type": "object"}), ToolSchema("glob", "Find.", {"type": "object"}))
CALL = Message("assistant", "Looking.", (ToolCall("c1", "grep", '{"pattern": "x"}'),))
HISTORY = (user("Where is it?"), CALL, tool_result("c1", "src/a.py:12: x = 1"))


def request(*messages: Message, **fields: Any) -> ModelRequest:
    return ModelRequest(**{"system": "You search.", "messages": messages or HISTORY, "tools": TOOLS, **fields})


def broken(first: ModelRequest, second: ModelRequest, models: tuple[str, str] = ("m", "m")) -> CacheBreak | None:
    watch = CacheWatch()
    assert watch.saw("parent", first, models[0]) is None
    return watch.saw("parent", second, models[1])


def test_a_request_that_says_more_breaks_nothing() -> None:
    watch = CacheWatch()
    for count in (1, 3):
        assert watch.saw("parent", request(*HISTORY[:count])) is None
    assert watch.saw("parent", request(*(replace(each) for each in HISTORY), user("More?"))) is None


def test_one_that_says_less_breaks_nothing() -> None:
    assert broken(request(), request(*HISTORY[:1])) is None


def test_conversations_are_kept_apart_and_forgotten() -> None:
    watch = CacheWatch()
    other = request(user("Something else"))
    assert [watch.saw("explorer-1", request()), watch.saw("explorer-2", other)] == [None, None]
    watch.forget("explorer-1")
    assert watch.saw("explorer-1", other) is None
    assert watch.saw("explorer-2", request()) is not None


def test_a_changed_message_is_named_with_its_field_and_byte() -> None:
    changed = (HISTORY[0], CALL, tool_result("c1", "src/a.py:14: x = 1"))
    found = broken(request(), request(*changed))
    assert found is not None
    assert (found.where, found.field, found.byte_in_field) == ("message 3 (the result of c1)", "its content", 10)
    assert found.byte > len("You search.") + len("Where is it?") + found.byte_in_field
    assert str(found).endswith("byte 10 of its content: '2: x = 1' became '4: x = 1'")


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "a tool in another order": ({"tools": TOOLS[::-1]}, "tool 1 (glob)"),
    "a tool more": ({"tools": (*TOOLS, ToolSchema("ls", "List.", {}))}, "tool 3 (ls)"),
    "a tool less": ({"tools": TOOLS[:1]}, "tool 2 (glob)"),
    "another description": ({"tools": (TOOLS[0], TOOLS[1]._replace(description="Find it."))}, "tool 2 (glob)"),
    "another day": ({"system": "You search. 2026"}, "the system prompt"),
    "how much to think": ({"think": "high"}, "how much to think"),
    "an image": (
        {"messages": (replace(HISTORY[0], attachments=(Attachment("image/png", "aGk="),)), *HISTORY[1:])},
        "message 1 (the user's)",
    ),
    "a call that was renamed": (
        {"messages": (HISTORY[0], replace(CALL, tool_calls=(ToolCall("c1", "glob", '{"pattern": "x"}'),)), HISTORY[2])},
        "message 2 (the assistant's)",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_kind_of_change_is_found(name: str) -> None:
    fields, where = CHANGES[name]
    found = broken(request(), request(**fields))
    assert found is not None
    assert found.where == where
    assert found.before[: found.byte_in_field] == found.after[: found.byte_in_field]
    assert found.before[found.byte_in_field :][:1] != found.after[found.byte_in_field :][:1]
    assert "\n" not in str(found)


def test_another_model_has_another_cache() -> None:
    found = broken(request(), request(), models=("large", "small"))
    assert found is not None
    assert found.where == "the model"


def test_a_result_that_came_late_is_a_break() -> None:
    """What is sent is what counts: the first request said that the call was not executed."""
    found = broken(request(*HISTORY[:2]), request())
    assert found is not None
    assert "became 'src/a.py:12: x = 1'" in str(found)


def test_the_bytes_come_in_the_order_of_the_request() -> None:
    places = [broken(request(), request(**CHANGES[name][0])) for name in ("a tool less", "another day", "an image")]
    offsets = [found.byte for found in places if found]
    assert offsets == sorted(offsets)
    assert len(set(offsets)) == 3


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_the_first_differing_byte(same: str, was: str, now: str) -> None:
    first, second = user("x" + same + was), user("x" + same + now)
    found = broken(request(first), request(second))
    if first == second:
        assert found is None
        return
    assert found is not None
    old, new = (each.content.encode("utf-8", "replace") for each in (first, second))
    assert old[: found.byte_in_field] == new[: found.byte_in_field]
    assert old[found.byte_in_field :][:1] != new[found.byte_in_field :][:1]
