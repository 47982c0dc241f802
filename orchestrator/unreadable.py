"""Which paths a policy hides from a command, as the kernel sees them."""

from __future__ import annotations

import os

from orchestrator.sandbox import Policy
from orchestrator.secret_files import is_secret


def hidden_paths(policy: Policy) -> frozenset[str]:
    """What may not be read, with links followed: what the policy names, and when only reading, the
    workspace's own `.env` and the like. What is not there, or that the user can never read, is left out."""
    named = {os.path.realpath(path) for path in policy.unreadable if _could_be_read(path)}
    if policy.level == "read-only":
        with os.scandir(policy.workspace) as entries:
            named |= {os.path.realpath(each.path) for each in entries if is_secret(each.name)}
    return frozenset(named)


def _could_be_read(path: str | os.PathLike[str]) -> bool:
    """Now, or by its owner after a change of permissions. A folder that can only be entered counts."""
    if os.access(path, os.R_OK) or os.access(path, os.X_OK):
        return True
    try:
        return os.stat(path).st_uid == os.geteuid()  # noqa: PTH116  # as fast as the rest, for every command
    except OSError:
        return False
