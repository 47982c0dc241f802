"""The table of providers in `configs/providers.yaml`, which says what each field means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from orchestrator.errors import ConfigError
from orchestrator.shipped import shipped_folder


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider under litellm's name for it."""

    prefix: str
    wire: Literal["openai", "anthropic", "litellm"]
    base_url: str = ""
    base_url_env: tuple[str, ...] = ()
    base_path: str = ""
    key_env: tuple[str, ...] = ()
    key_required: bool = True
    bearer_env: tuple[str, ...] = ()
    default_model: str = ""
    names: tuple[str, ...] = ()
    litellm_models: tuple[str, ...] = ()
    prefixed_ids: bool = False
    quirks: Mapping[str, object] = field(default_factory=dict)
    home_quirks: Mapping[str, object] = field(default_factory=dict)

    def key_variable(self, env: Mapping[str, str]) -> str:
        """The first variable that holds a key, or an empty text."""
        return _first_set(self.key_env, env)

    def base_variable(self, env: Mapping[str, str]) -> str:
        """The first variable that holds an address, or an empty text."""
        return _first_set(self.base_url_env, env)

    def means(self, name: str) -> bool:
        """Whether `name`, written without a prefix, is one of this provider's models."""
        return any(fnmatchcase(name, pattern) for pattern in self.names)

    def needs_litellm(self, model_id: str) -> bool:
        """Whether the wire does not serve this model at the provider's own address."""
        return any(fnmatchcase(model_id, pattern) for pattern in self.litellm_models)


def load_providers(path: Path | None = None) -> Mapping[str, Provider]:
    """The table by prefix, in its order; raises `ConfigError` when the file is not there or broken."""
    import yaml

    path = path or shipped_folder("configs") / "providers.yaml"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        rows = yaml.load(path.read_bytes(), Loader=loader)
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", "Install orch again.") from error
    return {prefix: _provider(prefix, row) for prefix, row in rows.items()}


def _provider(prefix: str, row: Mapping[str, object]) -> Provider:
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
    return Provider(prefix, **values)  # type: ignore[arg-type]  # a test holds the shipped table against the types


def _first_set(variables: tuple[str, ...], env: Mapping[str, str]) -> str:
    return next((name for name in variables if env.get(name, "").strip()), "")
