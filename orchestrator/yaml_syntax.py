"""What a YAML syntax error means for the person who wrote the file, and how to put it right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml

from orchestrator.problems import Position, Problem

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_KEY_AND_VALUE = re.compile(r"""\s*(?:-\s+)?([^\s'"#:][^:]*):\s+(.*\S)""")


def split_lines(text: str) -> list[str]:
    """The lines as YAML counts them, without their ends."""
    return _LINE_END.split(text)


def find_control_character(text: str) -> Position | None:
    """Where the first character stands that YAML does not allow."""
    found = _CONTROL.search(text)
    if found is None:
        return None
    before = split_lines(text[: found.start()])
    return Position(len(before), len(before[-1]) + 1)


def find_tab(lines: Sequence[str], root: yaml.Node) -> Position | None:
    """Where the first tab stands that is neither in a value nor in a comment nor on a blank line."""
    inside = [(node.start_mark, node.end_mark) for node in _scalars(root)]
    spans = [((start.line, start.column), (end.line, end.column)) for start, end in inside]
    for number, line in enumerate(lines):
        for tab in re.finditer("\t", line.split("#", 1)[0].rstrip()):
            here = (number, tab.start())
            if not any(start <= here < end for start, end in spans):
                return Position(number + 1, tab.start() + 1)
    return None


def _scalars(root: yaml.Node) -> Iterator[yaml.Node]:
    """The scalar nodes below `root`, each once: aliases share their node and may form a cycle."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            pending.extend(child for pair in node.value for child in pair)
        elif isinstance(node, yaml.SequenceNode):
            pending.extend(node.value)
        else:
            yield node


def syntax_problem(error: yaml.MarkedYAMLError, text: str, file: str, first_line: int) -> Problem:
    """The parser's complaint in plain words; `first_line` is the line of `file` where `text` begins."""
    lines = split_lines(text)
    position, message, hint = _explain(error, lines)
    return Problem(file, Position(position.line + first_line - 1, position.column), message, hint)


def _explain(error: yaml.MarkedYAMLError, lines: Sequence[str]) -> tuple[Position, str, str]:
    mark = error.problem_mark or error.context_mark
    here = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
    line = lines[here.line - 1] if here.line <= len(lines) else ""
    tab = re.match(r" *(\t)", line)
    if tab is not None or line[here.column - 1 : here.column] == "\t":
        position = Position(here.line, tab.start(1) + 1) if tab else here
        return position, "a tab", "YAML is indented and separated with spaces"
    opened = error.context_mark
    began = Position(opened.line + 1, opened.column + 1) if opened else here
    match error.problem or "":
        case problem if "mapping values are not allowed" in problem or "mapping values are not" in problem:
            return here, *_unexpected_colon(line, here)
        case problem if "cannot start any token" in problem:
            character = line[here.column - 1 : here.column]
            return here, f"a value cannot begin with `{character}`", _quoting_hint(line)
        case problem if "undefined alias" in problem:
            return here, "a value that begins with `*` is read as an alias, and it is not defined", _quoting_hint(line)
        case problem if "found another document" in problem:
            return here, "a second document begins here (`---`)", "keep one document in a file"
        case problem if "unexpected end of stream" in problem:
            return began, "the quoted text that begins here has no end", "close the quotes"
        case problem if "',' or" in problem:
            return began, "the list or mapping that begins here has no end", "close it with `]` or `}`"
        case problem if "sequence entries are not allowed" in problem:
            return here, "a list item cannot stand on the line of its key", "begin each `- item` on its own line"
        case problem if "expected key" in problem or "<block end>" in problem:
            return here, "expected a `key: value` line", "check the indentation and the quotes"
        case problem if "nesting depth" in problem:
            return here, "the values are nested too deeply", ""
        case problem:
            return here, f"not valid YAML: {problem or error.context}", "check the indentation and the quotes"


def _unexpected_colon(line: str, here: Position) -> tuple[str, str]:
    pair = _KEY_AND_VALUE.fullmatch(line)
    if pair is not None and pair.start(2) < here.column - 1:
        return "a value with `: ` inside must be quoted", _quoting_hint(line)
    return "a `:` is not expected here", "check the line above: its colon, its indentation and its quotes"


def _quoting_hint(line: str) -> str:
    pair = _KEY_AND_VALUE.fullmatch(line)
    if pair is None:
        return "put the value in double quotes"
    value = pair[2].replace("\\", "\\\\").replace('"', '\\"')
    return f'write {pair[1]}: "{value}"'
