from __future__ import annotations

import asyncio
import json
import stat
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.tool import Editable, Shown
from tests.support.editor import EditingAgent, leftovers
from tests.support.read_only_tools import load_tool, write_tree

CODE = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"


async def test_one_replacement_and_the_lines_around_it(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    result = await agent.edit("a.py", "    return 2\n", "    # twice\n    return 1 + 1\n")
    assert (tmp_path / "w/a.py").read_text() == CODE.replace("    return 2\n", "    # twice\n    return 1 + 1\n")
    assert result.output == (
        "edited a.py: 1 place changed; the lines are now:\n"
        "6\t\n7\t\n8\tdef two():\n9\t    # twice\n10\t    return 1 + 1"
    )
    assert result.shown == (Shown("a.py", 6, ("", "", "def two():", "    # twice", "    return 1 + 1")),)
    assert result.display == "a.py: 1 place changed"
    assert agent.told == [("a.py",)]
    assert leftovers(tmp_path / "w") == []


async def test_several_edits_are_made_in_order_each_on_what_the_last_one_left(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    edits = [
        {"old": "def two", "new": "def three"},
        {"old": "import os\n", "new": ""},
        {"old": "def three():\n    return 2", "new": "def three():\n    return 3"},
    ]
    result = await agent.call("edit_file", path="a.py", edits=edits)
    assert (tmp_path / "w/a.py").read_text() == "\n\ndef one():\n    return 1\n\n\ndef three():\n    return 3\n"
    assert "3 places changed" in result.output
    assert "7\tdef three():\n8\t    return 3" in result.output


async def test_what_an_earlier_edit_changed_is_shown_where_later_ones_moved_it(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(1, 101)]
    lines[9] = lines[89] = "mark"
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.txt": "\n".join(lines)})).read("a.txt")
    edits = [
        {"old": "line 50", "new": "LINE 50"},
        {"old": "mark", "new": "\n".join(["more"] * 20), "replace_all": True},
    ]
    result = await agent.call("edit_file", path="a.txt", edits=edits)
    assert "69\tLINE 50\n" in result.output
    assert "66\tline 47\n67\tline 48" in result.output
    assert "\tline 80" not in result.output


async def test_all_edits_or_none(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    edits = [{"old": "import os", "new": "import sys"}, {"old": "def five", "new": "def six"}]
    error = await agent.refused("edit_file", path="a.py", edits=edits)
    assert error.code == "no_match"
    assert error.message.startswith("edit 2 of 2: `old` is not in a.py")


async def test_an_edit_of_what_an_earlier_one_took_away_is_explained(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    edits = [{"old": "def one", "new": "def first"}, {"old": "def one", "new": "def six"}]
    assert "an earlier edit of this call" in (await agent.refused("edit_file", path="a.py", edits=edits)).message


@pytest.mark.parametrize("new", [r"\1 \g<0> \n", "$1 $& ${x}", "%s {0} {old}", "\\\\", "&amp;"])
async def test_the_replacement_is_literal(tmp_path: Path, new: str) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.txt": "x = (OLD)\n"})).read("a.txt")
    await agent.edit("a.txt", "(OLD)", new)
    assert (tmp_path / "w/a.txt").read_text() == f"x = {new}\n"


async def test_edits_may_come_as_json_text(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.txt": "one two\n"})).read("a.txt")
    edits = [{"old": "one", "new": "1"}, {"old": "two", "new": "2"}]
    await agent.call("edit_file", path="a.txt", edits=json.dumps(edits))
    await agent.call("edit_file", path="a.txt", edits={"old": "1", "new": "uno"})
    assert (tmp_path / "w/a.txt").read_text() == "uno 2\n"


async def test_replace_all_shows_every_part_once(tmp_path: Path) -> None:
    text = "".join(f"{'name' if number % 40 == 0 else 'line'} {number}\n" for number in range(1, 2001))
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.txt": text})).read("a.txt")
    result = await agent.edit("a.txt", "name", "title", replace_all=True)
    assert (tmp_path / "w/a.txt").read_text() == text.replace("name", "title")
    assert "50 places changed" in result.output
    assert "37\tline 37\n38\tline 38\n39\tline 39\n40\ttitle 40\n41\tline 41" in result.output
    assert "more changed places]" in result.output
    assert len(result.output) < 5000
    assert all(
        line == text.replace("name", "title").split("\n")[shown.first - 1 + index]
        for shown in result.shown
        for index, line in enumerate(shown.lines)
    )


async def test_a_text_found_often_is_refused_with_all_its_lines(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    error = await agent.refused("edit_file", path="a.py", edits=[{"old": "    return ", "new": "    yield "}])
    assert error.code == "ambiguous"
    assert error.context["places"] == "\n5\t    return 1\n9\t    return 2"
    many = EditingAgent(write_tree(tmp_path / "v", {"a": "x\n" * 500})).read("a")
    error = await many.refused("edit_file", path="a", edits=[{"old": "x", "new": "y"}])
    assert "500 places" in error.message
    assert str(error.context["places"]).count("\n") < 30


async def test_places_that_overlap_are_two_places(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a": "-aaa-\n"})).read("a")
    assert (await agent.refused("edit_file", path="a", edits=[{"old": "aa", "new": "b"}])).code == "ambiguous"


async def test_a_text_that_is_not_there_shows_the_nearest_lines(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    old = "def two():\n    return 22\n"
    error = await agent.refused("edit_file", path="a.py", edits=[{"old": old, "new": "x"}])
    assert error.code == "no_match"
    assert error.context["nearest"] == "\n8\tdef two():\n9\t    return 2"
    error = await agent.refused("edit_file", path="a.py", edits=[{"old": "    return one", "new": "x"}])
    assert "5\t    return 1" in str(error.context["nearest"])


async def test_white_space_alone_is_offered_and_not_applied(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": "def f():\n\tx = 1  \n\ty = 2\n"})).read("a.py")
    old = "    x = 1\n    y = 2"
    error = await agent.refused("edit_file", path="a.py", edits=[{"old": old, "new": "    x = 9\n"}])
    assert error.code == "no_match"
    assert "differ from it only in white space" in error.message
    assert "lines 2-3" in error.message
    offered = json.loads(str(error.context["as_in_file"]))
    assert offered == "x = 1  \n\ty = 2"
    await agent.edit("a.py", offered, "x = 9")
    assert (tmp_path / "w/a.py").read_text() == "def f():\n\tx = 9\n"


async def test_line_numbers_taken_along_from_reading_are_explained(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    error = await agent.refused("edit_file", path="a.py", edits=[{"old": "4\tdef one():\n5\t    return 1", "new": "x"}])
    assert "leave out the line numbers" in error.message


async def test_an_edit_that_was_made_already_says_so(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    error = await agent.refused("edit_file", path="a.py", edits=[{"old": "def uno():", "new": "def one():"}])
    assert "the new text stands at line 4 already" in error.message


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("", "x", "empty_old"), ("import", "import", "no_change"), ("a\r\nb", "a\nb", "no_change")],
)
async def test_what_cannot_be_meant_is_refused(tmp_path: Path, old: str, new: str, code: str) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    assert (await agent.refused("edit_file", path="a.py", edits=[{"old": old, "new": new}])).code == code


async def test_edits_that_undo_each_other_are_no_change(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.txt": "one\n"})).read("a.txt")
    edits = [{"old": "one", "new": "two"}, {"old": "two", "new": "one"}]
    assert (await agent.refused("edit_file", path="a.txt", edits=edits)).code == "no_change"


async def test_a_file_that_was_never_read_is_not_edited_nor_is_anything_told_of_it(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {".env": "TOKEN=abc\n"}))
    error = await agent.refused("edit_file", path=".env", edits=[{"old": "TOKEN=", "new": "TOKEN"}])
    assert error.code == "not_read"
    assert "abc" not in error.message + str(error.context)


async def test_a_file_changed_by_somebody_else_is_refused_with_what_changed(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": CODE})).read("a.py")
    (tmp_path / "w/a.py").write_text(CODE.replace("return 1", "return 11"))
    error = await agent.refused("edit_file", path="a.py", edits=[{"old": "return 2", "new": "return 3"}])
    assert error.code == "stale"
    assert "-    return 1\n+    return 11\n" in str(error.context["changed"])
    agent.read("a.py")
    await agent.edit("a.py", "return 2", "return 3")
    assert (tmp_path / "w/a.py").read_text() == CODE.replace("return 1", "return 11").replace("return 2", "return 3")


async def test_of_two_agents_that_edit_a_file_at_the_same_time_one_is_refused(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "w", {"a.py": CODE})
    first = EditingAgent(root, "a").read("a.py")
    second = EditingAgent(root, "b", first.checkpoints).read("a.py")
    done = await asyncio.gather(
        first.edit("a.py", "return 1", "return 10"),
        second.edit("a.py", "return 2", "return 20"),
        return_exceptions=True,
    )
    codes = sorted(getattr(each, "code", "") for each in done)
    assert codes == ["", "stale"]
    text = (root / "a.py").read_text()
    assert text in (CODE.replace("return 1", "return 10"), CODE.replace("return 2", "return 20"))
    assert len(first.told) + len(second.told) == 1
    assert leftovers(root) == []


async def test_effects_tell_the_file_and_the_diff_and_change_nothing(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.py": "one\ntwo"})).read("a.py")
    effects = await agent.effects("edit_file", path="a.py", edits=[{"old": "two", "new": "2"}])
    assert effects.writes == ("a.py",)
    assert effects.diff == (
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n"
        "+2\n\\ No newline at end of file\n"
    )
    assert (tmp_path / "w/a.py").read_text() == "one\ntwo"
    assert not (tmp_path / "w-state").exists()


async def test_a_long_change_is_shown_by_its_head_and_tail(tmp_path: Path) -> None:
    agent = EditingAgent(write_tree(tmp_path / "w", {"a.txt": "start\nHERE\nend\n"})).read("a.txt")
    result = await agent.edit("a.txt", "HERE", "\n".join(f"new {number}" for number in range(500)))
    assert "1\tstart\n2\tnew 0\n" in result.output
    assert result.output.endswith("501\tnew 499\n502\tend")
    assert "\n…\n" in result.output
    assert len(result.output) < 1000


# --- properties ------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    ["a", "b", "\n", "\r\n", " ", "\\", "$1", "é", "\t", "\r", "ab", "\x0c", "\u2028", "\\n", "中"]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join).filter(lambda text: "\r\r\n" not in text)


def flat(text: str) -> str:
    return text.replace("\r\n", "\n")


def edit_text(text: str, old: str, new: str, *, replace_all: bool) -> str:
    tool = load_tool("edit_file")
    module = sys.modules[type(tool).__module__]
    edit = module.Edit(old=old, new=new, replace_all=replace_all)
    edited: str = module.edit_text(Editable("a", text), [edit]).text
    return edited


@settings(max_examples=60)
@given(TEXTS, TEXTS, TEXTS.filter(lambda text: "\r" not in flat(text)), TEXTS)
def test_all_outside_of_the_replaced_part_keeps_its_bytes(head: str, old: str, new: str, tail: str) -> None:
    old, new = f"<{old}>", f"[{new}]"
    edited = edit_text(head + old + tail, flat(old), new, replace_all=False)
    assert edited.startswith(head)
    assert edited.endswith(tail)
    middle = edited[len(head) : len(edited) - len(tail)]
    assert flat(middle) == flat(new)
    if "\r\n" not in head + old + tail:
        assert "\r" not in middle
    if "\n" in flat(old) and old.count("\n") == old.count("\r\n"):
        assert middle.count("\n") == middle.count("\r\n")


@settings(max_examples=60)
@given(TEXTS, st.text("ab\\$1\n", min_size=1, max_size=3), TEXTS)
def test_replacing_all_is_what_str_replace_does_on_line_feeds(text: str, old: str, new: str) -> None:
    text, new = flat(text), flat(new)
    if old not in text or text.replace(old, new) == text or old == new:
        return
    assert edit_text(text, old, new, replace_all=True) == text.replace(old, new)
    if "\r" not in text + new:
        crlf = edit_text(text.replace("\n", "\r\n"), old, new, replace_all=True)
        if "\n" in text:
            assert crlf == text.replace(old, new).replace("\n", "\r\n")


@settings(max_examples=25)
@given(
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from([0o644, 0o755, 0o600, 0o640]),
    st.sampled_from(["utf-8", "utf-16-le", "cp1252"]),
)
def test_mark_line_ends_final_newline_mode_and_encoding_stay(
    mark: bytes, end: str, final: bool, mode: int, encoding: str
) -> None:
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b"" if encoding == "cp1252" else mark
    with tempfile.TemporaryDirectory() as folder:
        text = end.join(["Grüße", "old", "last"]) + (end if final else "")
        path = Path(folder) / "w" / "a.txt"
        write_tree(Path(folder), {"w/a.txt": mark + text.encode(encoding)})
        path.chmod(mode)
        agent = EditingAgent(Path(folder) / "w").read("a.txt")
        asyncio.run(_edit(agent))
        assert path.read_bytes() == mark + text.replace("old", f"new{end}newer").encode(encoding)
        assert stat.S_IMODE(path.stat().st_mode) == mode


async def _edit(agent: EditingAgent) -> None:
    await agent.edit("a.txt", "old\n", "new\nnewer\n")
