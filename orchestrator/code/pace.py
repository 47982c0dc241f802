"""How far a search that reads many files has come, said a few times a second and not at all when it is quick."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

INTERVAL = 0.2
"""Seconds from the start to the first word, and between two."""


class Pace:
    """Called with the number of files that are done, of `total`; `say` gets a line for the user."""

    def __init__(self, say: Callable[[str], None], total: int, clock: Callable[[], float] = perf_counter) -> None:
        self._say = say
        self._total = total
        self._clock = clock
        self._newest = clock()

    def __call__(self, done: int) -> None:
        now = self._clock()
        if now - self._newest >= INTERVAL:
            self._newest = now
            self._say(f"read {done:,} of {self._total:,} files")
