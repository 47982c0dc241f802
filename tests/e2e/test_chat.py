"""The interactive session through its command: prompts and commands line by line, several turns, undo."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.command import model_flags, orch
from tests.support.model_server import ServerThread
from tests.support.running import calls
from tests.support.terminal import ScreenSession


def test_a_conversation_of_several_prompts_with_undo_of_the_last(workspace: Path) -> None:
    first = calls("write_file", path="first.txt", content="1\n")
    second = calls("write_file", path="second.txt", content="2\n")
    with ServerThread([first, "made the first", second, "made the second"]) as server:
        typed = "make one\nmake two\n/undo\ny\n/context\n/exit\n"
        ran = orch("chat", "--mode", "accept-edits", *model_flags(server.url), folder=workspace, stdin=typed)
        history = [message["content"] for message in server.requests[-1].body["messages"] if message["role"] == "user"]
    assert ran.returncode == 0, ran.stderr
    assert history == ["make one", "make two"]
    assert (workspace / "first.txt").exists()
    assert not (workspace / "second.txt").exists()
    assert "took back turn 2" in ran.stderr
    assert "made the first" in ran.stdout and "made the second" in ran.stdout
    assert "system prompt" in ran.stderr and "of 128,000 tokens" in ran.stderr


def test_what_cannot_be_done_is_said_and_the_session_goes_on(workspace: Path) -> None:
    typed = "/undo\n/nonsense\n/compact\nwhere is legacy_auth used\n"
    ran = orch("chat", "--model", "scout", folder=workspace, stdin=typed)
    assert ran.returncode == 0, ran.stderr
    assert "this session has changed nothing" in ran.stderr
    assert "there is no command /nonsense; /help lists what there is" in ran.stderr
    assert "there is nothing to shorten" in ran.stderr
    assert "src/auth.py:9" in ran.stdout


def test_the_scout_cannot_do_tasks_and_says_what_can(workspace: Path) -> None:
    ran = orch("run", "--model", "scout", "do it", folder=workspace)
    assert ran.returncode == 2
    assert "`orch run` needs a model" in ran.stderr


def test_orch_alone_opens_it_in_a_terminal(workspace: Path) -> None:
    argv = [sys.executable, "-c", TYPED, str(workspace)]
    with ScreenSession(argv, columns=100) as session:
        session.wait_for("/help lists the commands")
        session.type(b"where is legacy_auth used\r")
        session.wait_for("verified")
        session.type(b"\x04")
        assert session.end() == 0


TYPED = """
import os, sys
os.chdir(sys.argv[1])
os.environ.update(ORCH_MODEL="scout", HOME=sys.argv[1] + "/../home", ORCH_HOME=sys.argv[1] + "/../orch-home")
os.dup2(1, 0)
from orchestrator.cli import main
sys.exit(main([]))
"""
