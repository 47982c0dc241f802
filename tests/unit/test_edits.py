"""Changing files: what is refused, all or nothing, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.checkpoints import Token
from orchestrator.errors import ToolError
from orchestrator.tool import Rewrite, with_line_ends
from orchestrator.unified_diff import unified_diff
from orchestrator.workspace import WorkspaceFiles
from tests.conftest import ROOT
from tests.support.editor import EditingAgent, checkpoints_beside, leftovers, tree_of
from tests.support.read_only_tools import write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "w", {"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n"})


class Disturbed:
    """Real checkpoints, with something that happens at one of their moments, and a list of what was asked of them."""

    def __init__(
        self, root: Path, *, begin: Callable[[], None] | None = None, finish: Callable[[], None] | None = None
    ):
        self._real = checkpoints_beside(root)
        self._begin = begin
        self._finish = finish
        self.asked: list[str] = []

    def begin(self, agent: str, paths: Sequence[str], made: Sequence[str] = ()) -> Token:
        self.asked.append(f"begin {' '.join(paths)}" + (f" made {' '.join(made)}" if made else ""))
        token = self._real.begin(agent, paths, made)
        if self._begin:
            self._begin()
        return token

    def finish(self, token: Token) -> None:
        self.asked.append("finish")
        if self._finish:
            self._finish()
        self._real.finish(token)

    def abandon(self, token: Token) -> None:
        self.asked.append("abandon")
        self._real.abandon(token)


async def failing(agent: EditingAgent, *rewrites: Rewrite) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await agent.edits.apply(rewrites)
    return caught.value


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _move(path: Path, to: Path) -> None:
    path.rename(to)


# --- reading first ---------------------------------------------------------------------------------------------------


def test_what_was_read_is_known_until_it_changes(root: Path) -> None:
    agent = EditingAgent(root)
    assert not agent.edits.was_read("a.txt")
    agent.read("a.txt")
    assert agent.edits.was_read("a.txt")
    assert agent.edits.was_read("./d/../a.txt")
    assert not EditingAgent(root, "other", agent.checkpoints).edits.was_read("a.txt")
    (root / "a.txt").write_text("A\n")
    assert not agent.edits.was_read("a.txt")
    assert not agent.edits.was_read("missing")


def test_reading_many_files_and_other_files_of_the_same_agent_count(root: Path) -> None:
    agent = EditingAgent(root)
    with agent.files.reading() as read:
        read("a.txt")
    allowed = agent.files.over(WorkspaceFiles(root).allowing([".env"]))
    write_tree(root, {".env": "KEY=1\n"})
    allowed.read_text(".env")
    assert agent.edits.was_read("a.txt")
    assert agent.edits.open(".env").text == "KEY=1\n"


def test_what_changed_in_a_file_of_secrets_is_not_told(root: Path) -> None:
    write_tree(root, {".env": "KEY=1\n"})
    agent = EditingAgent(root)
    agent.files.over(WorkspaceFiles(root).allowing([".env"])).read_text(".env")
    (root / ".env").write_text("KEY=secret\n")
    with pytest.raises(ToolError) as caught:
        agent.edits.open(".env")
    assert caught.value.code == "stale"
    assert "secret" not in str(caught.value.context)


def test_a_file_reached_by_a_link_inside_is_the_file_itself(root: Path) -> None:
    (root / "link").symlink_to("d/c.txt")
    agent = EditingAgent(root).read("link")
    asyncio.run(agent.edits.apply([Rewrite("link", "C\n")]))
    assert (root / "link").is_symlink()
    assert (root / "d/c.txt").read_text() == "C\n"
    assert agent.told == [("d/c.txt",)]


async def test_very_much_that_was_read_is_still_known_without_its_text(root: Path) -> None:
    write_tree(root, {f"big{number}": f"{number}\n" * 1_500_000 for number in range(4)})
    agent = EditingAgent(root).read(*(f"big{number}" for number in range(4)))
    assert all(agent.edits.was_read(f"big{number}") for number in range(4))
    (root / "big0").write_text("new\n")
    with pytest.raises(ToolError) as caught:
        agent.edits.open("big0")
    assert caught.value.code == "stale"


# --- all or nothing --------------------------------------------------------------------------------------------------


async def test_many_changes_at_once(root: Path) -> None:
    checkpoints = Disturbed(root)
    agent = EditingAgent(root, checkpoints=checkpoints).read("a.txt", "b.txt", "d/c.txt")
    (root / "a.txt").chmod(0o640)
    await agent.edits.apply(
        [
            Rewrite("moved/a.txt", "A\n", "a.txt", True),
            Rewrite("b.txt", None),
            Rewrite("d/c.txt", "C\n"),
            Rewrite("n/e/w.txt", "new"),
        ]
    )
    assert (root / "moved/a.txt").read_text() == "A\n"
    assert stat.S_IMODE((root / "moved/a.txt").stat().st_mode) == 0o750
    assert not (root / "a.txt").exists()
    assert not (root / "b.txt").exists()
    assert (root / "d/c.txt").read_text() == "C\n"
    assert (root / "n/e/w.txt").read_text() == "new"
    assert leftovers(root) == []
    assert checkpoints.asked == ["begin moved/a.txt d/c.txt n/e/w.txt a.txt b.txt made moved n n/e", "finish"]
    assert agent.told == [("moved/a.txt", "d/c.txt", "n/e/w.txt", "a.txt", "b.txt")]
    assert agent.edits.was_read("moved/a.txt")


async def test_two_files_may_change_places(root: Path) -> None:
    agent = EditingAgent(root).read("a.txt", "b.txt")
    await agent.edits.apply([Rewrite("b.txt", "a\n", "a.txt"), Rewrite("a.txt", "b\n", "b.txt")])
    assert ((root / "a.txt").read_text(), (root / "b.txt").read_text()) == ("b\n", "a\n")


async def test_a_file_that_changes_at_the_last_moment_is_stale_and_nothing_is_changed(root: Path) -> None:
    checkpoints = Disturbed(root, begin=lambda: _write(root / "b.txt", "theirs\n"))
    agent = EditingAgent(root, checkpoints=checkpoints).read("a.txt", "b.txt", "d/c.txt")
    error = await failing(agent, Rewrite("a.txt", "A\n"), Rewrite("b.txt", "B\n"), Rewrite("d/c.txt", None))
    assert error.code == "stale"
    assert [(root / name).read_text() for name in ("a.txt", "b.txt", "d/c.txt")] == ["a\n", "theirs\n", "c\n"]
    assert leftovers(root) == []
    assert checkpoints.asked == ["begin a.txt b.txt d/c.txt", "abandon"]
    assert agent.told == []
    assert not agent.edits.was_read("b.txt")


@pytest.mark.parametrize("what", ["file", "folder", "link", "pipe"])
async def test_what_appears_at_the_last_moment_is_not_overwritten(root: Path, what: str) -> None:
    def appear() -> None:
        place = root / "d" / "new.txt"
        match what:
            case "file":
                place.write_text("theirs\n")
            case "folder":
                place.mkdir()
            case "link":
                place.symlink_to("c.txt")
            case _:
                os.mkfifo(place)

    agent = EditingAgent(root, checkpoints=Disturbed(root, begin=appear)).read("a.txt")
    error = await failing(agent, Rewrite("a.txt", "A\n"), Rewrite("d/new.txt", "mine\n"))
    assert error.code == "stale"
    assert (root / "a.txt").read_text() == "a\n"
    assert (root / "d/c.txt").read_text() == "c\n"
    assert leftovers(root) == []


async def test_when_a_later_file_fails_the_earlier_ones_are_put_back(root: Path) -> None:
    """A folder is gone by the time of the third file: the first two were replaced already."""
    (root / "a.txt").chmod(0o640)
    before = (root / "a.txt").stat()
    checkpoints = Disturbed(root, begin=lambda: _move(root / "d", root / "e"))
    agent = EditingAgent(root, checkpoints=checkpoints).read("a.txt", "b.txt", "d/c.txt")
    error = await failing(agent, Rewrite("a.txt", "A\n"), Rewrite("x/new", "n"), Rewrite("d/c.txt", "C\n"))
    assert error.code == "stale"
    assert "nothing was changed" in error.message
    after = (root / "a.txt").stat()
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (before.st_ino, before.st_mode, before.st_mtime_ns)
    assert not (root / "x").exists()
    assert checkpoints.asked[-1] == "abandon"


async def test_when_the_checkpoint_cannot_be_kept_nothing_is_changed(root: Path) -> None:
    def fail() -> None:
        raise ToolError("disk", "no room for undo")

    for checkpoints in (Disturbed(root, begin=fail), Disturbed(root, finish=fail)):
        agent = EditingAgent(root, checkpoints=checkpoints).read("a.txt", "b.txt")
        before = tree_of(root)
        error = await failing(agent, Rewrite("a.txt", "A\n"), Rewrite("b.txt", None), Rewrite("n/new", "n"))
        assert error.code == "disk"
        assert tree_of(root) == before
        assert agent.edits.was_read("b.txt")


async def test_what_cannot_be_put_back_is_named_and_its_content_stays(root: Path) -> None:
    def fail() -> None:
        (root / "a.txt").unlink()
        (root / "a.txt").mkdir()
        (root / "a.txt" / "full").write_text("")
        raise ToolError("disk", "no room for undo")

    checkpoints = Disturbed(root, finish=fail)
    agent = EditingAgent(root, checkpoints=checkpoints).read("a.txt", "b.txt")
    error = await failing(agent, Rewrite("b.txt", "B\n"), Rewrite("a.txt", "A\n"))
    assert error.code == "disk"
    assert "could not be put back" in error.message
    (kept,) = leftovers(root)
    assert kept in str(error.context["not_put_back"])
    assert (root / kept).read_text() == "a\n"
    assert (root / "b.txt").read_text() == "b\n"
    assert "abandon" not in checkpoints.asked


async def test_a_cancelled_change_is_none_and_leaves_nothing(root: Path) -> None:
    waiting, go_on = threading.Event(), threading.Event()

    def block() -> None:
        waiting.set()
        assert go_on.wait(30)

    checkpoints = Disturbed(root, begin=block)
    agent = EditingAgent(root, checkpoints=checkpoints).read("a.txt")
    before = tree_of(root)
    task = asyncio.create_task(agent.edits.apply([Rewrite("a.txt", "A\n"), Rewrite("n/new", "n")]))
    assert await asyncio.to_thread(waiting.wait, 30)
    task.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tree_of(root) == before
    assert checkpoints.asked == ["begin a.txt n/new made n", "abandon"]
    assert agent.told == []


async def test_what_changes_nothing_is_not_written(root: Path) -> None:
    checkpoints = Disturbed(root)
    agent = EditingAgent(root, checkpoints=checkpoints).read("a.txt")
    await agent.edits.apply([Rewrite("a.txt", "a\n", executable=False)])
    assert checkpoints.asked == []
    assert agent.told == []


# --- what is refused -------------------------------------------------------------------------------------------------


async def refused(agent: EditingAgent, *rewrites: Rewrite) -> ToolError:
    """The error of applying, which is that of asking for the diff; nothing is changed."""
    before = tree_of(agent.root)
    with pytest.raises(ToolError) as foreseen:
        agent.edits.diff(rewrites)
    error = await failing(agent, *rewrites)
    assert (error.code, error.message) == (foreseen.value.code, foreseen.value.message)
    assert tree_of(agent.root) == before
    return error


async def test_files_that_only_may_be_read_or_have_other_names(root: Path) -> None:
    agent = EditingAgent(root).read("a.txt", "b.txt")
    (root / "a.txt").chmod(0o444)
    error = await refused(agent, Rewrite("a.txt", "A\n"))
    assert error.code == "denied"
    assert "read-only (mode 0444)" in error.message
    os.link(root / "b.txt", root / "other.txt")
    for rewrite in (Rewrite("b.txt", "B\n"), Rewrite("n.txt", "B\n", "b.txt")):
        error = await refused(agent, rewrite)
        assert error.code == "denied"
        assert "hard links" in error.message


async def test_what_is_no_file(root: Path) -> None:
    agent = EditingAgent(root)
    os.mkfifo(root / "pipe")
    os.mknod(root / "sock", stat.S_IFSOCK | 0o600)
    for path, code in (("pipe", "special_file"), ("sock", "special_file"), ("d", "is_directory")):
        assert (await refused(agent, Rewrite(path, "x"))).code == code
    write_tree(root, {"image": b"\x89PNG\r\n\x1a\n\0\0"})
    assert (await refused(agent, Rewrite("image", None))).code == "binary"


async def test_what_is_not_there_or_is_there_already(root: Path) -> None:
    agent = EditingAgent(root).read("a.txt", "b.txt")
    assert (await refused(agent, Rewrite("no.txt", None))).code == "not_found"
    assert (await refused(agent, Rewrite("new.txt", "x", "no.txt"))).code == "not_found"
    assert (await refused(agent, Rewrite("b.txt", "x", "a.txt"))).code == "exists"
    assert (await refused(agent, Rewrite("d/c.txt", "x"))).code == "not_read"
    assert (await refused(agent, Rewrite("d/c.txt", "x", "a.txt"))).code == "not_read"


async def test_a_file_of_several_encodings_is_not_edited(root: Path) -> None:
    write_tree(root, {"mixed": "é\n".encode() + "é\n".encode("latin-1")})
    agent = EditingAgent(root).read("mixed")
    error = await refused(agent, Rewrite("mixed", "é\né\nmore\n"))
    assert error.code == "unencodable"
    assert "convert it to UTF-8" in error.message


async def test_bytes_that_would_be_read_back_as_something_else_are_not_written(root: Path) -> None:
    write_tree(root, {"old": "é\n".encode("latin-1"), "wide": "ab\n".encode("utf-16-le")})
    agent = EditingAgent(root).read("old", "wide")
    assert (await refused(agent, Rewrite("old", "Ã©\n"))).code == "unencodable"
    assert (await refused(agent, Rewrite("wide", "中中中中"))).code in ("unencodable", "binary")


_FULL = """
import asyncio, json, resource, signal, sys
from pathlib import Path
from orchestrator.errors import ToolError
from orchestrator.tool import Rewrite
from tests.support.editor import EditingAgent

agent = EditingAgent(Path(sys.argv[1])).read("a.txt")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    asyncio.run(agent.edits.apply([Rewrite("n/small.txt", "s"), Rewrite("a.txt", "x" * 50_000)]))
except ToolError as error:
    print(json.dumps([error.code, error.message]))
"""


def test_a_disk_that_takes_no_more(root: Path) -> None:
    before = tree_of(root)
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(root)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith('["disk", "a.txt could not be written: File too large; nothing was changed"]')
    assert tree_of(root) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_that_cannot_be_written(root: Path) -> None:
    agent = EditingAgent(root).read("a.txt", "d/c.txt")
    (root / "d").chmod(0o555)
    error = await failing(agent, Rewrite("a.txt", "A\n"), Rewrite("d/c.txt", "C\n"))
    (root / "d").chmod(0o755)
    assert error.code == "denied"
    assert (root / "a.txt").read_text() == "a\n"
    assert leftovers(root) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
async def test_owner_and_mode_stay(root: Path) -> None:
    os.chown(root / "a.txt", 1234, 2345)
    (root / "a.txt").chmod(0o2775)
    await EditingAgent(root).read("a.txt").edits.apply([Rewrite("a.txt", "A\n")])
    after = (root / "a.txt").stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (1234, 2345, 0o2775)


# --- the diff --------------------------------------------------------------------------------------------------------


def test_the_diff_of_everything_at_once(root: Path) -> None:
    agent = EditingAgent(root).read("a.txt", "b.txt", "d/c.txt")
    rewrites = [
        Rewrite("a.txt", "A", executable=True),
        Rewrite("b.txt", None),
        Rewrite("e.txt", "c\n", "d/c.txt"),
        Rewrite("new", ""),
    ]
    assert agent.edits.diff(rewrites) == (
        "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n"
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n\\ No newline at end of file\n"
        "diff --git a/d/c.txt b/e.txt\nrename from d/c.txt\nrename to e.txt\n"
        "diff --git a/new b/new\nnew file mode 100644\n"
        "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"
    )


def test_the_diff_of_a_huge_file_is_made_at_once() -> None:
    before = "".join(f"{number % 7}\n" for number in range(200_000))
    diff = unified_diff("f", before, before.replace("\n3\n", "\nthree\n", 1))
    assert diff == "--- a/f\n+++ b/f\n@@ -1,7 +1,7 @@\n 0\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n"
    assert unified_diff("f", before, "x\n" + before[::-1]).count("\n-") == 200_000


# --- line ends -------------------------------------------------------------------------------------------------------

ENDED = st.lists(st.tuples(st.sampled_from(["a", "b", "", "c d"]), st.sampled_from(["\n", "\r\n"])), max_size=8)


@settings(max_examples=60)
@given(ENDED, st.booleans())
def test_a_text_that_does_not_change_keeps_its_line_ends(rows: list[tuple[str, str]], final: bool) -> None:
    text = "".join(line + end for line, end in rows) + ("" if final else "last")
    assert with_line_ends(text, text.replace("\r\n", "\n")) == text


@settings(max_examples=60)
@given(ENDED, st.text("ab\n", max_size=6), st.sampled_from(["\n", "\r\n", None]))
def test_only_line_ends_differ_from_what_was_asked_for(
    rows: list[tuple[str, str]], after: str, end: str | None
) -> None:
    before = "".join(line + own for line, own in rows)
    ended = with_line_ends(before, after, end)
    assert ended.replace("\r\n", "\n") == after
    if "\r\n" not in before and end != "\r\n":
        assert ended == after
