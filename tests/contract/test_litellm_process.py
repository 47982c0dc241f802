"""litellm in a process of its own: what it would print, fetch, read, leave open and say at exit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.litellm_model import import_litellm
from orchestrator.model_info import litellm_folder
from orchestrator.providers import load_providers
from tests.contract.conftest import LITELLM
from tests.support.model_server import ServerThread

pytestmark = list(LITELLM)
ROOT = Path(__file__).resolve().parents[2]

NETWORK_OFF = ("LITELLM_OFFLINE_MODE", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "TIKTOKEN_CACHE_DIR")
"""What importing litellm leaves in the environment; the last one is litellm's own doing."""

HEAD = """
import asyncio, json, os, sys
from orchestrator.litellm_model import LitellmModel
from orchestrator.messages import user
from orchestrator.model import Done, ModelInfo, ModelRequest, TextDelta

URL = sys.argv[1]
REQUEST = ModelRequest("", (user("Hi"),))

def model(name="openai/no-such-model", **rest):
    return LitellmModel(name, model=name, base_url=URL + "/v1", api_key="sk-test", info=ModelInfo(), **rest)
"""

QUIET = """
hosts = []
def audit(event, arguments):
    if event == "socket.connect":
        hosts.append(str(arguments[1][0]))
    elif event == "socket.getaddrinfo":
        hosts.append(str(arguments[0]))
sys.addaudithook(audit)
before = dict(os.environ)

async def ask(one):
    async for piece in one.stream(REQUEST):
        if isinstance(piece, TextDelta):
            print(piece.text, end="")
        if isinstance(piece, Done):
            print("", one.info.cost(piece.reply.usage))
    await one.aclose()
    await one.aclose()

shared = model()
asyncio.run(ask(shared))
asyncio.run(ask(shared))
asyncio.run(ask(model("openrouter/x/unknown-model")))
asyncio.run(ask(LitellmModel("a", model="anthropic/x", base_url=URL, api_key="sk-test", info=ModelInfo())))
added = {name: value for name, value in os.environ.items() if before.get(name) != value}
print(json.dumps({"hosts": sorted(set(hosts)), "added": added, "diskcache": "diskcache" in sys.modules}))
"""


def run(script: str, folder: Path, url: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `script` as a file, which is what tells some libraries that nobody types it in."""
    file = folder / "script.py"
    file.write_text(HEAD + script)
    command = [sys.executable, "-W", "error::RuntimeWarning", "-W", "error::ResourceWarning", str(file), url]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("LITELLM_", "TIKTOKEN_"))}
    env = {**own, **variables}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)


def test_only_the_answer_is_printed_and_nothing_is_fetched_read_or_left(tmp_path: Path) -> None:
    """B183: banners for unknown models. B184: their cost is unknown. B182: a second and third event loop.

    B175: no pickle cache. And no price list or header list is fetched, no `.env` above litellm's own folder is read.
    """
    folder = litellm_folder()
    assert folder is not None
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://evil.example\nPLANTED=1\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "litellm").symlink_to(folder)
    with ServerThread(["one", "two", "three", "four"]) as server:
        done = run(QUIET, tmp_path, server.url, PYTHONPATH=str(tmp_path / "lib"))
    *answers, last = done.stdout.splitlines()
    assert done.stderr == ""
    assert answers == ["one None", "two None", "three None", "four None"]
    found = json.loads(last)
    assert found["hosts"] == ["127.0.0.1"]
    assert "PLANTED" not in found["added"]
    assert set(found["added"]) == set(NETWORK_OFF)
    assert not found["diskcache"]


ABORTED = """
async def read(one, started):
    async for piece in one.stream(REQUEST):
        started.set()

async def main():
    one, started = model("anthropic/x"), asyncio.Event()
    await read(one, asyncio.Event())
    for pause in (0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008):
        given_up = asyncio.create_task(read(one, asyncio.Event()))
        await asyncio.sleep(pause)
        given_up.cancel()
        await asyncio.wait([given_up])
    async with asyncio.TaskGroup() as group:
        task = group.create_task(read(one, started))
        await started.wait()
        task.cancel()
    await one.aclose()
    left = [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
    print(left)

asyncio.run(main())
"""


def test_an_abort_in_mid_stream_ends_without_a_word(tmp_path: Path) -> None:
    """B180, B181: nothing unclosed, nothing never awaited, no task left; also when it is cancelled as it begins."""
    script = {"turns": ["whole", {"text": ["one", "two"], "stall": "forever"}], "repeat": True}
    with ServerThread(script) as server:
        done = run(ABORTED, tmp_path, server.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


NATIVE = """
from pathlib import Path
from orchestrator.http import HttpPool
from orchestrator.models import choose_model, open_model
from orchestrator.providers import load_providers

async def main():
    pool = HttpPool()
    for name, base in (("openai/x", URL + "/v1"), ("anthropic/x", URL)):
        choice = choose_model(
            flag=name, env={}, configured=None, base_url=base, via=None, providers=load_providers()
        )
        one = open_model(choice, env={}, pool=pool, cache_folder=Path(__file__).parent / "nowhere")
        async for piece in one.stream(REQUEST):
            if isinstance(piece, TextDelta):
                print(piece.text)
        await one.aclose()
    await pool.aclose()
    print([name for name in sys.modules if name.split(".")[0] in ("litellm", "openai", "httpx")])

asyncio.run(main())
"""


def test_the_native_wires_never_import_litellm(tmp_path: Path) -> None:
    with ServerThread(["one", "two"]) as server:
        done = run(NATIVE, tmp_path, server.url)
    assert (done.stdout, done.stderr) == ("one\ntwo\n[]\n", "")


# --- the table against the installed litellm -------------------------------------------------------------------------

TABLE: dict[str, Any] = {
    prefix: row for prefix, row in load_providers().items() if row.wire == "openai" and row.base_url
}
NOT_IN_LITELLM = {"openai", "openrouter", "minimax", "hosted_vllm", "lm_studio", "ollama_chat"}
"""Providers whose address litellm does not tell when asked (it comes in later, or it has none)."""


def own_info(prefix: str) -> tuple[str | None, str | None]:
    """The address and the key that litellm itself finds for a provider."""
    _, _, key, base = import_litellm().get_llm_provider(f"{prefix}/some-model")
    return base, key


@pytest.mark.parametrize("prefix", [prefix for prefix in TABLE if prefix not in NOT_IN_LITELLM])
def test_addresses_and_variables_are_those_of_litellm(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = TABLE[prefix]
    base, _ = own_info(prefix)
    assert base is not None
    assert row.base_url == base + (row.base_path if not base.endswith(row.base_path) else "")
    monkeypatch.setenv(row.key_env[0], "the-key")
    if row.base_url_env:
        monkeypatch.setenv(row.base_url_env[0], "http://localhost:1/mine")
    base, key = own_info(prefix)
    mine = {"http://localhost:1/mine", f"http://localhost:1/mine{row.base_path}"}
    assert base in (mine if row.base_url_env else {row.base_url})
    assert key == "the-key" or not row.key_required
