"""Questions of agents that run at the same time, asked one after the other."""

from __future__ import annotations

import asyncio

from orchestrator.approval import Approver, PermissionReply, PermissionRequest


class QueuedApprover:
    """Asks one question at a time, in the order in which they came. A cancelled waiter leaves the queue."""

    def __init__(self, approver: Approver) -> None:
        self._approver = approver
        self._turn = asyncio.Lock()

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        async with self._turn:
            return await self._approver.ask(request)
