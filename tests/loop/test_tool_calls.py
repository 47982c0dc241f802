"""Every tool call gets exactly one result with its id, whatever the model wrote. Categories 3 and 4 of the reports."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.abort import AbortToken
from orchestrator.arguments import parse_arguments, stored_arguments
from orchestrator.errors import ToolError
from orchestrator.events import Notice, ToolFinished, ToolStarted
from orchestrator.shipped import shipped_folder
from tests.support.model_server import ModelServer
from tests.support.running import calls, run, tool_texts


async def answer_to(workspace: Path, *tool_calls: dict[str, Any], **turn: Any) -> list[str]:
    """What the model reads after it made these calls; the next request must be one that the provider accepts."""
    ran = await run(workspace, [{"tool_calls": list(tool_calls), **turn}, "done"])
    assert ran.result.status == "ok"
    return tool_texts(ran.bodies()[-1])


async def test_results_come_in_the_order_of_the_calls(workspace: Path) -> None:
    texts = await answer_to(
        workspace,
        {"name": "read_file", "arguments": {"path": "src/auth.py", "limit": 1}},
        {"name": "nonsense", "arguments": {}},
        {"name": "glob", "arguments": {"pattern": "*.txt"}},
    )
    assert "import os" in texts[0]
    assert texts[1].startswith("error: unknown_tool: There is no tool called 'nonsense'.")
    assert (
        "tools: delegate, find_references, git_log, glob, grep, list_files, read_file, repo_map, run_shell" in texts[1]
    )
    assert "src/big.txt" in texts[2]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("null", "not_an_object"),
        ("[1]", "not_an_object"),
        ('"x"', "not_an_object"),
        ("42", "not_an_object"),
        ('{"path":"a"}{"path":"b"}', "invalid_json"),
        ('{"path":"a"} and more', "invalid_json"),
        ('{"path":"a\\d"}', "invalid_json"),
        ('{"path":"src/auth', "invalid_json"),
        ('{"path": NaN}', "invalid_json"),
        ("x" * 5_000_000, "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        ('{"paht":"src/auth.py"}', "invalid_arguments"),
        ('{"path":"src/auth.py","offset":"many"}', "invalid_arguments"),
    ],
)
async def test_arguments_that_cannot_be_understood(workspace: Path, arguments: str, expected: str) -> None:
    """B052, B055, B057, B124: a code, a bounded preview, and the loop goes on; nothing runs."""
    (text,) = await answer_to(workspace, {"name": "read_file", "arguments": arguments})
    assert text.startswith(f"error: {expected}: ")
    assert len(text) < 1500
    assert "Traceback" not in text


async def test_a_wrong_field_is_named_with_what_was_meant(workspace: Path) -> None:
    (text,) = await answer_to(workspace, {"name": "read_file", "arguments": '{"paht":"src/auth.py"}'})
    assert "did you mean `path`?" in text
    assert "`path` is missing" in text


@pytest.mark.parametrize(
    "arguments",
    [
        '{"path": "src/auth.py", "limit": 1}',
        json.dumps('{"path": "src/auth.py", "limit": 1}'),
        '{"path":"src/auth.py","limit": \\n1\\n}',
        '  {"path": "src/auth.py", "limit": "1"}  ',
        '{"path": "src/auth.py", "limit": 1, "offset": null}',
    ],
    ids=["plain", "double-encoded", "B053 escapes between tokens", "number as text", "null for a default"],
)
async def test_arguments_that_mean_one_thing(workspace: Path, arguments: str) -> None:
    (text,) = await answer_to(workspace, {"name": "read_file", "arguments": arguments})
    assert "import os" in text
    assert "legacy_auth" not in text


@pytest.mark.parametrize("kinds", ['["call"]', "['call']", "call", ["call"]])
async def test_a_list_written_as_something_else(workspace: Path, kinds: Any) -> None:
    """B050: JSON text, a Python literal, one bare item."""
    (text,) = await answer_to(
        workspace, {"name": "find_references", "arguments": {"name": "legacy_auth", "kinds": kinds}}
    )
    assert "9 call in login | return legacy_auth(user)" in text


async def test_a_cut_call_is_never_run(workspace: Path) -> None:
    """B125: the model is told that the output limit is the reason."""
    call = {"name": "read_file", "arguments": '{"path":"src/au'}
    (text,) = await answer_to(workspace, call, finish_reason="length")
    assert text.startswith("error: truncated: The reply was cut at the output limit")


@pytest.mark.parametrize("finish", ["stop", "length"])
async def test_calls_run_whatever_the_finish_reason_says(workspace: Path, finish: str) -> None:
    call = {"name": "glob", "arguments": {"pattern": "*.txt"}}
    (text,) = await answer_to(workspace, call, finish_reason=finish)
    assert "src/big.txt" in text


async def test_lone_surrogates_never_reach_the_wire(workspace: Path) -> None:
    """B059, B060, B162."""
    turn = [{"name": "grep", "arguments": '{"pattern": "x\\ud835y"}'}]
    ran = await run(workspace, [{"tool_calls": turn}, {"tool_calls": turn}, "bad \ud800 end"])
    assert ran.result.status == "ok"
    for request in ran.server.requests:
        request.raw.decode("utf-8")
        assert b"\\ud835" not in request.raw


async def test_a_tool_that_crashes_leaves_its_call_answered(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in a tool is shown in full to the user, and as one sentence to the model."""
    folder = workspace.parent / "tools"
    shutil.copytree(shipped_folder("tools"), folder)
    (folder / "grep.py").write_text(CRASHING)
    monkeypatch.delitem(sys.modules, "orchestrator.tools.grep", raising=False)
    ran = await run(workspace, [calls("grep", pattern="x"), "done"], tools=folder)
    monkeypatch.delitem(sys.modules, "orchestrator.tools.grep", raising=False)
    (text,) = tool_texts(ran.bodies()[-1])
    assert text == "error: crashed: The tool grep failed because of a bug in it. Use another tool."
    (notice,) = [n for n in ran.of(Notice) if n.level == "error"]
    assert "KeyError('oops')" in notice.message
    assert "Traceback" in notice.hint


async def test_reading_tools_start_while_the_reply_still_streams(workspace: Path) -> None:
    """The first call has ended before the server sends the rest of the reply."""

    def chunk(**delta: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta}]}

    def fragment(index: int, name: str, arguments: str) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments}
        return chunk(tool_calls=[{"index": index, "id": f"c{index}", "type": "function", "function": function}])

    raw = [
        fragment(0, "glob", '{"pattern":"*.txt"}'),
        fragment(1, "glob", '{"pattern":'),
        *[chunk(reasoning_content=f"{n}") for n in range(30)],
        chunk(tool_calls=[{"index": 1, "function": {"arguments": '"*.py"}'}}]),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    ran = await run(workspace, [{"raw": raw, "gap": 0.02}, "done"])
    kinds = [(type(e), getattr(e, "call_id", "")) for e in ran.events]
    last_thought = max(i for i, e in enumerate(ran.events) if e.type == "thinking")
    assert kinds.index((ToolStarted, "c0")) < last_thought
    assert kinds.index((ToolFinished, "c0")) < last_thought
    assert [text.splitlines()[0] for text in tool_texts(ran.bodies()[-1])] == ["src/big.txt", "src/auth.py"]


async def test_a_broken_stream_is_tried_again_and_counts_once(workspace: Path) -> None:
    """B127, B129: the partial text is void, one assistant message is in the history, tools run once more at most."""
    broken = {"text": ["half ", "a reply"], "drop_after": 2}
    ran = await run(workspace, [broken, {"text": "whole", "finish_reason": None, "end": False}, "whole"])
    assert ran.result.answer == "whole"
    voided = [e for e in ran.events if e.type == "reply_voided"]
    assert len(voided) == 2
    assert [m.content for m in ran.session.records[0].agent.history] == ["the question", "whole"]


async def test_an_empty_reply_is_asked_for_once_more(workspace: Path) -> None:
    """B131, B132: reasoning alone is an empty answer."""
    ran = await run(workspace, [{"reasoning": "the answer"}, "said now"])
    assert ran.result.answer == "said now"
    assert ran.agent("parent").turns == 2


async def test_a_cut_text_is_continued(workspace: Path) -> None:
    turns = [{"text": "one ", "finish_reason": "length"}, {"text": "two ", "finish_reason": "length"}, "three"]
    ran = await run(workspace, turns)
    assert (ran.result.status, ran.result.answer) == ("ok", "one two three")


async def test_a_text_that_stays_cut_is_incomplete(workspace: Path) -> None:
    ran = await run(workspace, [{"text": f"{n} ", "finish_reason": "length"} for n in range(4)])
    assert (ran.result.status, ran.exit_code) == ("incomplete", 3)
    assert ran.result.answer == "0 1 2 3"


async def test_the_last_turn_is_announced(workspace: Path) -> None:
    turns = [calls("glob", pattern="*.py"), {**calls("glob", pattern="*.txt"), "text": "so far"}]
    ran = await run(workspace, turns, max_turns=2)
    assert (ran.result.status, ran.result.stop_reason, ran.exit_code) == ("incomplete", "max_turns", 3)
    assert ran.result.answer == "so far"
    assert "one turn is left; answer now" in tool_texts(ran.bodies()[-1])[-1]


async def test_reasoning_goes_back_as_it_came(workspace: Path) -> None:
    ran = await run(workspace, [{**calls("glob", pattern="*.py"), "reasoning": "hm"}, "done"])
    assert ran.session.records[0].agent.history[1].reasoning[0].text == "hm"


CRASHING = """
from typing import ClassVar
from orchestrator.tool import Args, Tool, ToolContext, ToolResult

class GrepArgs(Args):
    pattern: str

class Grep(Tool[GrepArgs]):
    name: ClassVar[str] = "grep"
    description: ClassVar[str] = "Crashes."
    args = GrepArgs

    async def run(self, args: GrepArgs, context: ToolContext) -> ToolResult:
        raise KeyError("oops")

TOOL = Grep()
"""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.text() | json_values.map(json.dumps))
def test_whatever_was_written_can_be_stored_and_is_never_an_invented_object(raw: str) -> None:
    kept = json.loads(stored_arguments(raw))
    assert isinstance(kept, dict)
    try:
        parsed = parse_arguments(raw)
    except ToolError as error:
        assert kept == {} if not raw.strip() else kept
        assert len(error.message) < 500
        return
    assert parsed or not raw.strip() or json.loads(raw.strip()) in ({}, "{}") or json.loads(json.loads(raw)) == {}


async def test_an_abort_in_the_middle_of_a_call_drops_the_half_call(workspace: Path) -> None:
    """B030: nothing of the call is kept, nothing of it is run, and the history could be sent again as it is."""
    half = {"index": 0, "id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"pa'}}
    raw = [{"choices": [{"index": 0, "delta": {"tool_calls": [half]}}]}]

    async def stop(server: ModelServer, abort: AbortToken) -> None:
        await server.until(lambda: bool(server.requests))
        abort.trigger("SIGINT")

    ran = await run(workspace, [{"raw": raw, "stall": "forever"}], during=stop)
    assert ran.result.status == "aborted"
    history = ran.session.records[0].agent.history
    assert [(m.role, m.content) for m in history] == [("user", "the question")]
    assert not ran.of(ToolStarted)


async def test_an_abort_before_the_first_byte(workspace: Path) -> None:
    ran = await run(workspace, ["never asked"], on_event=lambda event, abort: abort.trigger("SIGTERM"))
    assert (ran.result.status, ran.result.answer) == ("aborted", "")
    assert not ran.server.requests
    ran.server.failures.clear()
