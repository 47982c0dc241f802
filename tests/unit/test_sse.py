from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.sse import ServerEvent, SSEParser

STREAM = (
    "\ufeff: a comment\n"
    "event: first\ndata: naïve 世界 🌍\n\n"
    "data: one\ndata:two\ndata:  three\n\n"
    "id: 7\nretry: 10\nevent: nothing\n\n"
    "data\n\n"
    'data: {"a": "b: c"}\n\n'
)
EVENTS = [
    ServerEvent("first", "naïve 世界 🌍"),
    ServerEvent("", "one\ntwo\n three"),
    ServerEvent("", ""),
    ServerEvent("", '{"a": "b: c"}'),
]


def parsed(pieces: list[bytes]) -> list[ServerEvent]:
    parser = SSEParser()
    return [event for piece in pieces for event in parser.feed(piece)] + parser.close()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@given(cuts=st.sets(st.integers(0, 200)))
def test_events_are_the_same_however_the_bytes_are_cut(newline: str, cuts: set[int]) -> None:
    data = STREAM.replace("\n", newline).encode()
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    assert parsed([data[a:b] for a, b in pairwise(edges)]) == EVENTS


def test_an_event_comes_as_soon_as_it_is_complete() -> None:
    parser = SSEParser()
    assert parser.feed(b"data: a\n") == []
    assert parser.feed(b"\ndata: b") == [ServerEvent("", "a")]
    assert parser.feed(b"\r\n\r") == [ServerEvent("", "b")]
    assert parser.feed(b"\ndata: c\n\n") == [ServerEvent("", "c")]


def test_the_last_event_needs_no_blank_line() -> None:
    assert parsed([b"data: a\n\ndata: [DONE]"]) == [ServerEvent("", "a"), ServerEvent("", "[DONE]")]


def test_bytes_that_are_not_utf8_do_no_harm() -> None:
    assert parsed([b"data: a\xffb\n\n"]) == [ServerEvent("", "a\ufffdb")]
