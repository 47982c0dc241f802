"""Category 5 of the fault reports: editing files; and of category 6 what writing has to do with links."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.checkpoints import Token
from orchestrator.errors import ToolError
from tests.support.editor import EditingAgent, checkpoints_beside
from tests.support.read_only_tools import write_tree


def agent_with(tmp_path: Path, content: bytes, name: str = "f.txt") -> EditingAgent:
    """An agent that has read the one file of its workspace."""
    return EditingAgent(write_tree(tmp_path / "w", {name: content})).read(name)


def bytes_of(agent: EditingAgent, name: str = "f.txt") -> bytes:
    return (agent.root / name).read_bytes()


async def test_a_carriage_return_from_the_model_is_not_added(tmp_path: Path) -> None:
    """B062"""
    agent = agent_with(tmp_path, b"a\nb\n")
    await agent.edit("f.txt", "a\r\nb", "a\r\nc")
    assert bytes_of(agent) == b"a\nc\n"


async def test_mixed_line_ends_stay_mixed(tmp_path: Path) -> None:
    """B063"""
    agent = agent_with(tmp_path, b"a\r\nb\nc\r\n")
    await agent.edit("f.txt", "b", "B")
    assert bytes_of(agent) == b"a\r\nB\nc\r\n"
    await agent.edit("f.txt", "a\nB\nc\n", "A\nB\nC\n")
    assert bytes_of(agent) == b"A\r\nB\nC\r\n"
    await agent.edit("f.txt", "B", "B\nmore")
    assert bytes_of(agent) == b"A\r\nB\nmore\nC\r\n"


async def test_the_byte_order_mark_stays_and_is_not_text(tmp_path: Path) -> None:
    """B066"""
    agent = agent_with(tmp_path, b"\xef\xbb\xbfusing X;\r\n")
    assert agent.edits.open("f.txt").text == "using X;\r\n"
    await agent.edit("f.txt", "using X", "using Y")
    assert bytes_of(agent) == b"\xef\xbb\xbfusing Y;\r\n"
    await agent.write("f.txt", "using Z;\n")
    assert bytes_of(agent) == b"\xef\xbb\xbfusing Z;\r\n"
    await agent.write("f.txt", "\ufeffusing Z2;\r\n")
    assert bytes_of(agent) == b"\xef\xbb\xbfusing Z2;\r\n"


@pytest.mark.parametrize("tool", ["edit_file", "write_file", "apply_patch"])
async def test_every_tool_keeps_the_encoding(tmp_path: Path, tool: str) -> None:
    """B067"""
    agent = agent_with(tmp_path, b"\xff\xfe" + "Grüße\nold\n".encode("utf-16-le"))
    calls: dict[str, dict[str, object]] = {
        "edit_file": {"path": "f.txt", "edits": [{"old": "old", "new": "中"}]},
        "write_file": {"path": "f.txt", "content": "Grüße\n中\n"},
        "apply_patch": {"patch": "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n Grüße\n-old\n+中\n"},
    }
    await agent.call(tool, **calls[tool])
    assert bytes_of(agent) == b"\xff\xfe" + "Grüße\n中\n".encode("utf-16-le")


@pytest.mark.parametrize("tool", ["edit_file", "write_file"])
async def test_text_that_the_encoding_lacks_is_refused_by_every_tool(tmp_path: Path, tool: str) -> None:
    """B067: GBK is not known, but its bytes are neither lost nor turned into UTF-8."""
    gbk = "注释\nold\n".encode("gbk")
    agent = agent_with(tmp_path, gbk)
    calls: dict[str, dict[str, object]] = {
        "edit_file": {"path": "f.txt", "edits": [{"old": "old", "new": "新"}]},
        "write_file": {"path": "f.txt", "content": "注释\n新\n"},
    }
    error = await agent.refused(tool, **calls[tool])
    assert error.code == "unencodable"
    assert "Windows-1252" in error.message
    await agent.edit("f.txt", "old", "new")
    assert bytes_of(agent) == gbk.replace(b"old", b"new")


async def test_text_of_white_space_alone_is_only_found_where_it_is(tmp_path: Path) -> None:
    """B069"""
    agent = agent_with(tmp_path, b"abc\ndef")
    edits = [{"old": " ", "new": "X", "replace_all": True}]
    error = await agent.refused("edit_file", path="f.txt", edits=edits)
    assert error.code == "no_match"
    assert "white space" not in error.message


async def test_other_white_space_changes_nothing_at_all(tmp_path: Path) -> None:
    """B070"""
    agent = agent_with(tmp_path, b"def f():\n    x = 1\n    y = 2\n")
    error = await agent.refused("edit_file", path="f.txt", edits=[{"old": "x  =  1", "new": "x = 9"}])
    assert error.context["as_in_file"] == '"x = 1"'
    await agent.edit("f.txt", "x = 1", "x = 9")
    assert bytes_of(agent) == b"def f():\n    x = 9\n    y = 2\n"


async def test_the_line_after_the_last_one_that_matches_stays_a_line(tmp_path: Path) -> None:
    """B071"""
    agent = agent_with(tmp_path, b"if x {  \n  go();  \n}\n")
    error = await agent.refused("edit_file", path="f.txt", edits=[{"old": "if x {\n  go();\n", "new": "stop();\n"}])
    assert error.code == "no_match"
    assert error.context["as_in_file"] == '"if x {  \\n  go();"'
    await agent.edit("f.txt", "if x {  \n  go();  \n", "stop();\n")
    assert bytes_of(agent) == b"stop();\n}\n"


async def test_places_that_overlap_are_replaced_once(tmp_path: Path) -> None:
    """B072"""
    agent = agent_with(tmp_path, b"aaaa")
    result = await agent.edit("f.txt", "aa", "b", replace_all=True)
    assert bytes_of(agent) == b"bb"
    assert "2 places changed" in result.output


async def test_an_agents_own_edit_does_not_make_its_next_one_stale(tmp_path: Path) -> None:
    """B074"""
    agent = agent_with(tmp_path, b"one\ntwo\n")
    await agent.edit("f.txt", "one", "1")
    await agent.edit("f.txt", "two", "2")
    await agent.patch("--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+zwei\n")
    await agent.write("f.txt", "end\n")
    assert bytes_of(agent) == b"end\n"


@pytest.mark.parametrize("when", [1_000_000_000, 4_000_000_000])
async def test_another_time_stamp_on_the_same_content_is_not_stale(tmp_path: Path, when: int) -> None:
    """B075"""
    agent = agent_with(tmp_path, b"one\n")
    os.utime(agent.root / "f.txt", (when, when))
    await agent.edit("f.txt", "one", "two")
    assert bytes_of(agent) == b"two\n"


async def test_other_content_with_the_same_time_stamp_and_size_is_stale(tmp_path: Path) -> None:
    """B075, the other way round"""
    agent = agent_with(tmp_path, b"one\ntwo\n")
    stamp = (agent.root / "f.txt").stat()
    (agent.root / "f.txt").write_bytes(b"one\nTWO\n")
    os.utime(agent.root / "f.txt", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert (await agent.refused("edit_file", path="f.txt", edits=[{"old": "one", "new": "1"}])).code == "stale"


async def test_a_link_to_nowhere_is_not_written_through(tmp_path: Path) -> None:
    """B078"""
    agent = EditingAgent(write_tree(tmp_path / "w", {"f.txt": ""}))
    (tmp_path / "outside").mkdir()
    (agent.root / "draft.txt").symlink_to("../outside/new.txt")
    (agent.root / "inner.txt").symlink_to("nothing.txt")
    (agent.root / "folder").symlink_to("../outside")
    (agent.root / "later").symlink_to("../outside/later")
    for path in ("draft.txt", "folder/new.txt", "folder/a/new.txt", "later/new.txt"):
        assert (await agent.refused("write_file", path=path, content="x\n")).code == "outside_workspace"
    assert (await agent.refused("write_file", path="inner.txt", content="x\n")).code == "not_found"
    assert list((tmp_path / "outside").iterdir()) == []


class SwapsAtTheLastMoment:
    """Real checkpoints that, after all checks, replace what stands at a place by a link that leads out."""

    def __init__(self, root: Path, name: str, target: str) -> None:
        self._real = checkpoints_beside(root)
        self._place = root / name
        self._target = target

    def begin(self, agent: str, paths: Sequence[str], made: Sequence[str] = ()) -> Token:
        token = self._real.begin(agent, paths, made)
        self._place.rename(self._place.with_name("moved"))
        self._place.symlink_to(self._target)
        return token

    def finish(self, token: Token) -> None:
        self._real.finish(token)

    def abandon(self, token: Token) -> None:
        self._real.abandon(token)


@pytest.mark.parametrize(("name", "target"), [("d/f", "../../outside/f"), ("d", "../outside")])
async def test_what_is_swapped_for_a_link_after_the_checks_is_not_followed(
    tmp_path: Path, name: str, target: str
) -> None:
    """B079"""
    outside = write_tree(tmp_path / "outside", {"f": "inside\n"})
    root = write_tree(tmp_path / "w", {"d/f": "inside\n"})
    agent = EditingAgent(root, checkpoints=SwapsAtTheLastMoment(root, name, target)).read("d/f")
    with pytest.raises(ToolError) as caught:
        await agent.write("d/f", "new\n")
    assert caught.value.code == "stale"
    assert agent.told == []
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("f", "inside\n")]
    assert (root / name).is_symlink()


async def test_swapping_a_file_or_a_folder_for_a_link_never_writes_outside(tmp_path: Path) -> None:
    """B079"""
    outside = write_tree(tmp_path / "outside", {"f": "inside\n", "d/f": "inside\n"})
    root = write_tree(tmp_path / "w", {"f": "inside\n", "d/f": "inside\n"})
    (root / "link").symlink_to("../outside/f")
    (root / "away").symlink_to("../outside/d")
    agent = EditingAgent(root).read("f", "d/f")
    stop = threading.Event()
    swapper = threading.Thread(target=_swap, args=(root, stop))
    swapper.start()
    try:
        for number in range(30):
            for path in ("f", "d/f"):
                with suppress(ToolError):
                    await agent.write(path, f"new {number}\n")
    finally:
        stop.set()
        swapper.join()
    assert sorted(outside.rglob("*")) == [outside / "d", outside / "d/f", outside / "f"]
    assert (outside / "d/f").read_bytes() == (outside / "f").read_bytes() == b"inside\n"


def _swap(root: Path, stop: threading.Event) -> None:
    """`f` and `d` are now what they should be, now links that lead out, as fast as it goes."""
    while not stop.is_set():
        for name, link in (("f", "link"), ("d", "away")):
            try:
                os.rename(root / name, root / "aside")  # noqa: PTH104  # as fast as it goes
                os.rename(root / link, root / name)  # noqa: PTH104
                os.rename(root / name, root / link)  # noqa: PTH104
                os.rename(root / "aside", root / name)  # noqa: PTH104
            except OSError:  # the agent has made anew what was not there
                return
