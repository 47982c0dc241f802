"""What is taken out of the texts of a run, and what is left as it is."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.providers import load_providers
from orchestrator.run_text import RunText, secret_values

KEY = "sk-test-0123456789abcdef"
HERE = RunText(
    workspace=Path("/home/u/repo"), state=Path("/home/u/.local/state/orch"), secrets={"hunter2-hunter2", KEY}
)
THERE = RunText(workspace=Path("/ci/checkout"), state=Path("/ci/home/state"))
TEMP = str(Path(tempfile.gettempdir()).resolve())


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("see /home/u/repo/src/a.py:3", "see <<orch:workspace>>/src/a.py:3"),
        ("in /home/u/repo.", "in <<orch:workspace>>."),
        ("file:///home/u/repo/a", "file://<<orch:workspace>>/a"),
        ("/home/u/repo2, /home/u/repo-old, /home/u/repo.git, /mnt/home/u/repo", None),
        (
            "/home/u/.local/state/orch/sessions/20261203-101112-a1b2c3/explorer-1.jsonl",
            "<<orch:session>>/explorer-1.jsonl",
        ),
        ("/home/u/.local/state/orch/grants", "<<orch:state>>/grants"),
        (f"{TEMP}/orch-ab12cd_9/x", "<<orch:temp>>/x"),
        ("20261203-101112-a1b2c3.log, 2026-12-03, took 3 s", None),
        ("literally <<orch:workspace>>", "literally <<orch:<<workspace>>"),
    ],
)
def test_folders_of_the_run_become_placeholders_and_nothing_else(text: str, kept: str | None) -> None:
    assert HERE.message(text) == (text if kept is None else kept)
    assert HERE.restored(HERE.message(text)) == text


def test_a_reply_is_restored_with_the_folders_of_the_run_that_replays_it() -> None:
    kept = HERE.message(f"/home/u/repo/a, {HERE_SESSION}/parent.jsonl and <<orch:state>>")
    THERE.message(f"transcript: {THERE_SESSION}/explorer-1.jsonl")
    assert THERE.restored(kept) == f"/ci/checkout/a, {THERE_SESSION}/parent.jsonl and <<orch:state>>"


HERE_SESSION = "/home/u/.local/state/orch/sessions/20261203-101112-a1b2c3"
THERE_SESSION = "/ci/home/state/sessions/20270101-000000-ffffff"


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["<<orch:", "workspace>>", "<<", ">>", "/home/u/repo", "/", "x", " ", "state", "é"])))
def test_every_text_without_a_secret_comes_back(pieces: list[str]) -> None:
    text = "".join(pieces)
    kept = HERE.message(text)
    assert HERE.restored(kept) == text
    assert HERE.message(HERE.restored(kept)) == kept


def test_the_environment_block_alone_loses_its_day_platform_and_branch() -> None:
    head = "You are it.\nDate: of the role's own\n\n# Environment\n"
    one = HERE.system(f"{head}Workspace: /home/u/repo\nPlatform: linux x86_64\nGit: branch main\nDate: 2026-12-03")
    two = THERE.system(
        f"{head}Workspace: /ci/checkout\nPlatform: darwin arm64\nGit: detached at 1a2b\nDate: 2027-01-01"
    )
    assert one == two
    assert "Date: of the role's own" in one
    assert HERE.system(one.replace("of the role", "of a role")) != HERE.system(one)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("1 failed in 0.12s", "1 failed in 3.4s"),
        ("took 0.3 s", "took 12 s"),
        ("it timed out after 300 s", "it timed out after 301 s"),
        ("Elapsed: 12ms, elapsed: 12ms", "Elapsed: 12ms, elapsed: 7ms"),
    ],
)
def test_times_that_a_tool_took_are_equal_in_results_only(one: str, two: str) -> None:
    assert HERE.result(one) == HERE.result(two)
    assert HERE.message(one) != HERE.message(two)


@pytest.mark.parametrize("text", ["3 failed in 2 files", "after 3 steps", "line 12 s", "in 30 sections", "wait 5 s"])
def test_other_figures_of_a_result_are_compared(text: str) -> None:
    assert HERE.result(text) == text


@pytest.mark.parametrize(
    "secret",
    [
        KEY,
        "hunter2-hunter2",
        "sk-proj-AbC_dEf-0123456789abcdefghijklmnop",
        "sk-ant-api03-aB3dE6gH9jK2mN5pQ8sT1vW4",
        "AKIAABCDEFGHIJ234567",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "xoxb-123456789012-abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        "-----BEGIN RSA PRIVATE KEY-----\n" + ("MIIEpAIBAAKCAQEA" * 4 + "\n") * 3 + "abcd==",
    ],
)
def test_secrets_are_masked_wherever_they_stand(secret: str) -> None:
    kept = HERE.message(f'{{"password": "{secret}"\n-----END RSA PRIVATE KEY-----')
    assert secret not in kept
    assert kept.startswith('{"password": "[key]')
    assert "MII" not in kept
    assert "abcd" not in kept
    assert HERE.has_secret(secret)


@pytest.mark.parametrize(
    "text",
    [
        "pk_orders_customer_index and sk-learn-contrib and task-management-0123456789abcdefgh",
        "the type -----BEGIN PRIVATE KEY----- is looked for in parse_pem()",
        "bearer of bad news, Bearer token",
        "hf_hub_download, npm_config_registry_of_the_user, eyJ.eyJ.x",
        "postgres://user:password@localhost/db",
    ],
)
def test_ordinary_names_are_not_masked(text: str) -> None:
    assert HERE.message(text) == text


def test_which_variables_hold_secrets() -> None:
    env = {
        "OPENAI_API_KEY": "a-long-word",
        "OLLAMA_API_KEY": "ollama",
        "MY_DB_PASSWORD": "correct-horse-7",
        "SOME_TOKEN": "lettersonlyandlong",
        "SOME_SECRET": "placeholder",
        "TLS_KEY": "/etc/ssl/private/server1.key",
        "PATH": "/usr/bin:/usr/local/bin2",
    }
    assert secret_values(env, load_providers().values()) == {"a-long-word", "correct-horse-7", "lettersonlyandlong"}
