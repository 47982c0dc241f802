"""The beginning of a request is, byte for byte, what the request before it was: else the provider's cache is lost.

On the Anthropic wire the marks that say where the cache ends move on; they are not part of what is kept, and are taken
out before bytes are compared.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.plain_http import Request
from tests.support.running import Ran, calls, delegates, reports, run

MARK = b',"cache_control":{"type":"ephemeral"}'
END = b'],"stream":true'
"""What follows the messages on both wires."""
NATIVE = pytest.mark.parametrize("wire", ["openai", "anthropic"])


def kept(request: Request) -> bytes:
    """A request up to the end of its messages, as the provider keeps it."""
    raw = request.raw.replace(MARK, b"")
    return raw[: raw.rindex(END)]


def before_messages(request: Request) -> bytes:
    """The model, the tools and the system prompt."""
    raw = request.raw.replace(MARK, b"")
    start = b'{"role":"user"'
    return raw[: raw.index(start)]


def asked(ran: Ran, text: str) -> list[Request]:
    """The requests of the conversation that began with `text`, in order."""
    return [request for request in ran.server.requests if text in request.first_user]


def assert_each_begins_with_the_one_before(requests: list[Request]) -> None:
    assert len(requests) > 1
    for earlier, later in pairwise(requests):
        assert kept(later).startswith(kept(earlier))
        assert len(kept(later)) > len(kept(earlier))


def child(task: str, path: str) -> dict[str, Any]:
    turns = [
        {"text": "Looking.", **calls("grep", pattern="legacy_auth")},
        {"tool_calls": [*calls("read_file", path=path)["tool_calls"], *calls("glob", pattern="**/*.py")["tool_calls"]]},
        reports("Found.", {"path": path, "line": 1, "quote": "x"}),
    ]
    return {"match": task, "turns": turns}


@NATIVE
async def test_parent_child_and_siblings(workspace: Path, wire: str) -> None:
    parent = [
        delegates("task one", "task two"),
        {"text": "One more.", **calls("grep", pattern="def ")},
        calls("read_file", path="src/none.py"),
        "All done.",
    ]
    script = {"routes": [child("task one", "src/auth.py"), child("task two", "src/big.txt")], "turns": parent}
    ran = await run(workspace, script, model=f"{wire}/scripted")
    assert ran.result.status == "ok"
    one, two = asked(ran, "task one"), asked(ran, "task two")
    for requests in (asked(ran, "the question"), one, two):
        assert_each_begins_with_the_one_before(requests)
    assert before_messages(one[0]) == before_messages(two[0])
    assert len({before_messages(request) for request in [*one, *two]}) == 1


@NATIVE
async def test_the_same_question_asked_again(workspace: Path, wire: str) -> None:
    """Two sessions in one folder: what comes before the question is the same bytes."""
    first, second = [
        await run(workspace, [calls("grep", pattern="legacy"), "Done."], question, model=f"{wire}/scripted")
        for question in ("the question", "the question, once more")
    ]
    assert before_messages(first.server.requests[0]) == before_messages(second.server.requests[0])


@NATIVE
async def test_an_answer_that_was_asked_for_again_changes_nothing(workspace: Path, wire: str) -> None:
    """A stream that broke, an overloaded provider: the request that follows is the same bytes."""
    turns = [
        calls("grep", pattern="legacy"),
        {
            "status": 529,
            "error": {"type": "overloaded_error", "message": "Overloaded"},
            "headers": {"retry-after": "0"},
        },
        {"text": ["Half", "way"], "drop_after": 1},
        "Done.",
    ]
    ran = await run(workspace, turns, model=f"{wire}/scripted")
    _, refused, broken, whole = ran.server.requests
    assert refused.raw == broken.raw == whole.raw
