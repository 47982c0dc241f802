"""Every error that orch raises on purpose.

    OrchError
      UsageError          wrong command line; exit code 2
      ConfigError         a configuration or role file is wrong; exit code 2
      ModelError          the provider refused or failed; exit code 75 when it can pass, else 1
    ToolError             an expected failure of one tool call; becomes the tool result that the model reads

Anything else that is raised is a bug and is allowed to be seen as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

ModelErrorKind = Literal[
    "auth",
    "payment",
    "rate_limit",
    "overloaded",
    "context_too_long",
    "content_filter",
    "bad_request",
    "connection",
    "server",
]

PASSING_KINDS: frozenset[str] = frozenset({"rate_limit", "overloaded", "connection", "server"})
"""The kinds that may succeed when tried again."""


class OrchError(Exception):
    """What happened (`message`), and what to do next (`hint`, may be empty)."""

    exit_code = 1
    kind = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(OrchError):
    """The command line asks for something that does not exist or does not fit together."""

    exit_code = 2
    kind = "usage"


class ConfigError(OrchError):
    """A file that the user wrote is wrong; the message names the file and the line."""

    exit_code = 2
    kind = "config"


class ModelError(OrchError):
    """A model request failed. `kind` is one of a closed set, `retry_after` is in seconds."""

    def __init__(
        self,
        kind: ModelErrorKind,
        message: str,
        hint: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.kind: ModelErrorKind = kind
        self.status = status
        self.retry_after = retry_after

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in PASSING_KINDS

    @property
    def exit_code(self) -> int:  # type: ignore[override]  # a plain attribute in the base class
        return 75 if self.passing else 1


class ToolError(Exception):
    """A tool call that cannot be done, in terms that the model can act on.

    `code` is a short stable word (`not_found`, `outside_workspace`, …), `message` one sentence, `context` the few facts
    that help (which field, what was expected, what came).
    """

    def __init__(self, code: str, message: str, **context: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.context: Mapping[str, object] = context
