"""Category 4 of the reports: every way in which providers are known to cut and label tool calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.assembly import CallAssembler, CallIds
from orchestrator.messages import Message, ToolCall


def part(
    index: Any = "none", id: Any = "none", name: Any = "none", arguments: Any = "none", **extra: Any
) -> dict[str, Any]:
    """A fragment with only the keys that are given."""
    given_keys = {"index": index, "id": id, **extra}
    function = {"name": name, "arguments": arguments}
    fragment = {key: value for key, value in given_keys.items() if value != "none"}
    return {**fragment, "function": {key: value for key, value in function.items() if value != "none"}}


def assembled(*deltas: Any, truncated: bool = False) -> list[tuple[str, str]]:
    """Name and arguments of the calls in `deltas`, each delta a list of fragments."""
    assembler = CallAssembler()
    for delta in deltas:
        assembler.feed(delta)
    assembler.finish(truncated=truncated)
    ids = [call.id for call in assembler.calls]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    return [(call.name, call.arguments) for call in assembler.calls]


GLOB = ("glob", '{"pattern":"*"}')
GREP = ("grep", '{"pattern":"x"}')

CASES: dict[str, tuple[list[Any], list[tuple[str, str]]]] = {
    "the usual way": (
        [[part(0, "a", "glob", "")], [part(0, arguments='{"pattern"')], [part(0, arguments=':"*"}')]],
        [GLOB],
    ),
    "B047 interleaved, id only on the first fragment": (
        [
            [part(0, "a", "glob")],
            [part(1, "b", "grep")],
            [part(0, arguments='{"pattern":')],
            [part(1, arguments='{"pattern":')],
            [part(0, arguments='"*"}')],
            [part(1, arguments='"x"}')],
        ],
        [GLOB, GREP],
    ),
    "B045 index null, two calls in one delta": (
        [[part(None, "a", *GLOB), part(None, "b", *GREP)]],
        [GLOB, GREP],
    ),
    "no index, no id, two calls in one delta": (
        [[part(name="glob", arguments=GLOB[1]), part(None, None, *GREP)]],
        [GLOB, GREP],
    ),
    "no index, no id, by position": (
        [
            [part(name="glob", arguments='{"pattern"'), part(name="grep", arguments='{"pat')],
            [part(arguments=':"*"}'), part(arguments='tern":"x"}')],
        ],
        [GLOB, GREP],
    ),
    "no index, no id, one call after the other": (
        [
            [part(name="glob", arguments='{"pattern"')],
            [part(arguments=':"*"}')],
            [part(name="grep", arguments=GREP[1])],
        ],
        [GLOB, GREP],
    ),
    "two calls on one index with different ids": ([[part(0, "a", *GLOB)], [part(0, "b", *GREP)]], [GLOB, GREP]),
    "the same, in fragments": (
        [
            [part(0, "a", "glob", "")],
            [part(0, arguments=GLOB[1])],
            [part(0, "b", "grep", "")],
            [part(0, arguments=GREP[1])],
        ],
        [GLOB, GREP],
    ),
    "two calls on one index without ids": ([[part(0, None, *GLOB)], [part(0, "", *GREP)]], [GLOB, GREP]),
    "one id for two calls without an index": (
        [[part(id="a", name="glob", arguments=GLOB[1])], [part(None, "a", *GREP)]],
        [GLOB, GREP],
    ),
    "one id for two calls on two indexes": ([[part(0, "a", *GLOB)], [part(1, "a", *GREP)]], [GLOB, GREP]),
    "B048 arguments go on under another index": (
        [[part(0, "a", "glob", '{"pat')], [part(1, arguments='tern":"*"}')]],
        [GLOB],
    ),
    "an index that is new with every fragment": (
        [[part(0, "a", "glob")], [part(1, arguments='{"pattern"')], [part(2, arguments=':"*"}')]],
        [GLOB],
    ),
    "an id that is new with every fragment": (
        [[part(0, "x1", "glob", '{"pat')], [part(0, "x2", None, 'tern":')], [part(0, "x3", None, '"*"}')]],
        [GLOB],
    ),
    "id and name on every fragment": (
        [[part(0, "a", "glob", '{"pat')], [part(0, "a", "glob", 'tern":')], [part(0, "a", "glob", '"*"}')]],
        [GLOB],
    ),
    "id after the name": ([[part(0, None, "glob")], [part(0, "a")], [part(0, arguments=GLOB[1])]], [GLOB]),
    "id before the name": ([[part(0, "a")], [part(0, None, "glob")], [part(0, arguments=GLOB[1])]], [GLOB]),
    "the name in pieces": ([[part(0, "a", "gl")], [part(0, None, "ob")], [part(0, arguments=GLOB[1])]], [GLOB]),
    "the name growing": ([[part(0, "a", "gl")], [part(0, "a", "glob")], [part(0, arguments=GLOB[1])]], [GLOB]),
    "the whole call again at the end": (
        [[part(0, "a", "glob", '{"pattern"')], [part(0, arguments=':"*"}')], [part(0, "a", *GLOB)]],
        [GLOB],
    ),
    "an empty object before the real one": ([[part(0, "a", "glob", "{}")], [part(0, arguments=GLOB[1])]], [GLOB]),
    "arguments as an object": ([[part(0, "a", "glob", {"pattern": "*"})]], [("glob", '{"pattern": "*"}')]),
    "arguments null or missing": (
        [[part(0, "a", "glob", None), part(1, "b", "list")]],
        [("glob", "{}"), ("list", "{}")],
    ),
    "the index as text": ([[part("0", "a", "glob", '{"pattern"')], [part("0", arguments=':"*"}')]], [GLOB]),
    "the function not nested": ([[{"id": "a", "name": "glob", "arguments": GLOB[1]}]], [GLOB]),
    "an id that is a number": ([[part(0, 17, *GLOB)]], [GLOB]),
    "nothing of use": ([None, [], [None, 3, {}], [part(4)], "text"], []),
    "an empty fragment between": ([[part(0, "a", "glob")], [part(0)], [part(0, arguments=GLOB[1])], [part(1)]], [GLOB]),
    "B055 two objects in one": (
        [[part(0, "a", "grep", '{"path":"a"}{"path":"b"}')]],
        [("grep", '{"path":"a"}{"path":"b"}')],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_fragments(name: str) -> None:
    deltas, expected = CASES[name]
    assert assembled(*deltas) == expected


def test_arguments_that_fit_nowhere_never_complete_another_call() -> None:
    """B048, second half: with two calls open nobody can say whose they are, so no call runs with them."""
    deltas = [[part(0, "a", "glob", '{"pat')], [part(1, "b", "grep", '{"pat')], [part(2, arguments='tern":"*"}')]]
    calls = assembled(*deltas)
    assert calls == [("glob", '{"pat'), ("grep", '{"pat'), ("", 'tern":"*"}')]


def test_a_call_is_given_once_when_the_next_begins_and_not_before() -> None:
    assembler = CallAssembler()
    assert assembler.feed([part(0, "a", *GLOB)]) == []
    assert assembler.feed([part(1, "b", "grep", '{"pattern"')]) == [ToolCall("a", *GLOB)]
    assert assembler.feed([part(1, arguments=':"x"}')]) == []
    assert assembler.finish() == [ToolCall("b", *GREP)]
    assert assembler.finish() == []
    assert assembler.calls == (ToolCall("a", *GLOB), ToolCall("b", *GREP))


def test_an_unfinished_call_is_not_given_when_the_next_begins() -> None:
    assembler = CallAssembler()
    assembler.feed([part(0, "a", "glob", '{"pat')])
    assert assembler.feed([part(1, "b", "grep", "")]) == []
    assert assembler.feed([part(0, arguments='tern":"*"}')]) == []
    assert assembler.feed([part(1, arguments=GREP[1])]) == [ToolCall("a", *GLOB)]


def test_what_comes_after_a_call_was_given_does_not_change_it() -> None:
    assembler = CallAssembler()
    assembler.feed([part(0, "a", *GLOB)])
    assembler.feed([part(1, "b", "grep", "")])
    assembler.feed([part(0, arguments=" more")])
    assembler.finish()
    assert assembler.calls[0] == ToolCall("a", *GLOB)


@pytest.mark.parametrize("arguments", ["null", "[1]", '"x"', "42", '{"a": NaN}', '{"a', "[" * 100_000, "{\udc97"])
def test_what_is_not_an_object_is_passed_on_but_never_ready(arguments: str) -> None:
    """B052: the runner says what is wrong with it."""
    assembler = CallAssembler()
    assembler.feed([part(0, "a", "glob", arguments)])
    assert assembler.finish() == []
    assert assembler.calls == (ToolCall("a", "glob", arguments),)


def test_arguments_lost_to_the_output_limit_are_not_an_empty_object() -> None:
    assert assembled([part(0, "a", "glob", "")], truncated=True) == [("glob", "")]


def test_ids_are_unique_in_the_conversation_and_the_providers_own_where_possible() -> None:
    """B040."""
    history = [Message("assistant", tool_calls=(ToolCall("call_1", "grep"), ToolCall("x", "grep")))]
    ids = CallIds(history)
    given_ids = ["x", "y", "", "y", "call_1", ""]
    made = [ids.unique(each) for each in given_ids]
    assert made[1] == "y"
    assert len({*made, "call_1", "x"}) == len(made) + 2
    again = CallIds(history)
    assert [again.unique(each) for each in given_ids] == made


arguments_texts = st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=4).map(json.dumps)


@given(st.lists(arguments_texts, min_size=1, max_size=4), st.integers(1, 9), st.randoms(use_true_random=False))
def test_any_cut_and_any_interleaving_by_index(texts: list[str], size: int, random: Any) -> None:
    queues = [
        [part(n, f"id{n}", f"tool{n}", "")] + [part(n, arguments=t[i : i + size]) for i in range(0, len(t), size)]
        for n, t in enumerate(texts)
    ]
    deltas = [[queue.pop(0)] for queue in queues]
    while any(queues):
        deltas.append([random.choice([queue for queue in queues if queue]).pop(0)])
    assert assembled(*deltas) == [(f"tool{n}", text) for n, text in enumerate(texts)]
