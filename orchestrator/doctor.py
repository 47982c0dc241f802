"""What `orch doctor` and `orch config` say: what would be used, why, and what is missing."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from orchestrator import __version__
from orchestrator.errors import ConfigError
from orchestrator.models import describe_choice
from orchestrator.problems import errors_in
from orchestrator.providers import load_providers
from orchestrator.role_commands import Output, table
from orchestrator.wiring import Setup

Row = tuple[str, str]


def examine(setup: Setup) -> Output:
    """The state of this installation and folder. Exit code 2 when something is wrong that the user can mend."""
    model, problems = _model(setup)
    problems += [str(problem) for problem in errors_in(setup.roles().problems)]
    rows = [*_installation(setup), *model, *_keys(setup), *_search(setup), *_sandbox(setup)]
    text = table([list(row) for row in rows])
    if problems:
        text += "\n\nto mend:\n" + "\n".join(f"- {problem}" for problem in problems)
    return Output(text, {"facts": dict(rows), "problems": problems}, 2 if problems else 0)


def configuration(setup: Setup) -> Output:
    """Every value in force with its source, and what was ignored."""
    values = _flat(setup.loaded.config.model_dump())
    sources = setup.loaded.sources
    rows = [[key, _shown(value), sources.get(key, "default")] for key, value in values]
    text = table([["key", "value", "from"], *rows])
    ignored = [str(each) for each in setup.loaded.ignored]
    notes = [*ignored, *setup.loaded.warnings]
    if notes:
        text += "\n\n" + "\n".join(notes)
    data = {key: {"value": value, "from": sources.get(key, "default")} for key, value in values}
    return Output(text, {"values": data, "ignored": ignored, "warnings": list(setup.loaded.warnings)})


def _installation(setup: Setup) -> list[Row]:
    trusted = "yes" if setup.trusted else "no (what it supplies that could widen rights is ignored; see --trust)"
    return [
        ("orch", f"{__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"),
        ("workspace", str(setup.workspace)),
        ("trusted", trusted),
        ("configuration", str(setup.places.config / "config.yaml")),
        ("transcripts", str(setup.places.state / "sessions")),
    ]


def _model(setup: Setup) -> tuple[list[Row], list[str]]:
    try:
        return describe_choice(setup.choose()), []
    except ConfigError as error:
        return [("model", "cannot be used")], [f"{error.message} {error.hint}".strip()]


def _keys(setup: Setup) -> list[Row]:
    """Which keys are set, by the names of their variables; never their values."""
    found = [name for provider in load_providers().values() if (name := provider.key_variable(setup.env))]
    return [("keys set", ", ".join(dict.fromkeys(found)) or "none (set for example OPENAI_API_KEY to use a model)")]


def _search(setup: Setup) -> list[Row]:
    from orchestrator.code.languages import LANGUAGES
    from orchestrator.search import find_ripgrep

    ripgrep = find_ripgrep(setup.workspace)
    missing = sorted({each.package for each in LANGUAGES if each.package and find_spec(each.package) is None})
    parsed = sorted(each.name for each in LANGUAGES if each.package and each.package not in missing)
    return [
        ("search", f"ripgrep at {ripgrep}" if ripgrep else "Python (slower; install ripgrep for speed)"),
        ("languages", ", ".join(parsed) + (f"; missing: {', '.join(missing)}" if missing else "")),
    ]


def _sandbox(setup: Setup) -> list[Row]:
    """What the kernel keeps commands from here, and what it does not."""
    from orchestrator.sandbox import open_sandbox, sandbox_rows

    settings = setup.loaded.config.sandbox
    if not settings.enabled:
        return [("sandbox", "NONE: it is switched off (sandbox.enabled: false)")]
    (name, what), *rest = sandbox_rows(open_sandbox(True, setup.env))
    network = "commands reach it" if settings.network else "off for commands; asked for when one needs it"
    return [("sandbox", f"{name}: {what}"), ("network", network), *((f"  {key}", text) for key, text in rest)]


def _flat(data: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in data.items():
        rows += _flat(value, f"{prefix}{key}.") if isinstance(value, dict) and value else [(f"{prefix}{key}", value)]
    return rows


def _shown(value: object) -> str:
    if value is None or value == {} or value == ():
        return "-"
    return ", ".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)
