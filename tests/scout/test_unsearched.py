"""What could not be searched is never "not there"."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.command import orch, result_of

ASK = ("ask", "--model", "scout", "--output", "json", "where is target_fn used")


def test_a_search_that_fails_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("target_fn(1)\n")
    os.mkfifo(tmp_path / ".gitignore")
    run = orch(*ASK, folder=tmp_path)
    result = result_of(run)
    assert (run.returncode, result["status"]) == (1, "failed")
    assert "The search could not be done" in result["answer"]
    assert "not found" not in result["answer"]


def test_a_file_that_was_skipped_is_named_when_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "huge.py").write_text("target_fn(1)\n" + "#" * 21_000_000)
    answer = result_of(orch(*ASK, folder=tmp_path))["answer"]
    assert "is not found in what could be searched" in answer
    assert "over 20 MB skipped" in answer
    assert "Did you mean `target_fn`" not in answer


def test_a_pipe_deeper_down_does_not_hang_the_search(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("target_fn(1)\n")
    (tmp_path / "sub").mkdir()
    os.mkfifo(tmp_path / "sub" / ".gitignore")
    run = orch(*ASK, folder=tmp_path)
    assert run.returncode == 1
    assert "the .gitignore in sub is a named pipe" in result_of(run)["answer"]
