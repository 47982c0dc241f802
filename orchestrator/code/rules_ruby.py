"""Ruby."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.code.rules import Chain, Rules, edges, first_of, kinds, words
from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

_DEFINING = frozenset((b"attr_accessor", b"attr_reader", b"attr_writer", b"define_method", b"alias_method", b"scope"))
_REQUIRING = frozenset((b"require", b"require_relative", b"load", b"autoload", b"import"))


def _special(chain: Chain, name: str) -> OccurrenceKind | None:
    leaf, parent = chain[-1], chain[-2]
    match leaf.type:
        case "simple_symbol" | "string_content":
            return _argument(chain)
        case "instance_variable" | "class_variable":
            return "attribute"
        case "constant" if parent.type == "call" and leaf.field == "receiver":
            method = parent.node.child_by_field_name("method")
            return "call" if method is not None and method.text == b"new" else "reference"
        case "identifier" if parent.type == "call" and leaf.field == "method" and parent.field == "left":
            return "attribute"  # obj.name = 1
    return None


def _argument(chain: Chain) -> OccurrenceKind | None:
    """A symbol or string: what it means as an argument of the few methods that define or load by name."""
    text = chain[-1].type == "string_content"
    call = next((link for link in reversed(chain[-4:]) if link.type == "call"), None)
    method = call.node.child_by_field_name("method") if call else None
    called = method.text if method is not None else None
    if called in _REQUIRING:
        return "import"
    if text:
        return None
    first = chain[-2].node.named_child(0) if chain[-2].type == "argument_list" else None
    if called in _DEFINING and (called or b"").startswith(b"attr"):
        return "definition"
    return "definition" if called in _DEFINING and first == chain[-1].node else "reference"


def _refine(node: Node, kind: str) -> str:
    left = node.child_by_field_name("left")
    return kind if left is None or left.type == "constant" else ""


RULES = Rules(
    definitions=edges(
        "method.name singleton_method.name class.name module.name assignment.left operator_assignment.left alias.name"
    ),
    calls=edges("call.method"),
    parts=edges("scope_resolution.name"),
    patterns=edges(
        "setter.name scope_resolution.name left_assignment_list. rest_assignment. destructured_left_assignment."
    ),
    strings=words("string heredoc_body regex subshell string_array character bare_string"),
    interpolations=words("interpolation"),
    documented=words("method singleton_method class module"),
    scopes=kinds(method="method singleton_method", class_="class", module="module"),
    symbols=kinds(constant="assignment"),
    sigils=":@$&",
    special=_special,
    label=first_of("name", "left"),
    refine=_refine,
)
