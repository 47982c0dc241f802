"""How a provider departs from the wire that it speaks; read from the `quirks` of the providers table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeVar, get_args, get_type_hints

from orchestrator.errors import ConfigError


@dataclass(frozen=True, slots=True)
class OpenAIQuirks:
    """Of the OpenAI chat completions wire."""

    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the output limit is called."""
    system_role: Literal["system", "developer"] = "system"
    stream_options: bool = True
    """Ask for the usage of a stream; without it usage is an estimate."""
    prompt_cache_key: bool = False
    """Send the request's cache key, which routes equal prefixes to the same cache (api.openai.com)."""
    send_reasoning: Literal["", "reasoning_content", "reasoning", "reasoning_details"] = ""
    """The field in which the provider wants its own reasoning back; empty for one that does not want it."""
    think: Literal["", "reasoning_effort", "reasoning", "thinking", "thinking+effort"] = "reasoning_effort"
    """The field that says how much to think; `thinking` is a switch; empty for a provider that has none."""
    short_call_ids: bool = False
    """Call ids must be nine letters and digits (Mistral)."""
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """Fields added to every request as they are."""


@dataclass(frozen=True, slots=True)
class AnthropicQuirks:
    """Of the Anthropic messages wire."""

    auth: Literal["x-api-key", "bearer"] = "x-api-key"
    """The header that carries the key."""
    cache_control: bool = True
    """Mark what the provider should keep in its prompt cache."""
    extra_body: Mapping[str, object] = field(default_factory=dict)
    """Fields added to every request as they are."""


Q = TypeVar("Q", OpenAIQuirks, AnthropicQuirks)


def read_quirks(kind: type[Q], given: Mapping[str, object], model: str) -> Q:
    """Check `given` against `kind`; raises `ConfigError` that names every entry that is wrong."""
    hints = get_type_hints(kind)
    names = [each.name for each in fields(kind)]
    wrong = [_complaint(name, value, hints, names) for name, value in given.items()]
    if any(wrong):
        raise ConfigError(f"{model}: " + " ".join(filter(None, wrong)), f"The quirks are: {', '.join(names)}.")
    return kind(**given)  # type: ignore[arg-type]  # every value was checked against its type above


def _complaint(name: str, value: object, hints: Mapping[str, object], names: list[str]) -> str:
    if name not in hints:
        from difflib import get_close_matches

        near = get_close_matches(name, names, n=1)
        return f"unknown quirk `{name}`" + (f" (did you mean `{near[0]}`?)." if near else ".")
    choices = get_args(hints[name])
    if hints[name] is bool:
        return "" if isinstance(value, bool) else f"quirk `{name}` must be true or false, not {value!r}."
    if name == "extra_body":
        return "" if isinstance(value, Mapping) else f"quirk `{name}` must be a mapping, not {value!r}."
    return "" if value in choices else f"quirk `{name}` must be one of {', '.join(map(repr, choices))}, not {value!r}."
