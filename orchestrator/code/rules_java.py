"""Java."""

from __future__ import annotations

from orchestrator.code.rules import Rules, edges, kinds, words

RULES = Rules(
    definitions=edges(
        "class_declaration.name interface_declaration.name enum_declaration.name record_declaration.name"
        " annotation_type_declaration.name method_declaration.name constructor_declaration.name"
        " compact_constructor_declaration.name annotation_type_element_declaration.name enum_constant.name"
        " variable_declarator.name"
    ),
    calls=edges("method_invocation.name object_creation_expression.type"),
    members=edges("field_access.field"),
    parts=edges("generic_type. scoped_type_identifier.$"),
    imports=words("import_declaration"),
    comments=words("line_comment block_comment"),
    strings=words("string_literal character_literal"),
    interpolations=words("string_interpolation"),
    doc_marks=("/**", "///"),
    scopes=kinds(
        class_="class_declaration",
        interface="interface_declaration",
        enum="enum_declaration",
        record="record_declaration",
        annotation="annotation_type_declaration",
        method="method_declaration constructor_declaration compact_constructor_declaration"
        " annotation_type_element_declaration",
    ),
    symbols=kinds(field="variable_declarator"),
    decorations=words("annotation marker_annotation"),
)
