"""Agents written for Claude Code (Markdown with YAML front matter), read as roles.

What has no counterpart is left out with a warning, never guessed: a tool that orch lacks is not replaced, and an agent
without `tools` gets the read-only set, not every tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.errors import ConfigError
from orchestrator.problems import START, Position, Problem
from orchestrator.roles import DEFAULT_TOOLS
from orchestrator.strict_yaml import Document, KeyPath, Parsed, parse_yaml, read_text

_TOOLS = {
    "Read": "read_file",
    "LS": "list_files",
    "Glob": "glob",
    "Grep": "grep",
    "Bash": "run_shell",
    "Edit": "edit_file",
    "MultiEdit": "edit_file",
    "Write": "write_file",
    "WebFetch": "web_fetch",
}
_MODELS = {"haiku": "small", "sonnet": "inherit", "opus": "large"}
_RENAMED = {"maxTurns": "max_turns"}
_READ = ("name", "description", "model", "tools", "disallowedTools", "maxTurns")
_WITHOUT_EFFECT = ("color",)


def read_claude_agent(path: Path, file: str, tools: Mapping[str, bool]) -> Parsed:
    """The agent file at `path` as the document of a role file; `tools` says which tools there are."""
    try:
        text = read_text(path)
    except ConfigError as error:
        return Parsed(None, (Problem(file, START, error.message, error.hint),))
    except OSError as error:
        return Parsed(None, (Problem(file, START, f"cannot be read: {error.strerror}"),))
    front, body = _split(text)
    if front is None:
        hint = "begin the file with a line `---`, the keys, and another line `---`"
        return Parsed(None, (Problem(file, START, "the file has no YAML front matter", hint),))
    parsed = parse_yaml(front, file, first_line=2)
    if parsed.document is None:
        return parsed
    document, warnings = _translate(parsed.document, body, tools)
    return Parsed(document, (*parsed.problems, *warnings))


def _split(text: str) -> tuple[str | None, str]:
    """The front matter and what follows it."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != "---":
        return None, text
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return "".join(lines[1:number]), "".join(lines[number + 1 :])
    return None, text


def _translate(document: Document, body: str, tools: Mapping[str, bool]) -> tuple[Document, list[Problem]]:
    data: dict[str, Any] = {key: document.data[key] for key in ("name", "description") if key in document.data}
    data["prompt"] = body
    for theirs, ours in _RENAMED.items():
        if theirs in document.data:
            data[ours] = document.data[theirs]
    if "model" in document.data:
        model = document.data["model"]
        data["model"] = _MODELS.get(model, model) if isinstance(model, str) else model
    warnings = _add_tools(document, data, tools)
    unused = [key for key in document.data if key not in _READ and key not in _WITHOUT_EFFECT]
    if unused:
        position = document.position((unused[0],), of_key=True)
        warnings.append(_warning(document, position, f"not used by orch: {', '.join(unused)}"))
    renamed: dict[KeyPath, Position] = {
        (ours,): document.values[(theirs,)] for theirs, ours in _RENAMED.items() if theirs in document.data
    }
    return document._replace(data=data, values={**document.values, **renamed}), warnings


def _add_tools(document: Document, data: dict[str, Any], tools: Mapping[str, bool]) -> list[Problem]:
    """Set `tools` and `read_only` from the agent's lists; names without a counterpart become warnings."""
    listed, refused = _names(document.data.get("tools", [])), _names(document.data.get("disallowedTools", []))
    if listed is None or refused is None:
        data["tools"] = document.data["tools" if listed is None else "disallowedTools"]
        return []
    given = [(_TOOLS.get(name, name), name) for name in listed]
    names = [ours for ours, _ in given if ours in tools] if "tools" in document.data else list(DEFAULT_TOOLS)
    taken = {_TOOLS.get(name, name) for name in (rule.split("(", 1)[0].strip() for rule in refused)}
    data["tools"] = [name for name in names if name not in taken]
    data["read_only"] = all(tools.get(name, False) for name in data["tools"])
    unknown = [theirs for ours, theirs in given if ours not in tools]
    if not unknown:
        return []
    return [_warning(document, document.position(("tools",)), f"left out, no such tool: {', '.join(unknown)}")]


def _names(value: object) -> list[str] | None:
    """A list of tool names, or such a list in one text with commas; `None` for anything else.

    `Bash(git diff:*)` stays as it is, so it names no tool of orch: giving the whole shell in its place would widen it.
    """
    if value is None:
        return []
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        return None
    return [name.strip() for name in value if name.strip()]


def _warning(document: Document, position: Position, message: str) -> Problem:
    return Problem(document.file, position, message, severity="warning")
