"""Windows and prices of models, out of the tables that the installed litellm carries as JSON; litellm is not imported.

The table of prices has megabytes, so what was looked up is kept in a small file a model in the cache folder, good for
as long as the table's size and time stay the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields, replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from orchestrator.model import ModelInfo

_PRICES = "model_prices_and_context_window_backup.json"
_ENDPOINTS = "provider_endpoints_support_backup.json"
_OPENAI_LIKE = "llms/openai_like/providers.json"

_FORMAT = 2
"""Of the kept files; a file of another one is made again."""
_WELL_KEPT = ("anthropic", "deepseek", "gemini", "mistral", "moonshot", "openai", "xai", "zai")
"""Providers whose rows say what a model can do; what is missing there it cannot. Others' rows often leave it out."""
_LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

Table = Mapping[str, Mapping[str, Any]]


def litellm_folder() -> Path | None:
    """Where litellm is installed; `None` when it is not. A submodule's spec would import the package, this does not."""
    spec = find_spec("litellm")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) if places else None


def model_info(provider: str, model_id: str, cache_folder: Path, *, litellm: Path | None = None) -> ModelInfo:
    """What the table says of a model; `ModelInfo()`, all unknown, when it does not know it.

    `litellm` is the folder of the package when it is not the installed one.
    """
    folder = litellm or litellm_folder()
    if folder is None:
        return ModelInfo()
    path = folder / _PRICES
    try:
        stat = path.stat()
    except OSError:
        return ModelInfo()
    name = f"{provider}/{model_id}"
    kept = cache_folder / "model-info" / f"{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.json"
    version = [_FORMAT, str(path), stat.st_size, stat.st_mtime_ns, name]
    info = _read_kept(kept, version)
    if info is None:
        info = find_info(_read_table(path), provider, model_id)
        _keep(kept, version, info)
    return info


def find_info(table: Table, provider: str, model_id: str) -> ModelInfo:
    """The entry of the table for a model, read as `ModelInfo`."""
    row = table.get(f"{provider}/{model_id}")
    if not isinstance(row, dict):
        row = table.get(model_id)
        if not isinstance(row, dict) or not str(row.get("litellm_provider", "")).startswith(provider):
            return ModelInfo()
    output = _limit(row, "max_output_tokens")
    window = _limit(row, "max_input_tokens") or (None if output else _limit(row, "max_tokens"))
    info = ModelInfo(window, output, *_prices(row, provider))
    thinks = _can(row, "supports_reasoning", provider)
    vision = _can(row, "supports_vision", provider)
    return replace(info, thinks=thinks, thinking=_thinking(row) if thinks else "", vision=vision)


def _prices(row: Mapping[str, Any], provider: str) -> tuple[float | None, float | None, float | None, float | None]:
    """Of input, output, reading from the cache and writing to it."""
    into, out = _price(row, "input_cost_per_token"), _price(row, "output_cost_per_token")
    if not (into or out) and not _is_local(provider):
        return None, None, None, None  # nought is what the table has for prices that it does not know
    # A provider that does not charge for writing to the cache counts it as input.
    written = _price(row, "cache_creation_input_token_cost") or None
    return into, out, _price(row, "cache_read_input_token_cost"), written


def provider_of(name: str, *, litellm: Path | None = None) -> str:
    """The provider that the table has for a model name without a prefix; an empty text when it is not in it."""
    folder = litellm or litellm_folder()
    row = _read_table(folder / _PRICES).get(name) if folder else None
    return _as_prefix(str(row.get("litellm_provider", ""))) if isinstance(row, dict) else ""


def litellm_providers(*, litellm: Path | None = None) -> frozenset[str]:
    """Every provider that the installed litellm names in its tables."""
    folder = litellm or litellm_folder()
    if folder is None:
        return frozenset()
    supported = _read_table(folder / _ENDPOINTS).get("providers", {})
    priced = {_as_prefix(str(row.get("litellm_provider", ""))) for row in _read_table(folder / _PRICES).values()}
    names = {*supported, *_read_table(folder / _OPENAI_LIKE), *priced}
    return frozenset(name for name in names if name and "/" not in name and " " not in name)


def _as_prefix(provider: str) -> str:
    """`vertex_ai-language-models`, `bedrock_converse` and the like are groups of one provider's models."""
    groups = ("vertex_ai", "bedrock_converse")
    return next((group.removesuffix("_converse") for group in groups if provider.startswith(group)), provider)


def _is_local(provider: str) -> bool:
    return provider in ("ollama", "ollama_chat")


def _can(row: Mapping[str, Any], name: str, provider: str) -> bool | None:
    value = row.get(name)
    if isinstance(value, bool):
        return value
    return False if provider in _WELL_KEPT and row.get("mode") in ("chat", "responses") else None


def _thinking(row: Mapping[str, Any]) -> str:
    """The words of `ModelInfo.thinking`."""
    levels = _levels(row)
    always = row.get("thinking_always_on") or (levels and "none" not in levels)
    states = [
        ("adaptive", row.get("supports_adaptive_thinking")),
        ("always", always),
        ("default", always or row.get("thinking_on_by_default")),
    ]
    return " ".join([*(word for word, holds in states if holds), *levels])


def _levels(row: Mapping[str, Any]) -> list[str]:
    """The levels of effort; empty where the table does not say whether `none` is one."""
    named = row.get("reasoning_effort_levels")
    if isinstance(named, list):
        return [level for level in _LEVELS if level in named]
    flags = {level: row.get(f"supports_{level}_reasoning_effort") for level in _LEVELS}
    if not isinstance(flags["none"], bool):
        return []
    usual = ("low", "medium", "high")
    return [level for level in _LEVELS if flags[level] or (level in usual and flags[level] is None)]


def _price(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    return float(value) if isinstance(value, int | float) and value >= 0 else None


def _limit(row: Mapping[str, Any], name: str) -> int | None:
    value = row.get(name)
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _read_table(path: Path) -> Table:
    """A JSON object; empty when the file is missing or something else, as with another version of litellm."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _read_kept(path: Path, version: list[Any]) -> ModelInfo | None:
    kept: Mapping[str, Any] = _read_table(path)
    values = kept.get("info")
    if kept.get("version") != version or not isinstance(values, dict):
        return None
    words = values.pop("thinking", None)
    numbers = {each.name: values.get(each.name) for each in fields(ModelInfo) if each.name != "thinking"}
    good = all(value is None or (isinstance(value, int | float) and value >= 0) for value in numbers.values())
    return ModelInfo(**numbers, thinking=words) if good and isinstance(words, str) else None


def _keep(path: Path, version: list[Any], info: ModelInfo) -> None:
    """Write the file whole or not at all; a cache that cannot be written is no reason to stop."""
    temporary = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps({"version": version, "info": asdict(info)}), encoding="utf-8")
        temporary.replace(path)
