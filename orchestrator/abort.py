"""The one stop of a session, shared by every agent of the tree."""

from __future__ import annotations

from collections.abc import Callable


class AbortToken:
    """Triggered once, with a reason. Whoever registered is called at once and exactly once, also when late."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._stops: list[Callable[[], object]] = []

    @property
    def triggered(self) -> bool:
        return self.reason is not None

    def trigger(self, reason: str) -> None:
        """Stop everything. Later calls change nothing."""
        if self.reason is not None:
            return
        self.reason = reason
        for stop in self._stops:
            stop()

    def on_trigger(self, stop: Callable[[], object]) -> None:
        self._stops.append(stop)
        if self.triggered:
            stop()
