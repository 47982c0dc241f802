"""Category 6 of the fault reports: paths and special files, from the reading side."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from orchestrator.errors import ToolError
from orchestrator.workspace import WorkspaceFiles
from tests.support.read_only_tools import call, write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with neighbours: `/w2` beside `/w`, and a file outside."""
    write_tree(tmp_path, {"w/a.py": "inside\n", "w2/secret.py": "outside\n", "outside/key.txt": "outside\n"})
    return tmp_path / "w"


def refused(root: Path, path: str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        WorkspaceFiles(root).read_text(path)
    return caught.value


@pytest.mark.parametrize(
    "path",
    [
        "src/../../../../etc/passwd",
        "../w2/secret.py",
        "../outside/key.txt",
        "../no-such-file",
        "..",
        "/",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/mem",
    ],
)
def test_paths_that_lead_outside_are_refused_whether_they_exist_or_not(root: Path, path: str) -> None:
    """B084, B085"""
    assert refused(root, path).code == "outside_workspace"


def test_a_folder_whose_name_begins_like_the_workspace_is_outside(root: Path) -> None:
    assert refused(root, f"{root}2/secret.py").code == "outside_workspace"


def test_tilde_is_not_expanded_and_the_error_says_so(root: Path) -> None:
    """B084"""
    error = refused(root, "~/.ssh/config")
    assert error.code == "invalid_path"
    assert "~ is not expanded" in error.message
    (root / "~x").write_text("a file of that name\n")
    assert WorkspaceFiles(root).read_text("~x").text == "a file of that name\n"


@pytest.mark.parametrize("path", ["a\0b", "\\u0000", "x" * 5000, "d/" * 3000 + "x", "x" * 300, "half \ud835 character"])
def test_impossible_names_are_tool_errors_not_tracebacks(root: Path, path: str) -> None:
    """B084"""
    error = refused(root, path)
    assert error.code in ("invalid_path", "not_found")
    assert len(error.message) < 400
    error.message.encode()


def test_links_that_lead_outside_are_refused(root: Path) -> None:
    (root / "file").symlink_to("../outside/key.txt")
    (root / "folder").symlink_to("../outside")
    (root / "chain").symlink_to("folder")
    for path in ("file", "folder/key.txt", "folder/missing", "chain/key.txt", "folder"):
        assert refused(root, path).code == "outside_workspace"


def test_dangling_links_and_loops_are_explained(root: Path) -> None:
    """B078, the reading side"""
    (root / "draft.txt").symlink_to("../outside/new.txt")
    (root / "inner").symlink_to("not-there")
    (root / "loop").symlink_to("loop")
    assert refused(root, "draft.txt").code == "outside_workspace"
    error = refused(root, "inner")
    assert error.code == "not_found"
    assert "link" in error.message
    assert refused(root, "loop").code in ("invalid_path", "not_found")


def test_a_file_swapped_for_a_link_after_the_check_is_not_followed(root: Path) -> None:
    """B079: whatever the moment, either the file inside is read or an error is raised."""
    files = WorkspaceFiles(root)
    located = files.locate("a.py")
    (root / "a.py").unlink()
    (root / "a.py").symlink_to("../outside/key.txt")
    with pytest.raises(ToolError) as caught, files.opened(located):
        pass
    assert caught.value.code == "outside_workspace"


def test_a_folder_swapped_for_a_link_after_the_check_is_not_followed(root: Path) -> None:
    """B079"""
    write_tree(root, {"d/key.txt": "inside\n"})
    files = WorkspaceFiles(root)
    located = files.locate("d/key.txt")
    (root / "d").rename(root / "moved")
    (root / "d").symlink_to("../outside")
    with pytest.raises(ToolError) as caught, files.opened(located):
        pass
    assert caught.value.code == "outside_workspace"


def test_swapping_all_the_time_never_lets_the_outside_in(root: Path) -> None:
    """B079"""
    (root / "plain").write_text("inside\n")
    (root / "link").symlink_to("../outside/key.txt")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(root / "link", root / "f")  # noqa: PTH104  # atomic replacement, as fast as it goes
            os.rename(root / "f", root / "link")  # noqa: PTH104
            os.link(root / "plain", root / "f")
            os.unlink(root / "f")  # noqa: PTH108

    swapper = threading.Thread(target=swap)
    swapper.start()
    files = WorkspaceFiles(root)
    seen = set()
    for _ in range(400):
        try:
            seen.add(files.read_text("f").text)
        except ToolError as error:
            seen.add(error.code)
    stop.set()
    swapper.join()
    assert "outside\n" not in seen


@pytest.mark.parametrize("kind", ["pipe", "socket"])
async def test_pipes_and_sockets_are_refused_without_waiting(
    root: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader of a pipe that nobody writes to would wait for ever."""
    monkeypatch.chdir(root)  # a socket's path may not be long
    if kind == "pipe":
        os.mkfifo("special")
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("special")
    error = refused(root, "special")
    assert error.code == "special_file"
    assert kind in error.message
    with pytest.raises(ToolError) as caught:
        await call(root, "grep", pattern="x", path="special")
    assert caught.value.code == "special_file"
    assert "no matches" in (await call(root, "grep", pattern="xyz", path=".")).output


def test_devices_and_kernel_files_are_refused_even_inside_the_workspace() -> None:
    """B085: their size is 0, which must not be taken for an empty file."""
    files = WorkspaceFiles(Path("/"))
    for path in ("/dev/zero", "/proc/self/environ", "/proc/self/mem", "/proc/version"):
        if not Path(path).exists():
            continue
        with pytest.raises(ToolError) as caught:
            files.read_text(path)
        assert caught.value.code == "special_file"


def test_a_pipe_named_env_does_not_hang_a_read(root: Path) -> None:
    """B081"""
    os.mkfifo(root / ".env")
    os.mkfifo(root / "AGENTS.md")
    assert refused(root, ".env").code == "denied"
    assert refused(root, "AGENTS.md").code == "special_file"


@pytest.mark.parametrize("path", [".env", ".ENV", "conf/.Env.local", ".SSH/id_rsa", "AUTHORIZED_KEYS", "server.PEM"])
async def test_secrets_are_not_read_or_searched_whatever_their_case(root: Path, path: str) -> None:
    """B082, B171"""
    write_tree(root, {path: "API_KEY=opaque123\n"})
    assert refused(root, path).code == "denied"
    with pytest.raises(ToolError) as caught:
        await call(root, "grep", pattern="API_KEY", path=path)
    assert caught.value.code == "denied"
    found = await call(root, "grep", pattern="API_KEY", hidden=True)
    assert "opaque123" not in found.output
    assert "secrets files" in found.output


def test_a_link_with_a_harmless_name_does_not_open_a_secret(root: Path) -> None:
    """B171"""
    write_tree(root, {".env": "API_KEY=opaque123\n", "open.txt": "x"})
    (root / "notes.txt").symlink_to(".env")
    (root / ".env.local").symlink_to("open.txt")
    assert refused(root, "notes.txt").code == "denied"
    assert refused(root, ".env.local").code == "denied"


def test_the_example_of_an_env_file_is_open(root: Path) -> None:
    write_tree(root, {".env.example": "API_KEY=\n"})
    assert WorkspaceFiles(root).read_text(".env.example").text == "API_KEY=\n"


async def test_git_metadata_is_not_listed_or_searched_whatever_its_case(root: Path) -> None:
    """B083, the reading side"""
    write_tree(root, {".git/x": "needle\n", "sub/.GIT/y": "needle\n", ".gitignore": "needle\n"})
    found = await call(root, "grep", pattern="needle", hidden=True)
    assert [shown.path for shown in found.shown] == [".gitignore"]
    listed = await call(root, "glob", pattern="**/*", hidden=True)
    assert listed.output.splitlines() == [".gitignore", "a.py"]


async def test_searches_do_not_follow_links_out_of_the_workspace(root: Path) -> None:
    (root / "folder").symlink_to("../outside")
    (root / "file.txt").symlink_to("../outside/key.txt")
    assert "no matches" in (await call(root, "grep", pattern="outside")).output
    for tool, arguments in (("grep", {"pattern": "x", "path": "folder"}), ("list_files", {"path": "folder"})):
        with pytest.raises(ToolError) as caught:
            await call(root, tool, **arguments)
        assert caught.value.code == "outside_workspace"


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "~/*", "a/../../*"])
async def test_globs_that_lead_outside_are_refused(root: Path, pattern: str) -> None:
    with pytest.raises(ToolError) as caught:
        await call(root, "glob", pattern=pattern)
    assert caught.value.code == "outside_workspace"


async def test_a_cp1252_file_gives_text_that_can_be_sent(root: Path) -> None:
    """B059"""
    write_tree(root, {"old.txt": b"a\x97b caf\xe9\n"})
    for tool, arguments in (("read_file", {"path": "old.txt"}), ("grep", {"pattern": "caf", "path": "old.txt"})):
        result = await call(root, tool, **arguments)
        assert "a\u2014b café" in result.output
        assert result.shown[0].lines == ("a\u2014b café",)


def test_a_folder_that_becomes_a_link_between_two_files_is_not_followed(root: Path) -> None:
    """Many files are read with their folders held open: what is put in the place of one is still not followed."""
    write_tree(root, {"a/key.txt": "inside a\n", "b/key.txt": "inside b\n"})
    with WorkspaceFiles(root).reading() as read:
        assert read("a/key.txt").text == "inside a\n"
        for folder in ("a", "b"):
            (root / folder).rename(root / f"{folder}-moved")
            (root / folder).symlink_to("../outside")
        assert read("a/key.txt").text == "inside a\n"
        with pytest.raises(ToolError) as caught:
            read("b/key.txt")
        assert caught.value.code == "outside_workspace"
        with pytest.raises(ToolError) as caught:
            read("a/key.txt")
        assert caught.value.code == "outside_workspace"


def test_folders_held_open_are_closed_at_the_end(root: Path) -> None:
    write_tree(root, {"a/b/c/x.py": "x", "a/d/y.py": "y"})
    free = os.open(root, os.O_RDONLY)
    os.close(free)
    with WorkspaceFiles(root).reading() as read:
        assert [read(path).text for path in ("a/b/c/x.py", "a/d/y.py", "a/b/c/x.py")] == ["x", "y", "x"]
    again = os.open(root, os.O_RDONLY)  # the system gives the lowest number that is free
    os.close(again)
    assert again == free
