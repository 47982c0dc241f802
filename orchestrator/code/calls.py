"""The calls that one file makes: a pure function of its path and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.code.classify import Scopes, kind_of
from orchestrator.code.languages import language_of
from orchestrator.code.qualified import receiver_of
from orchestrator.code.rules import Chain, Link, rules_of
from orchestrator.code.source import Source, read_source
from orchestrator.code.syntax import parse

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CALLED = 80
"""Characters of a called name with its receiver; a longer one is given without it."""


class Call(NamedTuple):
    """`name` is what is called, with its receiver as far as that is made of names (`self.client.get`)."""

    line: int
    column: int
    name: str
    text: str
    scope: str
    preview: str = ""


def calls_in(path: str, data: bytes, first: int = 1, last: int = 1 << 30) -> tuple[Call, ...]:
    """The calls that stand on the lines `first` to `last` of a file, in order; none in a language without a grammar."""
    source = read_source(data)
    if source is None:
        return ()
    language = language_of(path, source.text)
    tree = parse(source.data, language) if language.family == "code" else None
    if tree is None:
        return ()
    rules = rules_of(language.rules)
    scopes = Scopes(rules, source.data)
    found = []
    for chain in _leaves(tree.root_node, first - 1, last - 1):
        leaf = chain[-1].node
        name = source.data[leaf.start_byte : leaf.end_byte].decode("utf-8", "replace")
        if kind_of(chain, name, rules, source.data) == "call":
            found.append((leaf.start_byte, name, scopes.around(chain)))
    return tuple(_placed(found, source))


def _placed(found: list[tuple[int, str, str]], source: Source) -> Iterator[Call]:
    offsets = _character_offsets(source, [byte for byte, _, _ in found])
    for (_, name, scope), start in zip(found, offsets, strict=True):
        receiver = receiver_of(source.text, start)
        full = f"{receiver}.{name}" if receiver not in ("", "?") else name
        called = full if len(full) <= MAX_CALLED and not any(map(str.isspace, full)) else name
        text, preview = source.shown_at(start)
        yield Call(source.line_of(start), source.column_of(start), called, text, scope, preview)


def _character_offsets(source: Source, offsets: list[int]) -> Iterator[int]:
    """The character offsets in the text of ascending byte offsets."""
    at = byte = 0
    for offset in offsets:
        at += len(source.data[byte:offset].decode("utf-8", "surrogatepass"))
        byte = offset
        yield at


def _leaves(root: Node, first_row: int, last_row: int) -> Iterator[Chain]:
    """The chain to each named leaf on the rows given. The same list is changed and yielded again."""
    cursor = root.walk()
    chain = [Link(root, root.type, "")]
    while True:
        node = chain[-1].node
        inside = node.start_point.row <= last_row and node.end_point.row >= first_row
        if inside and cursor.goto_first_child():
            chain.append(_link(cursor.node, cursor.field_name))
            continue
        if inside and node.is_named:
            yield chain
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            chain.pop()
        chain[-1] = _link(cursor.node, cursor.field_name)


def _link(node: Node | None, field: str | None) -> Link:
    assert node is not None  # a cursor that has just moved stands on a node
    return Link(node, node.type if node.is_named else f"'{node.type}", field or "")
