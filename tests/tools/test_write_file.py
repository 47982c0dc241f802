from __future__ import annotations

import stat
from pathlib import Path

import pytest

from orchestrator.tool import Shown
from tests.support.editor import EditingAgent, leftovers
from tests.support.read_only_tools import write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "w", {"a.txt": "one\ntwo\n"})


async def test_a_new_file_is_made_with_its_folders(root: Path) -> None:
    agent = EditingAgent(root)
    result = await agent.write("src/deep/new.py", "x = 1\ny = 2")
    assert (root / "src/deep/new.py").read_bytes() == b"x = 1\ny = 2"
    assert result.output == "made src/deep/new.py: 2 lines"
    assert result.shown == (Shown("src/deep/new.py", 1, ("x = 1", "y = 2")),)
    assert agent.told == [("src/deep/new.py",)]
    assert leftovers(root) == []
    plain = root / "plain"
    plain.write_text("")
    assert stat.S_IMODE((root / "src/deep/new.py").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


async def test_what_was_written_may_be_changed_without_reading_it(root: Path) -> None:
    agent = EditingAgent(root)
    await agent.write("new.py", "x = 1\n")
    await agent.edit("new.py", "1", "2")
    await agent.write("new.py", "y = 1\n")
    assert (root / "new.py").read_text() == "y = 1\n"


@pytest.mark.parametrize("content", ["", "\n", "no newline", "a\r\nb\r\n", "\x0c form feed\n", "\u2028\n", "tab\t \n"])
async def test_a_new_file_has_exactly_the_content(root: Path, content: str) -> None:
    result = await EditingAgent(root).write("new.txt", content)
    assert (root / "new.txt").read_bytes() == content.encode()
    assert "kept" not in result.output


async def test_a_byte_order_mark_asked_for_is_written_once(root: Path) -> None:
    agent = EditingAgent(root)
    await agent.write("new.cs", "\ufeffusing X;\n")
    assert (root / "new.cs").read_bytes() == b"\xef\xbb\xbfusing X;\n"
    await agent.write("new.cs", "\ufeffusing Y;\n")
    assert (root / "new.cs").read_bytes() == b"\xef\xbb\xbfusing Y;\n"


async def test_a_file_that_is_there_is_replaced_once_it_was_read(root: Path) -> None:
    agent = EditingAgent(root)
    (root / "a.txt").chmod(0o750)
    error = await agent.refused("write_file", path="a.txt", content="three\n")
    assert error.code == "not_read"
    result = await agent.read("a.txt").write("a.txt", "three\n")
    assert (root / "a.txt").read_text() == "three\n"
    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o750
    assert result.output == "rewrote a.txt: 1 line"


async def test_a_stale_file_is_refused_with_what_changed(root: Path) -> None:
    agent = EditingAgent(root).read("a.txt")
    (root / "a.txt").write_text("one\nTWO\n")
    error = await agent.refused("write_file", path="a.txt", content="three\n")
    assert error.code == "stale"
    assert "-two\n+TWO\n" in str(error.context["changed"])


async def test_the_line_ends_of_a_file_stay(root: Path) -> None:
    write_tree(root, {"crlf": "a\r\nb\r\n", "mixed": "a\r\nb\nc\r\nd\n", "lf": "a\nb\n"})
    agent = EditingAgent(root).read("crlf", "mixed", "lf")
    result = await agent.write("crlf", "a\nB\nc\n")
    assert (root / "crlf").read_bytes() == b"a\r\nB\r\nc\r\n"
    assert "line ends" in result.output
    await agent.write("lf", "a\r\nB\r\n")
    assert (root / "lf").read_bytes() == b"a\nB\n"
    await agent.write("mixed", "a\nb\nnew\nc\nd\n")
    assert (root / "mixed").read_bytes() == b"a\r\nb\nnew\nc\r\nd\n"


async def test_the_same_content_is_not_written_again(root: Path) -> None:
    agent = EditingAgent(root).read("a.txt")
    before = (root / "a.txt").stat()
    result = await agent.write("a.txt", "one\ntwo\n")
    assert "nothing was written" in result.output
    assert (root / "a.txt").stat().st_mtime_ns == before.st_mtime_ns
    assert agent.told == []


async def test_effects_of_a_new_and_of_an_old_file(root: Path) -> None:
    agent = EditingAgent(root).read("a.txt")
    new = await agent.effects("write_file", path="b/c.txt", content="x\n")
    assert new.writes == ("b/c.txt",)
    assert new.diff == "--- /dev/null\n+++ b/b/c.txt\n@@ -0,0 +1 @@\n+x\n"
    assert not (root / "b").exists()
    old = await agent.effects("write_file", path="./a.txt", content="one\n")
    assert old.writes == ("a.txt",)
    assert old.diff == "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1 @@\n one\n-two\n"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("", "is_directory"),
        (".", "is_directory"),
        ("src", "is_directory"),
        ("new/", "invalid_path"),
        ("a.txt/b", "exists"),
        ("a.txt/b/c", "exists"),
        ("../x", "outside_workspace"),
        ("/etc/passwd", "outside_workspace"),
        ("/tmp/../etc/x", "outside_workspace"),
        ("~/x", "invalid_path"),
        ("a\0b", "invalid_path"),
        ("src\\new.py", "invalid_path"),
        ("a\nb", "invalid_path"),
        ("a\x1b[31mb", "invalid_path"),
        ("x" * 300, "invalid_path"),
        ("new/" + "é" * 200, "invalid_path"),
        ("d/" * 3000 + "x", "invalid_path"),
        ("half \ud835", "invalid_path"),
    ],
)
async def test_paths_that_cannot_be_written(root: Path, path: str, code: str) -> None:
    (root / "src").mkdir()
    error = await EditingAgent(root).refused("write_file", path=path, content="x\n")
    assert error.code == code
    assert len(error.message) < 400


@pytest.mark.parametrize("content", ["a\0b", "a\0" * 50, "%PDF-1.4\n"])
async def test_text_that_would_not_be_read_back_is_refused(root: Path, content: str) -> None:
    error = await EditingAgent(root).refused("write_file", path="new", content=content)
    assert error.code in ("binary", "unencodable")


async def test_half_a_character_is_refused(root: Path) -> None:
    error = await EditingAgent(root).refused("write_file", path="new", content="a\nb\ud835")
    assert error.code == "unencodable"
    assert "line 2" in error.message
