"""Rust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.code.rules import Chain, Rules, edges, kinds, words
from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node


def _special(chain: Chain, name: str) -> OccurrenceKind | None:
    """Inside a macro's arguments there are only tokens: a name before `(` is called, one after `.` is a member."""
    leaf = chain[-1]
    if chain[-2].type != "token_tree" or leaf.type not in ("identifier", "metavariable"):
        return None
    after, before = leaf.node.next_sibling, leaf.node.prev_sibling
    if after is not None and after.type == "!":
        after = after.next_sibling
        return "call" if after is not None and after.type == "token_tree" else "reference"
    if after is not None and after.type == "token_tree" and (after.text or b"").startswith(b"("):
        return "call"
    return "attribute" if before is not None and before.type == "." else "reference"


def _label(chain: Chain, at: int) -> tuple[Node | None, str]:
    """An `impl` block is called by its type."""
    node = chain[at].node
    if chain[at].type != "impl_item":
        return node.child_by_field_name("name"), ""
    target = node.child_by_field_name("type")
    while target is not None and target.type in ("generic_type", "scoped_type_identifier", "reference_type"):
        inner = target.child_by_field_name("type") or target.child_by_field_name("name")
        if inner is None:
            break
        target = inner
    return target, ""


def _refine(node: Node, kind: str) -> str:
    return "" if kind == "impl" and node.child_by_field_name("trait") is None else kind


RULES = Rules(
    definitions=edges(
        "function_item.name function_signature_item.name struct_item.name enum_item.name union_item.name"
        " trait_item.name type_item.name associated_type.name const_item.name static_item.name mod_item.name"
        " macro_definition.name field_declaration.name enum_variant.name let_declaration.pattern"
    ),
    calls=edges("call_expression.function macro_invocation.macro"),
    members=edges("field_expression.field"),
    parts=edges("scoped_identifier.name scoped_type_identifier.name generic_function.function generic_type.type"),
    patterns=edges(
        "tuple_pattern. mut_pattern. ref_pattern. slice_pattern. captured_pattern. tuple_struct_pattern."
        " reference_pattern."
    ),
    imports=words("use_declaration extern_crate_declaration"),
    comments=words("line_comment block_comment"),
    strings=words("string_literal raw_string_literal char_literal byte_string_literal"),
    doc_marks=("///", "//!", "/**", "/*!"),
    scopes=kinds(
        function="function_item function_signature_item",
        struct="struct_item",
        union="union_item",
        enum="enum_item",
        trait="trait_item",
        module="mod_item",
        macro="macro_definition",
        impl="impl_item",
    ),
    symbols=kinds(constant="const_item", variable="static_item", type="type_item associated_type"),
    special=_special,
    label=_label,
    refine=_refine,
)
