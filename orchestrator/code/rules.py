"""How the tree of one grammar is read, as data: which nodes define, call, import, comment, quote and enclose names.

An edge is a pair of a node's type and the field in which its child stands, written `type.field`; `type.` is a child
without a field and `type.$` such a child that is the last one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

Edge = tuple[str, str]


class Link(NamedTuple):
    """A node on the way from the root to a place, and the field of its parent in which it stands ("" if none)."""

    node: Node
    type: str
    field: str


Chain = Sequence[Link]
Special = Callable[[Chain, str], OccurrenceKind | None]
"""What a grammar's tables cannot say: the kind of the place at the end of a chain, given its name, or `None`."""
Label = Callable[[Chain, int], "tuple[Node | None, str]"]
"""The node that names the scope at an index of a chain, and the name of its owner ("" unless it stands elsewhere)."""


def name_field(chain: Chain, at: int) -> tuple[Node | None, str]:
    """The label of most scopes: the node in the field `name`."""
    return chain[at].node.child_by_field_name("name"), ""


Refine = Callable[["Node", str], str]
"""A symbol's kind from its node and the kind of the tables; "" for what is no symbol after all."""


def no_special(chain: Chain, name: str) -> OccurrenceKind | None:
    return None


def same_kind(node: Node, kind: str) -> str:
    return kind


@dataclass(frozen=True)
class Rules:
    definitions: frozenset[Edge]
    """Edges whose child is a name being defined."""
    calls: frozenset[Edge]
    """Edges whose child is what is called."""
    members: frozenset[Edge] = frozenset()
    """Edges to the name after a dot."""
    parts: frozenset[Edge] = frozenset()
    """Edges to the name that a longer expression (a path, a generic) stands for."""
    patterns: frozenset[Edge] = frozenset()
    """Edges on the way from a defined name up to its definition (tuples, declarators)."""
    imports: frozenset[str] = frozenset()
    comments: frozenset[str] = frozenset({"comment"})
    strings: frozenset[str] = frozenset()
    interpolations: frozenset[str] = frozenset()
    """Code inside strings."""
    raw: frozenset[str] = frozenset()
    """Tokens that hold code which the grammar does not read (the body of a macro)."""
    doc_marks: tuple[str, ...] = ()
    """How comments begin that document what follows."""
    documented: frozenset[str] = frozenset()
    """Nodes whose directly preceding plain comments are their documentation."""
    doc_strings: frozenset[str] = frozenset()
    """Parents that make a string a docstring."""
    scopes: Mapping[str, str] = field(default_factory=dict)
    """Nodes that enclose names, and the kind of symbol that they are."""
    symbols: Mapping[str, str] = field(default_factory=dict)
    """Other nodes that belong in an outline, where they stand outside functions."""
    decorations: frozenset[str] = frozenset()
    """Children that stand before a definition's own text."""
    sigils: str = ""
    """Characters around a name that the grammar puts in the same token (`:name`, `#name`)."""
    special: Special = no_special
    label: Label = name_field
    refine: Refine = same_kind


def first_of(*fields: str) -> Label:
    """The label of grammars that put names into different fields: the first of `fields` that a node has."""

    def label(chain: Chain, at: int) -> tuple[Node | None, str]:
        node = chain[at].node
        return next((child for name in fields if (child := node.child_by_field_name(name))), None), ""

    return label


def edges(text: str) -> frozenset[Edge]:
    """Edges from a list of words `type.field`; `type.a|b` stands for two."""
    pairs = (word.rsplit(".", 1) for word in text.split())
    return frozenset((kind, one) for kind, fields in pairs for one in fields.split("|"))


def kinds(**by_kind: str) -> dict[str, str]:
    """Node types to the symbol kind named by the keyword; an underscore at its end is dropped (`class_`)."""
    return {node: kind.rstrip("_") for kind, nodes in by_kind.items() for node in nodes.split()}


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@cache
def rules_of(name: str) -> Rules:
    """The rules of a language, by `Language.rules`."""
    module = importlib.import_module(f"orchestrator.code.rules_{name}")
    rules: Rules = module.RULES
    return rules
