"""Parsing, and the way from the root of a tree to a place in it."""

from __future__ import annotations

from time import thread_time
from typing import TYPE_CHECKING

from orchestrator.code.languages import Language, grammar_of
from orchestrator.code.rules import Link

if TYPE_CHECKING:
    from tree_sitter import Node, Point, Tree

MAX_PARSED = 1_000_000
"""Bytes of the largest file that is parsed; larger ones are read by words."""

_SMALL = 4096
"""Bytes up to which no text can cost the parser much."""
_CHUNK = 16384
_PATIENCE = 0.3
_PATIENCE_PER_BYTE = 1e-6
"""Seconds of CPU after which a parse is given up; code takes a tenth of a second for a million bytes. Text that is not
of the language can take memory and time that grow with the square of its length (16 kB of `a<a<a<` as Java: 640 MB)."""


def parse(data: bytes, language: Language) -> Tree | None:
    """The tree of UTF-8 `data`, errors being nodes of it; `None` if it is too large or takes the parser too long."""
    from tree_sitter import Parser

    parser = Parser(grammar_of(language))
    if len(data) <= _SMALL:
        return parser.parse(data)
    if len(data) > MAX_PARSED or _repeats(data):
        return None
    deadline = thread_time() + _PATIENCE + len(data) * _PATIENCE_PER_BYTE

    def read(offset: int, point: Point) -> bytes:
        return data[offset : offset + _CHUNK]

    def give_up(offset: int, has_error: bool) -> bool:
        return thread_time() > deadline

    try:
        return parser.parse(read, progress_callback=give_up)
    except ValueError:  # how the parser says that it was told to stop
        return None


MAX_DEPTH = 2000
"""Nodes of the longest chain; what is nested deeper is read by words."""


_STRETCH = 4096
_BLOCK = 16


def _repeats(data: bytes) -> bool:
    """Whether a stretch of `data` is little else than one short text over and over.

    On such text (`a=>a=>…` as C, `a<a<…` as C++) the parser's recovery from errors can take minutes for 20 kB, inside
    one step that it cannot be stopped in.
    """
    for start in range(0, len(data) - _STRETCH // 2, _STRETCH):
        end = min(start + _STRETCH, len(data))
        blocks = {data[at : at + _BLOCK] for at in range(start, end, _BLOCK)}
        if len(blocks) * _BLOCK * 12 < end - start:
            return True
    return False


def chain_to(root: Node, start: int, end: int) -> list[Link] | None:
    """The nodes from `root` to the smallest that holds the bytes from `start` to `end`; `None` if they are too many.

    The type of a keyword or sign begins with `'`, so that the keyword `string` is not taken for a string.
    """
    cursor = root.walk()
    chain = [Link(root, root.type, "")]
    while cursor.goto_first_child_for_byte(start) is not None:
        node = cursor.node
        if node is None or node.start_byte > start or node.end_byte < end:
            break
        kind = node.type if node.is_named else f"'{node.type}"
        chain.append(Link(node, kind, cursor.field_name or ""))
        if len(chain) > MAX_DEPTH:
            return None
    return chain
