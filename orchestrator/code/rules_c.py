"""C and C++."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.code.rules import Chain, Rules, edges, kinds, words
from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

_SPECIFIERS = words("struct_specifier union_specifier enum_specifier class_specifier")


def _special(chain: Chain, name: str) -> OccurrenceKind | None:
    at = len(chain) - 1
    if chain[at - 1].type == "template_type":
        at -= 1
    owner = chain[at - 1]
    if owner.type in _SPECIFIERS and chain[at].field == "name" and owner.node.child_by_field_name("body") is None:
        return "reference"  # `struct name *pointer` and forward declarations
    return None


def _label(chain: Chain, at: int) -> tuple[Node | None, str]:
    """A function is called by its declarator; `Owner::name` belongs to `Owner`."""
    node = chain[at].node
    if node.type in _SPECIFIERS:
        body = node.child_by_field_name("body")
        return (node.child_by_field_name("name") if body is not None else None), ""
    name = node.child_by_field_name("declarator")
    return (node.child_by_field_name("name"), "") if name is None else _declared(name)


def _declared(name: Node) -> tuple[Node, str]:
    """The name inside a declarator, and the owner that qualifies it."""
    owners: list[str] = []
    while True:
        if name.type == "qualified_identifier":
            scope = name.child_by_field_name("scope")
            owners.append(((scope.text if scope is not None else None) or b"").decode("utf-8", "replace").split("<")[0])
            inner = name.child_by_field_name("name")
        else:
            inner = name.child_by_field_name("declarator") or _only_declarator(name)
        if inner is None:
            return name, ".".join(filter(None, owners))
        name = inner


def _refine(node: Node, kind: str) -> str:
    """A declaration with a parameter list declares a function."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and kind in ("variable", "field"):
        if declarator.type == "function_declarator":
            inner = declarator.child_by_field_name("declarator")
            return kind if inner is not None and inner.type == "parenthesized_declarator" else "function"
        declarator = declarator.child_by_field_name("declarator") or _only_declarator(declarator)
    return kind


def _only_declarator(node: Node) -> Node | None:
    if node.type not in ("parenthesized_declarator", "reference_declarator", "attributed_declarator"):
        return None
    return next((child for child in node.named_children if child.type.endswith(("declarator", "identifier"))), None)


RULES = Rules(
    definitions=edges(
        "function_definition.declarator declaration.declarator field_declaration.declarator type_definition.declarator"
        " preproc_def.name preproc_function_def.name enumerator.name struct_specifier.name union_specifier.name"
        " enum_specifier.name class_specifier.name namespace_definition.name namespace_alias_definition.name"
        " alias_declaration.name concept_definition.name"
    ),
    calls=edges("call_expression.function new_expression.type"),
    members=edges("field_expression.field field_designator."),
    parts=edges("qualified_identifier.name template_function.name template_method.name template_type.name"),
    patterns=edges(
        "pointer_declarator.declarator function_declarator.declarator init_declarator.declarator"
        " array_declarator.declarator parenthesized_declarator. reference_declarator. attributed_declarator."
        " structured_binding_declarator. template_type.name template_function.name qualified_identifier.name"
        " nested_namespace_specifier. bitfield_clause."
    ),
    imports=words("preproc_include using_declaration import_declaration"),
    strings=words("string_literal raw_string_literal char_literal system_lib_string"),
    raw=words("preproc_arg preproc_call"),
    doc_marks=("/**", "///", "//!", "/*!"),
    scopes=kinds(
        function="function_definition",
        struct="struct_specifier",
        union="union_specifier",
        class_="class_specifier",
        enum="enum_specifier",
        namespace="namespace_definition",
    ),
    symbols=kinds(
        variable="declaration",
        field="field_declaration",
        macro="preproc_def preproc_function_def",
        type="type_definition alias_declaration concept_definition",
    ),
    special=_special,
    label=_label,
    refine=_refine,
)
