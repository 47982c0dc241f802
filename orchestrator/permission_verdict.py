"""What permissions say about one call."""

from __future__ import annotations

from typing import Literal, NamedTuple

from orchestrator.sandbox import Level

Mode = Literal["default", "plan", "accept-edits"]
"""`default`: reading passes, all else is asked; `plan`: only reading; `accept-edits`: edits in the workspace pass."""

Decision = Literal["allow", "ask", "deny"]
Source = Literal["rule", "mode", "protected", "forbidden", "grant", "default"]


class Verdict(NamedTuple):
    """`by` says what decided, `why` the same for people.

    `lines` are what the user is shown: commands or files. `pattern` is the rule that "always" would add, empty where it
    cannot be allowed for always. `level` is the sandbox's level for a command and `network` whether it has the network.
    `secrets` are the paths of key files that may be read once the call is allowed.
    """

    decision: Decision
    by: Source
    why: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    pattern: str = ""
    level: Level = "workspace"
    network: bool = False
    secrets: tuple[str, ...] = ()
