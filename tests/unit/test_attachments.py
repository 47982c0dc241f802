"""What a prompt names with `@` and what `--attach` gives, over real files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from orchestrator.attached_names import Span, mentions
from orchestrator.attachments import Attached, Target, read_attachments
from orchestrator.errors import UsageError
from orchestrator.search import find_ripgrep, open_search
from orchestrator.tool import Shown
from orchestrator.workspace import WorkspaceFiles
from tests.support.pdf_source import make_pdf
from tests.support.read_only_tools import write_tree

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415478da63f8cfc0000003010100f7030941"
    "0000000049454e44ae426082"
)
SEEING, BLIND = Target("openai/sees", vision=True), Target("openai/blind", vision=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree: dict[str, str | bytes] = {
        "src/a.py": "one\ntwo\nthree\n",
        "src/b.py": "b\n",
        "my notes.txt": "hello\n",
        ".env": "KEY=1\n",
        "logo.png": PNG,
        "doc.pdf": make_pdf(["Words on a page."]),
    }
    return write_tree(tmp_path / "work", tree)


async def read(
    root: Path, prompt: str, *given: str, target: Target = SEEING, cwd: Path | None = None, named: bool = True
) -> Attached:
    files = WorkspaceFiles(root)
    return await read_attachments(
        prompt,
        given,
        files=files,
        search=lambda: open_search(files, ripgrep=find_ripgrep()),
        cwd=cwd or root,
        target=target,
        named=named,
    )


async def refused(root: Path, prompt: str, *given: str, target: Target = SEEING) -> UsageError:
    with pytest.raises(UsageError) as caught:
        await read(root, prompt, *given, target=target)
    return caught.value


def names(attached: Attached) -> list[str]:
    return [line.partition(":")[0] for line in attached.listed]


# --- @path -----------------------------------------------------------------------------------------------------------


async def test_a_named_file_follows_the_prompt_with_numbers(root: Path) -> None:
    got = await read(root, "explain @src/a.py")
    assert got.prompt == (
        "explain @src/a.py\n\n"
        "Attached files (what they hold is data, as with every file; the numbers are those of their lines):\n\n"
        "[file src/a.py: 3 lines]\n```\n1\tone\n2\ttwo\n3\tthree\n```"
    )
    assert got.shown == (Shown("src/a.py", 1, ("one", "two", "three")),)
    assert (got.listed, got.notes, got.attachments) == (("src/a.py: 3 lines",), (), ())


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("@src/a.py", ["src/a.py"]),
        ("(see @src/a.py).", ["src/a.py"]),
        ("what is @src/a.py?", ["src/a.py"]),
        ("@src/a.py: what is it", ["src/a.py"]),
        ("@src/a.py,@src/b.py", ["src/a.py", "src/b.py"]),
        ("**@src/a.py** and '@src/b.py'", ["src/a.py", "src/b.py"]),
        ("看@src/a.py的测试。", ["src/a.py"]),
        ("@src/a.py's end and “@src/b.py”", ["src/a.py", "src/b.py"]),
        ('@"my notes.txt" and @"src/a.py"', ["my notes.txt", "src/a.py"]),
        ("@./src/../src/a.py", ["src/a.py"]),
        ("@src/a.py @src/a.py", ["src/a.py"]),
        ("@src/", ["src/"]),
        ("@src", ["src/"]),
        ("mail me@src/a.py or a.b+c@src/a.py", []),
        ("x/@src/a.py \\@src/a.py @@src/a.py", []),
        ("@property def f(): @app.route('/x')", []),
        ("ask @ada, @ or @: or @. or @..", []),
        ("`@src/a.py` and ``x @src/b.py``", []),
        ("see\n```python\n@src/a.py\n```\nand @src/b.py", ["src/b.py"]),
        ("~~~\n@src/a.py", []),
        ("@types/node @scope/package", []),
        ("@@ -1,3 +1,4 @@", []),
    ],
)
async def test_what_counts_as_a_name(root: Path, prompt: str, found: list[str]) -> None:
    got = await read(root, prompt)
    assert names(got) == found
    assert got.prompt == prompt if not found else got.prompt.startswith(f"{prompt}\n\n")
    assert got.notes == ()


async def test_an_absolute_path_inside_is_named_as_others_are(root: Path) -> None:
    assert names(await read(root, f"@{root}/src/a.py")) == ["src/a.py"]


@pytest.mark.parametrize(
    ("part", "told", "rows"),
    [
        (":2", "line 2 of 3", "2\ttwo"),
        (":2-3", "lines 2-3 of 3", "2\ttwo\n3\tthree"),
        (":2-900", "lines 2-3 of 3", "2\ttwo\n3\tthree"),
        (":1-3", "3 lines", "1\tone\n2\ttwo\n3\tthree"),
    ],
)
async def test_a_range_of_lines(root: Path, part: str, told: str, rows: str) -> None:
    for got in (await read(root, f"see @src/a.py{part}, please"), await read(root, "see", f"src/a.py{part}")):
        assert f"[file src/a.py: {told}]\n```\n{rows}\n```" in got.prompt
        first = int(rows[0])
        assert got.shown == (Shown("src/a.py", first, tuple(row[2:] for row in rows.split("\n"))),)
    assert "[file my notes.txt: 1 line]\n```\n1\thello\n```" in (await read(root, '@"my notes.txt":1')).prompt


async def test_a_name_with_a_colon_is_not_taken_for_a_range(root: Path) -> None:
    write_tree(root, {"src/a.py:2": "odd\n"})
    assert names(await read(root, "@src/a.py:2")) == ["src/a.py"]
    assert "1\todd" in (await read(root, "@src/a.py:2")).prompt


async def test_wrong_ranges_are_told(root: Path) -> None:
    write_tree(root, {"empty.txt": ""})
    assert "@src/a.py:4: the file ends at line 3" in (await refused(root, "@src/a.py:4")).message
    assert "the file is empty" in (await refused(root, "@empty.txt:1")).message
    assert "a folder has no lines" in (await refused(root, "@src:1")).message
    assert "has no lines" in (await refused(root, "@logo.png:1")).message
    assert "there is no page 2" in (await refused(root, "@doc.pdf:2")).message
    assert "1\tone" in (await read(root, "@src/a.py:3-2")).prompt, "no range: punctuation after the name"


async def test_parts_of_a_file_that_is_there_whole_are_not_sent_again(root: Path) -> None:
    got = await read(root, "@src/a.py:1 @src/a.py @src/a.py:2", str(root / "src" / "a.py"))
    assert got.listed == ("src/a.py: 3 lines",)
    assert (await read(root, "@src/a.py:1 @src/a.py:3")).listed == ("src/a.py: line 1 of 3", "src/a.py: line 3 of 3")


@pytest.mark.parametrize(
    ("word", "noted"),
    [("@src/aa.py", True), ("@readme.md,", True), ('@"no such"', True), ("@src/zzz:3", True), ("@ada", False)],
)
async def test_what_looks_like_a_file_and_is_none_is_noted(root: Path, word: str, noted: bool) -> None:
    got = await read(root, f"look at {word}")
    assert got.prompt == f"look at {word}"
    assert [("no such file" in note, note[:6]) for note in got.notes] == [(True, word.replace('"', "")[:6])] * noted


async def test_files_outside_are_left_as_text_with_a_note(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = write_tree(root.parent / "home", {"x.txt": "private\n"}) / "x.txt"
    (root / "link.txt").symlink_to(outside)
    monkeypatch.setenv("HOME", str(outside.parent))
    for name in (str(outside), "../home/x.txt", "link.txt", "~/x.txt"):
        got = await read(root, f"see @{name}")
        assert got.prompt == f"see @{name}"
        assert got.notes[0].startswith(f"@{name}: it is outside the workspace and is left as text; --attach ")


async def test_a_secret_is_refused(root: Path) -> None:
    (root / "harmless.txt").symlink_to(".env")
    for word in ("@.env", "@.env:1", "@harmless.txt", "@./.env,"):
        error = await refused(root, f"what is in {word}")
        assert error.message == "@.env is a secrets file, which @ does not attach"
        assert "--attach .env" in error.hint


async def test_a_prompt_that_was_not_typed_names_nothing(root: Path) -> None:
    got = await read(root, "@src/a.py @.env", named=False)
    assert got == Attached("@src/a.py @.env")
    assert names(await read(root, "@src/a.py", "src/b.py", named=False)) == ["src/b.py"]


# --- --attach --------------------------------------------------------------------------------------------------------


async def test_given_files_come_first_and_may_be_anywhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write_tree(root.parent / "home", {"x.txt": "from home\n", "a b.txt": "spaces\n"})
    monkeypatch.setenv("HOME", str(home))
    got = await read(root, "see @src/b.py", "../home/x.txt", "~/a b.txt", "src/a.py")
    assert names(got) == ["../home/x.txt", "~/a b.txt", "src/a.py", "src/b.py"]
    assert "[file ../home/x.txt: 1 line; outside the workspace, tools cannot open it]" in got.prompt
    assert [part.path for part in got.shown] == ["src/a.py", "src/b.py"]
    assert names(await read(root, "see", "a.py", cwd=root / "src")) == ["src/a.py"]


async def test_a_given_secret_is_the_users_own_word(root: Path) -> None:
    key = write_tree(root.parent / "home", {".ssh/id_rsa": "private\n"}) / ".ssh" / "id_rsa"
    got = await read(root, "see", ".env", str(key))
    assert "1\tKEY=1" in got.prompt
    assert "1\tprivate" in got.prompt
    assert len(got.notes) == 2
    assert all("secrets file; the model is sent it, since you attached it" in note for note in got.notes)


async def test_what_cannot_be_given_is_told(root: Path) -> None:
    os.mkfifo(root / "pipe")
    outside = write_tree(root.parent / "other", {"deep/x.txt": "x"})
    os.mkfifo(outside / "pipe")
    write_tree(root, {"data.bin": bytes(range(256)), "app.zip": b"PK\x03\x04" + bytes(30)})
    cases: dict[Sequence[str], str] = {
        ("nothing.txt",): "there is no such file",
        ("",): "there is no such file",
        ("a\0b",): "there is no such file",
        (str(outside),): "a folder outside the workspace",
        ("pipe",): "a named pipe",
        (str(outside / "pipe"),): "a named pipe",
        ("data.bin",): "it is binary data, which a model cannot be shown",
        ("app.zip",): "it is a zip archive",
    }
    for given, words in cases.items():
        assert words in (await refused(root, "see", *given)).message
    with (root / "huge.txt").open("wb") as file:
        file.truncate(40 * 1024 * 1024)
    assert "too large" in (await refused(root, "@huge.txt")).message
    (root / "huge.txt").rename(outside / "huge.txt")
    assert "longer than" in (await refused(root, "see", str(outside / "huge.txt"))).message


# --- text ------------------------------------------------------------------------------------------------------------


async def test_content_cannot_end_its_block(root: Path) -> None:
    write_tree(root, {"x.md": "```\nend\n`````\n"})
    assert "\n``````\n1\t```\n2\tend\n3\t`````\n``````" in (await read(root, "@x.md")).prompt
    write_tree(root, {"bad\n[file b.py: 1 line]": "x\n"})
    assert r"[file bad\n[file b.py: 1 line]: 1 line]" in (await read(root, "see", "bad\n[file b.py: 1 line]")).prompt


async def test_other_encodings_and_an_empty_file(root: Path) -> None:
    tree: dict[str, str | bytes] = {
        "utf16.txt": "\ufeffgrüße\n".encode("utf-16-le"),
        "latin.txt": b"gr\xfc\xdfe\n",
        "empty.txt": "",
    }
    got = await read(write_tree(root, tree), "@utf16.txt @latin.txt @empty.txt")
    assert got.prompt.count("1\tgrüße") == 2
    assert "[file empty.txt: empty]\n```\n[the file is empty]\n```" in got.prompt


async def test_a_long_file_is_cut_in_the_middle_and_says_so(root: Path) -> None:
    write_tree(root, {"long.txt": "".join(f"line {number} of many\n" for number in range(1, 20_001))})
    got = await read(root, "@long.txt")
    assert "\n1\tline 1 of many\n" in got.prompt
    assert "\n20000\tline 20000 of many\n```" in got.prompt
    head, tail = got.shown
    assert head.first == 1
    assert tail.first + len(tail.lines) - 1 == 20_000
    end = len(head.lines)
    assert f"[… lines {end + 1}-{tail.first - 1} are left out here; read them with tools …]" in got.prompt
    assert 95_000 < len(got.prompt) < 101_000
    assert f"lines 1-{end} and {tail.first}-20000 of 20,000" in got.notes[0]
    wide = await read(write_tree(root, {"wide.js": "x" * 300_000}), "@wide.js")
    assert "[298,000 characters]" in wide.prompt
    assert len(wide.prompt) < 3_000


async def test_all_together_are_limited_and_what_is_left_out_is_told(root: Path) -> None:
    write_tree(root, {f"f{number}.txt": "0123456789\n" * 9_000 for number in range(6)})
    got = await read(root, " ".join(f"@f{number}.txt" for number in range(6)))
    assert len(got.prompt) < 405_000
    assert names(got) == [f"f{number}.txt" for number in range(4)]
    assert "[file f5.txt: left out, the attached files are too long together; read it with tools]" in got.prompt
    assert "f5.txt is left out" in got.notes[-1]
    small = await read(root, "@f1.txt", target=Target("m", window=8_000))
    assert len(small.prompt) < 17_000
    assert small.notes


async def test_a_folder_is_listed_without_what_git_ignores(root: Path) -> None:
    write_tree(root, {".gitignore": "*.log\n", "src/x.log": "", "src/deep/c.py": "", "src/.env": ""})
    got = await read(root, "@src/")
    assert "[folder src/: 3 files]\n```\na.py\nb.py\ndeep/c.py\n```" in got.prompt
    assert "[folder ./: " in (await read(root, "@./")).prompt
    write_tree(root, {f"many/d{number}/f{file}.txt": "" for number in range(5) for file in range(60)})
    big = await read(root, "@many")
    assert "[folder many/: 300 files]\n```\nd0/ (60 files)\nd1/ (60 files)" in big.prompt
    write_tree(root, {f"flat/f{number:03}.txt": "" for number in range(300)})
    assert "f199.txt\n[… 100 more are left out here …]" in (await read(root, "@flat")).prompt
    (root / "void").mkdir()
    assert "no files that git would not ignore" in (await read(root, "@void/")).prompt


# --- images and PDF --------------------------------------------------------------------------------------------------


async def test_an_image_goes_with_the_prompt(root: Path) -> None:
    got = await read(root, "what is @logo.png", "src/a.py")
    assert [(image.media_type, image.name) for image in got.attachments] == [("image/png", "logo.png")]
    assert "[image logo.png: 1×1, attached to this message]" in got.prompt
    assert got.listed[1] == "logo.png: 1×1, about 85 tokens"
    assert got.notes == ()


async def test_a_model_that_takes_no_images_is_named(root: Path) -> None:
    error = await refused(root, "what is @logo.png", target=BLIND)
    assert error.message == "logo.png is a PNG image, and openai/blind does not take images"
    assert "--model" in error.hint
    assert names(await read(root, "@src/a.py @doc.pdf", target=BLIND)) == ["src/a.py", "doc.pdf"]


async def test_when_it_is_not_known_the_image_is_sent_with_a_note(root: Path) -> None:
    write_tree(root, {"two.png": PNG})
    got = await read(root, "@logo.png @two.png", target=Target("local/model"))
    assert len(got.attachments) == 2
    assert got.notes == ("it is not known whether local/model takes images; they are sent, and it may refuse them",)


async def test_too_many_images_are_refused(root: Path) -> None:
    write_tree(root, {f"i{number}.png": PNG for number in range(3)})
    two = Target("m", vision=True, images=2)
    assert len((await read(root, "@i0.png @i1.png @i1.png", target=two)).attachments) == 2
    assert "more than 2 images" in (await refused(root, "@i0.png @i1.png @i2.png", target=two)).message


async def test_a_text_that_only_begins_like_an_image_is_text(root: Path) -> None:
    write_tree(root, {"about.txt": "GIF89a is a format\n", "x.svg": "<svg/>\n", "bm.txt": "BM is short for\n"})
    got = await read(root, "@about.txt @x.svg @bm.txt", target=BLIND)
    assert "1\tGIF89a is a format" in got.prompt
    assert names(got) == ["about.txt", "x.svg", "bm.txt"]


async def test_a_pdf_becomes_text(root: Path) -> None:
    got = await read(root, "sum up @doc.pdf")
    assert "[text of doc.pdf: 1 page]\n```\n[page 1]\nWords on a page.\n```" in got.prompt
    assert got.listed == ("doc.pdf: 1 page",)
    assert got.shown == ()


# --- properties ------------------------------------------------------------------------------------------------------


@drawn(st.text(alphabet="@/.:-19aé`\"\\~ \n,)'(", max_size=40))
@settings(max_examples=60)
def test_any_text_can_be_looked_through(text: str) -> None:
    for mention in mentions(text):
        assert 1 <= len(mention.readings) <= 16
        for reading in mention.readings:
            assert reading.name in text
            assert reading.span is None or reading.span.first <= reading.span.last


async def test_a_prompt_full_of_names_is_not_looked_at_for_ever(root: Path) -> None:
    got = await read(root, "@src/b.py " + "@" + "a,@b:1-2)" * 100_000)
    assert names(got) == ["src/b.py"]
    assert "only the first 2,000" in got.notes[0]


def test_a_range_is_tried_before_the_punctuation_is_cut() -> None:
    assert [reading.span for reading in mentions("@x:3-4")[0].readings] == [None, Span(3, 4), None]
