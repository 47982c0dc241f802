"""PHP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.code.rules import Chain, Rules, edges, kinds, words
from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node


def _special(chain: Chain, name: str) -> OccurrenceKind | None:
    """`define('NAME', …)` defines."""
    if chain[-1].type != "string_content":
        return None
    call = next((link for link in reversed(chain[-5:]) if link.type == "function_call_expression"), None)
    function = call.node.child_by_field_name("function") if call else None
    arguments = call.node.child_by_field_name("arguments") if call else None
    first = arguments.named_child(0) if arguments is not None else None
    if function is None or first is None or function.text != b"define":
        return None
    leaf = chain[-1].node
    return "definition" if first.start_byte <= leaf.start_byte and leaf.end_byte <= first.end_byte else None


def _label(chain: Chain, at: int) -> tuple[Node | None, str]:
    node = chain[at].node
    return node.child_by_field_name("name") or (node.named_child(0) if node.type == "const_element" else None), ""


RULES = Rules(
    definitions=edges(
        "function_definition.name method_declaration.name class_declaration.name interface_declaration.name"
        " trait_declaration.name enum_declaration.name enum_case.name const_element. property_element.name"
        " static_variable_declaration.name assignment_expression.left property_promotion_parameter.name"
    ),
    calls=edges(
        "function_call_expression.function member_call_expression.name nullsafe_member_call_expression.name"
        " scoped_call_expression.name object_creation_expression."
    ),
    members=edges(
        "member_access_expression.name nullsafe_member_access_expression.name scoped_property_access_expression.name"
    ),
    parts=edges("qualified_name. relative_name. variable_name."),
    patterns=edges("variable_name. list_literal. array_element_initializer."),
    imports=words(
        "namespace_use_declaration require_expression require_once_expression include_expression"
        " include_once_expression"
    ),
    strings=words("string string_content nowdoc_string heredoc_text shell_command_expression"),
    doc_marks=("/**",),
    scopes=kinds(
        function="function_definition",
        method="method_declaration",
        class_="class_declaration",
        interface="interface_declaration",
        trait="trait_declaration",
        enum="enum_declaration",
    ),
    symbols=kinds(constant="const_element", field="property_element"),
    decorations=words("attribute_list"),
    sigils="$",
    special=_special,
    label=_label,
)
