"""The scout's own question set: small repositories in many languages, with right answers worked out by hand.

A row of `questions.jsonl`: `must` are places that have to be cited, `never` such as must not be; `exact` says that
there are no others, `first` which one comes first, `names` what every cited line has to hold, `says` what the answer
holds, `status` how the run ends if not `ok`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.citations import mentions
from tests.support.drive_scout import ask

HERE = Path(__file__).parent
QUESTIONS = [json.loads(row) for row in (HERE / "questions.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("row", QUESTIONS, ids=[f"{row['repo']}: {row['question']}" for row in QUESTIONS])
async def test_a_question_is_answered_right(row: dict[str, Any]) -> None:
    workspace = HERE / "repos" / row["repo"]
    result = await ask(workspace, row["question"])
    assert result.status == row.get("status", "ok"), result.error
    cited = [f"{c.path}:{c.line}" for c in result.citations]
    assert set(row["must"]) <= set(cited), result.answer
    assert not set(row.get("never", ())) & set(cited), result.answer
    if row.get("exact"):
        assert sorted(set(cited)) == sorted(row["must"]), result.answer
    if "first" in row:
        assert cited[0] == row["first"], result.answer
    for place in cited if "names" in row else ():
        assert re.search(rf"(?<![\w$]){row['names']}(?![\w$])", line_at(workspace, place)), place
    for words in row.get("says", ()):
        assert words in result.answer
    assert {c.status for c in result.citations} <= {"verified"}
    assert {f"{found.path}:{found.line}" for found in mentions(result.answer)} <= set(cited), "printed and not cited"


def line_at(workspace: Path, place: str) -> str:
    path, _, line = place.rpartition(":")
    return (workspace / path).read_text("utf-8").split("\n")[int(line) - 1]


def test_the_set_is_large_and_broad() -> None:
    """At least 60 questions, on at least 6 languages, in English and Chinese."""
    assert len(QUESTIONS) >= 60
    assert len({row["repo"] for row in QUESTIONS}) >= 6
    assert sum(bool(re.search("[\u4e00-\u9fff]", row["question"])) for row in QUESTIONS) >= 10
