from __future__ import annotations

import asyncio
import difflib
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.tool import Shown
from orchestrator.unified_diff import split_lines, unified_diff
from tests.support.editor import EditingAgent, leftovers, tree_of
from tests.support.read_only_tools import load_tool, write_tree

FILES = {
    "a.py": "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n",
    "b.txt": "".join(f"line {number}\n" for number in range(1, 31)),
}
CHANGE = """\
--- a/a.py
+++ b/a.py
@@ -4,2 +4,2 @@
 def one():
-    return 1
+    return 11
"""


@pytest.fixture
def agent(tmp_path: Path) -> EditingAgent:
    return EditingAgent(write_tree(tmp_path / "w", dict(FILES))).read("a.py", "b.txt")


async def test_a_change_in_one_file(agent: EditingAgent) -> None:
    result = await agent.patch(CHANGE)
    assert (agent.root / "a.py").read_text() == FILES["a.py"].replace("return 1\n", "return 11\n")
    rows = "2\t\n3\t\n4\tdef one():\n5\t    return 11\n6\t\n7\t\n8\tdef two():"
    assert result.output.startswith("changed a.py; the lines are now:\n")
    assert rows in result.output
    assert "    return 11" in result.shown[0].lines
    assert isinstance(result.shown[0], Shown)
    assert agent.told == [("a.py",)]


async def test_many_files_new_deleted_renamed_and_made_executable(agent: EditingAgent) -> None:
    write_tree(agent.root, {"old/name.txt": "1\n2\n3\n", "run.sh": "#!/bin/sh\n", "gone.txt": "x\ny\n"})
    agent.read("old/name.txt", "run.sh", "gone.txt")
    patch = (
        CHANGE
        + """\
--- /dev/null
+++ b/new/file.py
@@ -0,0 +1,2 @@
+x = 1
+y = 2
\\ No newline at end of file
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-x
-y
diff --git a/old/name.txt b/other/name.txt
similarity index 60%
rename from old/name.txt
rename to other/name.txt
--- a/old/name.txt
+++ b/other/name.txt
@@ -1,3 +1,3 @@
 1
-2
+two
 3
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/empty b/empty
new file mode 100755
index 0000000..e69de29
"""
    )
    effects = await agent.effects("apply_patch", patch=patch)
    assert set(effects.writes) == {
        "a.py", "new/file.py", "gone.txt", "old/name.txt", "other/name.txt", "run.sh", "empty"
    }  # fmt: skip
    result = await agent.patch(patch)
    root = agent.root
    assert (root / "new/file.py").read_bytes() == b"x = 1\ny = 2"
    assert not (root / "gone.txt").exists()
    assert not (root / "old/name.txt").exists()
    assert (root / "other/name.txt").read_text() == "1\ntwo\n3\n"
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((root / "empty").stat().st_mode) & 0o111
    assert (root / "empty").read_bytes() == b""
    said = (
        "changed a.py",
        "made new/file.py",
        "deleted gone.txt",
        "moved old/name.txt to other/name.txt",
        "may be run",
    )
    assert all(each in result.output for each in said)
    assert leftovers(root) == []


async def test_all_or_nothing(agent: EditingAgent) -> None:
    patch = CHANGE + "--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n line 1\n-line zwei\n+line two\n"
    error = await agent.refused("apply_patch", patch=patch)
    assert error.code == "no_match"
    assert "hunk 1 of 1 for b.txt (@@ -1,2 +1,2 @@)" in error.message
    assert "line 2" in error.message
    assert error.context["patch_has"] == "'line zwei'"
    assert error.context["file_has"] == "'line 2'"
    assert "1\tline 1\n2\tline 2" in str(error.context["nearest"])


async def test_line_numbers_only_say_where_to_look(agent: EditingAgent) -> None:
    await agent.patch("--- a/b.txt\n+++ b/b.txt\n@@ -90,3 +90,3 @@\n line 20\n-line 21\n+LINE 21\n line 22\n")
    assert (agent.root / "b.txt").read_text() == FILES["b.txt"].replace("line 21", "LINE 21")
    await agent.patch("--- a/b.txt\n+++ b/b.txt\n@@ somewhere @@\n line 3\n-line 4\n+LINE 4\n")
    assert "line 3\nLINE 4\nline 5\n" in (agent.root / "b.txt").read_text()


async def test_hunks_that_count_badly_or_stand_in_the_wrong_order(agent: EditingAgent) -> None:
    await agent.patch(
        "--- a/b.txt\n+++ b/b.txt\n@@ -20,9 +20,7 @@\n line 20\n-line 21\n+LINE 21\n line 22\n"
        "@@ -2,1 +2,1 @@\n line 2\n-line 3\n+LINE 3\n+and more\n line 4\n\n"
        "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n-import os\n+import sys\n\n\n"
    )
    text = FILES["b.txt"].replace("line 21", "LINE 21").replace("line 3\n", "LINE 3\nand more\n")
    assert (agent.root / "b.txt").read_text() == text
    assert (agent.root / "a.py").read_text() == FILES["a.py"].replace("import os", "import sys")


async def test_counts_that_swallow_the_next_header_do_not(agent: EditingAgent) -> None:
    await agent.patch(
        "--- a/b.txt\n+++ b/b.txt\n@@ -1,3 +1,3 @@\n-line 1\n+LINE 1\n line 2\n"
        "--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-import os\n+import sys\n"
    )
    assert (agent.root / "b.txt").read_text().startswith("LINE 1\nline 2\n")
    assert (agent.root / "a.py").read_text().startswith("import sys\n")


async def test_a_context_that_stands_at_several_places_is_refused(agent: EditingAgent) -> None:
    write_tree(agent.root, {"c.txt": "x\ny\n" * 5})
    agent.read("c.txt")
    patch = "--- a/c.txt\n+++ b/c.txt\n@@ -2,2 +2,2 @@\n x\n-y\n+z\n"
    error = await agent.refused("apply_patch", patch=patch)
    assert error.code == "ambiguous"
    assert "1, 3, 5, 7, 9" in error.message
    await agent.patch(patch.replace("-2,2 +2,2", "-5,2 +5,2"))
    assert (agent.root / "c.txt").read_text() == "x\ny\nx\ny\nx\nz\nx\ny\nx\ny\n"


async def test_white_space_is_content(agent: EditingAgent) -> None:
    error = await agent.refused("apply_patch", patch=CHANGE.replace(" def one():", " def  one():"))
    assert error.code == "no_match"
    assert "only in white space" in error.message


@pytest.mark.parametrize(
    ("before", "after"),
    [("one\ntwo", "one\n2"), ("one\ntwo\n", "one\n2\n"), ("a\r\nb\r\n", "a\r\n2\r\n"), ("a\r\nb", "a\r\n2")],
)
async def test_a_patch_that_says_nothing_of_line_ends_keeps_them(agent: EditingAgent, before: str, after: str) -> None:
    write_tree(agent.root, {"c.txt": before})
    agent.read("c.txt")
    first, second = before.split()
    await agent.patch(f"--- a/c.txt\n+++ b/c.txt\n@@ -1,2 +1,2 @@\n {first}\n-{second}\n+2\n")
    assert (agent.root / "c.txt").read_bytes() == after.encode()


async def test_added_lines_of_a_crlf_file_and_of_a_crlf_patch(agent: EditingAgent) -> None:
    write_tree(agent.root, {"c.txt": "a\r\nb\r\n", "d.txt": "a\nb\n", "e.txt": "a\r\nb\n"})
    agent.read("c.txt", "d.txt", "e.txt")
    hunk = "@@ -1,2 +1,4 @@\n a\n+x\n+y\n b\n"
    await agent.patch("".join(f"--- a/{name}\n+++ b/{name}\n{hunk}" for name in ("c.txt", "e.txt")))
    assert (agent.root / "c.txt").read_bytes() == b"a\r\nx\r\ny\r\nb\r\n"
    assert (agent.root / "e.txt").read_bytes() == b"a\r\nx\r\ny\r\nb\n"
    await agent.patch(f"--- a/d.txt\n+++ b/d.txt\n{hunk}".replace("\n", "\r\n"))
    assert (agent.root / "d.txt").read_bytes() == b"a\nx\ny\nb\n"


async def test_lines_without_context_get_the_line_ends_of_a_crlf_file(agent: EditingAgent) -> None:
    write_tree(agent.root, {"c.txt": "a\r\nb\r\n"})
    await agent.read("c.txt").patch("--- a/c.txt\n+++ b/c.txt\n@@ -1,0 +2 @@\n+x\n")
    assert (agent.root / "c.txt").read_bytes() == b"a\r\nx\r\nb\r\n"


async def test_text_around_the_diff_is_passed_over(agent: EditingAgent) -> None:
    await agent.patch(f"From: me\nSubject: a change\n\n---\n a.py | 2 +-\n\n{CHANGE}-- \n2.43.0\n")
    assert "return 11" in (agent.root / "a.py").read_text()
    await agent.patch(
        f"```diff\n{CHANGE.replace('1', '11').replace('-4,2 +4,2', '-4,2 +4,2')}```\n".replace("@@ -114", "@@ -4")
    )
    assert "return 1111" in (agent.root / "a.py").read_text()


async def test_a_file_may_come_twice_and_a_new_one_be_changed_at_once(agent: EditingAgent) -> None:
    await agent.patch(
        CHANGE
        + "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+one\n--- a/n.txt\n+++ b/n.txt\n@@ -1 +1 @@\n-one\n+two\n"
        + CHANGE.replace("return 11", "return 111").replace("return 1\n", "return 11\n")
    )
    assert (agent.root / "n.txt").read_text() == "two\n"
    assert "return 111\n" in (agent.root / "a.py").read_text()


async def test_two_names_of_one_file_are_no_rename(agent: EditingAgent) -> None:
    await agent.patch(
        CHANGE.replace("--- a/a.py", "--- a.py.orig\t2026-01-01 00:00:00").replace("b/a.py", "a.py\t2026")
    )
    assert "return 11" in (agent.root / "a.py").read_text()
    await agent.patch("--- a/b.txt\n+++ b/c.txt\n@@ -1,1 +1,1 @@\n-line 1\n+LINE 1\n")
    assert (agent.root / "c.txt").read_text() == FILES["b.txt"].replace("line 1\n", "LINE 1\n")
    assert not (agent.root / "b.txt").exists()


async def test_quoted_names_and_names_with_spaces(agent: EditingAgent) -> None:
    write_tree(agent.root, {"grün.txt": "1\n", "a b.txt": "1\n"})
    agent.read("grün.txt", "a b.txt")
    await agent.patch(
        'diff --git "a/gr\\303\\274n.txt" "b/gr\\303\\274n.txt"\nindex 1..2 100644\n'
        '--- "a/gr\\303\\274n.txt"\n+++ "b/gr\\303\\274n.txt"\n@@ -1 +1 @@\n-1\n+2\n'
        "--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1 +1 @@\n-1\n+2\n"
    )
    assert (agent.root / "grün.txt").read_text() == (agent.root / "a b.txt").read_text() == "2\n"


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ("", "bad_patch"),
        ("make it better", "bad_patch"),
        ("@@ -1 +1 @@\n-a\n+b\n", "bad_patch"),
        ("*** Begin Patch\n*** Update File: a.py\n", "bad_patch"),
        ("--- a/a.py\n+++ b/a.py\n", "bad_patch"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n", "bad_patch"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "bad_patch"),
        (
            "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n",
            "bad_patch",
        ),
        ("diff --git a/x.png b/x.png\nGIT binary patch\n", "bad_patch"),
        ("--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n", "bad_patch"),
        ("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n import os\n", "no_change"),
        ("--- a/no.py\n+++ b/no.py\n@@ -1 +1 @@\n-a\n+b\n", "not_found"),
        ("--- a/unread.py\n+++ b/unread.py\n@@ -1 +1 @@\n-a\n+b\n", "not_read"),
        ("--- a/unread.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "not_read"),
        ("--- /dev/null\n+++ b/unread.py\n@@ -0,0 +1 @@\n+a\n", "exists"),
        ("diff --git a/a.py b/b.txt\nrename from a.py\nrename to b.txt\n", "exists"),
        ("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", "outside_workspace"),
        ("--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+b\n", "outside_workspace"),
        ("--- a/a.py\n+++ b/a.py\n@@ -99,0 +100 @@\n+b\n", "no_match"),
    ],
)
async def test_patches_that_cannot_be_applied(agent: EditingAgent, patch: str, code: str) -> None:
    write_tree(agent.root, {"unread.py": "a\n"})
    assert (await agent.refused("apply_patch", patch=patch)).code == code


async def test_a_stale_file_is_refused(agent: EditingAgent) -> None:
    (agent.root / "a.py").write_text(FILES["a.py"] + "# more\n")
    error = await agent.refused("apply_patch", patch=CHANGE)
    assert error.code == "stale"
    assert "+# more" in str(error.context["changed"])


# --- properties ------------------------------------------------------------------------------------------------------

LINES = st.sampled_from(
    ["a", "b", "c", "", " ", "-", "+", "-- x", "++ y", "@@ -1 +1 @@", "\\ No", "é", "\x0cx", "a\r", "\r"]
)


@st.composite
def changed_texts(draw: st.DrawFn) -> tuple[str, str]:
    before = draw(st.lists(LINES, max_size=25))
    after = list(before)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(after)))
        end = draw(st.integers(start, min(len(after), start + 3)))
        after[start:end] = draw(st.lists(LINES, max_size=3))
    ends = draw(st.tuples(st.booleans(), st.booleans()))
    return _joined(before, ends[0]), _joined(after, ends[1])


def _joined(lines: list[str], final: bool) -> str:
    return "\n".join(lines) + ("\n" if final and lines else "")


def _by_difflib(before: str, after: str) -> str:
    rows = difflib.unified_diff(split_lines(before), split_lines(after), "a/f", "b/f")
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


async def _applied(patch: str, before: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        root = write_tree(Path(folder) / "w", {"f": before})
        agent = EditingAgent(root).read("f")
        await agent.patch(patch)
        return (root / "f").read_bytes()


@settings(max_examples=60)
@given(changed_texts())
def test_a_diff_by_difflib_or_by_orch_gives_exactly_the_new_text(texts: tuple[str, str]) -> None:
    before, after = texts
    if before == after:
        return
    module = sys.modules[type(load_tool("apply_patch")).__module__]
    for patch in (_by_difflib(before, after), unified_diff("f", before, after)):
        (part,) = module.parse_patch(patch)
        assert (part.old, part.new) == ("f", "f")
        assert module.apply_hunks("f", before, part.hunks)[0] == after


@pytest.mark.parametrize("added", [0, 1, 5])
def test_later_hunks_are_looked_for_where_earlier_ones_have_moved_them(added: int) -> None:
    before = ["same\n"] * 60
    after = [*before[:10], *["new\n"] * added, *before[12:40], "end\n", *before[41:]]
    module = sys.modules[type(load_tool("apply_patch")).__module__]
    (part,) = module.parse_patch(_by_difflib("".join(before), "".join(after)))
    assert len(part.hunks) >= 2
    assert module.apply_hunks("f", "".join(before), part.hunks)[0] == "".join(after)


@settings(max_examples=25)
@given(changed_texts(), st.integers(0, 3))
def test_a_diff_by_git_gives_exactly_the_new_text(texts: tuple[str, str], context: int) -> None:
    before, after = texts
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), {"a/f": before, "b/f": after})
        patch = git(Path(folder), "diff", "--no-index", "--no-prefix", f"-U{max(1, context)}", "a/f", "b/f")
        if patch:
            assert asyncio.run(_applied(patch, before)) == after.encode()


@settings(max_examples=15)
@given(changed_texts())
def test_git_applies_what_orch_shows_as_the_diff(texts: tuple[str, str]) -> None:
    before, after = texts
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), {"f": before})
        patch = unified_diff("f", before, after)
        if patch:
            git(Path(folder), "apply", "--whitespace=nowarn", "-", text=patch)
            assert (Path(folder) / "f").read_bytes() == after.encode()


TREES = st.dictionaries(
    st.sampled_from(["a", "b", "d/c", "d/e", "x y"]), st.sampled_from(["", "1\n", "1\n2\n3\n4\n", "z"])
)


@settings(max_examples=20)
@given(TREES, TREES)
def test_a_git_diff_of_two_trees_turns_one_into_the_other(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder) / "w", dict(before))
        write_tree(Path(folder) / "new", dict(after))
        (Path(folder) / "w").mkdir(exist_ok=True)
        (Path(folder) / "new").mkdir(exist_ok=True)
        patch = git(Path(folder), "diff", "--no-index", "-M", "w", "new")
        patch = patch.replace("a/w/", "a/").replace("b/new/", "b/").replace("a/new/", "a/").replace("b/w/", "b/")
        patch = patch.replace(" from w/", " from ").replace(" to new/", " to ")
        if patch:
            asyncio.run(EditingAgent(Path(folder) / "w").read(*before).patch(patch))
        assert _contents(Path(folder) / "w") == _contents(Path(folder) / "new")


def _contents(root: Path) -> dict[str, bytes]:
    return {name: entry[1] for name, entry in tree_of(root).items() if entry != "folder"}


def git(folder: Path, *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", *arguments],
        cwd=folder,
        input=text.encode(),
        capture_output=True,
        check=False,
        env={
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "HOME": str(folder),
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
        },
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.decode()
