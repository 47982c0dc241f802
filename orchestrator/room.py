"""How much room an agent's conversation has left, and the making of more. Compaction is loaded once it is near."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from orchestrator.context_meter import ContextMeter
from orchestrator.messages import Message
from orchestrator.model import Model, Think, ToolSchema
from orchestrator.tool import Todo

if TYPE_CHECKING:
    from orchestrator.compaction import Compacted, Compactor, Kind

_NEAR = 0.6
"""Share of the window below which nothing is ever left out; `compaction` has the marks themselves."""


class Speaker(Protocol):
    """What of an agent's setup goes with every request."""

    @property
    def name(self) -> str: ...

    @property
    def role(self) -> str: ...

    @property
    def system(self) -> str: ...

    @property
    def schemas(self) -> tuple[ToolSchema, ...]: ...

    @property
    def must_report(self) -> bool: ...

    @property
    def think(self) -> Think | None: ...


class Room:
    """The window of one agent. `small` is the model for summaries where they fit, if there is one."""

    def __init__(self, setup: Speaker, model: Model, small: Callable[[], Model | None]) -> None:
        self.meter = ContextMeter(setup.system, setup.schemas, model.info.window)
        self._setup = setup
        self._model = model
        self._small = small
        self._opened: Compactor | None = None

    def due(self, history: Sequence[Message]) -> Kind | None:
        """What must be done before `history` is sent."""
        return self._compactor.due(history) if self.meter.share(history) >= _NEAR else None

    async def compacted(
        self,
        history: Sequence[Message],
        task: str,
        todos: Sequence[Todo],
        context: str,
        force: Kind | None,
        focus: str,
    ) -> Compacted:
        """`history` made smaller. `context` is what hooks say to it; the rest as in `Compactor.compact`."""
        return await self._compactor.compact(
            history, task=task, todos=todos, role=_who(self._setup), focus=focus, context=context, force=force
        )

    @property
    def _compactor(self) -> Compactor:
        if self._opened is None:
            from orchestrator.compaction import Compactor

            self._opened = Compactor(
                self._model, self._small(), self.meter, cache_key=self._setup.role, think=self._setup.think
            )
        return self._opened


def _who(setup: Speaker) -> str:
    if setup.must_report:
        return f"You are {setup.name}, a sub-agent with the role {setup.role}; you end by calling `report`."
    return "You are the agent that the user talks to."
