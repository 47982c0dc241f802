"""The scout as a sub-agent: real tools over real files, turn by turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.citations import mentions
from orchestrator.scouting import lookups
from orchestrator.tokens import estimate_tokens
from tests.support.drive_scout import ALL_TOOLS, explore


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A name with one definition and 6,000 uses."""
    (tmp_path / "base.py").write_text('def busy():\n    """Always asked for."""\n', "utf-8")
    for number in range(60):
        rows = "".join(f"def user_{number}_{row}():\n    busy()\n" for row in range(100))
        (tmp_path / f"user_{number:02}.py").write_text(rows, "utf-8")
    return tmp_path


async def test_every_page_is_read_and_every_place_is_a_finding(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "REFERENCES", 5000)
    explored = await explore(large, "where is busy used")
    assert len(explored.report["findings"]) == 6001
    assert [call.name for call in explored.calls] == ["find_references", "find_references", "report"]
    assert "6,000 places in 60 files" in explored.report["summary"]


async def test_thousands_of_places_come_on_one_page(large: Path) -> None:
    explored = await explore(large, "where is busy used")
    assert len(explored.report["findings"]) == 6001
    assert [call.name for call in explored.calls] == ["find_references", "report"]


async def test_a_long_answer_lists_some_places_and_counts_the_rest(large: Path) -> None:
    explored = await explore(large, "where is busy used")
    summary = explored.report["summary"]
    assert sum(bool(line) for line in summary.splitlines()) <= 40
    assert estimate_tokens(summary) <= 1900
    assert "more in" in summary
    assert {f"{found.path}:{found.line}" for found in mentions(summary)} <= explored.cited


async def test_calls_that_do_not_depend_on_each_other_go_out_together(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def one(): ...\ndef two(): ...\none(); two()\n", "utf-8")
    explored = await explore(tmp_path, "where are one and two used")
    assert [len(turn) for turn in explored.turns] == [2, 1]


async def test_no_call_is_made_twice(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def one(): ...\none()\n", "utf-8")
    explored = await explore(tmp_path, "where is one defined, used and who calls one?")
    made = [(call.name, call.arguments) for call in explored.calls]
    assert len(made) == len(set(made))


async def test_without_find_references_the_lines_are_judged_and_that_is_said(tmp_path: Path) -> None:
    """A role of the user's own may lack the tool."""
    (tmp_path / "a.py").write_text("from b import one\n# one\none()\n", "utf-8")
    (tmp_path / "b.py").write_text("def one():\n    pass\n", "utf-8")
    explored = await explore(tmp_path, "where is one used", ALL_TOOLS - {"find_references"})
    assert explored.cited == {"a.py:1", "a.py:2", "a.py:3", "b.py:1"}
    assert "The tool find_references is not offered here" in explored.report["summary"]


async def test_without_report_the_answer_is_plain_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def one(): ...\none()\n", "utf-8")
    explored = await explore(tmp_path, "who calls one", ALL_TOOLS - {"report"})
    assert "a.py:2" in explored.text


async def test_without_any_tool_it_still_answers() -> None:
    explored = await explore(Path(), "where is one used", frozenset())
    assert explored.text


async def test_an_unknown_name_cites_nothing_and_asks_back(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def convert_type(): ...\n", "utf-8")
    explored = await explore(tmp_path, "where is covert_typezq used")
    assert explored.report["findings"] == []
    assert "Did you mean `convert_type`?" in explored.report["summary"]
    assert explored.report["open_questions"]


@pytest.mark.parametrize(
    ("asked", "meant"), [("rotezq", "route"), ("nNdeszq", "nNodes"), ("user by id", "get_user_by_id")]
)
async def test_near_names_are_found_by_letters_and_by_parts(tmp_path: Path, asked: str, meant: str) -> None:
    (tmp_path / "a.py").write_text(f"def {meant}(): ...\nnodes = 1\nrotate = 2\n", "utf-8")
    explored = await explore(tmp_path, f"where is {asked} used")
    assert f"`{meant}`" in explored.report["summary"]


async def test_a_name_under_an_alias_is_mentioned(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import price as cost\ncost()\n", "utf-8")
    (tmp_path / "b.py").write_text("def price(): ...\n", "utf-8")
    explored = await explore(tmp_path, "who calls price")
    assert "under another name (`cost`" in explored.report["summary"]


async def test_uses_are_told_apart_as_far_as_imports_tell(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def render(): ...\nrender()\n", "utf-8")
    (tmp_path / "b.py").write_text("def render(): ...\n", "utf-8")
    (tmp_path / "c.py").write_text("from b import render\nrender()\n", "utf-8")
    (tmp_path / "d.py").write_text("import x\nx.render()\n", "utf-8")
    summary = (await explore(tmp_path, "where is render used")).report["summary"]
    assert "1 of the uses belong to a.py:1, 2 of the uses belong to b.py:1, 1 cannot be told apart" in summary


async def test_a_word_of_plain_english_is_said_to_be_one(tmp_path: Path) -> None:
    text = "def style(): ...\nstyle()\n" + "# the style of this\n" * 5
    (tmp_path / "a.py").write_text(text, "utf-8")
    summary = (await explore(tmp_path, "where is style used")).report["summary"]
    assert "also a plain word" in summary


async def test_uses_in_tests_alone_are_said_to_be_such(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def lonely(): ...\n", "utf-8")
    (tmp_path / "test_a.py").write_text("from a import lonely\nlonely()\n", "utf-8")
    assert "All its uses are in tests." in (await explore(tmp_path, "where is lonely used")).report["summary"]
    assert "Only in tests" in (await explore(tmp_path, "is lonely used at all?")).report["summary"]


async def test_a_question_out_of_reach_shows_what_its_words_may_mean(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def prompt_user(): ...\ndef other(): ...\n", "utf-8")
    explored = await explore(tmp_path, "how could I make the prompts nicer?")
    assert explored.cited == {"a.py:1"}
    summary = explored.report["summary"]
    assert "needs a language model" in summary
    assert "where X is used, defined, called" in summary
    assert "orch doctor" in summary
    assert explored.report["open_questions"] == ["Not answered: how could I make the prompts nicer?"]
