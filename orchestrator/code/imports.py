"""What one file imports: a pure function of its path and bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.code.languages import Language, grammar_of, language_of
from orchestrator.code.rules import rules_of
from orchestrator.code.source import read_source
from orchestrator.code.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node, Query


class Import(NamedTuple):
    """`name` is what is imported, as written but in full: `pkg.module.name`, `.sibling.name`, `./file`, `a::b`."""

    line: int
    name: str
    text: str


def imports_in(path: str, data: bytes) -> tuple[Import, ...]:
    """The imports of a file in order, one for each name; none in a language without a grammar."""
    source = read_source(data)
    if source is None:
        return ()
    language = language_of(path, source.text)
    tree = parse(source.data, language) if language.family == "code" else None
    if tree is None:
        return ()
    from tree_sitter import QueryCursor

    nodes = QueryCursor(_query(language)).captures(tree.root_node).get("import", [])
    nodes.sort(key=lambda node: node.start_byte)
    lines = source.text.split("\n")
    rows = (row for node in nodes for row in _names(node, language.name))
    return tuple(Import(row + 1, name, lines[row].removesuffix("\r")) for row, name in dict.fromkeys(rows))


_CALLS = {
    "javascript": "(call_expression function: [(identifier) (import)] arguments: (arguments . (string))) @import"
    " (export_statement source: (string)) @import",
    "ruby": "(call method: (identifier) arguments: (argument_list . (string))) @import",
    "bash": "(command) @import",
}
"""Imports that are calls, by the name of the rules; which of the calls are meant is decided by what is called."""
_IMPORTING = re.compile(r"(?:require|import)\s*\(|(?:require|require_relative|load)\b\s*\(?\s*['\"]|(?:source|\.)\s+\S")


@cache
def _query(language: Language) -> Query:
    from tree_sitter import Query

    grammar = grammar_of(language)
    types = [kind for kind in sorted(rules_of(language.rules).imports) if grammar.id_for_node_kind(kind, True)]
    statements = f"[{' '.join(f'({kind})' for kind in types)}] @import" if types else ""
    return Query(grammar, f"{statements} {_CALLS.get(language.rules, '')}")


def _names(node: Node, language: str) -> Iterator[tuple[int, str]]:
    """The row and the name of each thing that a statement imports."""
    if language == "python":
        yield from _python(node)
        return
    text = _text(node)
    if node.type in ("call_expression", "call", "command") and not _IMPORTING.match(text):
        return
    source = node.child_by_field_name("source")
    strings = list(_strings(source if source is not None else node))
    if strings:
        yield from ((string.start_point.row, name) for string in strings if (name := _text(string).strip("\"'`<>")))
    else:
        yield from ((node.start_point.row, name) for name in _expanded(_bare(text)))


def _python(node: Node) -> Iterator[tuple[int, str]]:
    module = node.child_by_field_name("module_name")
    prefix = _text(module) if module is not None else "__future__" if node.type.startswith("future") else ""
    names = node.children_by_field_name("name")
    if any(child.type == "wildcard_import" for child in node.named_children):
        yield node.start_point.row, _joined(prefix, "*")
    for name in names:
        imported = name.child_by_field_name("name") if name.type == "aliased_import" else name
        yield name.start_point.row, _joined(prefix, _text(imported or name))


def _joined(module: str, name: str) -> str:
    return f"{module}{'' if not module or module.endswith('.') else '.'}{name}"


_STRINGS = frozenset(
    {"string", "string_literal", "interpreted_string_literal", "raw_string_literal", "system_lib_string"}
)


def _strings(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if here.type in _STRINGS:
            yield here
        else:
            waiting.extend(reversed(here.named_children))


_KEYWORDS = re.compile(
    r"^\s*(?:(?:pub(?:\([^)]*\))?|global|import|using|use|extern\s+crate|extern\s+alias|from|static|function|const"
    r"|namespace|type|enum|struct|source|\.|(?:require|include)(?:_once)?)\s+)+"
)


def _bare(text: str) -> str:
    """An import statement without its keywords, its alias and its end."""
    plain = _KEYWORDS.sub("", text).strip().rstrip(";").strip()
    named = re.match(r"[\w$]+\s*=\s*(.+)", plain, re.DOTALL)
    return (named[1] if named else plain).strip()


def _expanded(text: str) -> Iterator[str]:
    """`a::{b, c as d}` as `a::b` and `a::c`, to any depth."""
    waiting = [text]
    while waiting:
        here = waiting.pop()
        before, brace, rest = here.partition("{")
        if brace:
            inner = rest[: rest.rfind("}")] if "}" in rest else rest
            waiting.extend(before.strip() + part for part in reversed(_split(inner)))
            continue
        name = re.split(r"\s+as\s+", here.strip())[0].strip()
        if name:
            yield "".join(name.removesuffix("::self").split())


def _split(text: str) -> list[str]:
    """The parts between the commas that are not inside inner braces."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
