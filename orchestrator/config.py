"""The configuration: what can be set, and where each value came from.

Flags > environment (`ORCH_…`) > `<workspace>/.orch/config.yaml` > the user's `config.yaml` > `configs/defaults.yaml`.
Lists (`tools.deny`, `permissions.*`, hooks) add up over all of these; anything else is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.errors import ConfigError
from orchestrator.model import ModelInfo
from orchestrator.paths import Places
from orchestrator.problems import as_error, nearest
from orchestrator.shipped import shipped_folder
from orchestrator.strict_yaml import Document, KeyPath, read_yaml
from orchestrator.validation import complaint, dotted, problems_of

Text = Annotated[str, Field(min_length=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]

_SETTINGS = ConfigDict(extra="forbid", frozen=True, strict=True, str_strip_whitespace=True, defer_build=True)
_PER = 1_000_000


class ModelOverride(BaseModel):
    """What is known better than in the table of models. Prices are USD per million tokens."""

    model_config = _SETTINGS

    window: Count | None = None
    max_output: Count | None = None
    input_price: Price | None = None
    output_price: Price | None = None
    cache_read_price: Price | None = None
    cache_write_price: Price | None = None

    def apply(self, info: ModelInfo) -> ModelInfo:
        """`info` with these values in place of its own."""
        prices = {
            name: price / _PER
            for name in ("input_price", "output_price", "cache_read_price", "cache_write_price")
            if (price := getattr(self, name)) is not None
        }
        limits = {name: limit for name in ("window", "max_output") if (limit := getattr(self, name)) is not None}
        return replace(info, **limits, **prices)


class ToolSettings(BaseModel):
    model_config = _SETTINGS

    deny: Annotated[tuple[Text, ...], Field(strict=False)]
    """Tools that no agent gets, whatever its role says."""


class PermissionSettings(BaseModel):
    """Rules such as `run_shell(git push *)` or `edit_file(docs/**)`; deny > ask > allow."""

    model_config = _SETTINGS

    deny: Annotated[tuple[Text, ...], Field(strict=False)]
    ask: Annotated[tuple[Text, ...], Field(strict=False)]
    allow: Annotated[tuple[Text, ...], Field(strict=False)]


class SandboxSettings(BaseModel):
    model_config = _SETTINGS

    enabled: bool
    network: bool
    """Whether commands in default mode reach the network without asking."""
    writable: Annotated[tuple[Text, ...], Field(strict=False)]
    """Folders outside the workspace that commands may write (`~` is the home folder)."""
    unreadable: Annotated[tuple[Text, ...], Field(strict=False)]
    """Files and folders that no command may read, beside those that always are."""
    keep_env: Annotated[tuple[Text, ...], Field(strict=False)]
    """Variables that commands see although their names look like secrets."""


class CacheSettings(BaseModel):
    model_config = _SETTINGS

    model: bool
    """Whether replies of models are kept, and given again to the same request."""


class HookSettings(BaseModel):
    """One hook: a shell command that is given the event as JSON. `match` is a pattern for names of tools or roles."""

    model_config = _SETTINGS

    command: Text
    match: Text | None = None
    timeout: Annotated[float, Field(gt=0, le=30)] = 5.0


HookEvent = Literal[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Stop",
    "SessionEnd",
]


class Config(BaseModel):
    """Every value in force. What each one means is said in `configs/defaults.yaml`, which also gives the defaults."""

    model_config = _SETTINGS

    model: Text | None
    small: Text | None
    large: Text | None
    via: Literal["native", "litellm"] | None
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/]+")] | None
    max_parallel: Annotated[int, Field(ge=1, le=256)]
    max_turns: Annotated[int, Field(ge=1, le=1000)]
    max_usd: Positive | None
    max_tokens: Count | None
    timeout: Positive | None
    retries: Annotated[int, Field(ge=0, le=20)]
    stream_idle_timeout: Positive
    think: Literal["off", "low", "medium", "high"] | None
    max_tool_output: Annotated[int, Field(ge=1000, le=1_000_000)]
    tools: ToolSettings
    permissions: PermissionSettings
    sandbox: SandboxSettings
    cache: CacheSettings
    hooks: dict[HookEvent, Annotated[tuple[HookSettings, ...], Field(strict=False)]]
    models: dict[str, ModelOverride]

    def model_for(self, wanted: str, inherited: str) -> str:
        """The model that a role's `model` means: `inherit` and tiers that are not set give `inherited`."""
        tiers = {"inherit": None, "small": self.small, "large": self.large}
        return tiers[wanted] or inherited if wanted in tiers else wanted

    def model_info(self, name: str, info: ModelInfo) -> ModelInfo:
        """`info`, which the table of models has for the model `name`, with the user's own values put in."""
        override = self.models.get(name)
        return override.apply(info) if override else info


class Ignored(NamedTuple):
    """A value of an untrusted workspace that does not count, and why."""

    key: str
    value: str
    source: str
    reason: str

    def __str__(self) -> str:
        return f"{self.source}: `{self.key}: {self.value}` is ignored: {self.reason}"


class Loaded(NamedTuple):
    """The configuration; `sources` says by key (`tools.deny`) where each value comes from."""

    config: Config
    sources: Mapping[str, str]
    ignored: tuple[Ignored, ...] = ()
    warnings: tuple[str, ...] = ()
    base_url_model: str | None = None
    """The model that was set in the same place as `base_url`; `None` when only the address was set there."""

    def base_url_for(self, model: str) -> str | None:
        """The configured address, if it is meant for `model`: an address set along with a model of one provider is not
        used for a model of another, which a flag or the environment may name."""
        if self.base_url_model is None or self.base_url_model.split("/")[0] == model.split("/", maxsplit=1)[0]:
            return self.config.base_url
        return None


# --- loading ---------------------------------------------------------------------------------------------------------

Rule = Literal["may set", "may lower", "may raise", "may add", "may not set"]

UNTRUSTED: Mapping[str, Rule] = {
    "model": "may set",
    "small": "may set",
    "large": "may set",
    "via": "may not set",
    "base_url": "may not set",
    "max_parallel": "may lower",
    "max_turns": "may lower",
    "max_usd": "may lower",
    "max_tokens": "may lower",
    "timeout": "may lower",
    "retries": "may lower",
    "stream_idle_timeout": "may lower",
    "think": "may set",
    "max_tool_output": "may lower",
    "tools": "may add",
    "permissions.deny": "may add",
    "permissions.ask": "may add",
    "permissions.allow": "may not set",
    "sandbox.enabled": "may raise",
    "sandbox.network": "may lower",
    "sandbox.writable": "may not set",
    "sandbox.unreadable": "may add",
    "sandbox.keep_env": "may not set",
    "cache.model": "may not set",
    "hooks": "may not set",
    "models": "may not set",
}
"""What the configuration of a workspace that is not trusted may do with each key."""

_PREFIX = "ORCH_"
_OTHER_VARIABLES = frozenset({"ORCH_HOME"})
_DENY: KeyPath = ("tools", "deny")
_SECTIONS = ("tools", "permissions", "sandbox", "cache")
"""Mappings with a fixed set of keys, each of which is set and overridden on its own."""
_LISTS: frozenset[KeyPath] = frozenset(
    {_DENY}
    | {("permissions", name) for name in PermissionSettings.model_fields}
    | {("sandbox", name) for name in ("writable", "unreadable", "keep_env")}
)
"""Lists that add up over all places where they are set."""
_NESTED = (*_SECTIONS, "models", "hooks")
_FLAT: Mapping[str, KeyPath] = {
    **{name: (name,) for name in Config.model_fields if name not in _NESTED},
    "tools_deny": _DENY,
}
"""What flags and the environment can set, by the name they use."""


def load_config(
    *,
    workspace: Path,
    env: Mapping[str, str],
    flags: Mapping[str, object],
    trusted: bool,
) -> Loaded:
    """The configuration in force for `workspace`.

    `flags` are the values of the command line by the names of the keys (`max_turns`; `tools_deny` for `tools.deny`);
    `None` is not given. Raises `ConfigError` with every problem of a layer.
    """
    layers = _Layers()
    layers.add_file(shipped_folder("configs") / "defaults.yaml", "default")
    user = Places.find(env).config / "config.yaml"
    layers.add_file(user, str(user))
    layers.add_file(workspace / ".orch" / "config.yaml", ".orch/config.yaml", untrusted=not trusted)
    variables, warnings = _variables(env)
    layers.add_texts({key: (text, _PREFIX + key.upper()) for key, text in variables.items()})
    layers.add_texts({key: (value, "--" + key.replace("_", "-")) for key, value in flags.items()})
    config = Config.model_validate(layers.data())
    return Loaded(config, layers.sources, tuple(layers.ignored), tuple(warnings), layers.base_url_model)


def _variables(env: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The variables that set something, by key, and warnings for those that look like a slip."""
    found, warnings = {}, []
    for variable in sorted(env):
        if not variable.startswith(_PREFIX) or variable in _OTHER_VARIABLES:
            continue
        key = variable.removeprefix(_PREFIX).lower()
        if key in _FLAT:
            found[key] = env[variable]
        elif near := nearest(key, _FLAT):
            warnings.append(f"the environment variable {variable} is not known; is {_PREFIX}{near.upper()} meant?")
    return found, warnings


class _Layers:
    """The values collected so far, by key path, from the lowest layer up."""

    def __init__(self) -> None:
        self.values: dict[KeyPath, Any] = {}
        self.sources: dict[str, str] = {}
        self.ignored: list[Ignored] = []
        self.base_url_model: str | None = None

    def data(self) -> dict[str, Any]:
        """The values as nested mappings."""
        root: dict[str, Any] = {"models": {}, "hooks": {}}
        for path, value in self.values.items():
            inner = root
            for key in path[:-1]:
                inner = inner.setdefault(str(key), {})
            inner[str(path[-1])] = value
        return root

    def add_file(self, path: Path, shown: str, *, untrusted: bool = False) -> None:
        """Put the values of a file over those so far; a file that is not there changes nothing."""
        with suppress(PermissionError):  # then reading it says so
            if not path.exists() and not path.is_symlink():
                return
        parsed = read_yaml(path, shown)
        problems = list(parsed.problems)
        first = not self.values
        if parsed.document is not None and not first:
            problems += self._invalid(parsed.document)
        if parsed.document is None or problems:
            raise as_error(problems, "`orch config` shows what can be set")
        for key_path, value in _leaves(parsed.document.data, keep_empty=first):
            line = parsed.document.position(key_path, of_key=True).line
            source = shown if first else f"{shown}:{line}"
            reason = self._refusal(key_path, value) if untrusted else ""
            if reason:
                self.ignored.append(Ignored(dotted(key_path), str(value), source, reason))
            else:
                self._put(key_path, value, source)
                self._pair(key_path, parsed.document.data.get("model"))

    def add_texts(self, given: Mapping[str, tuple[object, str]]) -> None:
        """Put values over those so far that were typed (key: value and where), read in the type of their key."""
        complaints = []
        for key, (value, source) in given.items():
            path = _FLAT[key]
            if value is None or value == "":
                continue
            if path == _DENY and isinstance(value, str):
                value = [name.strip() for name in value.split(",") if name.strip()]
            try:
                self._put(path, _typed(path, value, self.data()), source)
                self._pair(path, given.get("model", (None,))[0])
            except ValidationError as error:
                complaints += [f"{source}: {complaint(details)}" for details in error.errors()]
        if complaints:
            raise ConfigError("\n".join(complaints), "`orch config` shows what can be set")

    def _put(self, path: KeyPath, value: Any, source: str) -> None:
        key = dotted(path)
        before = self.values.get(path)
        if (path in _LISTS or path[0] == "hooks") and before:
            value = (*before, *(each for each in value if each not in before))
            source = self.sources[key] if len(value) == len(before) else f"{self.sources[key]}, {source}"
        self.values[path] = value
        self.sources[key] = source

    def _pair(self, path: KeyPath, model: object) -> None:
        if path == ("base_url",):
            self.base_url_model = str(model) if model else None

    def _invalid(self, document: Document) -> list[Any]:
        """What is wrong with the data of one file, its gaps filled with the values so far."""
        data = {**self.data(), **{key: value for key, value in document.data.items() if value is not None}}
        for section in _SECTIONS:
            given = document.data.get(section)
            if isinstance(given, dict):
                data[section] = {**self.data()[section], **given}
        try:
            Config.model_validate(data)
        except ValidationError as error:
            return problems_of(error, document, Config)
        return []

    def _refusal(self, path: KeyPath, value: Any) -> str:
        """Why an untrusted workspace may not set this, or an empty text."""
        rule = UNTRUSTED.get(str(path[0])) or UNTRUSTED[dotted(path)]
        if rule == "may not set":
            return "only a trusted folder may set it; see `--trust`"
        current = self.values.get(path)
        if rule == "may lower" and value is not None and current is not None and value > current:
            return f"a folder that is not trusted may lower this, not raise it from {current}; see `--trust`"
        if rule == "may raise" and value is not None and current is not None and value < current:
            return "a folder that is not trusted may not switch this off; see `--trust`"
        return ""


def _leaves(data: Mapping[str, Any], *, keep_empty: bool) -> Iterator[tuple[KeyPath, Any]]:
    """The values of a valid configuration file with their key paths. A key without a value says nothing."""
    for key, value in data.items():
        if value is None and not keep_empty:
            continue
        if key in (*_SECTIONS, "hooks"):
            yield from (((key, name), inner) for name, inner in value.items())
        elif key == "models":
            yield from (((key, name, part), inner) for name, fields in value.items() for part, inner in fields.items())
        else:
            yield (key,), value


def _typed(path: KeyPath, value: object, data: dict[str, Any]) -> Any:
    """`value`, which may be text, in the type that the key at `path` has. Raises `ValidationError`."""
    inner = data
    for key in path[:-1]:
        inner = inner[str(key)]
    inner[str(path[-1])] = value
    found: Any = Config.model_validate(data, strict=False)
    for key in path:
        found = getattr(found, str(key))
    return found
