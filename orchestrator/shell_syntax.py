"""A command line as simple commands, read twice: by tree-sitter's grammar of bash and by `shell_reader`.

tree-sitter reads more than bash does and takes some texts apart in other ways. So its tree counts only where it holds
known kinds of nodes alone, and where both readings find the same words and the same commands. All else is `unknown`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.shell_reader import Assignment, Reading, Redirect, Simple, Word, read_command

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

__all__ = ["Assignment", "Parsed", "Redirect", "Simple", "Word", "parse_command"]


class Parsed(NamedTuple):
    """`commands` in the order of the text, those in substitutions before the command that uses them.

    `unknown` says why the commands may not be all that would run; empty when they are. `commands` hold what was found
    all the same, for what only adds caution.
    """

    commands: tuple[Simple, ...]
    unknown: tuple[str, ...]


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


_COMMANDS = frozenset(("command", "declaration_command", "unset_command", "test_command", "variable_assignments"))
_STRUCTURE = _COMMANDS | _kinds(
    """program list pipeline subshell compound_statement if_statement elif_clause else_clause for_statement
    while_statement case_statement case_item do_group function_definition negated_command redirected_statement
    file_redirect herestring_redirect heredoc_redirect heredoc_body"""
)
_WORDS = _kinds(
    """word number string raw_string ansi_c_string concatenation simple_expansion expansion command_substitution
    process_substitution arithmetic_expansion brace_expression variable_assignment variable_name command_name
    special_variable_name extglob_pattern"""
)
_INSIDE_WORDS = _WORDS | _kinds(
    """string_content subscript binary_expression unary_expression ternary_expression parenthesized_expression
    postfix_expression array regex test_operator"""
)
_IGNORED = frozenset(("comment", "file_descriptor", "heredoc_start", "heredoc_content", "heredoc_end"))
_SUBSTITUTIONS = frozenset(("command_substitution", "process_substitution"))
_KEYWORD_NAMES = frozenset(("export", "declare", "typeset", "local", "readonly", "unset", "unsetenv"))
_TESTS = ("[", "[[")


def parse_command(text: str) -> Parsed:
    """The simple commands of `text`. Never raises."""
    reading = read_command(text)
    doubt = reading.lost or _doubt(text, reading)
    return Parsed(reading.commands, (doubt, *reading.unsure) if doubt else reading.unsure)


def _doubt(text: str, reading: Reading) -> str:
    """What tree-sitter sees in another way; empty when it agrees."""
    data = text.encode()
    root = _parser().parse(data).root_node
    if root.has_error:
        return "it has no clear syntax"
    tree = _Tree(root)
    if tree.odd:
        return f"it has an unusual syntax ({tree.odd})"
    spans, starts = tree.spans, tree.starts
    if len(data) != len(text):
        place = _characters(data)
        spans = {(place[start], place[end]) for start, end in spans}
        starts = {place[start] for start in starts}
    unseen = reading.spans - _in_tests(reading) - spans
    # The grammar drops a lone `-` in front of a here-document.
    same = starts == reading.starts and spans <= reading.spans and all(text[slice(*span)] == "-" for span in unseen)
    return "" if same else "its words can be read in different ways"


@cache
def _parser() -> Parser:
    """Loaded by the first command: most runs have none."""
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _characters(data: bytes) -> list[int]:
    """For each offset in UTF-8 the number of characters before it."""
    found, count = [], 0
    for byte in data:
        found.append(count)
        count += byte & 0xC0 != 0x80
    return [*found, count]


def _in_tests(reading: Reading) -> set[tuple[int, int]]:
    """The words of `[ … ]` and `[[ … ]]`, which the grammar takes for expressions."""
    tests = (each.words for each in reading.commands if each.words and each.words[0].value in _TESTS)
    return {(word.start, word.end) for words in tests for word in words}


class _Tree:
    """Where the words and the commands of a tree stand, in bytes; `odd` is a kind of node that is not known."""

    def __init__(self, root: Node) -> None:
        self.spans: set[tuple[int, int]] = set()
        self.starts: set[int] = set()
        self.odd = ""
        todo = [(root, False)]
        while todo and not self.odd:
            node, in_word = todo.pop()
            inside = self._enter(node, in_word)
            todo.extend((child, inside) for child in node.children if self._counts(child, node, inside))

    def _enter(self, node: Node, in_word: bool) -> bool:
        """Note what a node is; gives whether its children are parts of a word, not words themselves."""
        kind = node.type
        if kind in _SUBSTITUTIONS:
            return False
        if kind in ("test_command", "compound_statement") and node.children[0].type in ("[", "[[", "(("):
            return True
        return in_word or kind not in _STRUCTURE

    def _counts(self, child: Node, parent: Node, inside: bool) -> bool:
        """Whether to go into a child; notes it as a word where it stands as one."""
        kind = child.type
        if not child.is_named:
            if parent.type in _COMMANDS and kind in _KEYWORD_NAMES:
                self._word(child, parent)
            return False
        if kind in _IGNORED:
            return False
        if kind not in (_INSIDE_WORDS if inside else _STRUCTURE | _WORDS):
            self.odd = kind.replace("_", " ")
        elif not inside and kind in _WORDS:
            return self._word(child, parent)
        elif kind in _COMMANDS:
            self.starts.add(_first(child))
        return True

    def _word(self, node: Node, parent: Node) -> bool:
        if parent.type == "function_definition" or (parent.type == "heredoc_body"):
            return parent.type == "heredoc_body"
        self.spans.add((node.start_byte, node.end_byte))
        if node.type == "variable_assignment" and parent.type not in _COMMANDS:
            self.starts.add(node.start_byte)
        return True


def _first(command: Node) -> int:
    """Where a command starts without the redirections in front of it."""
    return next((child.start_byte for child in command.children if not child.type.endswith("_redirect")), -1)
