"""Model requests tried again when what failed can pass."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from orchestrator.errors import ModelError
from orchestrator.model import Model, ModelInfo, ModelRequest, Piece, Retrying

_BUSY_DELAY = 2.0
"""Seconds before the second attempt when the provider has too much to do."""
_FAULT_DELAY = 0.5
"""The same after a lost connection or a fault of the server."""


def with_retries(model: Model, *, attempts: int = 5, cap: float = 60.0, rng: random.Random | None = None) -> Model:
    """`model`, asked up to `attempts` times while its errors can pass; it gives `Retrying` before each pause.

    A pause is what the provider asked for, else it doubles from attempt to attempt, with a random part. None is longer
    than `cap` seconds: a provider that asks for more ends the request with an error that says when to come back.
    """
    return _RetryingModel(model, attempts, cap, rng or random.Random())


class _RetryingModel:
    def __init__(self, model: Model, attempts: int, cap: float, rng: random.Random) -> None:
        self._model = model
        self._attempts = attempts
        self._cap = cap
        self._rng = rng

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        for attempt in range(1, self._attempts + 1):
            try:
                async with _closing(self._model.stream(request)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelError as error:
                self._check(error, attempt)
                delay = self._delay(error, attempt)
                reason = error.message
            yield Retrying(attempt, self._attempts, delay, reason)
            await asyncio.sleep(delay)

    async def aclose(self) -> None:
        await self._model.aclose()

    def _check(self, error: ModelError, attempt: int) -> None:
        """Raise when another attempt is of no use."""
        if not error.passing:
            raise error
        wait = error.retry_after or 0.0
        if wait > self._cap:
            hint = f"The provider asks to wait {_duration(wait)}: try again after {_clock(wait)}, or use another model."
            raise ModelError(error.kind, error.message, hint, status=error.status, retry_after=wait) from error
        if attempt == self._attempts:
            message = f"{error.message} (tried {attempt} times)" if attempt > 1 else error.message
            raise ModelError(error.kind, message, error.hint, status=error.status, retry_after=wait or None) from error

    def _delay(self, error: ModelError, attempt: int) -> float:
        if error.retry_after is not None:
            # A little later than asked for, and not all at once: siblings were often refused in the same second.
            return min(self._cap, error.retry_after * self._rng.uniform(1.0, 1.1) + 0.01)
        first = _BUSY_DELAY if error.kind in ("rate_limit", "overloaded") else _FAULT_DELAY
        return min(self._cap, first * 2.0 ** (attempt - 1)) * self._rng.uniform(0.5, 1.0)


@asynccontextmanager
async def _closing(pieces: AsyncIterator[Piece]) -> AsyncIterator[AsyncIterator[Piece]]:
    """Close the stream on the way out, whichever kind of iterator the model gave."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()


def _duration(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def _clock(seconds: float) -> str:
    at = time.localtime(time.time() + seconds)
    return time.strftime("%H:%M" if seconds < 12 * 3600 else "%Y-%m-%d %H:%M", at)
