"""The tree of agents as lines: always inside its width and height, whatever the texts are."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator import events
from orchestrator.safe_text import cell_width
from orchestrator.ui.agent_tree import AgentTree, draw
from orchestrator.ui.phrases import call_line, count, duration, money, tool_line
from orchestrator.ui.terminal import ASCII, UNICODE, Glyphs

TEXT = st.text(max_size=40)
NAME = st.sampled_from(["parent", "explorer-1", "explorer-2", "審査-3", "\x1b[31m"])
NUMBER = st.integers(0, 10**7)
COST = st.none() | st.floats(0, 1000)
EVENT = st.one_of(
    st.builds(events.AgentStarted, NAME, st.just(0.0), TEXT, st.none() | NAME, TEXT, TEXT),
    st.builds(
        events.AgentFinished, NAME, st.just(9.0), st.sampled_from(["ok", "failed"]), TEXT, NUMBER, NUMBER, NUMBER, COST
    ),
    st.builds(events.TurnStarted, NAME, st.just(1.0), NUMBER),
    st.builds(events.TurnFinished, NAME, st.just(2.0), NUMBER, NUMBER, NUMBER, COST),
    st.builds(events.Text, NAME, st.just(2.0), TEXT),
    st.builds(events.ToolStarted, NAME, st.just(3.0), TEXT, TEXT, TEXT),
    st.builds(events.ToolFinished, NAME, st.just(4.0), TEXT, TEXT, st.booleans(), TEXT, st.just(0.1)),
    st.builds(events.Retry, NAME, st.just(5.0), NUMBER, NUMBER, st.floats(0, 100), TEXT),
    st.builds(events.Progress, NAME, st.just(5.0), TEXT),
    st.builds(events.ReplyVoided, NAME, st.just(5.0), TEXT),
    st.builds(events.ToolOutput, NAME, st.just(5.0), TEXT, TEXT),
    st.builds(events.PermissionAsked, NAME, st.just(5.0), TEXT, TEXT, TEXT, st.tuples(TEXT)),
    st.builds(events.PermissionSettled, NAME, st.just(5.0), TEXT, TEXT, TEXT, TEXT, TEXT),
    st.builds(
        events.TodosChanged,
        NAME,
        st.just(5.0),
        st.lists(st.tuples(TEXT, TEXT, st.sampled_from(["pending", "in_progress", "completed"])), max_size=9).map(
            tuple
        ),
    ),
)


@settings(deadline=None)
@given(st.lists(EVENT, max_size=30), st.integers(1, 130), st.integers(1, 8), st.sampled_from([ASCII, UNICODE]))
def test_the_lines_fit_whatever_happened(happened: list[events.Event], width: int, height: int, glyphs: Glyphs) -> None:
    tree = AgentTree()
    for event in happened:
        tree.apply(event)
    lines = draw(tree, 10.0, width, height, glyphs, 0)
    assert len(lines) <= height
    for line in lines:
        text = "".join(span for span, _ in line)
        assert cell_width(text) <= width
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)


def test_parallel_tool_calls_are_counted() -> None:
    tree = AgentTree()
    for number in range(3):
        tree.apply(events.ToolStarted("a", 0.0, f"c{number}", "grep", f"pattern {number}"))
    assert tree.agents[0].doing() == "grep pattern 2 (+2)"
    tree.apply(events.ToolFinished("a", 0.0, "c2", "grep", True, "4 matches", 0.1))
    assert tree.agents[0].doing() == "grep pattern 1 (+1)"


def test_a_tool_is_named_once() -> None:
    assert tool_line("grep", "grep x in src") == "grep x in src"
    assert tool_line("grep", "x in src") == "grep x in src"
    assert tool_line("grep", "") == "grep"


def test_a_call_is_shown_by_the_values_of_its_arguments() -> None:
    assert call_line("delegate", '{"role": "explorer", "task": "find\\nit", "n": 2}') == "delegate explorer find it 2"
    assert call_line("grep", '{"pattern": "cut of') == 'grep {"pattern": "cut of'
    assert call_line("grep", "[1]") == "grep [1]"


def test_an_agent_that_waits_for_its_model_shows_its_task() -> None:
    tree = AgentTree()
    tree.apply(events.AgentStarted("a", 0.0, "explorer", None, "find it", "m"))
    tree.apply(events.ToolFinished("a", 0.0, "c", "grep", True, "4 matches", 0.1))
    tree.apply(events.TurnStarted("a", 0.0, 2))
    assert tree.agents[0].doing() == "find it"


def test_figures_read_well() -> None:
    assert [count(n) for n in (0, 999, 1000, 12_345, 999_949, 999_950, 4_500_000)] == [
        "0",
        "999",
        "1.0k",
        "12.3k",
        "999.9k",
        "1.0M",
        "4.5M",
    ]
    assert [money(usd) for usd in (None, 0.0, 0.00001, 0.0123, 0.5, 12.0)] == [
        "cost unknown",
        "$0",
        "<$0.0001",
        "$0.0123",
        "$0.50",
        "$12.00",
    ]
    assert [duration(s) for s in (-1, 0.04, 9.9, 9.96, 59.4, 59.6, 185, 3723)] == [
        "0.0 s",
        "0.0 s",
        "9.9 s",
        "10 s",
        "59 s",
        "1:00",
        "3:05",
        "1:02:03",
    ]
