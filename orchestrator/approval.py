"""A question to the user about one tool call, and its answer. Who asks and how is the business of the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Choice = Literal["once", "always", "no"]


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """What the user must know to decide about one call.

    `agent`, `role` and `task` say who asks. `lines` are the parsed commands, one a line, or the files to be written;
    `diff` is what an edit would change. `why` says what made it necessary to ask, `pattern` the rule that "always"
    would add (empty: it cannot be allowed for always).
    """

    agent: str
    role: str
    task: str
    call_id: str
    tool: str
    lines: tuple[str, ...]
    why: tuple[str, ...]
    diff: str = ""
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class PermissionReply:
    """`reason` reaches the model when the answer is no; `pattern` is the rule to keep, as the user edited it.

    `by` says who answered: `user`, or `headless` where nobody could be asked.
    """

    choice: Choice
    reason: str = ""
    pattern: str = ""
    by: Literal["user", "headless"] = "user"


class AskRefused(Exception):
    """Nobody is asked, and the run is to end as denied; the text says how it could be allowed."""


class Approver(Protocol):
    """Asks the user. Cancelled, it leaves the screen as it was; at the end of input the answer is no.

    Raises `AskRefused` where a question is to end the run.
    """

    async def ask(self, request: PermissionRequest) -> PermissionReply: ...
