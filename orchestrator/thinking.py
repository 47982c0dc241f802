"""How much a model is to think, in the terms of each wire.

What a model takes is in litellm's table and reaches this module as `ModelInfo.thinks` and the words of
`ModelInfo.thinking`. A model that the table does not know is asked in the usual way, and not again once it refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, Literal

from orchestrator.messages import Message, Reasoning
from orchestrator.model import ModelInfo, Think

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Every level of effort that a provider has a name for, from the least to the most."""
ThinkField = Literal["", "reasoning_effort", "reasoning", "thinking", "thinking+effort"]
"""How an OpenAI-compatible provider is told: not at all, or by which field."""
Shape = Literal["adaptive", "budget", "disabled"]
"""How the Anthropic wire is told."""

LEAST_BUDGET: Final = 1024
"""Tokens; the Anthropic wire takes no smaller budget."""
_BUDGETS: Final[Mapping[Think, int]] = {"low": 1024, "medium": 2048, "high": 4096}
"""Tokens, those of litellm: the same flag then means the same on both ways to a model."""
_ADAPTIVE_ROOM: Final[Mapping[Think, int]] = {"low": 4096, "medium": 8192, "high": 16_384}
"""Tokens that a model which decides for itself may well think, on top of what it is to write."""
_ALLOWED: Final = r"(?i)(?:support\w*|valid|allowed|one of|should be|expected|must be)\b"


def think_notice(name: str, info: ModelInfo, think: Think | None) -> str:
    """What the user is told, once, when the model `name` cannot do what `think` asks for; else an empty text."""
    if think is None:
        return ""
    if think == "off":
        always = "always" in info.thinking.split()
        return f"{name} always thinks; it is asked to think as little as it can." if always else ""
    if info.thinks is False:
        return f"{name} does not think before it answers: `think: {think}` has no effect."
    return ""


def effort(think: Think, info: ModelInfo, allowed: Collection[str] = ()) -> str:
    """The level of effort for `think`: the same, or the nearest that the model takes, rather more than less.

    `off` is `none`, or the least that it takes. `allowed` are the levels that the provider named in a refusal; they
    come before those of the table. Where neither is known every level is good.
    """
    levels = [level for level in EFFORTS if level in (allowed or info.thinking.split())]
    wanted = "none" if think == "off" else think
    if not levels or wanted in levels:
        return wanted
    some = [level for level in levels if level != "none"] or levels
    more = [level for level in some if EFFORTS.index(level) > EFFORTS.index(wanted)]
    return more[0] if more else some[-1]


def allowed_efforts(message: str) -> tuple[str, ...]:
    """The levels that a refusal of `reasoning_effort` names as those that are taken; empty when it names none."""
    start = max((match.end() for match in re.finditer(_ALLOWED, message)), default=0)
    named = set(re.findall(rf"\b({'|'.join(EFFORTS)})\b", message[start:])) if start else set()
    return tuple(level for level in EFFORTS if level in named) if len(named) > 1 else ()


def openai_fields(field: ThinkField, think: Think, level: str) -> dict[str, object]:
    """What an OpenAI-compatible request says for `think`, where `level` is its level of effort."""
    switch = {"type": "disabled" if think == "off" else "enabled"}
    match field:
        case "reasoning_effort":
            return {"reasoning_effort": level}
        case "reasoning":
            return {"reasoning": {"effort": level}}
        case "thinking":
            return {"thinking": switch}
        case "thinking+effort":
            return {"thinking": switch} if think == "off" else {"thinking": switch, "reasoning_effort": level}
    return {}


def anthropic_shape(think: Think | None, info: ModelInfo, refused: Collection[str]) -> Shape | None:
    """In which way the Anthropic wire is told; `None` for not at all. `refused` are the ways that it did not take."""
    words = info.thinking.split()
    if think is None or info.thinks is False:
        return None
    if think == "off":
        known_off = "always" in words or (info.thinks and "default" not in words)
        return None if known_off or "disabled" in refused else "disabled"
    # A model that the table does not know is most likely newer than the table.
    first: tuple[Shape, Shape] = ("adaptive", "budget")
    order = first if "adaptive" in words or info.thinks is None else first[::-1]
    return next((shape for shape in order if shape not in refused), None)


def anthropic_fields(shape: Shape, think: Think, limit: int) -> dict[str, object]:
    """What the request says; empty where the output limit of `limit` tokens leaves no room to think."""
    match shape:
        case "disabled":
            return {"thinking": {"type": "disabled"}}
        case "adaptive":
            # Without `display` the thoughts come back empty.
            return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": think}}
    budget = min(_BUDGETS[think], limit - 1)
    return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST_BUDGET else {}


def with_room(limit: int, shape: Shape | None, think: Think | None, info: ModelInfo) -> int:
    """The output limit that leaves `limit` tokens for the answer, since thoughts count towards it as well."""
    if shape is None or shape == "disabled" or think is None:
        return limit
    room = (_ADAPTIVE_ROOM if shape == "adaptive" else _BUDGETS)[think]
    return max(limit, min(limit + room, info.max_output or limit + room))


def begun_without(messages: Sequence[Message], sent: Callable[[Reasoning], object]) -> bool:
    """Whether the answer in the making began with a tool call and no thought that is `sent` back.

    A model with a budget may not begin to think in the middle of an answer: the request would be refused. What a user
    says right after a result goes into one turn with it and begins no new answer.
    """
    start = next((i for i in range(len(messages), 0, -1) if _begins_answer(messages, i)), 0)
    first = next((message for message in messages[start:] if message.role == "assistant"), None)
    return first is not None and not any(sent(block) for block in first.reasoning)


def _begins_answer(messages: Sequence[Message], index: int) -> bool:
    """Whether a user spoke last before `index`, and not right after a result."""
    spoke = messages[index - 1].role == "user"
    return spoke and (index < 2 or messages[index - 2].role != "tool")
