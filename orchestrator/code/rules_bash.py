"""Shell."""

from __future__ import annotations

from orchestrator.code.rules import Chain, Rules, edges, kinds, words
from orchestrator.tool import OccurrenceKind


def _special(chain: Chain, name: str) -> OccurrenceKind | None:
    parent = chain[-2]
    if parent.type == "declaration_command" and chain[-1].type == "variable_name":
        first = parent.node.child(0)
        return "reference" if first is not None and first.type == "export" else "definition"
    if parent.type != "command" or chain[-1].field != "argument":
        return None
    command = parent.node.child_by_field_name("name")
    return "import" if command is not None and command.text in (b"source", b".") else None


RULES = Rules(
    definitions=edges("function_definition.name variable_assignment.name"),
    calls=edges("command.name"),
    parts=edges("command_name."),
    strings=words("string string_content raw_string ansi_c_string heredoc_body heredoc_content"),
    raw=words("regex"),
    interpolations=words("expansion simple_expansion command_substitution process_substitution"),
    documented=words("function_definition"),
    scopes=kinds(function="function_definition"),
    symbols=kinds(variable="variable_assignment"),
    sigils="$",
    special=_special,
)
