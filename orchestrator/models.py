"""Which model is used, why, and how it is reached.

`choose_model` decides on names, variables and the table of providers alone: nothing is imported, asked or opened for
it. `open_model` makes the `Model`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from orchestrator.errors import ConfigError
from orchestrator.model import Model, ModelInfo
from orchestrator.providers import Provider

if TYPE_CHECKING:
    from orchestrator.anthropic_wire import AnthropicModel
    from orchestrator.http import HttpPool
    from orchestrator.openai_wire import OpenAIModel

Wire = Literal["openai", "anthropic", "litellm", "scout"]

SCOUT = "scout"
_GIVEN = "--base-url or `base_url` in the configuration"
_SCOUT_HINT = "`--model scout` needs no key."
_WIRES: Mapping[Wire, str] = {
    "openai": "the OpenAI-compatible wire",
    "anthropic": "the Anthropic wire",
    "litellm": "litellm",
    "scout": "the built-in engine (no language model, no network)",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The model in use. `name` is how it is written for `--model`, `why` in a few words what made it the one."""

    name: str
    provider: str
    model_id: str
    wire: Wire
    base_url: str = ""
    key_env: str = ""
    """The variable that holds the key; empty when there is none."""
    why: str = ""
    via_reason: str = ""
    """Why it is reached through litellm; empty when it is not."""
    base_url_from: str = ""
    """What set the address; empty for the provider's own."""
    quirks: Mapping[str, object] = field(default_factory=dict)


def choose_model(
    *,
    flag: str | None,
    env: Mapping[str, str],
    configured: str | None,
    base_url: str | None,
    via: str | None,
    providers: Mapping[str, Provider],
) -> Choice:
    """The model that `--model` (`flag`), `ORCH_MODEL`, the configuration or the keys in `env` ask for; else the scout.

    `base_url` is `--base-url` or the configured address and goes with whatever model is chosen: give it only together
    with the model that it was set for, and never one that comes from a folder that is not trusted, because the key is
    sent there. `via` is `litellm`, `native` or `None`. Raises `ConfigError` for a name that means nothing, a key that
    is missing and an address that is none.
    """
    name, why = _wanted(flag, env, configured)
    choosing = _Choosing(env, (base_url or "").strip(), via, providers)
    if name:
        return choosing.named(name, why)
    if choosing.base_url:
        raise ConfigError(
            f"The address {choosing.base_url} is given, but no model.", "Name it too: --model openai/NAME."
        )
    return choosing.by_key()


def open_model(
    choice: Choice,
    *,
    env: Mapping[str, str],
    pool: HttpPool,
    cache_folder: Path,
    retries: int = 4,
    idle_timeout: float = 120.0,
    overrides: Callable[[str, ModelInfo], ModelInfo] = lambda name, info: info,
) -> Model:
    """The chosen model, asked again up to `retries` times when what failed can pass.

    `pool` carries the native wires, `overrides(name, info)` puts the user's own figures over those of the table
    (`Config.model_info`), `idle_timeout` is in seconds.
    """
    if choice.wire == SCOUT:
        from orchestrator.scout import ScoutModel

        return ScoutModel()
    from orchestrator.model_info import model_info
    from orchestrator.retry import with_retries

    full_name = f"{choice.provider}/{choice.model_id}"
    info = model_info(choice.provider, choice.model_id, cache_folder)
    info = overrides(choice.name, info if choice.name == full_name else overrides(full_name, info))
    key = env.get(choice.key_env, "").strip() or None
    return with_retries(_reach(choice, key, pool, info, idle_timeout), attempts=retries + 1)


def describe_choice(choice: Choice) -> list[tuple[str, str]]:
    """What `orch doctor` says of the choice, as labels and texts."""
    rows = [("model", choice.name), ("chosen by", choice.why)]
    through = _WIRES[choice.wire] + (f" ({choice.via_reason})" if choice.via_reason else "")
    rows.append(("reached through", through))
    if choice.wire != SCOUT:
        where = choice.base_url or "the provider's own"
        rows.append(("address", where + (f" ({choice.base_url_from})" if choice.base_url_from else "")))
        found = "what litellm finds" if choice.wire == "litellm" else "none"
        rows.append(("key", f"from {choice.key_env}" if choice.key_env else found))
    return rows


def _reach(choice: Choice, key: str | None, pool: HttpPool, info: ModelInfo, idle_timeout: float) -> Model:
    if choice.wire == "litellm":
        from orchestrator.litellm_model import LitellmModel

        return LitellmModel(
            choice.name,
            model=f"{choice.provider}/{choice.model_id}",
            base_url=choice.base_url or None,
            api_key=key,
            info=info,
            quirks=choice.quirks,
            idle_timeout=idle_timeout,
        )
    return _native(choice)(
        choice.name,
        model_id=choice.model_id,
        base_url=choice.base_url,
        api_key=key,
        pool=pool,
        info=info,
        quirks=choice.quirks,
        idle_timeout=idle_timeout,
    )


def _native(choice: Choice) -> type[AnthropicModel] | type[OpenAIModel]:
    if choice.wire == "anthropic":
        from orchestrator.anthropic_wire import AnthropicModel

        return AnthropicModel
    from orchestrator.openai_wire import OpenAIModel

    return OpenAIModel


def _wanted(flag: str | None, env: Mapping[str, str], configured: str | None) -> tuple[str, str]:
    """The name that was asked for, and where; both empty when there is none."""
    if flag is not None and not flag.strip():
        raise ConfigError("--model is given without a name.", "Write PROVIDER/MODEL, as in --model openai/gpt-5.2.")
    given = ((flag, "--model"), (env.get("ORCH_MODEL"), "ORCH_MODEL"), (configured, "configuration"))
    return next(((name.strip(), why) for name, why in given if name and name.strip()), ("", ""))


class _Choosing(NamedTuple):
    """What is known while a choice is made."""

    env: Mapping[str, str]
    base_url: str
    via: str | None
    providers: Mapping[str, Provider]

    def named(self, name: str, why: str) -> Choice:
        if name.lower() == SCOUT:
            return Choice(SCOUT, SCOUT, SCOUT, "scout", why=why)
        if "://" in name:
            raise ConfigError(f"`{name}` holds an address.", "Give the address with --base-url, the name with --model.")
        prefix, slash, rest = name.partition("/")
        if slash and prefix in self.providers:
            if not rest.strip():
                raise ConfigError(f"`{name}` names no model.", f"Write {prefix}/MODEL.")
            return self._of(self.providers[prefix], rest, name, why)
        if not slash and (owner := self._owner(name)):
            return self._of(owner, name, name, why)
        if slash:
            return self._unlisted(prefix, rest, name, why)
        if self.base_url:
            return self._of(self.providers["openai"], name, name, why)
        return self._unprefixed(name, why)

    def by_key(self) -> Choice:
        """The first provider whose key is set, or the scout."""
        unused = ""
        for provider in self.providers.values():
            variable = provider.key_variable(self.env)
            if variable and provider.default_model:
                name = f"{provider.prefix}/{provider.default_model}"
                return self._of(provider, provider.default_model, name, f"{variable} is set")
            if variable and not unused:
                unused = f" ({variable} is set; choose with --model {provider.prefix}/NAME)"
        return Choice(SCOUT, SCOUT, SCOUT, "scout", why=f"no model configured: scout{unused}")

    def _of(self, provider: Provider, model_id: str, name: str, why: str) -> Choice:
        """A model of a provider in the table."""
        if provider.prefixed_ids and "/" not in model_id:
            model_id = f"{provider.prefix}/{model_id}"
        url, source = self._address(provider, name)
        key = provider.key_variable(self.env)
        if not key and provider.key_required and not source:
            raise _missing_key(name, provider)
        quirks = {**provider.quirks, **({} if source else provider.home_quirks)}
        if key in provider.bearer_env:
            quirks["auth"] = "bearer"
        choice = Choice(name, provider.prefix, model_id, provider.wire, url, key, why, "", source, quirks)
        reason = self._via_litellm(provider, model_id, at_home=not source)
        if reason:
            return replace(choice, wire="litellm", via_reason=reason)
        return replace(choice, base_url=self._native_address(provider, url, name))

    def _unlisted(self, prefix: str, model_id: str, name: str, why: str) -> Choice:
        """A provider that only litellm knows and whose variables it reads itself, or a server's name with a slash."""
        from orchestrator.model_info import litellm_providers

        known = litellm_providers()
        if prefix in known:
            return self._only_litellm(prefix, model_id, name, why)
        if self.base_url:
            return self._of(self.providers["openai"], name, name, why)
        raise _unknown_provider(prefix, model_id, {*known, *self.providers})

    def _unprefixed(self, name: str, why: str) -> Choice:
        """A bare name that no pattern takes: litellm's table may have it."""
        from orchestrator.model_info import provider_of

        prefix = provider_of(name)
        if prefix in self.providers:
            return self._of(self.providers[prefix], name, name, why)
        if prefix:
            return self._only_litellm(prefix, name, name, why)
        near = _near(name, [SCOUT, *self.providers, *(row.default_model for row in self.providers.values())])
        ways = "Write PROVIDER/MODEL (openai/…, ollama/…), or give the server's address with --base-url."
        raise ConfigError(f"`{name}` is not a model that orch knows.", f"{near}{ways}")

    def _only_litellm(self, prefix: str, model_id: str, name: str, why: str) -> Choice:
        source = _GIVEN if self.base_url else ""
        reason = _no_wire(prefix)
        return Choice(name, prefix, model_id, "litellm", self.base_url, "", why, reason, base_url_from=source)

    def _owner(self, name: str) -> Provider | None:
        """The provider that a bare name means: of several the first one with a key."""
        owners = [provider for provider in self.providers.values() if provider.means(name)]
        return next((each for each in owners if each.key_variable(self.env)), owners[0] if owners else None)

    def _address(self, provider: Provider, name: str) -> tuple[str, str]:
        """The address that was set and by what; both empty for the provider's own."""
        variable = provider.base_variable(self.env)
        given, source = (self.base_url, _GIVEN) if self.base_url else (self.env.get(variable, ""), variable)
        url = given.strip().rstrip("/")
        if url and not url.lower().startswith(("http://", "https://")):
            hint = "It must begin with http:// or https://."
            raise ConfigError(f"`{url}` ({source}) is not an address for {name}.", hint)
        return url, source

    def _native_address(self, provider: Provider, url: str, name: str) -> str:
        """The address for a wire of our own."""
        if not url and not provider.base_url:
            variables = " or ".join((*provider.base_url_env, "--base-url"))
            raise ConfigError(f"The address of the server for {name} is not known.", f"Set {variables}.")
        from_variable = url and not self.base_url
        if from_variable and not url.endswith(provider.base_path):
            return url + provider.base_path
        return url or provider.base_url

    def _via_litellm(self, provider: Provider, model_id: str, *, at_home: bool) -> str:
        """Why this model goes through litellm, or an empty text."""
        if provider.wire == "litellm":
            return _no_wire(provider.prefix)
        if self.via == "litellm":
            return "`via: litellm` is configured"
        if at_home and self.via != "native" and provider.needs_litellm(model_id):
            return f"{provider.prefix} does not serve {model_id} with tools on {_WIRES[provider.wire]}"
        return ""


def _no_wire(prefix: str) -> str:
    return f"orch has no wire of its own for {prefix}"


def _missing_key(name: str, provider: Provider) -> ConfigError:
    first, *others = provider.key_env
    also = f" (or {', '.join(others)})" if others else ""
    return ConfigError(
        f"The model {name} needs an API key, and {first} is not set.",
        f"Set {first}{also}, or choose another model with --model. {_SCOUT_HINT}",
    )


def _unknown_provider(prefix: str, model_id: str, known: set[str]) -> ConfigError:
    near = _near(prefix, known, f"/{model_id}")
    ways = "A server with its own names for models needs --base-url; `orch doctor` shows what is configured."
    return ConfigError(f"`{prefix}` is not a provider that orch or litellm knows.", f"{near}{ways}")


def _near(name: str, candidates: list[str] | set[str], rest: str = "") -> str:
    from difflib import get_close_matches

    folded = {each.lower(): each for each in sorted(candidates) if each}
    found = get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return f"Did you mean `{folded[found[0]]}{rest}`? " if found else ""
