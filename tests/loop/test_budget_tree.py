"""Money and tokens of the whole tree: set aside before a spawn, settled after, counted whatever happens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.budget import Budget, Limits
from orchestrator.messages import Usage
from tests.support.running import calls, delegates, reports, run, tool_texts

BIG = {"input_tokens": 900, "output_tokens": 100}


async def test_the_usage_of_all_agents_is_summed(workspace: Path) -> None:
    child = [{**calls("grep", pattern="auth"), "usage": BIG}, {**reports("ok"), "usage": BIG}]
    parent = [{**delegates("find it"), "usage": BIG}, {"text": "Done.", "usage": BIG}]
    ran = await run(workspace, {"routes": [{"match": "find it", "turns": child}], "turns": parent})
    assert ran.result.usage == Usage(3600, 400)
    assert [agent.usage.total for agent in ran.result.agents] == [2000, 2000]


async def test_the_tree_stops_at_its_tokens(workspace: Path) -> None:
    """A partial result and exit code 3; what a child used counts against the parent's limit."""
    child: list[Any] = [{**calls("glob", pattern=f"*.p{n}"), "usage": BIG} for n in range(9)]
    parent = [{**delegates("find it"), "usage": BIG}]
    script = {"routes": [{"match": "find it", "turns": child}], "turns": parent}
    ran = await run(workspace, script, max_tokens=5000)
    assert (ran.result.status, ran.result.stop_reason, ran.exit_code) == ("incomplete", "budget", 3)
    assert ran.agent("explorer-1").turns == 4
    assert ran.agent("explorer-1").stop_reason == "budget"
    assert "its budget was spent" in ran.result.answer


async def test_siblings_share_what_is_left(workspace: Path) -> None:
    """No child is handed more than its share, and together they get no more than there is."""
    tasks = ["alpha", "beta"]
    turns = {t: [{**calls("glob", pattern=f"{t}{n}"), "usage": BIG} for n in range(9)] for t in tasks}
    routes = [{"match": t, "turns": turns[t]} for t in tasks]
    ran = await run(workspace, {"routes": routes, "turns": [{**delegates(*tasks), "usage": BIG}]}, max_tokens=7000)
    assert [ran.agent(f"explorer-{n}").turns for n in (1, 2)] == [3, 3]


async def test_nothing_left_to_hand_out(workspace: Path) -> None:
    parent = [{**delegates("find it"), "usage": BIG}, "never asked"]
    ran = await run(workspace, parent, max_tokens=1200)
    assert len(ran.result.agents) == 1
    assert (ran.result.status, ran.result.stop_reason) == ("ok", "done")
    assert tool_texts(ran.bodies()[-1])[0].startswith("error: budget: Nothing is left")


async def test_failed_attempts_and_failed_children_count(workspace: Path) -> None:
    child = [{**calls("grep", pattern="x"), "usage": BIG}, {"status": 401, "error": {"message": "no"}}]
    parent = [{**delegates("find it"), "usage": BIG}, {"text": "Done.", "usage": BIG}]
    ran = await run(workspace, {"routes": [{"match": "find it", "turns": child}], "turns": parent})
    assert ran.agent("explorer-1").status == "failed"
    assert ran.result.usage.total == 3000


amounts = st.lists(st.integers(0, 500), max_size=6)


@given(st.integers(0, 3000), st.lists(st.tuples(st.integers(1, 800), amounts), max_size=6))
def test_no_more_is_handed_out_than_there_is(limit: int, children: list[tuple[int, list[int]]]) -> None:
    budget = Budget(Limits(tokens=limit))
    held = []
    for wanted, _ in children:
        if not budget.exhausted:
            held.append(budget.set_aside(Limits(tokens=wanted)))
    handed = sum(child.limits.tokens or 0 for child in held)
    assert handed <= limit
    for child, (_, spent) in zip(held, children, strict=False):
        for amount in spent:
            child.charge(Usage(input_tokens=amount), 0.0)
    total = budget.tokens
    for child in held:
        budget.settle(child)
    assert budget.tokens == total == sum(sum(s) for _, (_, s) in zip(held, children, strict=False))


async def test_money_is_counted_by_the_models_price(workspace: Path) -> None:
    """Two dollars a million tokens: a call of 1,000 costs 0.2 cents, and the tree stops once 1 cent is spent."""
    prices = "{input_price: 2.0, output_price: 2.0}"
    (Path(os.environ["ORCH_HOME"]) / "config.yaml").write_text(f"models:\n  openai/scripted: {prices}\n")
    turns: list[Any] = [{**calls("glob", pattern=f"*.p{n}"), "usage": BIG} for n in range(9)]
    ran = await run(workspace, turns, max_usd=0.01)
    assert (ran.result.status, ran.result.stop_reason) == ("incomplete", "budget")
    assert ran.agent("parent").turns == 5
    assert ran.result.cost_usd == pytest.approx(0.01)


async def test_a_role_has_a_budget_of_its_own(workspace: Path) -> None:
    folder = workspace / ".orch" / "roles"
    folder.mkdir(parents=True)
    role = "name: thrifty\ndescription: Thrifty.\nextends: explorer\nbudget: {tokens: 1500}\nprompt: Be thrifty.\n"
    (folder / "thrifty.yaml").write_text(role)
    child: list[Any] = [{**calls("glob", pattern=f"*.p{n}"), "usage": BIG} for n in range(9)]
    parent = [delegates("find it", role="thrifty"), "Done."]
    ran = await run(workspace, {"routes": [{"match": "find it", "turns": child}], "turns": parent})
    assert (ran.agent("thrifty-1").turns, ran.agent("thrifty-1").stop_reason) == (2, "budget")
    assert ran.result.status == "ok"


async def test_a_role_whose_price_is_unknown_is_not_used_when_money_is_limited(workspace: Path) -> None:
    (Path(os.environ["ORCH_HOME"]) / "config.yaml").write_text(
        "models:\n  openai/scripted: {input_price: 2.0, output_price: 2.0}\n"
    )
    folder = workspace / ".orch" / "roles"
    folder.mkdir(parents=True)
    role = "name: other\ndescription: Other.\nextends: explorer\nmodel: openai/unpriced\nprompt: Be other.\n"
    (folder / "other.yaml").write_text(role)
    ran = await run(workspace, [delegates("find it", role="other"), "Done."], max_usd=1.0)
    assert "the price of its model openai/unpriced is not known" in tool_texts(ran.bodies()[-1])[0]
    assert len(ran.result.agents) == 1
