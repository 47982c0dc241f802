"""Which model is used and why, from flags, variables and configuration alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from orchestrator.errors import ConfigError
from orchestrator.http import HttpPool
from orchestrator.model import ModelInfo
from orchestrator.models import Choice, choose_model, describe_choice, open_model
from orchestrator.providers import Provider, load_providers
from orchestrator.quirks import AnthropicQuirks, OpenAIQuirks, read_quirks

PROVIDERS = load_providers()
LOCAL = "http://localhost:8000/v1"


def choose(
    flag: str | None = None,
    env: Mapping[str, str] | None = None,
    configured: str | None = None,
    base_url: str | None = None,
    via: str | None = None,
) -> Choice:
    return choose_model(
        flag=flag, env=env or {}, configured=configured, base_url=base_url, via=via, providers=PROVIDERS
    )


def refusal(flag: str | None = None, env: Mapping[str, str] | None = None, **rest: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        choose(flag, env, **rest)
    assert caught.value.hint
    return f"{caught.value.message} {caught.value.hint}"


# --- the order -------------------------------------------------------------------------------------------------------

KEYS = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "GROQ_API_KEY": "k", "DEEPSEEK_API_KEY": "k"}


@pytest.mark.parametrize(
    ("given", "name", "why"),
    [
        ({"flag": "groq/a", "env": KEYS | {"ORCH_MODEL": "groq/b"}, "configured": "groq/c"}, "groq/a", "--model"),
        ({"env": KEYS | {"ORCH_MODEL": "groq/b"}, "configured": "groq/c"}, "groq/b", "ORCH_MODEL"),
        ({"env": KEYS | {"ORCH_MODEL": " "}, "configured": "groq/c"}, "groq/c", "configuration"),
        ({"env": {"GROQ_API_KEY": "k"}}, "groq/openai/gpt-oss-120b", "GROQ_API_KEY is set"),
        ({"env": {"OPENAI_API_KEY": "  "}}, "scout", "no model configured: scout"),
        ({}, "scout", "no model configured: scout"),
    ],
)
def test_the_order_of_what_decides(given: dict[str, Any], name: str, why: str) -> None:
    choice = choose(**given)
    assert (choice.name, choice.why) == (name, why)


def test_the_first_provider_of_the_table_with_a_key_is_used() -> None:
    assert choose(env=KEYS).provider == "openai"
    assert choose(env={"DEEPSEEK_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}).provider == "anthropic"


def test_a_key_alone_that_has_no_usual_model_is_mentioned() -> None:
    choice = choose(env={"PERPLEXITY_API_KEY": "k"})
    assert choice.wire == "scout"
    assert "PERPLEXITY_API_KEY" in choice.why
    assert "--model perplexity/" in choice.why


@pytest.mark.parametrize("name", ["scout", "Scout"])
def test_the_scout_can_always_be_chosen(name: str) -> None:
    assert choose(name, KEYS, via="litellm", base_url=LOCAL).wire == "scout"


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "env", "provider", "model_id", "wire"),
    [
        ("openai/gpt-4o", KEYS, "openai", "gpt-4o", "openai"),
        ("gpt-4o", KEYS, "openai", "gpt-4o", "openai"),
        ("o3", KEYS, "openai", "o3", "openai"),
        ("claude-opus-5", KEYS, "anthropic", "claude-opus-5", "anthropic"),
        ("deepseek-v4-pro", KEYS, "deepseek", "deepseek-v4-pro", "openai"),
        ("groq/openai/gpt-oss-20b", KEYS, "groq", "openai/gpt-oss-20b", "openai"),
        ("openrouter/x/y", {"OR_API_KEY": "k"}, "openrouter", "x/y", "openai"),
        ("openrouter/auto", {"OR_API_KEY": "k"}, "openrouter", "openrouter/auto", "openai"),
        ("gemini-3.8-flash", {"GEMINI_API_KEY": "k"}, "gemini", "gemini-3.8-flash", "litellm"),
        ("bedrock/anthropic.claude-opus-5", {}, "bedrock", "anthropic.claude-opus-5", "litellm"),
        ("azure/my-deployment", {}, "azure", "my-deployment", "litellm"),
        ("amazon.nova-pro-v1:0", {}, "bedrock", "amazon.nova-pro-v1:0", "litellm"),
    ],
)
def test_names(name: str, env: dict[str, str], provider: str, model_id: str, wire: str) -> None:
    choice = choose(name, env)
    assert (choice.name, choice.provider, choice.model_id, choice.wire) == (name, provider, model_id, wire)


def test_a_bare_name_means_the_provider_whose_key_is_there() -> None:
    assert choose("glm-5.3", {"BIGMODEL_API_KEY": "k"}).provider == "bigmodel"
    assert choose("glm-5.3", {"BIGMODEL_API_KEY": "k", "ZAI_API_KEY": "k"}).provider == "zai"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("opneai/gpt-5.2", "`openai/gpt-5.2`"),
        ("OpenAI/gpt-5.2", "`openai/gpt-5.2`"),
        ("antropic/claude-x", "`anthropic/claude-x`"),
        ("vertexai/gemini-x", "`vertex_ai/gemini-x`"),
        ("scuot", "`scout`"),
    ],
)
def test_a_slip_in_a_name_is_told_with_what_was_meant(name: str, meant: str) -> None:
    assert f"Did you mean {meant}?" in refusal(name, KEYS)


def test_a_name_that_means_nothing_says_how_to_name_a_model() -> None:
    said = refusal("qqqqq")
    assert "PROVIDER/MODEL" in said
    assert "--base-url" in said


@pytest.mark.parametrize("name", ["", "  ", "openai/", "huggingface/https://evil.example/"])
def test_names_that_cannot_be(name: str) -> None:
    """The last one would have litellm send a key to an address that hides in a name."""
    refusal(name, KEYS)


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_missing_key_names_the_variables_and_a_way_without() -> None:
    said = refusal("together_ai/x")
    assert "TOGETHER_API_KEY is not set" in said
    assert "TOGETHER_AI_TOKEN" in said
    assert "--model scout" in said


@pytest.mark.parametrize("name", ["ollama/x", "lm_studio/x", "hosted_vllm/x", "llamafile/x"])
def test_local_servers_need_no_key(name: str) -> None:
    choice = choose(name)
    assert choice.key_env == ""
    assert choice.base_url.startswith("http://")


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert choose("openai/x", base_url=LOCAL).key_env == ""
    assert choose("openai/x", {"OPENAI_API_BASE": LOCAL}).key_env == ""


def test_an_anthropic_token_goes_into_the_other_header() -> None:
    assert choose("claude-x", {"ANTHROPIC_AUTH_TOKEN": "t"}).quirks == {"auth": "bearer"}
    both = choose("claude-x", {"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_API_KEY": "k"})
    assert (both.key_env, dict(both.quirks)) == ("ANTHROPIC_API_KEY", {})


# --- addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "env", "base_url", "expected"),
    [
        ("openai/x", KEYS, None, "https://api.openai.com/v1"),
        ("openai/x", KEYS | {"OPENAI_API_BASE": f"{LOCAL}/"}, None, LOCAL),
        ("openai/x", KEYS | {"OPENAI_API_BASE": "http://a", "OPENAI_BASE_URL": "http://b"}, None, "http://b"),
        ("openai/x", KEYS | {"OPENAI_API_BASE": "http://a"}, LOCAL, LOCAL),
        ("anthropic/x", KEYS | {"ANTHROPIC_BASE_URL": "http://a"}, None, "http://a"),
        ("ollama/x", {"OLLAMA_API_BASE": "http://host:11434"}, None, "http://host:11434/v1"),
        ("ollama/x", {"OLLAMA_API_BASE": "http://host:11434/v1"}, None, "http://host:11434/v1"),
        ("ollama/x", {}, "http://host/api", "http://host/api"),
        ("my-model", {}, LOCAL, LOCAL),
        ("meta-llama/Llama-4", {}, LOCAL, LOCAL),
    ],
)
def test_addresses(name: str, env: dict[str, str], base_url: str | None, expected: str) -> None:
    assert choose(name, env, base_url=base_url).base_url == expected


def test_names_of_a_server_of_ones_own_are_sent_as_they_are() -> None:
    choice = choose("meta-llama/Llama-4", base_url=LOCAL)
    assert (choice.wire, choice.model_id) == ("openai", "meta-llama/Llama-4")


def test_an_address_for_a_provider_of_litellm_goes_to_litellm() -> None:
    choice = choose("azure/deployment", base_url="https://mine.example")
    assert (choice.wire, choice.base_url) == ("litellm", "https://mine.example")


def test_an_address_without_a_model_or_scheme_is_refused() -> None:
    assert "--model" in refusal(env=KEYS, base_url=LOCAL)
    assert "http://" in refusal("openai/x", base_url="localhost:8000")
    assert "OPENAI_API_BASE" in refusal("openai/x", {"OPENAI_API_BASE": "localhost:8000"})
    assert "LITELLM_PROXY_API_BASE" in refusal("litellm_proxy/x")


def test_what_only_the_provider_itself_takes_is_not_sent_elsewhere() -> None:
    assert choose("openai/x", KEYS).quirks["prompt_cache_key"] is True
    assert choose("openai/x", KEYS, base_url=LOCAL).quirks == {}
    assert choose("mistral/x", base_url=LOCAL).quirks["short_call_ids"] is True


# --- litellm ---------------------------------------------------------------------------------------------------------


def test_litellm_can_be_asked_for() -> None:
    choice = choose("openai/gpt-4o", KEYS, via="litellm")
    assert choice.wire == "litellm"
    assert "via: litellm" in choice.via_reason
    assert (choice.base_url, choice.key_env) == ("", "OPENAI_API_KEY")
    assert choose("ollama/x", {"OLLAMA_API_BASE": "http://h:1"}, via="litellm").base_url == "http://h:1"


@pytest.mark.parametrize("model", ["gpt-5.2-codex", "o3-pro", "gpt-5.6-sol", "gpt-6.1-sol", "o3-deep-research"])
def test_models_that_chat_completions_does_not_serve_go_through_litellm(model: str) -> None:
    assert choose(f"openai/{model}", KEYS).wire == "litellm"
    assert model in choose(f"openai/{model}", KEYS).via_reason
    assert choose(f"openai/{model}", KEYS, via="native").wire == "openai"
    assert choose(f"openai/{model}", base_url=LOCAL).wire == "openai"


@pytest.mark.parametrize("model", ["gpt-5.2", "gpt-5-mini", "gpt-4o", "o3", "o4-mini", "gpt-5.1"])
def test_models_that_chat_completions_serves_do_not(model: str) -> None:
    assert choose(f"openai/{model}", KEYS).wire == "openai"


# --- what the doctor says --------------------------------------------------------------------------------------------


def test_the_doctor_says_which_model_why_and_how_and_never_the_key() -> None:
    env = {"OPENAI_API_KEY": "sk-secret", "OPENAI_API_BASE": LOCAL}
    rows = dict(describe_choice(choose("openai/gpt-4o", env)))
    assert rows["model"] == "openai/gpt-4o"
    assert rows["chosen by"] == "--model"
    assert rows["address"] == f"{LOCAL} (OPENAI_API_BASE)"
    assert rows["key"] == "from OPENAI_API_KEY"
    assert "sk-secret" not in str(rows)
    assert "bedrock" in dict(describe_choice(choose("bedrock/x")))["reached through"]
    assert "no network" in dict(describe_choice(choose()))["reached through"]


# --- the table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))
def test_every_row_of_the_table_is_sound(provider: Provider) -> None:
    hints = get_type_hints(Provider)
    for each in fields(Provider):
        value = getattr(provider, each.name)
        if hints[each.name] in (str, bool):
            assert isinstance(value, hints[each.name]), each.name
        elif hints[each.name] == tuple[str, ...]:
            assert isinstance(value, tuple), each.name
    assert provider.wire in ("openai", "anthropic", "litellm")
    assert provider.base_url or provider.base_url_env
    assert provider.key_env
    assert set(provider.bearer_env) <= set(provider.key_env)
    kind = AnthropicQuirks if provider.wire == "anthropic" else OpenAIQuirks
    read_quirks(kind, {**provider.quirks, **provider.home_quirks}, provider.prefix)  # type: ignore[type-var]  # either


def test_a_table_that_is_missing_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        load_providers(tmp_path / "nowhere.yaml")


# --- opening ---------------------------------------------------------------------------------------------------------


def open_choice(choice: Choice, cache: Path, **rest: Any) -> Any:
    return open_model(choice, env=KEYS, pool=HttpPool(), cache_folder=cache, **rest)


def test_the_model_knows_its_name_window_and_price(tmp_path: Path) -> None:
    model = open_choice(choose("gpt-4o", KEYS), tmp_path)
    assert model.name == "gpt-4o"
    assert model.info.window
    assert model.info.input_price
    assert open_choice(choose("openai/no-such-model", KEYS), tmp_path).info == ModelInfo()


def test_the_users_own_figures_go_over_those_of_the_table(tmp_path: Path) -> None:
    own = ModelInfo(window=1234)

    def overrides(name: str, info: ModelInfo) -> ModelInfo:
        return own if name == "openai/gpt-4o" else info

    for name in ("gpt-4o", "openai/gpt-4o"):
        assert open_choice(choose(name, KEYS), tmp_path, overrides=overrides).info == own
    assert open_choice(choose("openai/gpt-4.1", KEYS), tmp_path, overrides=overrides).info != own


def test_the_scout_is_opened_without_anything(tmp_path: Path) -> None:
    assert open_choice(choose("scout"), tmp_path).name == "scout"
    assert list(tmp_path.iterdir()) == []


NATIVE = """
import sys, json
HEAVY = ("litellm", "aiohttp", "pydantic", "httpx", "openai")
from pathlib import Path
from orchestrator.models import choose_model, open_model
from orchestrator.providers import load_providers
from orchestrator.http import HttpPool
env = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
loaded = {}
for name in (None, "openai/gpt-4o", "claude-opus-5", "ollama/x", "bedrock/x", "scout"):
    choice = choose_model(
        flag=name, env=env, configured=None, base_url=None, via=None, providers=load_providers()
    )
    if name != "scout":
        open_model(choice, env=env, pool=HttpPool(), cache_folder=Path(sys.argv[1]))
    loaded[str(name)] = [heavy for heavy in HEAVY if heavy in sys.modules]
print(json.dumps(loaded))
"""


def test_choosing_and_opening_import_nothing_heavy(tmp_path: Path) -> None:
    """Startup: litellm takes seconds to import, and is not there until a model behind it is asked."""
    command = [sys.executable, "-c", NATIVE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert not any(json.loads(done.stdout).values())
