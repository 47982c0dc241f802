"""Every contract test runs over each of `WIRES`; a new way to reach a model joins by one entry in `FACTORIES`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Protocol

import pytest

from orchestrator.anthropic_wire import AnthropicModel
from orchestrator.http import HttpPool
from orchestrator.litellm_model import LitellmModel, import_litellm
from orchestrator.model import Model, ModelInfo
from orchestrator.openai_wire import OpenAIModel

KEY = "sk-test-0123456789abcdef"
INFO = ModelInfo(window=200_000, max_output=8_000)


class MakeModel(Protocol):
    def __call__(
        self,
        wire: str,
        url: str,
        *,
        info: ModelInfo = ...,
        quirks: Mapping[str, object] = ...,
        idle_timeout: float = ...,
        api_key: str | None = ...,
    ) -> Model: ...


def _openai(url: str, pool: HttpPool, **settings: Any) -> Model:
    return OpenAIModel("openai/scripted", model_id="scripted", base_url=f"{url}/v1", pool=pool, **settings)


def _anthropic(url: str, pool: HttpPool, **settings: Any) -> Model:
    return AnthropicModel("anthropic/scripted", model_id="scripted", base_url=url, pool=pool, **settings)


def _litellm_openai(url: str, pool: HttpPool, **settings: Any) -> Model:
    import_litellm()  # before any test begins to count seconds
    return LitellmModel("openai/scripted", model="openai/scripted", base_url=f"{url}/v1", **settings)


def _litellm_anthropic(url: str, pool: HttpPool, **settings: Any) -> Model:
    import_litellm()
    return LitellmModel("anthropic/scripted", model="anthropic/scripted", base_url=url, **settings)


FACTORIES: Mapping[str, Callable[..., Model]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "litellm-openai": _litellm_openai,
    "litellm-anthropic": _litellm_anthropic,
}
"""By name of the way: takes the server's url, the pool, and the settings of `MakeModel`."""
LITELLM = (
    pytest.mark.xdist_group("litellm"),  # importing it takes seconds: with `--dist loadgroup` only one worker does
    pytest.mark.filterwarnings("ignore:Accessing the:DeprecationWarning"),  # its own filters do not outlive a test
    pytest.mark.filterwarnings("ignore:.*using the `ReadOnly` qualifier:UserWarning"),
)
WIRES = tuple(pytest.param(way, marks=LITELLM if "litellm" in way else ()) for way in FACTORIES)


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> str:
    """The way to reach the model."""
    return str(request.param)


@pytest.fixture
def provider(wire: str) -> str:
    """The wire that the server speaks on this way: `openai` or `anthropic`."""
    return "anthropic" if wire.endswith("anthropic") else "openai"


@pytest.fixture
async def make_model() -> AsyncIterator[MakeModel]:
    pool = HttpPool(connect_timeout=5.0)
    made: list[Model] = []

    def make(
        wire: str,
        url: str,
        *,
        info: ModelInfo = INFO,
        quirks: Mapping[str, object] = {},
        idle_timeout: float = 20.0,
        api_key: str | None = KEY,
    ) -> Model:
        make_one = FACTORIES[wire]
        model = make_one(url, pool, info=info, quirks=quirks, idle_timeout=idle_timeout, api_key=api_key)
        made.append(model)
        return model

    yield make
    for model in made:
        await model.aclose()
    await pool.aclose()
