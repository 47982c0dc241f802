"""The kind and the scope of a place, from the chain of nodes that leads to it and the rules of its grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.code.rules import Chain, Edge, Rules
from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

_NEAR = 60
"""Nodes around a place among which an import, a comment or a string that holds it is looked for."""
_OUTER = 500
"""Nodes from the root on among which scopes are looked for; only generated code is nested deeper."""
MAX_NAME = 120
"""Characters of one part of a scope that are kept."""


def kind_of(chain: Chain, name: str, rules: Rules, data: bytes) -> OccurrenceKind | None:
    """The kind of the place with the text `name` at the end of `chain`; `None` where the parser cannot tell.

    `data` is what was parsed.
    """
    written = _written_kind(chain, rules)
    if written in ("comment", "doc"):
        return written
    if len(chain) > 1:
        special = rules.special(chain, name)
        if special:
            return special
    if any(link.type in rules.imports for link in chain[-_NEAR:]):
        return "import"
    return written or _code_kind(chain, name, rules, data)


def _written_kind(chain: Chain, rules: Rules) -> OccurrenceKind | None:
    """`comment`, `doc` or `string` if the place is in a comment or a string, `None` if it is code."""
    for at in range(len(chain) - 1, max(-1, len(chain) - _NEAR), -1):
        link = chain[at]
        if link.type in rules.comments:
            return "doc" if _documents(link.node, rules) else "comment"
        if link.type in rules.strings:
            return "doc" if chain[at - 1].type in rules.doc_strings else "string"
        if link.type in rules.interpolations:
            return None
    return None


def _documents(comment: Node, rules: Rules) -> bool:
    if (comment.text or b"").startswith(tuple(mark.encode() for mark in rules.doc_marks)):
        return True
    here: Node | None = comment
    while rules.documented and here is not None and here.next_sibling is not None:
        row, following = here.end_point.row, here.next_sibling
        if following.start_point.row > row + 1:
            return False
        if following.type in rules.documented:
            return True
        here = following if following.type in rules.comments or not following.is_named else None
    return False


def _code_kind(chain: Chain, name: str, rules: Rules, data: bytes) -> OccurrenceKind | None:
    leaf = chain[-1]
    if len(chain) == 1 or leaf.type in rules.raw or "ERROR" in (leaf.type, chain[-2].type):
        return None
    if not _stands_alone(leaf.node, name, rules, data):
        return "other"
    at = _climb(chain, rules.patterns)
    if _edge(chain, at) in rules.definitions:
        return "definition"
    at, is_member = _climb_reference(chain, rules)
    if _edge(chain, at) in rules.calls:
        return "call"
    return "attribute" if is_member else "reference"


def _stands_alone(leaf: Node, name: str, rules: Rules, data: bytes) -> bool:
    """Whether the token is the name itself, not a longer one that holds it (`./name.sh`, `name?`)."""
    token = data[leaf.start_byte : leaf.end_byte].decode("utf-8", "replace")
    return token == name or token.strip(rules.sigils) == name.strip(rules.sigils) or leaf.child_count > 0


def _edge(chain: Chain, at: int) -> Edge:
    return (chain[at - 1].type, chain[at].field) if at else ("", "")


def _climb(chain: Chain, edges: frozenset[Edge]) -> int:
    at = len(chain) - 1
    while at > 0 and (_edge(chain, at) in edges or _is_last(chain, at, edges)):
        at -= 1
    return at


def _climb_reference(chain: Chain, rules: Rules) -> tuple[int, bool]:
    """The index of the expression that the name stands for, and whether the name comes after a dot in it."""
    at, is_member = len(chain) - 1, False
    while at > 0:
        edge = _edge(chain, at)
        if edge in rules.members:
            is_member = True
        elif edge not in rules.parts and not _is_last(chain, at, rules.parts):
            break
        at -= 1
    return at, is_member


def _is_last(chain: Chain, at: int, edges: frozenset[Edge]) -> bool:
    parent, here = chain[at - 1], chain[at]
    return not here.field and (parent.type, "$") in edges and here.node.end_byte == parent.node.end_byte


class Scopes:
    """The qualified names of what encloses the places of one parsed file."""

    def __init__(self, rules: Rules, data: bytes) -> None:
        self._rules = rules
        self._data = data
        self._known: dict[int, tuple[str, str, int]] = {}

    def around(self, chain: Chain, *, without_start: int = -1) -> str:
        """The scope of the end of `chain`.

        A scope whose own name begins at the byte `without_start` is left out: a definition is not inside itself.
        """
        parts: list[str] = []
        for at, link in enumerate(chain[:_OUTER]):
            if link.type in self._rules.scopes:
                owner, name, start = self._label(chain, at)
                parts += filter(None, (owner, "" if start == without_start else name))
        return ".".join(parts)

    def _label(self, chain: Chain, at: int) -> tuple[str, str, int]:
        """The owner and the name of a scope, and the byte at which the name begins."""
        node = chain[at].node
        known = self._known.get(node.id)
        if known is None:
            name, owner = self._rules.label(chain, at)
            known = (owner, plain_name(name, self._data), name.start_byte) if name is not None else ("", "", -1)
            self._known[node.id] = known
        return known


def plain_name(node: Node, data: bytes) -> str:
    """A name as it is shown: no spaces, no quotes, parts joined by dots, type arguments dropped."""
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if node.type == "template_type":
        text = text.split("<")[0]
    return "".join(text.replace("::", ".").split()).strip("\"'`").removeprefix("$")[:MAX_NAME]
