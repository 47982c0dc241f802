from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.text_cut import cut_line, cut_middle


def test_short_text_is_kept_as_it_is() -> None:
    assert cut_middle("abc\n", 4) == "abc\n"
    assert cut_line("abc", 3) == "abc"


def test_the_middle_is_replaced_by_how_much_is_missing_and_how_to_see_it() -> None:
    text = "".join(f"line {number}\n" for number in range(1000))
    cut = cut_middle(text, 300, "read it with offset")
    head, mark, tail = cut.partition("[…")
    assert text.startswith(head)
    assert head.endswith("\n")
    assert cut.endswith("line 999\n")
    kept = tail.partition("]\n")[2]
    assert f"{len(text) - len(head) - len(kept):,} characters" in tail
    assert "lines left out here; read it with offset" in tail
    assert mark


def test_one_endless_line_is_cut_too() -> None:
    cut = cut_middle("a" * 10_000, 300)
    assert len(cut) < 450
    assert cut.startswith("aaa")
    assert cut.endswith("aaa")


@given(st.text(alphabet="ab\n", max_size=400), st.integers(1, 120))
def test_a_cut_text_is_never_much_longer_than_the_limit(text: str, limit: int) -> None:
    assert len(cut_middle(text, limit)) <= limit + 110


def test_a_long_line_is_shown_around_the_place_that_matters() -> None:
    """B089: an over-long line must not be replaced by a placeholder."""
    line = "x" * 5000 + "NEEDLE" + "y" * 5000
    cut = cut_line(line, 200, 5000)
    assert "NEEDLE" in cut
    assert len(cut) < 260
    before, after = cut.split("x" + "NEEDLE")[0], cut.split("NEEDLE")[1]
    assert before.startswith("[4,")
    assert after.endswith("characters]")


def test_a_cut_at_the_edges_is_marked_on_one_side_only() -> None:
    assert cut_line("a" * 300, 100, 0) == "a" * 100 + "…[200 characters]"
    assert cut_line("a" * 300, 100, 299) == "[200 characters]…" + "a" * 100
