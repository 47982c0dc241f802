"""The live view on an emulated terminal: what a person sees while a run goes on, and that nothing of it stays."""

from __future__ import annotations

import re
import signal
import time

import pytest

from tests.support.run_events import RUN, Data, event, finished, notice, result, started
from tests.support.terminal import EVENT_SOURCE, ScreenSession, watch_events

WIDTHS = [20, 40, 80, 120]
TREE = re.compile("[├└⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")


def assert_clean(session: ScreenSession) -> None:
    """Nothing of the tree is left and the terminal is usable."""
    assert not TREE.search(session.text), session.text
    assert not session.screen.cursor.hidden
    assert session.echo


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_tree_is_shown_and_disappears_into_the_answer(columns: int) -> None:
    with watch_events(columns=columns) as session:
        session.send(*RUN[:6])
        session.wait_for("explorer-1")
        assert "parent" in session.lines[0]
        session.send(result("The answer."))
        assert session.end() == 0
        assert session.lines[0] == "The answer."
        assert session.lines[1].startswith("orch: scout,")
        assert_clean(session)


def test_every_agent_has_its_task_turns_tokens_money_and_time() -> None:
    with watch_events(columns=100) as session:
        session.send(*RUN[:6])
        session.wait_for('grep "legacy_auth" in src')
        parent, child, total = session.lines
        assert re.fullmatch(r"\S parent Let me look\. +\$0\.0200 · turn 1 · 1\.2k tokens · \d+(\.\d)? s", parent)
        assert re.fullmatch(r' └ \S explorer-1 grep "legacy_auth" in src +\d+(\.\d)? s', child)
        assert total.startswith("2 of 2 agents running · 1.2k tokens · $0.0200 · ")
        session.send(*RUN[6:])
        session.wait_for("0 of 2 agents running")
        assert re.fullmatch(r" └ ✓ explorer-1 done +\$0\.0100 · 2 turns · 4\.0k tokens · 1\.0 s", session.lines[1])


@pytest.mark.parametrize("columns", WIDTHS)
def test_no_line_of_the_tree_wraps(columns: int) -> None:
    """B163"""
    with watch_events(columns=columns, rows=12) as session:
        session.send(
            started(task="你好世界" * 50),
            started("explorer-1", "parent", "e\u0301" * 200),
            started("reviewer-1", "parent"),
        )
        session.wait_for("reviewer-1")
        assert len(session.lines) == 4


def test_an_unknown_price_is_never_shown_as_zero() -> None:
    """B184"""
    with watch_events() as session:
        session.send(started(), event("turn_finished", turn=1, input_tokens=5, output_tokens=5, cost_usd=None))
        session.wait_for("cost unknown")


def test_a_retry_is_shown_until_it_is_over() -> None:
    with watch_events() as session:
        session.send(started(), event("retry", attempt=2, attempts=5, delay_s=3.0, reason="rate limited"))
        session.wait_for("attempt 2 of 5 failed, the next in 3.0 s: rate limited")
        session.send(event("text", text="Better now"))
        session.wait_for("Better now")
        assert "rate limited" not in session.text


def test_voided_text_is_taken_back() -> None:
    with watch_events() as session:
        session.send(started(), event("text", text="half a sen"))
        session.wait_for("half a sen")
        session.send(event("reply_voided", reason="the connection broke"))
        session.wait_for("asking again: the connection broke")
        assert "half a sen" not in session.text


def test_notices_stay_above_the_answer() -> None:
    with watch_events() as session:
        session.send(*RUN[:6], notice("the index is stale", hint="run it again"))
        session.wait_for("hint: run it again")
        session.wait_for("explorer-1")
        session.send(result("The answer."))
        session.end()
        assert session.lines[:3] == ["orch: warning: the index is stale", "  hint: run it again", "The answer."]
        assert_clean(session)


def test_many_agents_fit_on_a_low_screen() -> None:
    children = [f"explorer-{number}" for number in range(1, 65)]
    with watch_events(rows=10) as session:
        session.send(notice("above"), started(), *(started(child, "parent") for child in children))
        session.send(*(finished(child) for child in children[:40]))
        session.wait_for("25 of 65 agents running")
        session.wait_for(" └ 58 more: 18 running, 40 finished")
        assert "explorer-41" in session.text and "explorer-1 " not in session.text
        assert len(session.lines) <= 10
        session.send(result("The answer."))
        session.end()
        assert session.lines[:2] == ["orch: warning: above", "The answer."]


@pytest.mark.parametrize(("columns", "rows"), [(20, 24), (30, 6), (120, 40)])
def test_a_resize_leaves_nothing_behind(columns: int, rows: int) -> None:
    with watch_events(columns=80, rows=24) as session:
        session.send(*RUN[:6])
        session.wait_for("explorer-1")
        session.resize(columns, rows)
        session.send(started("reviewer-7", "parent"))
        session.wait_for("reviewer-7")
        session.send(result("The answer."))
        session.end()
        assert session.lines[0] == "The answer."
        assert_clean(session)


def test_a_bug_leaves_a_clean_screen() -> None:
    with watch_events() as session:
        session.send(*RUN[:6])
        session.wait_for("explorer-1")
        session.send({"type": "crash"})
        assert session.end() == 1
        assert session.lines[0].startswith("Traceback")
        assert_clean(session)


def test_an_interrupt_leaves_a_clean_screen() -> None:
    with watch_events() as session:
        session.send(*RUN[:6])
        session.wait_for("explorer-1")
        session.type(b"\x03")
        assert session.end() == -signal.SIGINT
        assert session.lines[0].startswith("Traceback")  # of the event source, which does not handle it
        assert "^C" not in session.text
        assert_clean(session)


def test_what_is_typed_meanwhile_does_not_disturb_the_screen() -> None:
    with watch_events() as session:
        session.send(*RUN[:6])
        session.wait_for("explorer-1")
        session.type(b"typed\r\r\r")
        session.send(started("reviewer-1", "parent"))
        session.wait_for("reviewer-1")
        session.send(result("The answer."))
        session.end()
        assert session.lines[0] == "The answer."
        assert "typed" not in session.text


def test_a_question_has_the_screen_and_the_keyboard_to_itself() -> None:
    """B017: what was typed before the question was there does not answer it."""
    with watch_events() as session:
        session.send(*RUN[:6])
        session.wait_for("explorer-1")
        session.type(b"y\r")
        session.send({"type": "ask", "question": "Really? "}, started("reviewer-1", "parent"))
        session.wait_for("Really?")
        assert_clean(session)
        assert session.process.poll() is None and "reviewer-1" not in session.text
        session.type(b"n\r")
        session.wait_for("reviewer-1")
        assert session.lines[0] == "Really? n"


def test_redraws_are_at_most_ten_a_second() -> None:
    frame = b"\x1b[?25l"
    with watch_events() as session:
        session.send(started(), *(event("text", text=f"word {number}\n") for number in range(3000)))
        session.wait_for(lambda: frame in session.raw)
        begin = time.monotonic()
        session.wait_for(lambda: session.raw.count(frame) > 6)
        assert time.monotonic() - begin >= 0.5
        assert "word 2999" in session.text


def test_a_frame_shows_the_cursor_again() -> None:
    """Even a killed process leaves the cursor on."""
    with watch_events() as session:
        session.send(*RUN[:6])
        session.wait_for("explorer-1")
        session.process.kill()
        session.end()
        assert not session.screen.cursor.hidden
        assert pytest.approx(session.raw.count(b"\x1b[?25l")) == session.raw.count(b"\x1b[?25h")


def test_markup_and_control_in_names_and_texts_are_only_text() -> None:
    """B155, B157"""
    hostile = "[bold]x[/bold] [b + \x1b]0;owned\x07\x1b[2J\x9b31m"
    with watch_events(columns=120) as session:
        session.send(started("ev\x1b[31mil", task=hostile))
        session.wait_for("evil [bold]x[/bold] [b +")
        session.send(
            event("tool_started", "ev\x1b[31mil", call_id="1", tool="gr\x1b[2Jep", summary=hostile),
            notice(hostile),
            event("text", "other", text="\x1b]0;ow"),
            event("text", "other", text="ned\x07[i]fine"),
        )
        session.wait_for("grep [bold]x[/bold] [b +")
        session.wait_for("orch: warning: [bold]x[/bold] [b +")
        session.wait_for("other [i]fine")
        assert b"owned" not in session.raw and b"\x1b[2J" not in session.raw and "\x9b".encode() not in session.raw


def test_colours_are_left_out_on_request() -> None:
    colour = re.compile(rb"\x1b\[[0-9;]*(?:3[0-9]|4[0-9]|9[0-9])[0-9;]*m")
    with watch_events() as session:
        session.send(*RUN)
        session.wait_for("explorer-1")
        assert colour.search(session.raw)
    with watch_events(env={"NO_COLOR": "1"}) as session:
        session.send(*RUN)
        session.wait_for("explorer-1")
        session.send(result("# Title\n\nwith `code`"))
        session.end()
        assert not colour.search(session.raw)


def test_a_dumb_terminal_gets_plain_lines() -> None:
    with watch_events(env={"TERM": "dumb"}) as session:
        session.send(*RUN, result("The *answer*."))
        assert session.end() == 0
        assert b"\x1b" not in session.raw
        assert session.lines[0] == "parent: started (parent, scout) where is legacy_auth used"
        assert "explorer-1: ✓ grep 2 matches (0.1 s)" in session.lines
        assert "The *answer*." in session.lines


def test_verbose_writes_a_log_that_stays() -> None:
    with watch_events("--verbose") as session:
        session.send(*RUN, result("The answer."))
        session.end()
        assert "explorer-1: ok (done), 2 turns, 3 tool calls, 4.0k tokens, $0.0100" in session.lines
        assert "The answer." in session.lines


def test_quiet_shows_the_answer_only() -> None:
    with watch_events("--quiet") as session:
        session.send(*RUN, notice("not needed"), result("The answer."))
        session.end()
        assert session.lines == ["The answer."]


def test_json_on_a_terminal_has_no_view() -> None:
    with watch_events("--output", "json", columns=500) as session:
        session.send(*RUN, result("The answer."))
        session.end()
        assert session.lines[0].startswith('{"schema":1,')
        assert b"\x1b" not in session.raw


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_poor_encoding_gets_poorer_glyphs(encoding: str) -> None:
    """B161"""
    with watch_events(env={"PYTHONIOENCODING": encoding}) as session:
        session.send(*RUN[:6])
        session.wait_for("explorer-1")
        assert re.fullmatch(r' ` [-|/\\] explorer-1 grep "legacy_auth" in src .*', session.lines[1])
        session.send(result("- one\n- 你好"))
        assert session.end() == 0
        assert session.lines[:2] == [" * one", " * ??"]


def test_nothing_is_drawn_in_the_background() -> None:
    in_background = ["bash", "-mc", '"$@" & wait $!', "bash", *EVENT_SOURCE]
    with ScreenSession(in_background) as session:
        session.send(*RUN[:6])
        until = time.monotonic() + 0.6  # several frames
        session.wait_for(lambda: time.monotonic() > until)
        assert not TREE.search(session.text)
        session.send(result("The answer."))
        assert session.end() == 0
        assert "The answer." in session.text


def test_progress_of_a_slow_step_is_shown() -> None:
    steps: list[Data] = [event("progress", "parent", text=f"indexing {count} of 900 files") for count in (100, 200)]
    with watch_events() as session:
        session.send(started(), *steps)
        session.wait_for("indexing 200 of 900 files")
        assert "indexing 100" not in session.text


def test_progress_of_a_running_tool_stands_beside_it_until_it_ends() -> None:
    call: Data = {"call_id": "c1", "tool": "find_references"}
    with watch_events() as session:
        session.send(started(), event("tool_started", "parent", **call, summary='{"name": "key"}'))
        session.send(event("progress", "parent", text="read 300 of 900 files"))
        session.wait_for(lambda: "find_references" in session.text and ": read 300 of 900 files" in session.text)
        session.send(event("tool_finished", "parent", **call, ok=True, summary="3 places", duration_s=1.0))
        session.wait_for("3 places")


def todos(*items: tuple[str, str, str]) -> Data:
    return event("todos_changed", items=[list(item) for item in items])


def test_what_is_to_do_is_shown_under_the_agents() -> None:
    items = [
        ("Find the callers", "Finding the callers", "completed"),
        ("Change them", "Changing them", "in_progress"),
        ("Run the tests", "Running the tests", "pending"),
    ]
    with watch_events(columns=60) as session:
        session.send(started(), todos(*items))
        session.wait_for("Changing them")
        assert session.lines[1:] == ["   ✓ Find the callers", "   ▸ Changing them", "   · Run the tests"]
        session.send(todos(*items[:1], ("Change them", "Changing them", "completed"), items[2]))
        session.wait_for("✓ Change them")


def test_a_long_list_shows_what_comes_next() -> None:
    items = [(f"Step {n}", f"Doing {n}", "completed" if n < 7 else "pending") for n in range(12)]
    with watch_events(columns=60) as session:
        session.send(started(), todos(*items))
        session.wait_for("7 of 12 done")
        assert "Step 6" in session.text
        assert "Step 7" in session.text
        assert "Step 2" not in session.text


def test_the_newest_line_of_a_running_command_stands_beside_it() -> None:
    with watch_events(columns=80) as session:
        session.send(
            started(),
            event("tool_started", call_id="c1", tool="run_shell", summary='{"command": "pytest"}'),
            event("tool_output", call_id="c1", text="collected 9 items\ntest_a.py ....\x1b[31m\n"),
        )
        session.wait_for("run_shell pytest: test_a.py ....")


def test_an_agent_that_asks_says_so_until_it_is_answered() -> None:
    with watch_events(columns=80) as session:
        session.send(
            started(),
            event("tool_started", call_id="c1", tool="run_shell", summary='{"command": "make"}'),
            event("permission_asked", call_id="c1", tool="run_shell", summary="make", why=["it is not known"]),
        )
        session.wait_for("↻ parent asks: run_shell make")
        session.send(event("permission_settled", call_id="c1", tool="run_shell", decision="once", by="user", reason=""))
        session.wait_for("parent run_shell make")
