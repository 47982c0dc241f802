"""What `orch roles …` and `orch tools …` say. Nothing here prints; the command line does."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from re import fullmatch
from typing import Any, NamedTuple

from orchestrator.errors import UsageError
from orchestrator.paths import Places
from orchestrator.problems import Problem, did_you_mean, errors_in
from orchestrator.role_files import Folder, RoleFile, read_role_file
from orchestrator.role_loading import Resolver, all_role_files
from orchestrator.roles import PARENT, Budget, Role, RoleBook, RoleFields
from orchestrator.tool import Tool

AnyTool = Tool[Any]


class Output(NamedTuple):
    """The text for standard output, the same as plain data for `--output json`, and the exit code."""

    text: str
    data: Any
    exit_code: int = 0


# --- roles -----------------------------------------------------------------------------------------------------------


def roles_list(book: RoleBook) -> Output:
    """One line a role, then what is wrong with any file. Exit code 0: the good roles can be used."""
    rows = [[role.name, role.place, _one_line(role.description, 90)] for _, role in sorted(book.roles.items())]
    data = {
        "roles": [_role_data(book, role) for _, role in sorted(book.roles.items())],
        "problems": [str(problem) for problem in book.problems],
    }
    text = table([["role", "from", "description"], *rows])
    if book.problems:
        text += f"\n\n{_problem_lines(book.problems)}"
    return Output(text, data)


def roles_show(book: RoleBook, name: str, tools: Mapping[str, bool], denied: Collection[str] = ()) -> Output:
    """The role called `name` with `extends` resolved, where each value comes from, and the tools it ends up with.

    Raises `UsageError` when there is no such role.
    """
    role = book.get(name)
    origins = book.origins[name]
    effective = role.effective_tools(tools, denied)
    rows = [
        [key, _value_text(getattr(role, key)), origins[key]]
        for key in RoleFields.model_fields
        if key != "prompt" and getattr(role, key) is not None
    ]
    given = "delegate" if name == PARENT else "report"
    lines = [
        table([["key", "value", "from"], *rows]),
        "",
        f"tools in force: {', '.join([*effective, given])}",
    ]
    lines += [f"left out: {tool} ({reason})" for tool, reason in _left_out(role, tools, denied)]
    lines += [f"hides: {file}" for file in book.replaced.get(name, ())]
    lines += ["", f"prompt ({origins['prompt']}):", role.prompt]
    return Output("\n".join(lines), {**_role_data(book, role), "effective_tools": list(effective)})


def roles_check(book: RoleBook) -> Output:
    """Every problem of every role file, `file:line:col: message`, and a count. Exit code 2 when there is an error."""
    return _checked(book.problems, sorted(book.roles))


def roles_check_files(paths: Sequence[Path], *, workspace: Path, places: Places, tools: Mapping[str, bool]) -> Output:
    """The same for the files named, wherever they are; they may extend any role that `workspace` has."""
    named = [_named_file(path, tools) for path in paths]
    taken = {path.resolve() for path in paths}
    others = [file for file in all_role_files(workspace, places, tools) if file.path.resolve() not in taken]
    resolver = Resolver([*named, *others], tools)
    loaded = [resolver.load(file) for file in named]
    problems = [problem for problem in resolver.problems if problem.file in {file.file for file in named}]
    return _checked(problems, [found.role.name for found in loaded if found])


def _named_file(path: Path, tools: Mapping[str, bool]) -> RoleFile:
    suffix = ".md" if path.suffix == ".md" else ".yaml"
    return read_role_file(path, str(path), Folder(path.parent, "workspace", suffix, str(path.parent)), tools)


def roles_new(name: str, workspace: Path) -> Output:
    """Write a commented role file `.orch/roles/NAME.yaml` to start from. Raises `UsageError` if it cannot be done."""
    if not fullmatch(r"[a-z][a-z0-9-]{0,63}", name):
        raise UsageError(f"`{name}` is not a role name", "use small letters, digits and hyphens, a letter first")
    path = workspace / ".orch" / "roles" / f"{name}.yaml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(role_template(name))
    except FileExistsError as error:
        raise UsageError(f"{error.filename} exists already", "choose another name, or edit that file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    return Output(f"wrote {path}\nedit it, then run `orch roles check`", {"path": str(path)})


def role_template(name: str) -> str:
    """The content of a new role file: right as it stands, every key explained."""
    return _TEMPLATE.replace("NAME", name)


def _checked(problems: Sequence[Problem], names: Sequence[str]) -> Output:
    errors = len(errors_in(problems))
    counts = [_count(len(names), "role"), _count(errors, "error"), _count(len(problems) - errors, "warning")]
    lines = [*(str(problem) for problem in problems), ", ".join(counts)]
    data = {"roles": list(names), "problems": [_problem_data(problem) for problem in problems]}
    return Output("\n".join(lines), data, 2 if errors else 0)


def _left_out(role: Role, tools: Mapping[str, bool], denied: Collection[str]) -> Iterable[tuple[str, str]]:
    for tool in role.tools:
        if tool in denied:
            yield tool, "denied by the configuration (tools.deny)"
        elif tool in tools and role.read_only and not tools[tool]:
            yield tool, "the role is read-only"


def _role_data(book: RoleBook, role: Role) -> dict[str, Any]:
    return {**role.model_dump(mode="json"), "origins": dict(book.origins[role.name])}


def _problem_data(problem: Problem) -> dict[str, Any]:
    return {
        "file": problem.file,
        "line": problem.position.line,
        "column": problem.position.column,
        "severity": problem.severity,
        "message": problem.message,
        "hint": problem.hint,
    }


def _problem_lines(problems: Iterable[Problem]) -> str:
    return "\n".join(str(problem) for problem in problems)


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Budget):
        return ", ".join(f"{key} {limit}" for key, limit in value.model_dump(exclude_none=True).items()) or "none"
    return str(value)


# --- tools -----------------------------------------------------------------------------------------------------------


def tools_list(tools: Sequence[AnyTool]) -> Output:
    """One line a tool: its name, whether it changes anything, what it does."""
    known = sorted(tools, key=lambda tool: tool.name)
    rows = [[tool.name, _effect(tool), _first_sentence(tool.description)] for tool in known]
    return Output(table([["tool", "effect", "description"], *rows]), [_tool_data(tool) for tool in known])


def tools_show(tools: Sequence[AnyTool], name: str) -> Output:
    """A tool as the model is told about it, with its limits. Raises `UsageError` when there is no such tool."""
    found = {tool.name: tool for tool in tools}
    tool = found.get(name)
    if tool is None:
        raise UsageError(f"there is no tool `{name}`", did_you_mean(name, found) or "`orch tools list` shows them all")
    data = _tool_data(tool)
    limit = f"{tool.timeout:g} s" if tool.timeout else "its own"
    lines = [
        f"{tool.name} ({_effect(tool)}; time limit {limit}; at most {tool.max_output:,} characters of output)",
        "",
        tool.description.strip(),
        "",
        "arguments (JSON schema):",
        json.dumps(data["parameters"], indent=2, ensure_ascii=False),
    ]
    return Output("\n".join(lines), data)


def _tool_data(tool: AnyTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "read_only": tool.read_only,
        "timeout": tool.timeout,
        "max_output": tool.max_output,
        "parameters": tool.args.model_json_schema(),
    }


def _effect(tool: AnyTool) -> str:
    if tool.judged:
        return "judged"
    return "reads" if tool.read_only else "changes"


def _first_sentence(text: str) -> str:
    line = " ".join(text.split())
    return _one_line(line.split(". ", 1)[0].removesuffix("."), 90)


# --- text ------------------------------------------------------------------------------------------------------------


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as aligned columns; the last column is as wide as it needs to be."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_TEMPLATE = """\
# A role: an agent that the parent can give a task to. `orch roles check` says what is wrong with this file.
name: NAME

# One sentence. The parent chooses a role by it, so say what the role is for, and what it is not for.
description: Says what NAME does, and when to choose it.

# Take over everything from another role that is not set here.
# extends: explorer

# The tools it may use; `orch tools list` shows what there is. Left out: the six below. An empty list: none.
tools: [read_file, list_files, glob, grep, symbols, find_references]

# true: only tools that change nothing. A role that edits or runs things needs `read_only: false`.
read_only: true

# inherit (the parent's model), small or large (set in config.yaml), or the name of a model.
model: inherit

# Limits of one run: model calls (1 to 1000), seconds, tokens of the summary that reaches the parent (50 to 20000).
max_turns: 30
timeout: 300
max_summary_tokens: 1000

# What one run may use; without a limit here, those of the whole run still hold.
# budget: {tokens: 200000, usd: 0.5}

# Who it is, how it works, what it must not do. What a report looks like is added by orch.
prompt: |
  You …

  # How to work
  - …

  # Do not
  - Do NOT …
"""
