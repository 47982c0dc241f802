"""`orch undo`, `orch redo` and `orch diff` over real files: all comes back, or nothing is touched."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.checkpoint_commands import Wanted, asker, diff_command, undo_command
from orchestrator.checkpoints import Checkpoints
from orchestrator.errors import OrchError, UsageError
from orchestrator.role_commands import Output
from orchestrator.ui.confirm import confirm
from tests.support.changing import ChangingSession, Tree, git, whole_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_bytes(b"one\ntwo\nthree\n")
    (root / "tool.sh").write_bytes(b"#!/bin/sh\n")
    (root / "tool.sh").chmod(0o750)
    (root / "data.bin").write_bytes(b"\0\1\2")
    return root


@pytest.fixture
def session(tmp_path: Path, root: Path) -> Iterator[ChangingSession]:
    session = ChangingSession(tmp_path / "home", root)
    yield session
    session.end()


def test_the_whole_tree_of_agents_goes_back_one_turn_at_a_time(session: ChangingSession, root: Path) -> None:
    trees = [whole_tree(root)]
    session.turn(1)
    session.write("src/app.py", b"one\n2\nthree\n")
    session.write("made/by/child.txt", b"x\n", "explorer-1")
    trees.append(whole_tree(root))
    session.turn(2)
    session.delete("tool.sh")
    session.write("src/app.py", b"else\n", "explorer-1")
    first = session.undo()
    assert first.text.startswith("diff --git a/src/app.py b/src/app.py\n--- a/src/app.py")
    assert "new file mode 100750\n" in first.text
    assert "took back turn 2 of session s1: 2 paths; `orch redo` makes it again" in first.text
    assert whole_tree(root) == trees[1]
    assert session.undo().exit_code == 0
    assert whole_tree(root) == trees[0]
    nothing = session.undo()
    assert (nothing.exit_code, nothing.text) == (1, "there is nothing left to undo in session s1")


def test_redo_makes_it_again_and_undo_takes_it_back_again(session: ChangingSession, root: Path) -> None:
    trees = [whole_tree(root)]
    for number in (1, 2):
        session.turn(number)
        session.write("src/app.py", b"turn %d\n" % number)
        session.write(f"new/{number}.txt", b"\xff\0")
        trees.append(whole_tree(root))
    for expected in (trees[1], trees[0]):
        assert session.undo().exit_code == 0
        assert whole_tree(root) == expected
    for expected in (trees[1], trees[2]):
        assert session.redo().exit_code == 0
        assert whole_tree(root) == expected
    assert session.redo().exit_code == 1
    assert session.undo().exit_code == 0
    assert whole_tree(root) == trees[1]


def test_what_comes_after_an_undo_cannot_be_overwritten_by_redo(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"first\n")
    session.undo()
    session.turn(2)
    session.write("src/app.py", b"second\n")
    assert session.redo().exit_code == 1
    assert (root / "src" / "app.py").read_bytes() == b"second\n"


# --- what stands in the way ------------------------------------------------------------------------------------------


def _changed(root: Path) -> None:
    (root / "src" / "app.py").write_bytes(b"by the session\nby the user\n")


def _deleted(root: Path) -> None:
    (root / "src" / "app.py").unlink()


def _other_mode(root: Path) -> None:
    (root / "src" / "app.py").chmod(0o600)


def _link_for_file(root: Path) -> None:
    (root / "src" / "app.py").unlink()
    (root / "src" / "app.py").symlink_to("../tool.sh")


def _link_for_folder(root: Path) -> None:
    shutil.copytree(root / "src", root.parent / "outside")
    shutil.rmtree(root / "src")
    (root / "src").symlink_to("../outside")


def _pipe_for_file(root: Path) -> None:
    (root / "src" / "app.py").unlink()
    os.mkfifo(root / "src" / "app.py")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_changed, "src/app.py: it has changed since"),
        (_deleted, "src/app.py: it is gone"),
        (_other_mode, "src/app.py: it has the mode 0600 now, and not 0644"),
        (_link_for_file, "src/app.py: it is a link now"),
        (_link_for_folder, "src/app.py: it is gone"),
        (_pipe_for_file, "src/app.py: it is a pipe, socket or device now"),
    ],
)
def test_a_file_that_changed_since_is_named_and_nothing_is_touched(
    session: ChangingSession, root: Path, change: Callable[[Path], None], said: str
) -> None:
    (root / "src" / "app.py").chmod(0o644)
    session.write("src/app.py", b"by the session\n")
    session.write("tool.sh", b"also\n")
    change(root)
    before = {path: state for path, state in whole_tree(root).items() if path != "src/app.py"}
    output = session.undo()
    assert output.exit_code == 1
    assert said in output.text
    assert "nothing was changed" in output.text
    assert {path: state for path, state in whole_tree(root).items() if path != "src/app.py"} == before
    assert output.data["conflicts"][0]["path"] == "src/app.py"


def test_what_differs_is_shown(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"by the session\n")
    _changed(root)
    assert "+by the user\n" in session.undo().text


def test_a_change_by_somebody_else_between_two_edits_is_not_wiped_out(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"first\n")
    (root / "src" / "app.py").write_bytes(b"first\nand the user's\n")
    session.write("src/app.py", b"second\n")
    output = session.undo()
    assert output.exit_code == 1
    assert "something else changed it between two changes" in output.text
    assert (root / "src" / "app.py").read_bytes() == b"second\n"


def test_what_the_user_took_back_by_hand_is_no_conflict(session: ChangingSession, root: Path) -> None:
    before = whole_tree(root)
    session.write("src/app.py", b"by the session\n")
    session.write("tool.sh", b"also\n")
    (root / "src" / "app.py").write_bytes(b"one\ntwo\nthree\n")
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before


def test_a_new_folder_that_is_used_by_others_stays(session: ChangingSession, root: Path) -> None:
    session.write("made/deep/x.txt", b"x")
    (root / "made" / "mine.txt").write_bytes(b"by the user")
    output = session.undo()
    assert output.exit_code == 0
    assert "made was left: it is not empty" in output.text
    assert sorted(path.name for path in (root / "made").iterdir()) == ["mine.txt"]


def test_an_undo_that_fails_in_the_middle_puts_everything_back(
    session: ChangingSession, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel refuses the last of several writes, as it does when a disk is full."""
    session.write("a.txt", b"new")
    session.delete("data.bin")
    session.write("src/app.py", b"x\n")
    session.delete("tool.sh")
    before = whole_tree(root)
    refuse = os.rename

    def rename(source: str, target: str, **folders: int) -> None:
        if target == "tool.sh":
            raise OSError(28, "No space left on device")
        refuse(source, target, **folders)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(OrchError, match="No space left on device; nothing was changed"):
        session.undo()
    assert whole_tree(root) == before
    monkeypatch.undo()
    assert session.undo().exit_code == 0
    assert (root / "tool.sh").read_bytes() == b"#!/bin/sh\n"


def test_an_undo_that_was_killed_in_the_middle_is_finished_by_the_next(session: ChangingSession, root: Path) -> None:
    before = whole_tree(root)
    session.write("src/app.py", b"x\n")
    session.write("tool.sh", b"y\n")
    (root / "src" / "app.py").write_bytes(b"one\ntwo\nthree\n")  # as far as it had come
    assert session.undo().exit_code == 0
    assert whole_tree(root) == before


def test_a_hostile_index_leads_nowhere(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"x\n")
    session.end()
    index = session.folder / "index.jsonl"
    victim = root.parent / "victim"
    victim.write_bytes(b"mine")
    index.write_bytes(index.read_bytes().replace(b'"src/app.py"', b'"../victim"'))
    with pytest.raises(OrchError, match="does not lead straight down"):
        session.undo()
    assert victim.read_bytes() == b"mine"


def test_damaged_content_changes_nothing(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"x\n")
    for blob in (session.folder / "blobs").rglob("*"):
        if blob.is_file() and blob.read_bytes() == b"one\ntwo\nthree\n":
            blob.write_bytes(b"rotten")
    with pytest.raises(OrchError, match=r"damaged|nothing was changed"):
        session.undo()
    assert (root / "src" / "app.py").read_bytes() == b"x\n"


def test_owner_and_attributes_of_a_file_that_is_replaced_stay(session: ChangingSession, root: Path) -> None:
    try:
        os.setxattr(root / "src" / "app.py", "user.note", b"kept")
    except OSError:
        pytest.skip("no extended attributes here")
    session.write("src/app.py", b"x\n")
    assert session.undo().exit_code == 0
    assert os.getxattr(root / "src" / "app.py", "user.note") == b"kept"


# --- sessions, asking, output ----------------------------------------------------------------------------------------


def test_the_newest_session_of_this_workspace_is_meant(tmp_path: Path, root: Path, session: ChangingSession) -> None:
    session.write("src/app.py", b"older\n")
    session.end()
    newer = ChangingSession(tmp_path / "home", root, "s2")
    newer.write("tool.sh", b"newer\n")
    newer.end()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = ChangingSession(tmp_path / "home", elsewhere, "s3")
    other.write("x", b"x")
    other.end()
    assert "session s2" in session.undo().text
    left = session.undo()
    assert (left.exit_code, "others here: s1" in left.text) == (1, True)
    assert (root / "src" / "app.py").read_bytes() == b"older\n"
    assert "session s1" in session.undo(session="s1").text
    with pytest.raises(UsageError, match="no session 's3' that changed files here"):
        session.undo(session="s3")


def test_no_session_changed_anything(session: ChangingSession) -> None:
    with pytest.raises(UsageError, match="no session changed anything here"):
        session.undo()


def test_a_session_that_still_runs_is_not_taken_back(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"x\n")
    with pytest.raises(UsageError, match="still runs"):
        undo_command(session.places, root)
    assert (root / "src" / "app.py").read_bytes() == b"x\n"
    assert "-one" in diff_command(session.places, root).text


def test_it_asks_with_the_diff_and_takes_no_for_an_answer(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"one\n2\nthree\n")
    session.end()
    asked: list[str] = []

    def no(shown: str, question: str) -> bool:
        asked.append(shown + question)
        return False

    output = undo_command(session.places, root, Wanted(ask=no))
    assert (output.exit_code, output.text) == (1, "nothing was changed")
    assert "-2\n+two\n" in asked[0]
    assert asked[0].endswith("take it back?")
    assert (root / "src" / "app.py").read_bytes() == b"one\n2\nthree\n"
    assert undo_command(session.places, root, Wanted(ask=lambda shown, question: True)).text.startswith(
        "took back turn 1"
    )
    assert (root / "src" / "app.py").read_bytes() == b"one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("typed", "answer"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False), ("yo\n", False)]
)
def test_only_yes_is_yes(typed: str, answer: bool) -> None:
    screen = io.StringIO()
    assert confirm(io.StringIO(typed), screen, "a \x1b[2Jdiff", "take it back?") is answer
    assert screen.getvalue().startswith("a diff\ntake it back? [y/N] ")


def test_where_nobody_can_be_asked_it_must_be_allowed_beforehand() -> None:
    assert asker(None, None, yes=True, what="undo") is None
    with pytest.raises(UsageError, match="not a terminal") as refusal:
        asker(io.StringIO("y\n"), io.StringIO(), yes=False, what="undo")
    assert refusal.value.exit_code == 2
    assert "--yes" in refusal.value.hint


def test_a_session_takes_back_its_own_changes_while_it_runs(session: ChangingSession, root: Path) -> None:
    before = whole_tree(root)
    session.write("src/app.py", b"x\n")
    own = session.checkpoints.store
    assert undo_command(session.places, root, Wanted(own=own)).exit_code == 0
    assert whole_tree(root) == before
    session.turn(2)
    session.write("tool.sh", b"y\n")  # the store is still the session's
    assert undo_command(session.places, root, Wanted(own=own)).exit_code == 0
    assert whole_tree(root) == before


def test_a_dry_run_shows_and_changes_nothing(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"one\n2\nthree\n")
    output = session.undo(dry_run=True)
    assert output.exit_code == 0
    assert "-2\n+two\n" in output.text
    assert (root / "src" / "app.py").read_bytes() == b"one\n2\nthree\n"
    assert json.loads(json.dumps(output.data))["done"] is False
    assert session.undo().data["files"] == [{"path": "src/app.py", "now": "file", "becomes": "file"}]


def test_the_diff_of_a_session_is_one_that_git_applies(session: ChangingSession, root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "copy")
    session.write("src/app.py", b"one\n2\nthree\n")
    session.turn(2)
    session.write("src/app.py", b"one\n2\nthree\nno newline")
    session.write("new/empty.txt", b"")
    session.write("new/file.txt", b"x\n")
    session.delete("tool.sh")
    session.edit(["src/app.py"], lambda: (root / "src" / "app.py").chmod(0o755))
    text = session.diff()
    assert "old mode 100644\nnew mode 100755\n" in text
    subprocess.run(["git", "apply", "-"], cwd=tmp_path / "copy", input=f"{text}\n".encode(), check=True)
    shutil.rmtree(root / "new" / "empty", ignore_errors=True)
    assert {p: s[2] for p, s in whole_tree(tmp_path / "copy").items()} == {p: s[2] for p, s in whole_tree(root).items()}


def test_the_diff_names_what_is_no_text_and_what_changed_since(session: ChangingSession, root: Path) -> None:
    session.write("data.bin", b"\0\0\0\0")
    session.write("src/app.py", b"one\n")
    (root / "src" / "app.py").write_bytes(b"later\n")
    text = session.diff()
    assert "Binary files a/data.bin and b/data.bin differ (3 bytes to 4 bytes)" in text
    assert "-two\n-three\n" in text
    assert text.endswith("changed again since, which is not shown here: src/app.py")


def test_the_diff_leaves_out_what_was_taken_back(session: ChangingSession, root: Path) -> None:
    session.write("src/app.py", b"one\n")
    session.undo()
    assert session.diff() == "session s1 left no changes"


# --- any sequence ----------------------------------------------------------------------------------------------------

NAMES = ("a", "b", "d/a", "d/e/b", "f")
_content = st.binary(max_size=4) | st.sampled_from([b"x\n" * 50, b"\r\n", b"\0" * 9])
_edit = st.tuples(st.just("write"), st.sampled_from(NAMES), _content) | st.tuples(
    st.sampled_from(("delete", "chmod")),
    st.sampled_from(NAMES),
    st.sampled_from((b"\x06\x40", b"\x01\xed", b"\x01\x24")),
)
_shell = st.lists(
    st.sampled_from(
        [
            *("echo x > a", "echo y >> d/a", "rm -f a", "rm -rf d", "mkdir -p d/e/g", "mv d f", "mv a b", "rm -rf f"),
            *("ln -sfn a f", "ln -sfn d f", "chmod 700 a", "chmod 711 d", "rm -f b; mkdir b; echo z > b/x"),
            *("printf '\\0\\1' > d/e/b", "mkdir empty", "rmdir empty", "cp -r d b", "touch -d @5 a", "git add -A"),
        ]
    ),
    min_size=1,
    max_size=3,
).map(lambda commands: ("shell", "\n".join(commands), b""))
_turns = st.lists(st.lists(_edit | _shell, min_size=1, max_size=4), min_size=1, max_size=3)


@given(turns=_turns)
@settings(max_examples=20, deadline=None)
def test_any_sequence_of_changes_goes_back_and_forth_exactly(
    turns: list[list[tuple[str, str, bytes]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("any")
    root = base / "repo"
    (root / "d" / "e").mkdir(parents=True)
    (root / "a").write_bytes(b"first a\n")
    (root / "d" / "a").write_bytes(b"first d/a")
    (root / "d" / "a").chmod(0o755)
    git(root, "init", "-q")
    git(root, "add", "-A")
    (root / "d" / "e" / "b").write_bytes(b"untracked\n")
    session = ChangingSession(base / "home", root)
    trees = [whole_tree(root)]
    asyncio.run(_run(session, turns, trees))
    distinct = [tree for number, tree in enumerate(trees) if number == 0 or tree != trees[number - 1]]
    for expected in reversed(distinct[:-1]):
        _until_it_does_something(session.undo)
        assert whole_tree(root) == expected
    for expected in distinct[1:]:
        _until_it_does_something(session.redo)
        assert whole_tree(root) == expected
    shutil.rmtree(base)


def _until_it_does_something(step: Callable[[], Output]) -> None:
    """A turn whose changes came to nothing is a turn all the same."""
    while True:
        output = step()
        assert output.exit_code == 0, output.text
        if output.data["files"]:
            return


async def _run(session: ChangingSession, turns: list[list[tuple[str, str, bytes]]], trees: list[Tree]) -> None:
    for number, actions in enumerate(turns, 1):
        session.turn(number)
        for action, name, data in actions:
            if action == "shell":
                await session.shell(f"exec 2>/dev/null\n{name}\ntrue")
            else:
                _edited(session, action, name, data)
        trees.append(whole_tree(session.root))


def _edited(session: ChangingSession, action: str, name: str, data: bytes) -> None:
    """Edits go to regular files that are reached through folders alone."""
    path = session.root / name
    above = [parent for parent in path.parents if parent.is_relative_to(session.root)]
    if any(parent.is_symlink() or (parent.exists() and not parent.is_dir()) for parent in above):
        return
    if path.is_symlink() or path.is_dir():
        return
    if action == "write":
        session.write(name, data)
    elif path.exists() and action == "delete":
        session.delete(name)
    elif path.exists():
        session.edit([name], lambda: path.chmod(int.from_bytes(data, "big") & 0o777 | 0o600))


def test_the_same_over_a_checkpoint_that_is_never_opened_twice(session: ChangingSession, root: Path) -> None:
    """A resumed session writes on in the same store, with turns of its own."""
    session.write("src/app.py", b"x\n")
    session.end()
    resumed = Checkpoints(session.folder, root, shadow=session.places.cache / "shadow", notice=lambda *told: None)
    token = resumed.begin("parent", ["tool.sh"])
    (root / "tool.sh").write_bytes(b"y\n")
    resumed.finish(token)
    resumed.close()
    assert [file["path"] for file in session.undo().data["files"]] == ["tool.sh"]
    assert [file["path"] for file in session.undo().data["files"]] == ["src/app.py"]
