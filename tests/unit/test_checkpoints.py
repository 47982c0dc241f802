"""What is kept of files before edits and commands change them: on real files, in real git work trees."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.checkpoint_history import read_history
from orchestrator.checkpoint_store import CheckpointStore, StoreInUse
from orchestrator.checkpoints import Checkpoints
from orchestrator.errors import ToolError
from orchestrator.file_states import Change, DamagedRecord, safe_path, state_from_json
from orchestrator.tree_files import Swapped, TreeFiles
from tests.support.changing import ChangingSession, git, whole_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with committed, changed, untracked and ignored files."""
    root = tmp_path / "repo"
    (root / "pkg" / "deep").mkdir(parents=True)
    (root / "pkg" / "a.py").write_bytes(b"a = 1\n")
    (root / "pkg" / "deep" / "b.bin").write_bytes(b"\0\1\2\xff")
    (root / "run.sh").write_bytes(b"#!/bin/sh\r\necho hi\r\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("pkg/a.py")
    (root / ".gitignore").write_bytes(b"*.log\nbuild/\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    (root / "pkg" / "a.py").write_bytes(b"a = 1  # not committed\n")
    (root / "notes.txt").write_bytes(b"untracked\n")
    (root / "debug.log").write_bytes(b"ignored\n")
    return root


@pytest.fixture
def session(tmp_path: Path, root: Path) -> Iterator[ChangingSession]:
    session = ChangingSession(tmp_path / "home", root)
    yield session
    session.end()


def recorded(session: ChangingSession) -> list[Change]:
    return [change for turn in read_history(CheckpointStore(session.folder)).done for change in turn.changes]


def kinds(session: ChangingSession) -> list[tuple[str, str, str]]:
    return [(c.path, c.before.kind, c.after.kind if c.after else "?") for c in recorded(session)]


# --- edits -----------------------------------------------------------------------------------------------------------


def test_an_edit_keeps_bytes_and_mode_and_nothing_is_made_before_it(session: ChangingSession) -> None:
    assert not session.places.state.exists()
    session.write("run.sh", b"new")
    (change,) = recorded(session)
    assert change.before.mode == 0o755
    assert CheckpointStore(session.folder).content(change.before.sha) == b"#!/bin/sh\r\necho hi\r\n"
    assert change.after is not None
    assert CheckpointStore(session.folder).content(change.after.sha) == b"new"
    assert (change.agent, change.how) == ("parent", "edit")


def test_everything_that_is_kept_is_private(session: ChangingSession) -> None:
    session.write("run.sh", b"new")
    for path in [session.folder, *session.folder.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_the_index_names_the_former_content_before_the_file_changes(session: ChangingSession) -> None:
    token = session.checkpoints.begin("parent", ["run.sh"])
    (change,) = recorded(session)
    assert change.after is None
    assert CheckpointStore(session.folder).content(change.before.sha) == (session.root / "run.sh").read_bytes()
    session.checkpoints.abandon(token)
    assert recorded(session) == []


def test_an_edit_is_refused_when_nothing_can_be_kept(session: ChangingSession, root: Path) -> None:
    session.places.state.parent.mkdir(exist_ok=True)
    session.places.state.write_text("a file stands where the state belongs")
    with pytest.raises(ToolError, match="nothing was changed") as failure:
        session.checkpoints.begin("parent", ["run.sh"])
    assert failure.value.code == "disk"


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a//b", ""])
def test_no_path_leads_out(session: ChangingSession, path: str) -> None:
    with pytest.raises(ToolError, match=r"workspace|path"):
        session.checkpoints.begin("parent", [path])


def test_names_that_are_shown_with_escapes_are_the_files_they_stand_for(session: ChangingSession, root: Path) -> None:
    name = os.fsdecode(b"odd\xff\n.txt")
    (root / name).write_bytes(b"one")
    session.edit(["odd\\xff\\n.txt"], lambda: (root / name).write_bytes(b"two"))
    (change,) = recorded(session)
    assert change.path == name
    assert session.undo().exit_code == 0
    assert (root / name).read_bytes() == b"one"


def test_two_processes_never_write_one_session(session: ChangingSession) -> None:
    session.write("run.sh", b"new")
    with pytest.raises(StoreInUse):
        CheckpointStore(session.folder).lock()
    other = Checkpoints(session.folder, session.root, shadow=session.places.cache / "shadow", notice=lambda *told: None)
    with pytest.raises(ToolError, match="another process"):
        other.begin("parent", ["run.sh"])


# --- the store after a crash -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("torn", [b'{"type":"beg', b'{"type":"end"}', b"\0\0\0\0", b"[1]", b'"\xff'])
def test_a_torn_last_line_is_left_out_and_the_next_stands_on_its_own(session: ChangingSession, torn: bytes) -> None:
    session.write("run.sh", b"one")
    session.end()
    with (session.folder / "index.jsonl").open("ab") as file:
        file.write(torn if torn != b'{"type":"end"}' else torn[:-1])
    again = ChangingSession(session.places.state.parent, session.root)
    again.write("run.sh", b"two")
    assert [c.after.size for c in recorded(again) if c.after] == [3, 3]
    again.end()


def test_a_killed_process_leaves_an_index_that_can_be_undone(session: ChangingSession, root: Path) -> None:
    """Killed between the change and the line that says it is done."""
    script = """
import os, signal, sys
from pathlib import Path
from orchestrator.checkpoints import Checkpoints
folder, root, shadow = map(Path, sys.argv[1:])
checkpoints = Checkpoints(folder, root, shadow=shadow, notice=print)
checkpoints.begin("parent", ["run.sh", "notes.txt"])
(root / "run.sh").write_bytes(b"half done")
os.kill(os.getpid(), signal.SIGKILL)
"""
    before = whole_tree(root)
    arguments = [str(session.folder), str(root), str(session.places.cache / "shadow")]
    done = subprocess.run([sys.executable, "-c", script, *arguments], check=False)
    assert done.returncode == -9
    output = session.undo()
    assert output.exit_code == 0
    assert "the session ended while it wrote run.sh" in output.text
    assert whole_tree(root) == before


def test_damaged_content_is_noticed(session: ChangingSession, root: Path) -> None:
    session.write("run.sh", b"new")
    (change,) = recorded(session)
    blob = session.folder / "blobs" / change.before.sha[:2] / change.before.sha
    blob.write_bytes(b"x" * change.before.size)
    with pytest.raises(DamagedRecord, match="damaged"):
        CheckpointStore(session.folder).content(change.before.sha)


@pytest.mark.parametrize("bad", ["../out", "/abs", "a/./b", "a/../../b", "", "a\0b", 3, None, "a//b", "..", "."])
def test_a_path_of_the_index_must_lead_straight_down(bad: object) -> None:
    with pytest.raises(DamagedRecord):
        safe_path(bad)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        {"kind": "device"},
        {"kind": "file", "sha": "../../etc/passwd"},
        {"kind": "file", "sha": "A" * 64},
        {"kind": "file", "sha": "a" * 64, "mode": "0644"},
        {"kind": "file", "sha": "a" * 64, "mode": 1 << 20},
        {"kind": "file", "sha": "a" * 64, "surprise": 1},
        {"kind": "file"},
        {"kind": "link", "target": "a\0b"},
    ],
)
def test_a_state_of_the_index_must_be_one(bad: object) -> None:
    with pytest.raises(DamagedRecord):
        state_from_json(bad)


# --- commands --------------------------------------------------------------------------------------------------------


async def test_what_a_command_changes_is_found(session: ChangingSession, root: Path) -> None:
    changed = await session.shell(
        "echo 2 >> pkg/a.py; rm notes.txt; chmod 600 run.sh; mkdir -p new/empty new/sub; echo x > new/sub/c;"
        "ln -sf run.sh link; rm -r pkg/deep; echo more >> debug.log; touch .gitignore"
    )
    assert changed == [
        *("link", "new", "new/empty", "new/sub", "new/sub/c", "notes.txt"),
        *("pkg/a.py", "pkg/deep", "pkg/deep/b.bin", "run.sh"),
    ] or changed == [
        *("link", "new", "new/sub", "new/sub/c", "notes.txt", "pkg/a.py", "pkg/deep", "pkg/deep/b.bin", "run.sh"),
        "new/empty",
    ]
    assert {(c.agent, c.how) for c in recorded(session)} == {("parent", "shell")}


async def test_a_command_that_changes_nothing_leaves_nothing(session: ChangingSession) -> None:
    assert (
        await session.shell("cat pkg/a.py > /dev/null; touch run.sh; echo x > debug.log; git status > /dev/null") == []
    )
    assert not session.folder.exists()


async def test_files_of_the_same_size_written_in_the_same_moment_are_found(
    session: ChangingSession, root: Path
) -> None:
    """The clock of the file system may not tick between a look and a change."""
    for number in range(20):
        (root / "notes.txt").write_bytes(b"%04d" % number)
        await session.checkpoints.before_shell()
        (root / "notes.txt").write_bytes(b"%04d" % (number + 5000))
        assert await session.checkpoints.after_shell("parent") == ["notes.txt"]


async def test_content_that_git_would_convert_comes_back_as_it_was(session: ChangingSession, root: Path) -> None:
    (root / ".gitattributes").write_bytes(b"* text=auto\n*.dat filter=evil\n*.id ident\n")
    (root / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (root / "x.id").write_bytes(b"$Id$\n")
    (root / "x.dat").write_bytes(b"data\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "converted")
    marker = root.parent / "ran"
    git(root, "config", "filter.evil.clean", f"touch {marker}; cat")
    git(root, "config", "filter.evil.smudge", f"touch {marker}; cat")
    git(root, "config", "core.fsmonitor", f"touch {marker}; true")
    before = whole_tree(root)
    await session.shell("for f in crlf.txt x.id x.dat; do echo z > $f; done")
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before
    assert not marker.exists(), "nothing that the repository's configuration names is run"


async def test_a_changed_ignore_rule_does_not_make_old_files_new(session: ChangingSession, root: Path) -> None:
    os.utime(root / "debug.log", (1, 1))
    await _until_settled(root / "debug.log")
    assert await session.shell("echo build/ > .gitignore") == [".gitignore"]
    assert await session.shell("echo '*.txt' >> .gitignore") == [".gitignore"]
    assert session.undo().exit_code == 0
    assert (root / "debug.log").exists()
    assert (root / "notes.txt").exists()


async def _until_settled(path: Path) -> None:
    """Until the clock of the file system is so far that this file is not of this very moment."""
    probe = path.with_name("probe.log")
    while True:
        probe.write_bytes(b"")
        behind = probe.stat().st_ctime_ns - path.stat().st_ctime_ns
        probe.unlink()
        if behind > 100_000_000:
            return
        await asyncio.sleep(0.01)


async def test_a_moved_folder_is_found_and_moved_back(session: ChangingSession, root: Path) -> None:
    before = whole_tree(root)
    await _until_settled(root / "pkg" / "a.py")
    assert "lib/a.py" in await session.shell("mv pkg lib; mv lib/deep other")
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before


async def test_a_folder_replaced_by_a_link_comes_back_and_nothing_goes_through_the_link(
    session: ChangingSession, root: Path
) -> None:
    before = whole_tree(root)
    outside = root.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "a.py").write_bytes(b"mine")
    await session.shell("rm -r pkg; ln -s ../outside pkg")
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before
    assert (outside / "a.py").read_bytes() == b"mine"


async def test_a_file_and_a_folder_in_each_others_place(session: ChangingSession, root: Path) -> None:
    before = whole_tree(root)
    await session.shell("rm notes.txt; mkdir notes.txt; echo 1 > notes.txt/x; rm -r pkg; echo 2 > pkg")
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before


async def test_without_git_it_is_said_once_and_edits_are_still_kept(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    session = ChangingSession(tmp_path / "home", root)
    for _ in range(2):
        assert await session.shell("echo x > made") == []
    (told,) = session.notices
    assert "cannot be undone: it is not in a git work tree" in told[1]
    session.write("made", b"y")
    assert len(recorded(session)) == 1
    session.end()


async def test_a_repository_inside_is_said_and_left_alone(session: ChangingSession, root: Path) -> None:
    (root / "inner").mkdir()
    git(root / "inner", "init", "-q")
    assert await session.shell("echo x > inner/f; echo y > notes.txt") == ["notes.txt"]
    assert any("inner cannot be undone" in message for _, message, _ in session.notices)


async def test_a_moved_head_is_said_and_files_come_back(session: ChangingSession, root: Path) -> None:
    git(root, "stash", "-q")
    git(root, "checkout", "-qb", "other")
    (root / "pkg" / "a.py").write_bytes(b"a = 2\n")
    git(root, "commit", "-qam", "second")
    git(root, "checkout", "-q", "-")
    before = whole_tree(root)
    await session.shell("git checkout -q other")
    assert ["HEAD" in message for _, message, _ in session.notices] == [True]
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before


async def test_the_repository_itself_taken_away_still_leaves_what_git_does_not_keep(
    session: ChangingSession, root: Path
) -> None:
    changed = await session.shell("rm -rf .git pkg notes.txt")
    assert {"pkg/a.py", "notes.txt"} <= set(changed)
    output = session.undo()
    assert output.exit_code == 3
    assert "pkg/deep/b.bin" in output.text
    assert (root / "notes.txt").read_bytes() == b"untracked\n"
    assert (root / "pkg" / "a.py").read_bytes() == b"a = 1  # not committed\n"


async def test_a_file_too_large_to_be_kept_is_said(
    session: ChangingSession, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (root / "large.bin").open("wb") as file:
        file.truncate(10 * 1024 * 1024 + 1)
    await session.shell("echo x >> large.bin; echo y > notes.txt")
    assert any("large.bin cannot be undone" in message for _, message, _ in session.notices)
    output = session.undo()
    assert output.exit_code == 3
    assert "not taken back: large.bin" in output.text
    assert (root / "notes.txt").read_bytes() == b"untracked\n"


async def test_a_workspace_that_is_a_part_of_a_repository(tmp_path: Path, root: Path) -> None:
    session = ChangingSession(tmp_path / "home", root / "pkg")
    assert await session.shell("echo 3 > a.py; echo 4 > ../notes.txt") == ["a.py"]
    assert session.undo().exit_code == 0
    assert (root / "pkg" / "a.py").read_bytes() == b"a = 1  # not committed\n"


async def test_state_inside_the_workspace_does_not_count(tmp_path: Path, root: Path) -> None:
    session = ChangingSession(root / ".orch-home", root)
    session.write("notes.txt", b"1")
    assert await session.shell("echo 2 > notes.txt") == ["notes.txt"]
    session.end()


async def test_what_is_held_while_commands_run_is_private_and_goes_with_the_session(
    session: ChangingSession,
) -> None:
    await session.shell("true")
    shadow = session.places.cache / "shadow"
    held = [path for path in shadow.rglob("*") if path.is_file() and path.name != "lock"]
    assert sorted(path.read_bytes() for path in held) == [b"a = 1  # not committed\n", b"untracked\n"]
    assert all(stat.S_IMODE(p.stat().st_mode) == (0o700 if p.is_dir() else 0o600) for p in [shadow, *shadow.rglob("*")])
    session.end()
    assert list(shadow.iterdir()) == []


async def test_a_session_that_was_closed_goes_on_with_the_next_change(session: ChangingSession, root: Path) -> None:
    before = whole_tree(root)
    await session.shell("echo 1 > one")
    session.end()
    session.turn(2)
    await session.shell("echo 2 >> notes.txt; echo 3 >> run.sh; echo 4 > one")
    assert session.undo().exit_code == 0
    assert (root / "one").read_bytes() == b"1\n"
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before


async def test_what_a_killed_session_held_is_taken_away_by_the_next(session: ChangingSession) -> None:
    left = session.places.cache / "shadow" / "1-dead"
    left.mkdir(parents=True)
    (left / "lock").touch()
    (left / "content").write_bytes(b"x")
    await session.shell("true")
    assert not left.exists()


# --- several at once -------------------------------------------------------------------------------------------------


async def test_commands_at_the_same_time_lose_and_double_nothing(session: ChangingSession, root: Path) -> None:
    before = whole_tree(root)
    told = await asyncio.gather(
        *(session.shell(f"echo {n} > file{n}; sleep 0.0{n}; echo again >> file{n}", f"child-{n}") for n in range(6))
    )
    assert {path for paths in told for path in paths} == {f"file{n}" for n in range(6)}
    assert {change.path for change in recorded(session)} == {f"file{n}" for n in range(6)}
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before


async def test_an_edit_during_a_command_is_recorded_once(session: ChangingSession, root: Path) -> None:
    checkpoints = session.checkpoints
    await checkpoints.before_shell()
    session.write("notes.txt", b"edited by another agent\n", "child-1")
    session.write("fresh/file.txt", b"new\n", "child-1")
    (root / "by-command.txt").write_bytes(b"x")
    assert await checkpoints.after_shell("child-2") == ["by-command.txt"]
    assert [(c.path, c.agent) for c in recorded(session)] == [
        ("notes.txt", "child-1"),
        ("fresh", "child-1"),
        ("fresh/file.txt", "child-1"),
        ("by-command.txt", "child-2"),
    ]


async def test_an_edit_that_is_under_way_when_a_command_ends_is_recorded_once(
    session: ChangingSession, root: Path
) -> None:
    checkpoints = session.checkpoints
    await checkpoints.before_shell()
    token = checkpoints.begin("child-1", ["notes.txt"])
    (root / "notes.txt").write_bytes(b"half way")
    assert await checkpoints.after_shell("child-2") == []
    checkpoints.finish(token)
    assert [(c.path, c.agent) for c in recorded(session)] == [("notes.txt", "child-1")]


async def test_a_file_that_a_command_and_then_an_edit_changed_comes_back_whole(
    session: ChangingSession, root: Path
) -> None:
    before = whole_tree(root)
    checkpoints = session.checkpoints
    await checkpoints.before_shell()
    (root / "notes.txt").write_bytes(b"by the command\n")
    session.write("notes.txt", b"by the edit\n", "child-1")
    assert await checkpoints.after_shell("child-2") == []
    assert [change.how for change in recorded(session)] == ["shell", "edit"]
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before


async def test_an_ignored_file_that_is_edited_while_a_command_runs_is_not_taken_for_new(
    session: ChangingSession, root: Path
) -> None:
    await session.checkpoints.before_shell()
    (root / "debug.log").write_bytes(b"ignored, and written by the command\n")
    (root / "new.txt").write_bytes(b"by the command\n")
    session.write("debug.log", b"by the edit\n")
    session.write("new.txt", b"by the edit\n")
    await session.checkpoints.after_shell("parent")
    assert session.undo().exit_code == 0
    assert (root / "debug.log").read_bytes() == b"ignored, and written by the command\n"
    assert not (root / "new.txt").exists()


async def test_a_git_that_hangs_is_given_up_once(
    session: ChangingSession, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of ignored files that is a pipe: git waits for somebody to write it."""
    monkeypatch.setattr("orchestrator.git_tree._TIMEOUT", 0.2)
    (root / ".gitignore").unlink()
    os.mkfifo(root / ".gitignore")
    for _ in range(2):
        assert await session.shell("echo x > notes.txt") == []
    assert ["git took more than" in message for _, message, _ in session.notices] == [True]


async def test_what_the_user_changes_between_commands_is_not_the_sessions(session: ChangingSession, root: Path) -> None:
    await session.shell("echo 1 > one")
    (root / "notes.txt").write_bytes(b"by the user\n")
    assert await session.shell("echo 2 > two") == ["two"]
    assert session.undo().exit_code == 0
    assert (root / "notes.txt").read_bytes() == b"by the user\n"


async def test_a_command_that_is_stopped_is_still_recorded(session: ChangingSession, root: Path) -> None:
    await session.checkpoints.before_shell()
    (root / "notes.txt").write_bytes(b"changed\n")
    ending = asyncio.create_task(session.checkpoints.after_shell("parent"))
    await asyncio.sleep(0)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert await session.shell("true") == []  # waits for the one before
    assert [change.path for change in recorded(session)] == ["notes.txt"]


async def test_a_start_that_is_stopped_leaves_no_open_window(session: ChangingSession, root: Path) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    beginning = asyncio.create_task(session.checkpoints.before_shell())
    await asyncio.sleep(0)
    beginning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await beginning
    await asyncio.to_thread(lambda: None)  # after what the one thread was doing
    (root / "notes.txt").write_bytes(b"by the user\n")
    assert await session.shell("echo 2 > two") == ["two"]


# --- files below the root --------------------------------------------------------------------------------------------


def test_nothing_is_written_through_a_folder_that_became_a_link(root: Path) -> None:
    tree = TreeFiles(root)
    state = tree.look("pkg/a.py").state
    outside = root.parent / "outside"
    outside.mkdir()
    (root / "pkg").rename(root / "moved")
    (root / "pkg").symlink_to(outside)
    with pytest.raises(OSError, match=r"pkg|directory|links"):
        tree.put("pkg/a.py", state, b"x", None)
    assert list(outside.iterdir()) == []
    assert tree.look("pkg/a.py").state.kind == "missing"


def test_what_changed_at_the_last_moment_is_not_replaced(root: Path) -> None:
    tree = TreeFiles(root)
    found = tree.look("notes.txt")
    (root / "notes.txt").write_bytes(b"newer, and longer\n")
    with pytest.raises(Swapped):
        tree.put("notes.txt", found.state, b"x", found.key)
    with pytest.raises(Swapped):
        tree.remove("notes.txt", found.key)
    assert (root / "notes.txt").read_bytes() == b"newer, and longer\n"
    assert [path.name for path in root.iterdir() if path.name.startswith(".orch")] == []


def test_a_pipe_or_socket_is_never_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert TreeFiles(root).look("pipe").state.kind == "other"


def test_each_line_of_the_index_is_a_json_object(session: ChangingSession) -> None:
    session.write("notes.txt", b"x")
    rows = [json.loads(line) for line in (session.folder / "index.jsonl").read_bytes().splitlines()]
    assert [row["type"] for row in rows] == ["header", "begin", "end"]
    assert rows[0]["root"] == str(session.root)
