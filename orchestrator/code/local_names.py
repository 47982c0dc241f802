"""Which places of a name are a function's own: its parameters, its variables, the names of keyword arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.code.rules import Chain, Link, Rules, words
from orchestrator.tool import OccurrenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

_PARAMETERS = words(
    "parameters lambda_parameters formal_parameters parameter_list method_parameters closure_parameters"
)
_NOT_THE_NAME = words("type value default_value right return_type key default")
"""Fields of a parameter that hold something else than its name."""
_FUNCTIONS = words("arrow_function function_expression function generator_function lambda class")


class Spot(NamedTuple):
    """A place as the tree shows it; `chain` is `None` where the tree could not be read so deep."""

    chain: Chain | None
    kind: OccurrenceKind
    is_member: bool


Region = tuple[int, int]
"""The bytes of a function."""


def local_places(spots: Sequence[Spot], name: str, rules: Rules, data: bytes) -> list[bool]:
    """Which of `spots`, all places of `name` in one file, mean a variable of a function and nothing that others see."""
    regions = {region for spot in spots for region in _made_local(spot, name, rules, data)}
    return [spot.chain is not None and _is_local(spot, spot.chain, regions, rules) for spot in spots]


def _made_local(spot: Spot, name: str, rules: Rules, data: bytes) -> Iterator[Region]:
    """The function in which the place makes the name its own."""
    if spot.chain is None or spot.is_member or spot.kind not in ("definition", "reference"):
        return
    function = _function_of_parameter(spot.chain)
    if function is None and spot.kind == "definition":
        function = _function_of_variable(spot.chain, rules)
    if function is None:
        return
    shared = rf"\b(?:global|nonlocal)\b[^\n]*(?<!\w){re.escape(name)}(?!\w)"
    if not re.search(shared.encode(), data[function.start_byte : function.end_byte]):
        yield function.start_byte, function.end_byte


def _function_of_parameter(chain: Chain) -> Node | None:
    """The function of which the end of `chain` is a parameter."""
    for at in range(len(chain) - 1, 0, -1):
        link, parent = chain[at], chain[at - 1]
        if link.field in _NOT_THE_NAME:
            return None
        if link.type in _PARAMETERS or (parent.type == "arrow_function" and link.field == "parameter"):
            return _with_body(chain[:at])
        if link.field == "body" or "argument" in link.type:
            return None
    return None


def _with_body(chain: Chain) -> Node:
    """The innermost node that has a body, else the last."""
    return next((link.node for link in reversed(chain) if link.node.child_by_field_name("body")), chain[-1].node)


def _function_of_variable(chain: Chain, rules: Rules) -> Node | None:
    """The function that the end of `chain`, a definition, is a plain variable of."""
    if chain[-2].type in rules.scopes or _is_function(chain[-2].node):
        return None
    value = chain[-2].node.child_by_field_name("value")
    if value is not None and value.type in _FUNCTIONS:
        return None
    around = next((link for link in reversed(chain[:-1]) if _encloses(link, rules)), None)
    return around.node if around is not None and _is_function(around.node) else None


def _encloses(link: Link, rules: Rules) -> bool:
    return link.type in rules.scopes or _is_function(link.node)


def _is_function(node: Node) -> bool:
    return node.child_by_field_name("parameters") is not None and node.child_by_field_name("body") is not None


def _is_local(spot: Spot, chain: Chain, regions: set[Region], rules: Rules) -> bool:
    if spot.is_member or spot.kind not in ("definition", "reference", "call"):
        return False
    if len(chain) > 1 and chain[-2].type == "keyword_argument" and chain[-1].field == "name":
        return True
    if spot.kind == "definition" and _function_of_variable(chain, rules) is None:
        return _function_of_parameter(chain) is not None
    start = chain[-1].node.start_byte
    inside = [region for region in regions if region[0] <= start < region[1]]
    return bool(inside) and not _is_default(chain)


def _is_default(chain: Chain) -> bool:
    """Whether the place is in the head of a function without being a parameter: a default value, a type."""
    in_head = any(link.type in _PARAMETERS for link in chain) and not any(
        link.field == "body" for link in chain[_last_head(chain) :]
    )
    return in_head and _function_of_parameter(chain) is None


def _last_head(chain: Chain) -> int:
    return max(at for at, link in enumerate(chain) if link.type in _PARAMETERS)
