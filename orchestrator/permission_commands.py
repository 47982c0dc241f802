"""What `orch permissions …` says and does. Nothing here prints; the command line does."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from orchestrator.config import Loaded
from orchestrator.errors import OrchError, UsageError
from orchestrator.grants import Grants
from orchestrator.paths import Places
from orchestrator.permission_rules import read_rules
from orchestrator.problems import did_you_mean
from orchestrator.role_commands import Output, table

_ALWAYS_ASKED = (
    "Asked each time, whatever the rules: .git, .orch, .env and key files (also for reading), start-up files of shells,"
    " and writing outside the workspace."
)


def permissions_command(
    action: str,
    pattern: str = "",
    *,
    forget_all: bool = False,
    loaded: Loaded,
    workspace: Path,
    places: Places,
    tool_names: Collection[str],
) -> Output:
    """`list`: the rules in force and what was granted in `workspace`. `forget`: the grant `pattern`, or all of them.

    Raises `ConfigError` for a rule that is malformed and `UsageError` for what cannot be forgotten.
    """
    grants = Grants(places.state / "grants", workspace)
    if action == "forget":
        return _forget(grants, pattern, forget_all)
    return _list(loaded, grants, tool_names)


def _list(loaded: Loaded, grants: Grants, tool_names: Collection[str]) -> Output:
    settings = loaded.config.permissions
    read_rules(settings, tool_names)
    rows = [
        (key, rule, loaded.sources[f"permissions.{key}"])
        for key in ("deny", "ask", "allow")
        for rule in getattr(settings, key)
    ]
    rows += [("allow", rule, "granted here") for rule in grants.rules()]
    ignored = [str(each) for each in loaded.ignored if each.key.startswith("permissions.")]
    problems = [f"{grants.file}: {grants.problem}; the grants in it do not count"] if grants.problem else []
    lines = [table([["", "rule", "from"], *rows]) if rows else "there are no rules, and nothing was granted here"]
    lines += [*([""] if ignored or problems else []), *ignored, *problems, "", _ALWAYS_ASKED]
    data: dict[str, Any] = {
        "rules": [{"decision": key, "rule": rule, "from": source} for key, rule, source in rows],
        "grants": list(grants.rules()),
        "ignored": ignored,
        "problems": problems,
    }
    return Output("\n".join(lines), data)


def _forget(grants: Grants, pattern: str, forget_all: bool) -> Output:
    if bool(pattern) == forget_all:
        raise UsageError("say what to forget", "`orch permissions forget PATTERN`, or --all; `orch permissions list`")
    try:
        if forget_all:
            count = grants.clear()
            return Output(f"forgot {count} {'rule' if count == 1 else 'rules'}", {"forgotten": count})
        known = grants.rules()
        if not grants.remove(pattern):
            hint = did_you_mean(pattern, known) or "`orch permissions list` shows what was"
            raise UsageError(f"`{pattern}` was not granted here", hint)
    except OSError as error:
        raise OrchError(f"{grants.file} cannot be changed: {error.strerror or error}") from None
    return Output(f"forgot `{pattern}`; it is asked again", {"forgotten": 1})
