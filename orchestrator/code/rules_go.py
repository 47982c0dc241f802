"""Go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.code.rules import Chain, Rules, edges, kinds, words

if TYPE_CHECKING:
    from tree_sitter import Node


def _label(chain: Chain, at: int) -> tuple[Node | None, str]:
    """A method belongs to the type of its receiver."""
    node = chain[at].node
    receiver = node.child_by_field_name("receiver")
    return node.child_by_field_name("name"), _first_type(receiver) if receiver is not None else ""


def _first_type(node: Node) -> str:
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if here.type == "type_identifier":
            return (here.text or b"").decode("utf-8", "replace")
        waiting.extend(reversed(here.named_children))
    return ""


_TYPES = {"struct_type": "struct", "interface_type": "interface"}


def _refine(node: Node, kind: str) -> str:
    type_ = node.child_by_field_name("type") if kind == "type" else None
    return _TYPES.get(type_.type, kind) if type_ is not None else kind


RULES = Rules(
    definitions=edges(
        "function_declaration.name method_declaration.name type_spec.name type_alias.name const_spec.name var_spec.name"
        " field_declaration.name method_elem.name short_var_declaration.left"
    ),
    calls=edges("call_expression.function type_conversion_expression.type"),
    members=edges("selector_expression.field"),
    parts=edges("qualified_type.name generic_type.type type_instantiation_expression.type parenthesized_expression."),
    patterns=edges("expression_list."),
    imports=words("import_declaration"),
    strings=words("interpreted_string_literal raw_string_literal rune_literal"),
    documented=words(
        "function_declaration method_declaration type_declaration const_declaration var_declaration package_clause"
        " field_declaration method_elem type_spec const_spec var_spec"
    ),
    scopes=kinds(function="function_declaration", method="method_declaration", type="type_spec"),
    symbols=kinds(constant="const_spec", variable="var_spec", type="type_alias", method="method_elem"),
    label=_label,
    refine=_refine,
)
