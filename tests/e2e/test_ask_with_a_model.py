"""`orch ask` with a model behind it: the installed command, the real wires, sub-agents at work."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import model_flags, orch, result_of
from tests.support.model_server import ServerThread
from tests.support.running import calls, delegates, reports

FINDING = {"path": "src/auth.py", "line": 4, "quote": "def legacy_auth(user):", "kind": "definition"}
TOO_LONG = "This model's maximum context length is 8192 tokens"
TASKS = ["Find its definition.", "Find its calls.", "Find its tests."]


def three_explorers() -> dict[str, Any]:
    found = [calls("find_references", name="legacy_auth"), reports("Defined at src/auth.py:4.", FINDING)]
    called = [calls("grep", pattern="legacy_auth\\("), "It is called at src/auth.py:9."]
    none = [calls("glob", pattern="test_*.py"), reports("There are no tests.")]
    routes = [{"match": t, "turns": turns} for t, turns in zip(TASKS, (found, called, none), strict=True)]
    return {"routes": routes, "turns": [delegates(*TASKS), "Defined at `src/auth.py:4`, called at `src/auth.py:9`."]}


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_three_explorers_at_once(workspace: Path, wire: str) -> None:
    with ServerThread(three_explorers()) as server:
        run = orch("ask", "--output", "json", *model_flags(server.url, wire), "where is legacy_auth", folder=workspace)
        assert not server.failures
    assert run.returncode == 0, run.stderr
    result = result_of(run)
    assert result["schema"] == 1
    assert (result["status"], result["stop_reason"], result["error"]) == ("ok", "done", None)
    assert result["model"] == f"{wire}/scripted"
    assert [a["name"] for a in result["agents"]] == ["parent", "explorer-1", "explorer-2", "explorer-3"]
    assert [a["parent"] for a in result["agents"]] == [None, "parent", "parent", "parent"]
    assert {(c["line"], c["status"], c["agent"]) for c in result["citations"]} == {
        (4, "verified", "explorer-1"),
        (9, "verified", "explorer-2"),
    }
    assert result["usage"]["output_tokens"] == sum(a["usage"]["output_tokens"] for a in result["agents"]) > 0
    assert result["cost_usd"] is None, "the price of this model is not known, which is not 0"


def test_the_json_result_has_exactly_the_fields_of_the_contract(workspace: Path) -> None:
    result = result_of(
        orch("ask", "--model", "scout", "--output", "json", "where is legacy_auth used", folder=workspace)
    )
    assert list(result) == [
        *("schema", "session_id", "status", "stop_reason", "answer", "model", "citations", "agents", "usage"),
        *("cost_usd", "duration_s", "denied", "error"),
    ]
    assert list(result["citations"][0]) == ["path", "line", "end_line", "quote", "kind", "status", "agent"]
    assert list(result["agents"][0]) == [
        *("name", "role", "parent", "status", "stop_reason", "turns", "tool_calls", "usage", "cost_usd", "duration_s"),
    ]


def test_stream_json_ends_with_the_result(workspace: Path) -> None:
    with ServerThread(three_explorers()) as server:
        flags = model_flags(server.url)
        run = orch("ask", "--output", "stream-json", *flags, "where is legacy_auth", folder=workspace)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert lines[-1]["schema"] == 1
    assert lines[-1]["status"] == "ok"
    started = [line["agent"] for line in lines if line["type"] == "agent_started"]
    assert started == ["parent", "explorer-1", "explorer-2", "explorer-3"]


@pytest.mark.parametrize(
    ("turn", "code", "kind"),
    [
        ({"status": 401, "error": {"message": "Incorrect API key provided"}}, 1, "auth"),
        ({"status": 402, "error": {"message": "Insufficient balance"}}, 1, "payment"),
        (
            {"status": 400, "error": {"message": "This model's maximum context length is 8192 tokens"}},
            1,
            "context_too_long",
        ),
        ({"status": 429, "error": {"message": "slow down"}, "headers": {"Retry-After": "10800"}}, 75, "rate_limit"),
        ({"status": 503, "error": {"message": "overloaded"}, "headers": {"Retry-After": "10800"}}, 75, "overloaded"),
    ],
    ids=["auth", "payment", "context", "rate limit", "overloaded"],
)
def test_a_provider_that_fails(workspace: Path, turn: dict[str, Any], code: int, kind: str) -> None:
    """The exit code says whether it can pass; B122: a very long Retry-After is shown, not slept."""
    with ServerThread([turn]) as server:
        run = orch("ask", "--output", "json", *model_flags(server.url), "anything", folder=workspace)
    result = result_of(run)
    assert run.returncode == code
    assert (result["status"], result["stop_reason"], result["error"]["type"]) == ("failed", "error", kind)
    assert result["error"]["hint"]
    assert "sk-test" not in run.stdout + run.stderr


def test_the_question_from_standard_input(workspace: Path) -> None:
    run = orch(
        "ask", "--model", "scout", "--output", "json", "-", folder=workspace, stdin="where is legacy_auth defined\n"
    )
    assert result_of(run)["citations"][0]["line"] == 4


def test_nothing_is_written_in_the_workspace(workspace: Path) -> None:
    before = sorted(p.relative_to(workspace) for p in workspace.rglob("*"))
    with ServerThread(three_explorers()) as server:
        orch("ask", *model_flags(server.url), "where is legacy_auth", folder=workspace)
    assert sorted(p.relative_to(workspace) for p in workspace.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["ask", ""], "the question is empty"),
        (["ask", "-C", "/nonexistent", "x"], "cannot be opened"),
        (["ask", "--model", "opnai/gpt-5", "x"], "Did you mean `openai/gpt-5`?"),
        (["ask", "--max-turns", "0", "x"], "must be above 0"),
        (["aks", "x"], "invalid choice"),
        (
            ["ask", "--max-usd", "1", "--model", "openai/unknown-model", "--base-url", "http://localhost:1/v1", "x"],
            "price",
        ),
    ],
)
def test_wrong_usage_is_exit_code_2(workspace: Path, arguments: list[str], expected: str) -> None:
    run = orch(*arguments, folder=workspace)
    assert (run.returncode, run.stdout) == (2, "")
    assert expected in run.stderr
    assert "Traceback" not in run.stderr


def test_hooks_of_a_question_may_write(workspace: Path) -> None:
    """The kernel keeps `orch ask` from writing; where there are hooks it does not, since they run as the user."""
    home, log = Path(os.environ["ORCH_HOME"]), workspace.parent / "log"
    with ServerThread({"turns": ["Done."], "repeat": True}) as server:
        (home / "config.yaml").write_text(f'hooks: {{Stop: [{{command: "cat >> {log}"}}]}}\n')
        ran = orch("ask", *model_flags(server.url), "where", folder=workspace)
    assert ran.returncode == 0, ran.stderr
    assert '"event": "Stop"' in log.read_text() or '"event":"Stop"' in log.read_text()


def test_a_rule_that_is_wrong_is_said_before_anything_is_asked(workspace: Path) -> None:
    (Path(os.environ["ORCH_HOME"]) / "config.yaml").write_text('permissions: {allow: ["run_shel(git *)"]}\n')
    with ServerThread([]) as server:
        ran = orch("ask", *model_flags(server.url), "where", folder=workspace)
        assert server.requests == []
    assert ran.returncode == 2
    assert "run_shel" in ran.stderr
