"""C#."""

from __future__ import annotations

from orchestrator.code.rules import Rules, edges, kinds, words

RULES = Rules(
    definitions=edges(
        "class_declaration.name interface_declaration.name struct_declaration.name enum_declaration.name"
        " record_declaration.name delegate_declaration.name method_declaration.name constructor_declaration.name"
        " property_declaration.name event_declaration.name enum_member_declaration.name local_function_statement.name"
        " variable_declarator.name"
    ),
    calls=edges("invocation_expression.function object_creation_expression.type"),
    members=edges("member_access_expression.name member_binding_expression.name"),
    parts=edges("generic_name. qualified_name.name alias_qualified_name.name conditional_access_expression."),
    imports=words("using_directive extern_alias_directive"),
    strings=words(
        "string_literal verbatim_string_literal raw_string_literal character_literal interpolated_string_expression"
    ),
    interpolations=words("interpolation"),
    doc_marks=("///", "/**"),
    scopes=kinds(
        class_="class_declaration",
        interface="interface_declaration",
        struct="struct_declaration",
        enum="enum_declaration",
        record="record_declaration",
        method="method_declaration constructor_declaration destructor_declaration",
        function="local_function_statement",
        property="property_declaration",
    ),
    symbols=kinds(field="variable_declarator", type="delegate_declaration", event="event_declaration"),
    decorations=words("attribute_list"),
)
