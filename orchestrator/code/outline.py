"""The definitions of one file: a pure function of its path and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.code.classify import plain_name
from orchestrator.code.headers import bases_of, comment_above, docstring_of, header_of
from orchestrator.code.languages import Language, grammar_of, language_of
from orchestrator.code.rules import Link, Rules, rules_of
from orchestrator.code.source import Source, read_source
from orchestrator.code.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node, Query

MAX_SIGNATURE = 200
"""Characters of a signature and of a docstring's line that are kept."""
MAX_LINES = 12
"""Lines of a header that are kept as they are in the file."""

_CLASSES = frozenset({"class", "interface", "struct", "enum", "trait", "union", "record", "impl"})
"""Kinds whose functions are methods and whose variables are fields."""
_FUNCTIONS = frozenset({"function", "method", "property", "macro"})
_COMPOSED = frozenset(
    {
        "variable_name",
        "scope_resolution",
        "qualified_identifier",
        "nested_identifier",
        "template_type",
        "operator_name",
        "destructor_name",
        "setter",
        "string",
        "nested_namespace_specifier",
        "computed_property_name",
    }
)
"""Nodes that are names although they have children; others (patterns, members) define no symbol."""


class FileSymbol(NamedTuple):
    """A definition. `line` is that of its name; `bases` are the classes that its header names.

    `lines` are the lines of the file, with their numbers, that the signature and the documentation come from.
    """

    name: str
    kind: str
    qualified: str
    line: int
    end_line: int
    signature: str = ""
    doc: str = ""
    lines: tuple[tuple[int, str], ...] = ()
    bases: tuple[str, ...] = ()


class _Open(NamedTuple):
    """A scope that encloses what follows until the byte `end`."""

    end: int
    kind: str
    path: tuple[str, ...]


def symbols_in(path: str, data: bytes) -> tuple[FileSymbol, ...]:
    """The functions, classes, methods, types, and module and class variables of a file; headings of Markdown.

    In order of their lines. A file that is no text, too large to parse, or in a language without a grammar gives none.
    """
    source = read_source(data)
    if source is None:
        return ()
    language = language_of(path, source.text)
    if language.family == "notebook":
        from orchestrator.code.notebook import notebook_symbols

        return tuple(notebook_symbols(source))
    if language.family == "docs":
        from orchestrator.code.headings import headings

        return tuple(headings(source.text))
    return tuple(parsed_symbols(source, language)) if language.family == "code" else ()


def parsed_symbols(source: Source, language: Language) -> list[FileSymbol]:
    tree = parse(source.data, language)
    if tree is None:
        return []
    from tree_sitter import QueryCursor

    rules = rules_of(language.rules)
    nodes = QueryCursor(_query(language)).captures(tree.root_node).get("symbol", [])
    nodes.sort(key=lambda node: (node.start_byte, -node.end_byte))
    return sorted(_symbols(nodes, source, rules), key=lambda symbol: symbol.line)


@cache
def _query(language: Language) -> Query:
    from tree_sitter import Query

    rules, grammar = rules_of(language.rules), grammar_of(language)
    types = [kind for kind in (*rules.scopes, *rules.symbols) if grammar.id_for_node_kind(kind, True)]
    return Query(grammar, f"[{' '.join(f'({kind})' for kind in types)}] @symbol")


def _symbols(nodes: list[Node], source: Source, rules: Rules) -> Iterator[FileSymbol]:
    stack = [_Open(len(source.data) + 1, "module", ())]
    for node in nodes:
        while stack[-1].end <= node.start_byte:
            stack.pop()
        if node.type in rules.symbols and stack[-1].kind in _FUNCTIONS:
            continue  # local variables are not listed
        parent = node.parent or node
        name, owner = rules.label((Link(parent, parent.type, ""), Link(node, node.type, "")), 1)
        named = name if name is not None and (name.child_count == 0 or name.type in _COMPOSED) else None
        path = (*stack[-1].path, *filter(None, (owner, plain_name(named, source.data) if named else "")))
        kind = _kind(node, stack, owner, rules)
        if kind and named is not None:
            yield _symbol(node, named, kind, path, source, rules)
        if node.type in rules.scopes:
            stack.append(_Open(node.end_byte, kind or rules.scopes[node.type], path))


def _kind(node: Node, stack: list[_Open], owner: str, rules: Rules) -> str:
    """The kind of symbol that a node is, "" for none."""
    around = stack[-1].kind
    kind = rules.refine(node, rules.scopes.get(node.type) or rules.symbols[node.type])
    inside = around in _CLASSES or (owner and around not in _FUNCTIONS)
    if inside and kind == "function":
        return "method"
    return "field" if inside and kind == "variable" else kind


def _symbol(node: Node, name: Node, kind: str, path: tuple[str, ...], source: Source, rules: Rules) -> FileSymbol:
    header = header_of(node, name, source.data, rules)
    bases = bases_of(header.text, path[-1], in_parentheses=bool(rules.doc_strings)) if kind in _CLASSES else ()
    doc = docstring_of(node) if rules.doc_strings else comment_above(node, rules)
    first = name.start_point.row + 1
    rows = {first, *range(header.first, min(header.last + 1, header.first + MAX_LINES)), doc.line or first}
    return FileSymbol(
        plain_name(name, source.data),
        kind,
        ".".join(path),
        first,
        _last_line(node, rules),
        _cut(header.text),
        _cut(doc.text),
        tuple((row, source.line(row)) for row in sorted(rows)),
        tuple(bases),
    )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SIGNATURE else text[: MAX_SIGNATURE - 1] + "…"


def _last_line(node: Node, rules: Rules) -> int:
    """The line on which the last token stands; comments that follow in the same block do not count."""
    while node.child_count:
        last = next((child for child in reversed(node.children) if child.type not in rules.comments), None)
        if last is None:
            break
        node = last
    return node.end_point.row + (node.end_point.column > 0)
