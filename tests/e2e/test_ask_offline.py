"""`orch ask` with no key and no network."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.command import orch, result_of

SCOUT = ("ask", "--model", "scout")


def test_every_use_is_cited_and_verified(workspace: Path) -> None:
    result = result_of(orch(*SCOUT, "--output", "json", "where is legacy_auth used?", folder=workspace))
    assert result["status"] == "ok"
    assert [(c["path"], c["line"], c["kind"], c["status"]) for c in result["citations"]] == [
        ("src/auth.py", 4, "definition", "verified"),
        ("src/auth.py", 9, "call", "verified"),
    ]
    assert [a["role"] for a in result["agents"]] == ["parent", "explorer"]
    assert (result["cost_usd"], result["usage"]["input_tokens"]) == (0.0, 0)


def test_in_chinese(workspace: Path) -> None:
    result = result_of(orch(*SCOUT, "--output", "json", "legacy_auth 在哪里定义的？", folder=workspace))
    assert [(c["line"], c["kind"]) for c in result["citations"]] == [(4, "definition")]
    assert "定义" in result["answer"]


def test_an_unknown_name_offers_near_ones(workspace: Path) -> None:
    run = orch(*SCOUT, "--output", "json", "where is legcy_auth used", folder=workspace)
    result = result_of(run)
    assert (run.returncode, result["citations"]) == (0, [])
    assert "legacy_auth" in result["answer"]


def test_a_question_that_needs_a_model_is_not_a_success(workspace: Path) -> None:
    """Never 0 when something asked for was not done; the answer says what can be asked, and how to use a model."""
    run = orch(*SCOUT, "why is the sky blue?", folder=workspace)
    assert run.returncode == 1
    assert "where X is used" in run.stdout
    assert "orch: error: the question needs a language model" in run.stderr
    assert "OPENAI_API_KEY" in run.stderr


def test_the_first_provider_whose_key_is_set_is_chosen_else_the_scout(workspace: Path) -> None:
    doctor = orch("doctor", "--output", "json", folder=workspace)
    assert '"chosen by": "OPENAI_API_KEY is set"' in doctor.stdout
    keyless = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    assert '"model": "scout"' in orch("doctor", "--output", "json", folder=workspace, env=keyless).stdout
    assert (
        result_of(orch("ask", "--output", "json", "where is login defined", folder=workspace, env=keyless))["model"]
        == "scout"
    )


def test_flags_before_and_after_the_command(workspace: Path) -> None:
    before = orch(
        "-C", str(workspace), "--model", "scout", "--output", "json", "ask", "where is login defined", folder=Path("/")
    )
    assert [c["line"] for c in result_of(before)["citations"]] == [8]


def test_what_changed_recently(workspace: Path) -> None:
    """From the history where there is one; where there is none, that is said."""
    asked = (*SCOUT, "what changed recently around legacy_auth?")
    without = orch(*asked, folder=workspace)
    assert without.returncode == 1
    assert "What changed cannot be told: git has no history for this: fatal: not a git repository" in without.stdout
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-q", "-m", "Add the old way in"]):
        subprocess.run(["git", *arguments], cwd=workspace, check=True)
    run = orch(*asked, folder=workspace)
    assert run.returncode == 0
    assert "1 commit touched `legacy_auth`" in run.stdout
    assert "Ann: Add the old way in" in run.stdout
