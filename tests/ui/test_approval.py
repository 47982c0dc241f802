"""Permission questions on a real pseudo terminal: what the user sees, what counts as an answer, and what is left."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.terminal import ROOT, ScreenSession

PUSH = {
    "lines": ["git push origin main"],
    "why": ["`git push origin main`: it sends commits away", "it wants the network"],
    "pattern": "run_shell(git push *)",
}
DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n"


PROMPT = re.compile(rb"/r(?:/v)?\? |(?<!The )rule: |why not\? ")


class Asking(ScreenSession):
    """The question source, started and told to ask."""

    def __init__(
        self,
        *requests: Mapping[str, Any],
        live: bool = False,
        typed_before: bytes = b"",
        columns: int = 80,
        rows: int = 40,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._answered = 0
        given = json.dumps({"requests": requests or [PUSH], "live": live})
        super().__init__([sys.executable, "-m", "tests.support.question_source", given], columns, rows, env)
        self.wait_for("ready")
        if live:
            self.wait_for("parent")
        if typed_before:
            self.type(typed_before)
        self._tell("ask")

    def __enter__(self) -> Asking:
        return self

    def _tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def cancel(self) -> None:
        self._tell("cancel")

    def type_lines(self, *lines: str) -> None:
        """Type each of `lines` once the prompt for it stands there."""
        for line in lines:
            self._answered += 1
            self.wait_for(lambda: len(PROMPT.findall(self.raw)) >= self._answered)
            self.type(line.encode() + b"\n")

    def answer(self, *lines: str) -> list[str]:
        """Answer the only question; gives the reply: choice, reason, pattern, by."""
        self.type_lines(*lines)
        self.wait_for("beats:")
        (reply,) = self.replies()
        return reply

    def replies(self) -> list[list[str]]:
        """All replies so far, also those that have scrolled away."""
        shown = self.raw.decode().replace("\r\n", "")
        return [json.loads(part[: part.index("]") + 1]) for part in shown.split("reply: ")[1:]]


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_who_asks_what_exactly_why_and_what_always_would_mean() -> None:
    with Asking({**PUSH, "lines": ["git push origin main", "rm -r build"]}) as session:
        session.wait_for("y/a/n/r?")
        assert session.lines[session.lines.index("explorer-1 (explorer) wants to run:") :] == [
            "explorer-1 (explorer) wants to run:",
            "task: look round",
            "  git push origin main",
            "  rm -r build",
            "why: `git push origin main`: it sends commits away",
            "why: it wants the network",
            "  y yes, this once",
            "  a always here, by a rule that you can edit: run_shell(git push *)",
            "  n no",
            "  r no, and say why",
            "y/a/n/r?",
        ]


def test_what_cannot_be_allowed_for_always_is_not_offered_for_always() -> None:
    with Asking({**PUSH, "pattern": ""}) as session:
        session.wait_for("y/n/r?")
        assert "always" not in session.text
        assert session.answer("a", "y") == ["once", "", "", "user"]
        assert "only once" in session.text


def test_an_edit_is_shown_as_its_diff_in_colour() -> None:
    with Asking({"tool": "edit_file", "lines": ["change x.py"], "diff": DIFF}) as session:
        session.wait_for("y/n/r?")
        assert "explorer-1 (explorer) wants to change files:" in session.text
        assert [row for row in session.lines if row[:1] in "+-@ "][-6:-3] == ["-old", "+new", " same"]
        at = session.lines.index("+new")
        assert session.screen.buffer[at][0].fg == "green"
        assert session.screen.buffer[at - 1][0].fg == "red"


def test_a_long_diff_is_cut_until_it_is_asked_for() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -0,0 +1,60 @@\n" + "".join(f"+line {n}\n" for n in range(60))
    with Asking(
        {"tool": "edit_file", "lines": ["change x"], "diff": diff, "pattern": "edit_file(x)"}, rows=24
    ) as session:
        session.wait_for("y/a/n/r/v?")
        assert "53 more lines (v to view all)" in session.text
        assert "line 59" not in session.text
        session.type_lines("v")
        session.wait_for("line 59")
        assert session.answer("y")[0] == "once"
        assert all(f"+line {n}\x1b[0m" in session.raw.decode() for n in range(60))


@pytest.mark.parametrize("columns", [20, 33])
def test_a_narrow_terminal_shows_all_of_a_command(columns: int) -> None:
    command = "printf '%s' " + "".join(f"{n:03}你" for n in range(20))
    with Asking({**PUSH, "lines": [command]}, columns=columns) as session:
        session.wait_for("y/a/n/r?")
        body = "".join(
            line.strip("\n")[2:].removeprefix("  ") for line in session.lines if re.match("  ( |print)", line)
        )
        for n in range(20):
            assert f"{n:03}你" in body.replace(" ", "")
        assert session.answer("n")[0] == "no"


HOSTILE = "echo \x1b[2K\x1b[1Ay\x1b]0;t\x07 \u202egnp.exe\u200b \x9b2J \r ok\u3164"


def test_nothing_that_comes_from_a_model_reaches_the_terminal_raw_or_unseen() -> None:
    request = {"lines": [HOSTILE], "why": [HOSTILE], "task": HOSTILE, "agent": HOSTILE, "diff": f"+{HOSTILE}\n"}
    with Asking({**request, "pattern": "run_shell(x)"}, columns=120) as session:
        session.wait_for("y/a/n/r?")
        shown = session.raw.decode()
        assert re.sub(r"\x1b\[\d+m", "", shown).count("\x1b") == 0
        for raw in ("\u202e", "\u200b", "\x9b", "\x07", "\u3164"):
            assert raw not in shown
            assert f"<U+{ord(raw):04X}>" in session.text
        assert "<U+001B>[2K" in session.text
        assert "<U+000D>" in session.text


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_no_colour_where_there_is_none(env: Mapping[str, str]) -> None:
    with Asking({"tool": "edit_file", "lines": ["change x.py"], "diff": DIFF}, env=env) as session:
        session.wait_for("y/n/r?")
        codes = set(re.findall(rb"\x1b\[(\d+)m", session.raw))
        assert codes == (set() if env.get("TERM") else {b"0", b"1", b"2"})
        assert session.answer("y")[0] == "once"


def test_the_encoding_of_the_terminal_is_kept_to() -> None:
    with Asking({**PUSH, "lines": ["echo é…"]}, env={"PYTHONIOENCODING": "ascii", "LANG": "C"}) as session:
        assert session.answer("y")[0] == "once"
        assert all(byte < 0x80 for byte in session.raw)


# --- what counts -----------------------------------------------------------------------------------------------------


ANSWERS: list[tuple[list[str], list[str]]] = [
    (["y"], ["once", "", ""]),
    (["  yes "], ["once", "", ""]),
    (["n"], ["no", "", ""]),
    (["no use the other file"], ["no", "use the other file", ""]),
    (["r", "use the other file"], ["no", "use the other file", ""]),
    (["N", "later"], ["no", "later", ""]),
    (["r", ""], ["no", "", ""]),
    (["a", ""], ["always", "", "run_shell(git push *)"]),
    (["e", "run_shell(git push origin *)"], ["always", "", "run_shell(git push origin *)"]),
    (["a", "n", "y"], ["once", "", ""]),
    (["", "   ", "yy", "y please", "ok", "\x1b", "ÿ", "n"], ["no", "", ""]),
    (["a", "git push", "run_shell()", "edit_file(x)", "run_shell(git push)"], ["always", "", "run_shell(git push)"]),
]


def test_answers() -> None:
    """Enter alone and whatever is none of the answers asks again; so does a rule that is none, and says why."""
    with Asking(*[PUSH for _ in ANSWERS], rows=200) as session:
        for typed, _ in ANSWERS:
            session.type_lines(*typed)
        session.wait_for("beats:")
        assert session.replies() == [[*reply, "user"] for _, reply in ANSWERS]
        shown = session.raw.decode()
        assert shown.count("Enter alone is no answer.") == 2
        assert shown.count("That is none of the answers.") == 5
        for why in ("a rule is TOOL or TOOL(pattern)", "nothing stands in the brackets", "a rule for run_shell"):
            assert why in shown.replace("\r\n", "")


@pytest.mark.parametrize("live", [False, True])
def test_what_was_typed_before_the_question_is_no_answer(live: bool) -> None:
    with Asking(live=live, typed_before=b"y\ny") as session:
        assert session.answer("n") == ["no", "", "", "user"]
        assert session.echo


def test_the_end_of_input_is_a_no() -> None:
    with Asking() as session:
        session.wait_for("y/a/n/r?")
        session.type(b"\x04")
        session.wait_for("beats:")
        assert session.replies() == [["no", "the input ended before there was an answer", "", "user"]]


def test_half_an_answer_at_the_end_of_input_is_a_no_too() -> None:
    with Asking() as session:
        session.wait_for("y/a/n/r?")
        session.type(b"y\x04\x04")
        session.wait_for("beats:")
        assert session.replies()[0][0] == "no"


def test_b160_no_terminal_at_all_is_a_no() -> None:
    """Where standard input is empty, closed or a file, there is an answer and no traceback."""
    code = """
import asyncio, sys
from contextlib import nullcontext
from tests.support.question_source import request_from
from orchestrator.ui.approval import TerminalApprover
print(asyncio.run(TerminalApprover(sys.stdin, sys.stderr, nullcontext).ask(request_from({}))).choice)
"""
    for shell in ('exec "$0" -c "$1" < /dev/null', 'exec "$0" -c "$1" <&-', 'printf y | "$0" -c "$1"'):
        done = subprocess.run(
            ["sh", "-c", shell, sys.executable, code], capture_output=True, text=True, check=False, cwd=ROOT, timeout=60
        )
        assert (done.returncode, done.stdout) == (0, "no\n"), done.stderr


# --- several, and none any more --------------------------------------------------------------------------------------


def test_b016_questions_of_parallel_children_come_one_by_one_each_with_its_agent() -> None:
    second = {**PUSH, "agent": "explorer-2", "lines": ["make"]}
    with Asking(PUSH, second) as session:
        session.wait_for("y/a/n/r?")
        assert "explorer-2" not in session.text
        session.type_lines("y")
        session.wait_for("explorer-2 (explorer) wants to run:")
        session.type_lines("n")
        session.wait_for("beats:")
        assert [reply[0] for reply in session.replies()] == ["once", "no"]


@pytest.mark.parametrize(("live", "by_key"), [(True, True), (False, False)])
def test_b017_an_abort_clears_every_question_and_leaves_the_terminal_as_it_was(live: bool, by_key: bool) -> None:
    """The keyboard stays with the event loop: Ctrl+C works in the middle of a question of a child."""
    with Asking(PUSH, PUSH, live=live) as session:
        session.wait_for("y/a/n/r?")
        assert session.echo
        session.type(b"y")
        if by_key:
            session.type(b"\x03")
        else:
            session.cancel()
        assert session.end() == 0
        assert "cancelled" in session.text
        assert "beats: yes" in session.text
        assert session.replies() == []
        assert session.text.count("wants to run") == 1
        assert session.echo


def test_the_live_view_goes_on_after_the_answer() -> None:
    with Asking(PUSH, live=True) as session:
        assert session.answer("y")[0] == "once"
        assert session.end() == 0
        assert session.echo
        assert not session.screen.cursor.hidden


def test_the_settings_of_the_terminal_are_those_from_before() -> None:
    import termios

    with Asking() as session:
        session.wait_for("y/a/n/r?")
        before = termios.tcgetattr(session._slave)
        assert session.answer("y")[0] == "once"
        assert session.end() == 0
        assert termios.tcgetattr(session._slave) == before
