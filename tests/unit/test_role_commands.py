"""What `orch roles …` and `orch tools …` say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import Field

from orchestrator.errors import UsageError
from orchestrator.role_commands import (
    role_template,
    roles_check,
    roles_check_files,
    roles_list,
    roles_new,
    roles_show,
    tools_list,
    tools_show,
)
from orchestrator.tool import Args, Tool, ToolContext, ToolResult
from tests.support.role_setup import TOOLS, RoleSetup


@pytest.fixture
def setup(tmp_path: Path) -> RoleSetup:
    return RoleSetup(tmp_path)


def test_the_list_has_a_line_for_each_role_and_what_is_wrong(setup: RoleSetup) -> None:
    setup.role("mine")
    setup.role("bad", "max_turns: x")
    output = roles_list(setup.load())
    lines = output.text.splitlines()
    assert [line.split()[:2] for line in lines[:6]] == [
        ["role", "from"],
        ["explorer", "built-in"],
        ["mine", "workspace"],
        ["parent", "built-in"],
        ["planner", "built-in"],
        ["reviewer", "built-in"],
    ]
    assert lines[7] == ".orch/roles/bad.yaml:4:12: `max_turns`: expected a whole number, found the text `x`"
    assert max(len(line) for line in lines[:6]) <= 120
    assert output.exit_code == 0
    assert json.loads(json.dumps(output.data))["roles"][1]["name"] == "mine"


def test_show_says_where_each_value_comes_from_and_what_tools_are_left(setup: RoleSetup) -> None:
    setup.role("explorer", "extends: explorer\ntools: [grep, edit_file, web_fetch]\nread_only: false", user=True)
    setup.role("child", "extends: explorer\nread_only: true\nbudget: {usd: 0.5}")
    output = roles_show(setup.load(), "child", TOOLS, denied={"web_fetch"})
    lines = [line.split("  ") for line in output.text.splitlines()]
    rows = {cells[0].strip(): [cell.strip() for cell in cells[1:] if cell.strip()] for cells in lines}
    user = f"{setup.home}/roles/explorer.yaml"
    assert rows["tools"] == ["grep, edit_file, web_fetch", f"{user}:5"]
    assert rows["read_only"] == ["true", ".orch/roles/child.yaml:5"]
    assert rows["max_summary_tokens"][0] == "2000"
    assert rows["max_summary_tokens"][1].startswith("built-in/explorer.yaml:")
    assert rows["budget"] == ["usd 0.5", ".orch/roles/child.yaml:6"]
    assert "tools in force: grep, report" in output.text
    assert "left out: edit_file (the role is read-only)" in output.text
    assert "left out: web_fetch (denied by the configuration (tools.deny))" in output.text
    assert output.text.endswith("prompt (.orch/roles/child.yaml:3):\nLook.")
    assert output.data["effective_tools"] == ["grep"]
    assert "hides: built-in/explorer.yaml" in roles_show(setup.load(), "explorer", TOOLS).text
    assert (
        "tools in force: read_file, list_files, glob, grep, repo_map, symbols, find_references, git_log, edit_file,"
        " write_file, apply_patch, run_shell, shell_output, shell_stop, todo_write, delegate"
        in (roles_show(setup.load(), "parent", TOOLS).text)
    )


def test_check_is_quiet_about_good_files_and_counts(setup: RoleSetup) -> None:
    setup.role("good")
    output = roles_check(setup.load())
    assert (output.text, output.exit_code) == ("5 roles, 0 errors, 0 warnings", 0)


def test_check_names_every_problem_and_ends_with_2(setup: RoleSetup) -> None:
    setup.role("bad", "max_turn: 1\ntools: [raed_file]")
    setup.write(".orch/roles/warned.yml", "")
    output = roles_check(setup.load())
    assert output.text.splitlines() == [
        ".orch/roles/bad.yaml:4:1: unknown key `max_turn` (did you mean `max_turns`?)",
        ".orch/roles/bad.yaml:5:9: unknown tool `raed_file` (did you mean `read_file`?)",
        ".orch/roles/warned.yml:1:1: warning: not read: role files end in .yaml (rename it)",
        "4 roles, 2 errors, 1 warning",
    ]
    assert output.exit_code == 2
    assert output.data["problems"][0]["line"] == 4


def test_warnings_alone_end_with_0(setup: RoleSetup) -> None:
    setup.write(".orch/roles/warned.yml", "")
    assert roles_check(setup.load()).exit_code == 0


def test_check_of_named_files_reads_them_wherever_they_are(setup: RoleSetup, tmp_path: Path) -> None:
    setup.role("base")
    setup.role("bad", "max_turns: x")
    child, circle = tmp_path / "child.yaml", tmp_path / "circle.yaml"
    child.write_text("name: child\nextends: base\n")
    circle.write_text("name: circle\nextends: circle\n")
    inside = setup.workspace / ".orch/roles/base.yaml"

    def check(*paths: Path) -> tuple[list[str], int]:
        output = roles_check_files(paths, workspace=setup.workspace, places=setup.places, tools=TOOLS)
        return output.text.splitlines(), output.exit_code

    assert check(child, inside) == (["2 roles, 0 errors, 0 warnings"], 0)
    lines, code = check(circle, tmp_path / "none.yaml")
    assert code == 2
    assert lines[-1] == "0 roles, 4 errors, 0 warnings"
    assert f"{tmp_path}/none.yaml:1:1: cannot be read: No such file or directory" in lines


def test_a_new_role_is_right_as_it_stands_and_every_key_is_explained(setup: RoleSetup) -> None:
    output = roles_new("my-role", setup.workspace)
    path = setup.workspace / ".orch/roles/my-role.yaml"
    assert output.text.startswith(f"wrote {path}\n")
    book = setup.load()
    assert book.problems == ()
    assert book.get("my-role").name == "my-role"
    keys = {line.lstrip("# ").split(":")[0] for line in role_template("x").splitlines() if ":" in line}
    assert keys >= set(type(book.get("my-role")).model_fields) - {"source", "place"}
    active = role_template("x").replace("# budget:", "budget:").replace("# extends:", "extends:")
    setup.write(".orch/roles/x.yaml", active)
    assert setup.load().problems == ()


@pytest.mark.parametrize("name", ["My", "a b", "../up", "", "a/b", "x" * 65])
def test_a_new_role_needs_a_name_that_a_role_can_have(setup: RoleSetup, name: str) -> None:
    with pytest.raises(UsageError, match="is not a role name"):
        roles_new(name, setup.workspace)
    assert list(setup.workspace.iterdir()) == []


def test_a_new_role_overwrites_nothing(setup: RoleSetup) -> None:
    path = setup.role("mine")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        roles_new("mine", setup.workspace)
    assert path.read_bytes() == before
    (setup.workspace / "sub").mkdir()
    (setup.workspace / "sub/.orch").write_text("a file")
    with pytest.raises(UsageError):
        roles_new("mine", setup.workspace / "sub")


# --- tools -----------------------------------------------------------------------------------------------------------


class CountArgs(Args):
    path: str = Field(description="The file.")


class CountTool(Tool[CountArgs]):
    name: ClassVar[str] = "count_lines"
    description: ClassVar[str] = "Counts the lines of a file. Blank ones too."
    args = CountArgs

    async def run(self, args: CountArgs, context: ToolContext) -> ToolResult:
        return ToolResult(str(context.files.read_text(args.path).text.count("\n")))


class EraseTool(CountTool):
    name: ClassVar[str] = "erase"
    read_only: ClassVar[bool] = False
    timeout: ClassVar[float] = 0


def test_the_tools_are_listed_with_what_they_do() -> None:
    output = tools_list([EraseTool(), CountTool()])
    assert [line.split()[:2] for line in output.text.splitlines()] == [
        ["tool", "effect"],
        ["count_lines", "reads"],
        ["erase", "changes"],
    ]
    assert output.text.splitlines()[1].endswith("Counts the lines of a file")


def test_a_tool_is_shown_with_its_arguments_and_limits() -> None:
    output = tools_show([CountTool(), EraseTool()], "count_lines")
    assert output.text.startswith("count_lines (reads; time limit 60 s; at most 50,000 characters of output)\n")
    assert "Blank ones too." in output.text
    assert output.data["parameters"]["properties"]["path"]["description"] == "The file."
    assert "erase (changes; time limit its own;" in tools_show([EraseTool()], "erase").text
    with pytest.raises(UsageError) as caught:
        tools_show([CountTool()], "count_line")
    assert caught.value.hint == "did you mean `count_lines`?"
