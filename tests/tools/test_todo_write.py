"""The list of what is to do, as a model sends it in all the forms that models find."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

from orchestrator.arguments import parse_arguments, validate_arguments
from orchestrator.errors import ToolError
from orchestrator.todos import TodoList
from orchestrator.tool import Tool, ToolContext, ToolResult
from orchestrator.workspace import WorkspaceFiles
from tests.support.read_only_tools import load_tool

STEP = {"content": "Run the tests", "active_form": "Running the tests", "status": "pending"}


@pytest.fixture
def tool() -> Tool[Any]:
    return load_tool("todo_write")


async def send(tool: Tool[Any], raw: str, todos: TodoList | None) -> ToolResult:
    """The call as an agent makes it, from the text of its arguments on."""
    args = validate_arguments(tool.args, parse_arguments(raw))
    context = ToolContext(WorkspaceFiles(Path(__file__).parent), _none, _none, todos=todos)
    return await tool.run(args, context)


def _none() -> NoReturn:
    raise AssertionError("a list needs neither search nor code")


def a_list() -> TodoList:
    return TodoList("parent", lambda items: None)


async def test_the_list_is_kept_and_shown(tool: Tool[Any]) -> None:
    todos = a_list()
    items = [
        {"content": "Find it", "active_form": "Finding it", "status": "completed"},
        {"content": "Fix it", "active_form": "Fixing it", "status": "in_progress"},
        STEP,
    ]
    result = await send(tool, json.dumps({"todos": items}), todos)
    assert result.output == "[x] Find it\n[>] Fix it\n[ ] Run the tests"
    assert result.display == "1 of 3 done; Fixing it"
    assert [tuple(item) for item in todos.items] == [tuple(item.values()) for item in items]


@pytest.mark.parametrize(
    "todos",
    [
        json.dumps([STEP]),  # JSON in a string
        "[{'content': 'Run the tests', 'active_form': 'Running the tests', 'status': 'pending'}]",  # a Python literal
        STEP,  # one object instead of a list
        json.dumps(STEP),
        [json.dumps(STEP)],
        [{"content": "Run the tests", "activeForm": "Running the tests", "status": "pending"}],
        [{"content": "  Run the tests\n", "active_form": "Running the tests"}],
    ],
)
async def test_what_is_clear_is_understood(tool: Tool[Any], todos: object) -> None:
    kept = a_list()
    await send(tool, json.dumps({"todos": todos}), kept)
    assert [tuple(item) for item in kept.items] == [("Run the tests", "Running the tests", "pending")]


async def test_a_step_without_its_active_form_is_shown_by_its_content(tool: Tool[Any]) -> None:
    kept = a_list()
    await send(tool, json.dumps({"todos": [{"content": "Run the tests"}]}), kept)
    assert kept.items[0].active_form == "Run the tests"


@pytest.mark.parametrize(
    ("todos", "said"),
    [
        ([{**STEP, "content": "  "}], "content"),
        ([{**STEP, "content": "x" * 501}], "content"),
        ([{"active_form": "Doing", "status": "pending"}], "content"),
        ([{**STEP, "status": "done"}], "status"),
        ([{**STEP, "priority": "high"}], "priority"),
        ([{**STEP, "content": str(n)} for n in range(51)], "50"),
        ([{**STEP, "content": str(n), "status": "in_progress"} for n in range(2)], "only one item may be in_progress"),
        ([STEP, STEP], "there twice"),
        ("Run the tests", "todos"),
        ("[{", "todos"),
        ([1], "todos"),
        (None, "todos"),
    ],
)
async def test_what_is_wrong_is_said_and_the_list_stays(tool: Tool[Any], todos: object, said: str) -> None:
    kept = a_list()
    await send(tool, json.dumps({"todos": [STEP]}), kept)
    with pytest.raises(ToolError) as failure:
        await send(tool, json.dumps({"todos": todos}), kept)
    assert failure.value.code == "invalid_arguments"
    assert said in failure.value.message
    assert [item.content for item in kept.items] == ["Run the tests"]


async def test_an_empty_list_empties_it(tool: Tool[Any]) -> None:
    kept = a_list()
    await send(tool, json.dumps({"todos": [STEP]}), kept)
    assert (await send(tool, '{"todos": []}', kept)).output == "[the list is empty]"
    assert list(kept.items) == []


async def test_the_nudge_reaches_the_model(tool: Tool[Any]) -> None:
    kept = a_list()
    kept.note_call("edit_file", "", wrote=True)
    result = await send(tool, json.dumps({"todos": [{**STEP, "status": "completed"}]}), kept)
    assert "nothing was tested" in result.output


async def test_without_a_list_it_is_said(tool: Tool[Any]) -> None:
    with pytest.raises(ToolError, match="no list"):
        await send(tool, '{"todos": []}', None)


def test_it_may_be_used_where_only_reading_is_allowed(tool: Tool[Any]) -> None:
    assert tool.read_only
    assert not tool.eager
    fields = tool.args.model_json_schema()["$defs"]["TodoItem"]["properties"]
    assert set(fields) == {"content", "active_form", "status"}
