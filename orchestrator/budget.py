"""One budget for the whole tree: money and tokens are set aside before a spawn, and settled after it."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from orchestrator.messages import Usage


class Limits(NamedTuple):
    """`None` is no limit. `tokens` counts all kinds together."""

    tokens: int | None = None
    usd: float | None = None


class Budget:
    """What one agent may spend. Children hold a part that was set aside for them; what they spend counts here as well.

    A cost of `None` (unknown price) makes the total cost unknown; it never counts as 0.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._tokens = 0
        self._usd: float | None = 0.0
        self._set_aside: dict[int, Budget] = {}

    @property
    def tokens(self) -> int:
        """Spent here and in the children that are running."""
        return self._tokens + sum(child.tokens for child in self._set_aside.values())

    @property
    def usd(self) -> float | None:
        costs = [self._usd, *(child.usd for child in self._set_aside.values())]
        return None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None)

    def charge(self, usage: Usage, cost: float | None) -> None:
        """Count one model call, whether it succeeded or not."""
        self._tokens += usage.total
        self._usd = None if self._usd is None or cost is None else self._usd + cost

    def left(self) -> Limits:
        """What can still be spent or handed out: what children hold is not free."""
        tokens, usd = self.limits
        if tokens is None and usd is None:
            return self.limits
        for child in self._set_aside.values():
            tokens = _minus(tokens, max(child.limits.tokens or 0, child.tokens))
            usd = _minus(usd, max(child.limits.usd or 0.0, child.usd or 0.0))
        return Limits(_minus(tokens, self._tokens), _minus(usd, self._usd or 0.0))

    @property
    def exhausted(self) -> bool:
        left = self.left()
        return (left.tokens is not None and left.tokens <= 0) or (left.usd is not None and left.usd <= 0)

    def set_aside(self, wanted: Limits, shares: int = 1) -> Budget:
        """A child's budget: what it wants, at most its share of what is left. Check `exhausted` of this one first."""
        left = self.left()
        child = Budget(Limits(_part(left.tokens, wanted.tokens, shares), _part(left.usd, wanted.usd, shares)))
        self._set_aside[id(child)] = child
        return child

    def settle(self, child: Budget) -> None:
        """The child has ended: what it spent is spent here, the rest of its part is free again."""
        del self._set_aside[id(child)]
        self._tokens += child.tokens
        self._usd = None if self._usd is None or child.usd is None else self._usd + child.usd


N = TypeVar("N", int, float)


def _minus(limit: N | None, spent: N) -> N | None:
    return None if limit is None else limit - spent


def _part(left: N | None, wanted: N | None, shares: int) -> N | None:
    if left is None:
        return wanted
    share = type(left)(left / shares)
    return share if wanted is None else min(share, wanted)
