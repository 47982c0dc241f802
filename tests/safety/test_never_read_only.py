"""No command that writes is ever called read-only: made from a grammar, judged, and the read-only ones run for real."""

from __future__ import annotations

import os
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.command_rules import Surroundings, judge_command
from orchestrator.sandbox import NoSandbox, open_sandbox
from tests.support.command_grammar import READS, WRITES, composed, mutated, soup
from tests.support.command_runs import Scratch

AROUND = Surroundings(Path("/work"), Path("/work"), Path("/home/u"), {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": ""})


@settings(max_examples=60)
@given(st.integers(min_value=0))
def test_a_composition_with_a_writing_part_is_never_read_only(seed: int) -> None:
    random = Random(seed)
    for _ in range(10):
        made = composed(random, 4)
        judged = judge_command(made.text, AROUND)
        assert not (made.writes and judged.level == "read-only"), made.text


@pytest.mark.parametrize("text", WRITES)
def test_each_writing_part_is_noticed_alone(text: str) -> None:
    assert judge_command(text, AROUND).level != "read-only"


def test_each_reading_part_and_most_compositions_of_them_are_read_only() -> None:
    """Else the property above would be worth nothing: a judge that always says no would have it too."""
    assert [text for text in READS if judge_command(text, AROUND).level != "read-only"] == []
    random = Random(1)
    reading = [made.text for made in (composed(random) for _ in range(300)) if not made.writes]
    passed = [text for text in reading if judge_command(text, AROUND).level == "read-only"]
    assert len(passed) > 0.75 * len(reading)


def test_the_comparison_of_trees_notices_each_writing_part(tmp_path: Path) -> None:
    """Unconfined, so that what is shown by the next test is the judge's merit, and the parts do write."""
    for number, text in enumerate(
        ("touch x", "git branch topic", "sed -i s/a/b/ a.txt", "chmod 600 a.txt", "sort -o x a.txt")
    ):
        assert Scratch(tmp_path / str(number), NoSandbox()).changed(text), text


def test_what_is_read_only_changes_nothing_when_it_is_run(tmp_path: Path) -> None:
    """`bench/soak_commands.py` does the same some thousand times."""
    scratch = Scratch(tmp_path / "scratch", open_sandbox(True, os.environ))
    random = Random(20)
    ran = 0
    while ran < 60:
        text = random.choice((mutated, soup, lambda r: composed(r).text))(random)
        if judge_command(text, scratch.surroundings).level == "read-only":
            ran += 1
            assert scratch.changed(text) == [], text


@settings(max_examples=60)
@given(st.text(max_size=80) | st.text(st.sampled_from("rm -f/ x'\"\\`$(){}[]<>|&;#!*~=\n\0"), max_size=80))
def test_no_text_makes_the_judge_fail(text: str) -> None:
    assert judge_command(text, AROUND).level in ("read-only", "writes", "unknown")


@pytest.mark.parametrize(
    "part", ["(", "$(", "((", "`", "{ ", "${a:-", '"$(', "a;", "a|", "[[ ", "a ", "\\", "{a,", "$x", "x(){"]
)
def test_long_and_deep_text_is_judged_fast(part: str) -> None:
    """A second is a generous limit for what takes some hundredths: it shows that nothing grows with the square."""
    text = (part * 65_536)[:65_536]
    judge_command("ls", AROUND)
    start = time.process_time()
    assert judge_command(text, AROUND).level == "unknown"
    assert time.process_time() - start < 1.0
