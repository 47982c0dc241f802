"""What stands above and at the head of a definition: its signature, its bases, the first line of its documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.code.rules import Rules, words

if TYPE_CHECKING:
    from tree_sitter import Node

_MODIFIERS = re.compile(rb"[\w \t<>,.?\[\]&*:|\\]*")
"""What may stand before a name on its line and belong to its definition: keywords and types."""


class Header(NamedTuple):
    """The text of a definition up to its body, on one line, and the lines that it comes from."""

    text: str
    first: int
    last: int


class Doc(NamedTuple):
    """The first line of a definition's documentation."""

    text: str = ""
    line: int = 0


def header_of(node: Node, name: Node, data: bytes, rules: Rules) -> Header:
    """The header of the definition `node` of `name`, without what decorates it."""
    start = min(node.start_byte, name.parent.start_byte if name.parent else name.start_byte)
    start = max([start, *_decoration_ends(node, name, rules)])
    start += len(data[start : name.start_byte]) - len(data[start : name.start_byte].lstrip())
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    if _MODIFIERS.fullmatch(before):
        start -= len(before.lstrip())
    end = _header_end(node, rules)
    text = data[start : end or node.end_byte].decode("utf-8", "replace")
    first = name.start_point.row + 1 - data.count(b"\n", start, name.start_byte)
    text = text.strip()
    if end is None:
        text = text.split("\n", 1)[0]
    lines = text.count("\n")
    for comment in _comments(node, rules, start, end or node.end_byte):
        text = text.replace(comment, "")
    shown = " ".join(text.split()).rstrip(" {;").removesuffix("=>").removesuffix(" =").rstrip()
    return Header(shown, first, first + lines)


def _header_end(node: Node, rules: Rules) -> int | None:
    """The byte at which the header of a definition ends that has a body."""
    value = node.child_by_field_name("value")
    body = node.child_by_field_name("body") or (value.child_by_field_name("body") if value is not None else None)
    if body is None:
        return None
    before = body.prev_sibling
    while before is not None and before.type in rules.comments:
        before = before.prev_sibling
    return before.end_byte if before is not None else body.start_byte


def _comments(node: Node, rules: Rules, start: int, end: int) -> list[str]:
    """The comments between the parts of a header."""
    inner = [child for part in node.children if part.start_byte < end for child in (part, *part.children)]
    comments = (part for part in inner if part.type in rules.comments and start <= part.start_byte < end)
    return [(comment.text or b"").decode("utf-8", "replace") for comment in comments]


def _decoration_ends(node: Node, name: Node, rules: Rules) -> Iterator[int]:
    """Where decorators, annotations and attributes end that stand before the name."""
    children = [child for child in node.children if child.start_byte < name.start_byte]
    children += [inner for child in children if child.type == "modifiers" for inner in child.children]
    yield from (child.end_byte for child in children if child.type in rules.decorations)


_ARGUMENTS = re.compile(r"\[[^\[\]]*\]|<[^<>]*>|\b\w+\s*=\s*[^,()]*(?:\([^()]*\))?")
_PARAMETERS = re.compile(r"\[[^\[\]]*\]|<[^<>]*>|\([^()]*\)")
_BASE = re.compile(r"[\w$]+(?:(?:\.|::|\\)[\w$]+)*")
_BASE_WORDS = words(
    "class extends implements public private protected virtual with final abstract struct interface trait enum end"
)


def bases_of(header: str, name: str, *, in_parentheses: bool = False) -> Iterator[str]:
    """The last parts of the names of the classes that the header of the class `name` builds on.

    Type arguments are left out, and parameters too unless the language names the bases `in_parentheses`.
    """
    implemented = re.match(r"(?:unsafe )?impl\b(.*?) for ", header)
    rest = implemented[1] if implemented else header.partition("{")[0].partition(name)[2].partition(" where ")[0]
    pattern = _ARGUMENTS if in_parentheses else _PARAMETERS
    while (shorter := pattern.sub("", rest)) != rest:
        rest = shorter
    for word in _BASE.findall(rest):
        if word not in _BASE_WORDS:
            yield re.split(r"\.|::|\\", word)[-1]


def docstring_of(node: Node) -> Doc:
    """The docstring that is the first statement in the body of `node`."""
    body = node.child_by_field_name("body")
    first = body.named_child(0) if body is not None and body.named_child_count else None
    string = first.named_child(0) if first is not None and first.type == "expression_statement" else None
    if string is None or string.type != "string":
        return Doc()
    content = b"".join(part.text or b"" for part in string.named_children if part.type == "string_content")
    text = content.decode("utf-8", "replace")
    skipped = text[: len(text) - len(text.lstrip())].count("\n")
    return Doc(text.strip().split("\n", 1)[0].strip(), string.start_point.row + 1 + skipped)


def comment_above(node: Node, rules: Rules) -> Doc:
    """The first line of the comments that end right above a definition (and above what decorates it)."""
    top = node
    while (
        top.parent is not None and top.parent.parent is not None and top.parent.start_point.row == top.start_point.row
    ):
        top = top.parent
    comments: list[Node] = []
    below, above = top, top.prev_sibling
    while above is not None and _line_after(above) >= below.start_point.row:
        if above.type in rules.comments:
            comments.insert(0, above)
        elif not above.type.startswith(("attribute", "decorator", "annotation")):
            break
        if above.prev_sibling is not None and _line_after(above.prev_sibling) > above.start_point.row:
            del comments[:1]  # a comment at the end of a line of code
            break
        below, above = above, above.prev_sibling
    return _first_line(comments)


def _line_after(node: Node) -> int:
    """The row below the last one of a node."""
    return node.end_point.row + (node.end_point.column > 0)


_MARKS = re.compile(r"^\s*(?:/\*+!?|\*+/?|//+!?|#+)?\s*|\s*\*+/\s*$")
_TAGS = re.compile(r"</?[a-z]+/?>")


def _first_line(comments: list[Node]) -> Doc:
    for comment in comments:
        lines = (comment.text or b"").decode("utf-8", "replace").split("\n")
        for row, line in enumerate(lines, comment.start_point.row + 1):
            plain = _MARKS.sub("", line)
            if line.lstrip().startswith("///"):
                plain = _TAGS.sub("", plain)
            if plain.strip():
                return Doc(plain.strip(), row)
    return Doc()
