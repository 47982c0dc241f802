"""Windows and prices out of litellm's tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.messages import Usage
from orchestrator.model import ModelInfo
from orchestrator.model_info import find_info, litellm_folder, litellm_providers, model_info, provider_of
from orchestrator.providers import load_providers

NAME = "model_prices_and_context_window_backup.json"
ROW: dict[str, Any] = {
    "litellm_provider": "acme",
    "max_input_tokens": 1000,
    "max_output_tokens": 100,
    "input_cost_per_token": 2e-06,
    "output_cost_per_token": 4e-06,
    "cache_read_input_token_cost": 1e-06,
    "cache_creation_input_token_cost": 3e-06,
}


def table_in(folder: Path, **rows: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / NAME
    path.write_text(json.dumps(rows))
    return path


def test_an_entry_is_read() -> None:
    assert find_info({"acme/m": ROW}, "acme", "m") == ModelInfo(1000, 100, 2e-06, 4e-06, 1e-06, 3e-06)


def test_an_entry_without_prefix_counts_for_its_own_provider_only() -> None:
    table = {"m": ROW}
    assert find_info(table, "acme", "m").window == 1000
    assert find_info(table, "other", "m") == ModelInfo()


def test_unknown_is_never_nought() -> None:
    """B184: a model or a price that the table does not have costs `None`, not 0."""
    free = {**ROW, "input_cost_per_token": 0, "output_cost_per_token": 0.0}
    tables: list[Any] = [{}, {"acme/m": free}, {"acme/m": {"litellm_provider": "acme"}}, {"acme/m": "words"}]
    for table in tables:
        info = find_info(table, "acme", "m")
        assert info.cost(Usage(10, 10)) is None
        assert info.cache_read_price is None
    assert find_info({"acme/m": free}, "acme", "m").window == 1000


def test_a_model_on_ones_own_machine_costs_nothing() -> None:
    row = {**ROW, "litellm_provider": "ollama", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
    assert find_info({"ollama/m": row}, "ollama", "m").cost(Usage(10, 10)) == 0.0


def test_the_old_limit_counts_where_nothing_else_is_said() -> None:
    assert find_info({"acme/m": {"max_tokens": 500}}, "acme", "m").window == 500
    assert find_info({"acme/m": {"max_tokens": 500, "max_output_tokens": 500}}, "acme", "m").window is None
    assert find_info({"acme/m": {"max_input_tokens": "many"}}, "acme", "m").window is None


def test_the_table_is_read_once_until_it_changes(tmp_path: Path) -> None:
    """The cache goes by the table's size and time: a table changed behind them is not noticed, any other is."""
    folder, cache = tmp_path / "litellm", tmp_path / "cache"
    path = table_in(folder, m=ROW)
    before = path.stat()
    assert model_info("acme", "m", cache, litellm=folder).window == 1000
    table_in(folder, m={**ROW, "max_input_tokens": 2000})
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert model_info("acme", "m", cache, litellm=folder).window == 1000
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert model_info("acme", "m", cache, litellm=folder).window == 2000


def test_a_model_that_is_not_in_the_table_is_remembered_too(tmp_path: Path) -> None:
    folder, cache = tmp_path / "litellm", tmp_path / "cache"
    path = table_in(folder, m=ROW)
    assert model_info("acme", "none", cache, litellm=folder) == ModelInfo()
    stat = path.stat()
    path.write_bytes(b" " * stat.st_size)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert model_info("acme", "none", cache, litellm=folder) == ModelInfo()
    assert model_info("acme", "m", cache, litellm=folder) == ModelInfo()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 1}', '{"version": null, "info": {"window": 7}}'])
def test_a_damaged_cache_is_no_obstacle(tmp_path: Path, content: str) -> None:
    folder, cache = tmp_path / "litellm", tmp_path / "cache"
    table_in(folder, m=ROW)
    first = model_info("acme", "m", cache, litellm=folder)
    (kept,) = (cache / "model-info").iterdir()
    kept.write_text(content)
    assert model_info("acme", "m", cache, litellm=folder) == first


def test_a_kept_file_with_words_for_figures_is_not_believed(tmp_path: Path) -> None:
    folder, cache = tmp_path / "litellm", tmp_path / "cache"
    table_in(folder, m=ROW)
    first = model_info("acme", "m", cache, litellm=folder)
    (kept,) = (cache / "model-info").iterdir()
    kept.write_text(kept.read_text().replace("1000", '"many"'))
    assert model_info("acme", "m", cache, litellm=folder) == first


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    folder, cache = tmp_path / "litellm", tmp_path / "cache"
    table_in(folder, m=ROW)
    cache.write_text("a file where the folder should be")
    assert model_info("acme", "m", cache, litellm=folder).window == 1000


@pytest.mark.parametrize("name", ["a/b/../../c", "x" * 5000, "世界", "a\udc80b"])
def test_odd_names_stay_inside_the_cache(tmp_path: Path, name: str) -> None:
    folder, cache = tmp_path / "litellm", tmp_path / "cache"
    table_in(folder, m=ROW)
    assert model_info("acme", name, cache, litellm=folder) == ModelInfo()
    assert sorted(path.parent.name for path in tmp_path.rglob("*.json")) == ["litellm", "model-info"]


def test_a_table_that_is_missing_or_broken_knows_nothing(tmp_path: Path) -> None:
    assert model_info("acme", "m", tmp_path / "cache", litellm=tmp_path / "nowhere") == ModelInfo()
    (tmp_path / NAME).write_text("{not json")
    assert model_info("acme", "m", tmp_path / "cache", litellm=tmp_path) == ModelInfo()
    assert provider_of("m", litellm=tmp_path) == ""
    assert litellm_providers(litellm=tmp_path / "nowhere") == frozenset()


# --- the installed litellm -------------------------------------------------------------------------------------------


def test_the_installed_table_knows_the_well_known(tmp_path: Path) -> None:
    openai, anthropic = model_info("openai", "gpt-4o", tmp_path), model_info("anthropic", "claude-opus-4-7", tmp_path)
    for info in (openai, anthropic):
        assert info.window
        assert info.window > 100_000
        assert info.max_output
        assert (info.cost(Usage(1_000_000, 0)) or 0) > 0.1
    assert anthropic.cache_write_price
    assert anthropic.input_price
    assert anthropic.cache_write_price > anthropic.input_price


USUAL = [each for each in load_providers().values() if each.default_model]


@pytest.mark.parametrize("provider", USUAL, ids=[each.prefix for each in USUAL])
def test_the_usual_model_of_each_provider_is_known(provider: Any, tmp_path: Path) -> None:
    if provider.prefix in ("openrouter", "bigmodel", "qwencloud"):
        assert provider.prefix in litellm_providers()  # the table lists no models of these
    else:
        assert model_info(provider.prefix, provider.default_model, tmp_path).window


def test_providers_of_litellm_and_owners_of_bare_names() -> None:
    known = litellm_providers()
    assert set(load_providers()) <= known
    assert {"bedrock", "vertex_ai", "azure", "gemini", "watsonx", "nscale"} <= known
    assert provider_of("gemini-2.5-pro") == "vertex_ai"
    assert provider_of("claude-opus-4-7") == "anthropic"
    assert provider_of("no-such-model") == ""


def test_litellm_is_found_but_not_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from orchestrator.model_info import *\n"
        f"assert model_info('openai', 'gpt-4o', Path({str(tmp_path)!r})).window\n"
        "assert litellm_folder() and provider_of('gpt-4o') and litellm_providers()\n"
        "assert not [name for name in sys.modules if name.startswith('litellm')]\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert litellm_folder() is not None
