"""The time limit of one agent, which stands still while the user is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class Expired(Exception):
    """The time of the agent is up."""


class Deadline:
    """`seconds` of work, `None` for no limit. Time spent inside `paused` does not count; pauses may overlap."""

    def __init__(self, seconds: float | None) -> None:
        self._limit = asyncio.timeout(None)
        self._seconds = seconds
        self._left = 0.0
        self._pauses = 0

    async def keep(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of `work`. Raises `Expired` when it took too long; a timeout inside it stays what it is."""
        if self._seconds is not None:
            self._limit = asyncio.timeout(self._seconds)
        try:
            async with self._limit:
                return await work
        except TimeoutError:
            if not self._limit.expired():
                raise
            raise Expired from None

    @contextmanager
    def paused(self) -> Iterator[None]:
        now = asyncio.get_running_loop().time
        due = self._limit.when()
        self._pauses += 1
        if due is not None:
            self._left = due - now()
            self._limit.reschedule(None)
        try:
            yield
        finally:
            self._pauses -= 1
            if self._seconds is not None and not self._pauses and not self._limit.expired():
                self._limit.reschedule(now() + self._left)
