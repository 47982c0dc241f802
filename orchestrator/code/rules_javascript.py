"""JavaScript, TypeScript and TSX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.code.rules import Chain, Rules, edges, kinds, words
from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = words("function_expression arrow_function generator_function class")
_EXPORTS = (b"exports", b"module.exports")


def _special(chain: Chain, name: str) -> OccurrenceKind | None:
    leaf, parent = chain[-1], chain[-2]
    if leaf.type in ("string_fragment", "string"):
        exported_from = any(link.field == "source" for link in chain[-3:])
        return "import" if exported_from or _in_require(chain) else None
    if _is_required(chain):
        return "import"
    match parent.type, leaf.field:
        case "export_specifier", _:
            return "import" if chain[-4].node.child_by_field_name("source") else "reference"
        case "pair", "key":
            return "definition" if _is_function(parent.node.child_by_field_name("value")) else "reference"
        case "member_expression", "property" if chain[-2].field == "left" and chain[-3].type == "assignment_expression":
            return "definition" if _defines(chain[-3].node, parent.node) else "attribute"
        case "required_parameter" | "optional_parameter", "pattern":
            fields = any(child.type in ("accessibility_modifier", "readonly") for child in parent.node.children)
            return "definition" if fields else "reference"
    return None


def _in_require(chain: Chain) -> bool:
    """Whether the string at the end of `chain` is the module in `require("…")` or `import("…")`."""
    call = next((link for link in chain[-4:] if link.type == "call_expression"), None)
    return call is not None and _requires(call.node)


def _requires(node: Node | None) -> bool:
    if node is not None and node.type == "await_expression":
        node = node.named_child(0)
    if node is None or node.type != "call_expression":
        return False
    function = node.child_by_field_name("function")
    return function is not None and function.text in (b"require", b"import")


def _is_required(chain: Chain) -> bool:
    """Whether the place is a name that `const {…} = require(…)` or `const … = require(…)` brings in."""
    at = len(chain) - 1
    while at and chain[at - 1].type in ("object_pattern", "pair_pattern", "object_assignment_pattern", "array_pattern"):
        at -= 1
    declarator = chain[at - 1]
    if declarator.type != "variable_declarator" or chain[at].field != "name":
        return False
    value = declarator.node.child_by_field_name("value")
    while value is not None and value.type == "member_expression":
        value = value.child_by_field_name("object")
    return _requires(value)


def _is_function(node: Node | None) -> bool:
    return node is not None and node.type in _FUNCTIONS


def _defines(assignment: Node, target: Node) -> bool:
    owner = target.child_by_field_name("object")
    if owner is not None and owner.text in _EXPORTS:
        return True
    value = assignment.child_by_field_name("right")
    while value is not None and value.type == "assignment_expression":
        value = value.child_by_field_name("right")
    return _is_function(value)


def _label(chain: Chain, at: int) -> tuple[Node | None, str]:
    """A function is called by its own name, else by what it is assigned to."""
    node = chain[at].node
    own = node.child_by_field_name("name") or node.child_by_field_name("property")
    if at == 0 or chain[at].type not in _FUNCTIONS:
        return own, ""
    parent = chain[at - 1]
    match parent.type:
        case "assignment_expression":
            target = parent.node.child_by_field_name("left")
            if target is not None and target.type == "member_expression":
                return target.child_by_field_name("property"), _owner(target)
            return target, ""
        case "variable_declarator" | "public_field_definition":
            return parent.node.child_by_field_name("name"), ""
        case "pair":
            return parent.node.child_by_field_name("key"), ""
        case "field_definition":
            return parent.node.child_by_field_name("property"), ""
    return own, ""


def _refine(node: Node, kind: str) -> str:
    """Variables that hold functions are listed as functions, those that hold modules not at all."""
    if node.type in ("variable_declarator", "field_definition", "public_field_definition"):
        value = node.child_by_field_name("value")
        if _is_function(value) or _requires(value):
            return ""
    if kind == "variable" and node.parent is not None and (node.parent.text or b"").startswith(b"const"):
        return "constant"
    return "class" if node.type == "class" else kind


def _owner(member: Node) -> str:
    """`app` of `app.handle`, `Router` of `Router.prototype.use`, nothing for `exports` and `this`."""
    node = member.child_by_field_name("object")
    text = (node.text if node is not None else None) or b""
    owner = text.decode("utf-8", "replace").removesuffix(".prototype").removeprefix("module.exports.")
    plain = owner.replace(".", "").replace("_", "").replace("$", "").isalnum()
    return owner.removeprefix("exports.") if plain and owner not in ("exports", "module.exports", "this") else ""


RULES = Rules(
    definitions=edges(
        "function_declaration.name generator_function_declaration.name function_expression.name generator_function.name"
        " class_declaration.name class.name abstract_class_declaration.name method_definition.name"
        " field_definition.property public_field_definition.name variable_declarator.name interface_declaration.name"
        " type_alias_declaration.name enum_declaration.name enum_body.name enum_assignment.name internal_module.name"
        " module.name function_signature.name method_signature.name abstract_method_signature.name"
        " property_signature.name"
    ),
    calls=edges("call_expression.function new_expression.constructor"),
    members=edges("member_expression.property"),
    parts=edges("nested_identifier.property instantiation_expression. non_null_expression."),
    patterns=edges(
        "object_pattern. array_pattern. rest_pattern. pair_pattern.value object_assignment_pattern.left"
        " assignment_pattern.left nested_identifier.property"
    ),
    imports=words("import_statement import_alias import_require_clause"),
    comments=words("comment hash_bang_line html_comment"),
    strings=words("string template_string regex jsx_text"),
    interpolations=words("template_substitution"),
    doc_marks=("/**",),
    scopes=kinds(
        function="function_declaration generator_function_declaration function_expression arrow_function"
        " generator_function function_signature",
        method="method_definition abstract_method_signature",
        class_="class_declaration abstract_class_declaration class",
        interface="interface_declaration",
        enum="enum_declaration",
        namespace="internal_module module",
    ),
    symbols=kinds(
        variable="variable_declarator", type="type_alias_declaration", field="field_definition public_field_definition"
    ),
    decorations=words("decorator"),
    sigils="#",
    special=_special,
    label=_label,
    refine=_refine,
)
