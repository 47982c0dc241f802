"""The results of one reply must fit the window together, however many calls it made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.messages import Message
from orchestrator.text_cut import cut_middle
from orchestrator.tokens import characters_for, estimate_tokens

SHARE = 0.5
"""Of the window, for one batch of results."""
USUAL_WINDOW = 128_000
"""Tokens, for a model whose window is not known."""


def fit_batch(results: Sequence[Message], window: int | None) -> Sequence[Message]:
    """`results`, the largest ones cut (head and tail kept, with a mark) until all fit in their share of the window."""
    limit = int((window or USUAL_WINDOW) * SHARE)
    if sum(len(m.content) for m in results) <= limit:
        return results  # a character is at most about one token
    sizes = [estimate_tokens(m.content) for m in results]
    if sum(sizes) <= limit:
        return results
    cap = _fair_cap(sizes, limit)
    return [_cut(message, cap) if size > cap else message for message, size in zip(results, sizes, strict=True)]


def _fair_cap(sizes: Sequence[int], limit: int) -> int:
    """The largest size to which every larger one can be cut so that the sum is within `limit`."""
    left, remaining = limit, len(sizes)
    for size in sorted(sizes):
        share = left // remaining
        if size > share:
            return share
        left -= size
        remaining -= 1
    return limit


def _cut(message: Message, tokens: int) -> Message:
    return replace(message, content=cut_middle(message.content, characters_for(tokens, message.content)))
