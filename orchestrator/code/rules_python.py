"""Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.code.rules import Rules, edges, first_of, kinds, words

if TYPE_CHECKING:
    from tree_sitter import Node


def _refine(node: Node, kind: str) -> str:
    left = node.child_by_field_name("left")
    if kind == "variable" and left is not None and (left.text or b"").isupper():
        return "constant"
    return kind


RULES = Rules(
    definitions=edges(
        "function_definition.name class_definition.name assignment.left named_expression.name type_alias_statement.left"
    ),
    calls=edges("call.function"),
    members=edges("attribute.attribute"),
    parts=edges("list_splat."),  # how the grammar reads `[*name(…)]`
    patterns=edges("pattern_list. tuple_pattern. list_pattern. list_splat_pattern. type. generic_type.$"),
    imports=words("import_statement import_from_statement future_import_statement"),
    strings=words("string"),
    interpolations=words("interpolation"),
    doc_strings=words("expression_statement concatenated_string"),
    scopes=kinds(function="function_definition", class_="class_definition"),
    symbols=kinds(variable="assignment", type="type_alias_statement"),
    decorations=words("decorator"),
    label=first_of("name", "left"),
    refine=_refine,
)
