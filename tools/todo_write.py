"""The agent's own list of what is to do."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from orchestrator.errors import ToolError
from orchestrator.tool import Args, Todo, TodoStatus, Tool, ToolContext, ToolResult

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
_Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


def _from_text(value: Any) -> Any:
    """An object that came as text in JSON."""
    if isinstance(value, str) and value.strip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


class TodoItem(Args):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    content: _Line = Field(description='What to do: "Run the tests"')
    active_form: _Line = Field(
        default="",
        validation_alias=AliasChoices("active_form", "activeForm"),
        description='The same while it is done: "Running the tests"',
        validate_default=False,
    )
    status: TodoStatus = "pending"


class TodoWriteArgs(Args):
    todos: Annotated[
        list[Annotated[TodoItem, BeforeValidator(_from_text)]], BeforeValidator(_from_text), Field(max_length=50)
    ] = Field(description="The whole list, in order; it takes the place of the one before")

    @model_validator(mode="after")
    def _one_at_a_time(self) -> TodoWriteArgs:
        begun = [item.content for item in self.todos if item.status == "in_progress"]
        if len(begun) > 1:
            raise ValueError(f"only one item may be in_progress at a time, not {len(begun)}")
        contents = [item.content for item in self.todos]
        twice = next((each for each in contents if contents.count(each) > 1), None)
        if twice is not None:
            raise ValueError(f"the item {twice[:80]!r} is there twice")
        return self


class TodoWrite(Tool[TodoWriteArgs]):
    name: ClassVar[str] = "todo_write"
    description: ClassVar[str] = (
        "Keep a list of the steps of a task that has three or more. Send the whole list each time. "
        "Mark one item in_progress before you begin it, completed as soon as it is done."
    )
    args = TodoWriteArgs
    read_only: ClassVar[bool] = True
    eager: ClassVar[bool] = False

    async def run(self, args: TodoWriteArgs, context: ToolContext) -> ToolResult:
        if context.todos is None:
            raise ToolError("unavailable", "There is no list in this run.")
        items = [Todo(item.content, item.active_form or item.content, item.status) for item in args.todos]
        told = context.todos.replace(items)
        lines = [f"{_MARKS[item.status]} {item.content}" for item in items]
        done = sum(item.status == "completed" for item in items)
        text = "\n".join(lines) or "[the list is empty]"
        now = next((item.active_form for item in items if item.status == "in_progress"), "")
        display = f"{done} of {len(items)} done" + (f"; {now}" if now else "")
        return ToolResult(f"{text}\n\n{told}" if told else text, display=display)


TOOL = TodoWrite()
