"""Answers permission questions where nobody can be asked: the answer is no, and says what would make it yes."""

from __future__ import annotations

from typing import Literal

from orchestrator.approval import AskRefused, PermissionReply, PermissionRequest


class HeadlessApprover:
    """`deny` refuses the call and the run goes on; `fail` ends the run."""

    def __init__(self, on_ask: Literal["deny", "fail"]) -> None:
        self._on_ask = on_ask

    async def ask(self, request: PermissionRequest) -> PermissionReply:
        """Never waits. Raises `AskRefused` where a question is to end the run."""
        reason = _reason(request)
        if self._on_ask == "fail":
            raise AskRefused(reason)
        return PermissionReply("no", reason, by="headless")


def _reason(request: PermissionRequest) -> str:
    why = "; ".join(request.why) or "it needs the user's permission"
    if request.pattern:
        way = f"the rule `{request.pattern}` under permissions.allow in the configuration would allow it"
    else:
        way = "no one rule would allow it; at a terminal the user is asked"
    mode = ", and so would --mode accept-edits" if request.pattern and request.diff else ""
    return f"{why}. Nobody can be asked in this run; {way}{mode}"
