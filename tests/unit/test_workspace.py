"""What `WorkspaceFiles` reads, and how it words what it refuses. Hostile paths are in tests/cases/test_paths.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.errors import ToolError, UsageError
from orchestrator.path_names import raw_path, shown_path
from orchestrator.secret_files import is_secret
from orchestrator.workspace import MAX_FILE, WorkspaceFiles
from tests.support.read_only_tools import write_tree


def refused(root: Path, path: str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        WorkspaceFiles(root).read_text(path)
    return caught.value


def test_a_path_is_relative_to_the_root_or_absolute_inside_it(tmp_path: Path) -> None:
    files = WorkspaceFiles(write_tree(tmp_path, {"src/a.py": "x = 1\n"}))
    for path in ("src/a.py", "./src/a.py", "src/../src/a.py", str(tmp_path / "src" / "a.py")):
        file = files.read_text(path)
        assert (file.path, file.text, file.encoding, file.size) == ("src/a.py", "x = 1\n", "utf-8", 6)
    assert files.locate("").path == files.locate(".").path == "."
    assert files.locate("src").is_dir


def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    write_tree(tmp_path / "real", {"a.py": "x"})
    (tmp_path / "link").symlink_to("real")
    files = WorkspaceFiles(tmp_path / "link")
    assert files.root == tmp_path / "real"
    assert files.read_text(str(tmp_path / "link" / "a.py")).path == "a.py"


def test_links_inside_the_workspace_are_followed_to_their_target(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/a.py": "x"})
    (tmp_path / "alias").symlink_to("real")
    (tmp_path / "b.py").symlink_to("real/a.py")
    files = WorkspaceFiles(tmp_path)
    assert files.read_text("alias/a.py").path == "real/a.py"
    assert files.read_text("b.py").path == "real/a.py"


def test_lines_are_counted_by_line_feeds_only(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "one\r\ntwo\u2028still two\x0cstill\n\nfour"})
    assert WorkspaceFiles(tmp_path).read_text("a.txt").lines == ["one", "two\u2028still two\x0cstill", "", "four"]


def test_a_missing_file_names_similar_ones_in_its_folder(tmp_path: Path) -> None:
    write_tree(tmp_path, {"src/models.py": "", "src/views.py": ""})
    error = refused(tmp_path, "src/model.py")
    assert error.code == "not_found"
    assert error.message == "src/model.py does not exist; did you mean src/models.py?"
    assert "did you mean src?" in refused(tmp_path, "scr/models.py").message
    assert "glob" in refused(tmp_path, "zzz").message


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("logo.png", b"\x89PNG\r\n\x1a\n\0\0", "binary", "a PNG image (10 bytes); it cannot be shown as text"),
        ("data.bin", b"a\0b", "binary", "binary data (3 bytes)"),
    ],
)
def test_binary_files_are_named_for_what_they_are(
    tmp_path: Path, name: str, content: bytes, code: str, words: str
) -> None:
    write_tree(tmp_path, {name: content})
    error = refused(tmp_path, name)
    assert error.code == code
    assert words in error.message


def test_a_folder_is_refused_with_what_to_use_instead(tmp_path: Path) -> None:
    write_tree(tmp_path, {"src/a.py": ""})
    error = refused(tmp_path, "src")
    assert error.code == "is_directory"
    assert "list_files" in error.message


def test_a_file_that_is_too_large_points_to_grep(tmp_path: Path) -> None:
    with (tmp_path / "big.log").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    error = refused(tmp_path, "big.log")
    assert error.code == "too_large"
    assert "grep" in error.message


def test_a_workspace_that_is_no_folder_is_a_usage_error(tmp_path: Path) -> None:
    write_tree(tmp_path, {"file": ""})
    for path in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(UsageError):
            WorkspaceFiles(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_the_system_forbids_is_a_tool_error(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.txt": "x", "d/b.txt": "x"})
    (tmp_path / "a.txt").chmod(0)
    (tmp_path / "d").chmod(0)
    assert refused(tmp_path, "a.txt").code == "denied"
    assert refused(tmp_path, "d/b.txt").code == "denied"
    (tmp_path / "d").chmod(0o700)


@pytest.mark.parametrize(
    "name", ["a\nb.txt", "tab\there", "back\\slash", "\\x41", "\udce9.txt", "\x1b[31m", "\u202etxt.exe"]
)
def test_any_name_can_be_shown_and_named_again(tmp_path: Path, name: str) -> None:
    """B094: names with line breaks, bytes that are not UTF-8 and control characters."""
    (tmp_path / name).write_text("content")
    files = WorkspaceFiles(tmp_path)
    shown = files.locate(name).path
    assert shown == shown_path(name)
    assert shown.isprintable()
    shown.encode()
    assert raw_path(shown) == name
    assert files.read_text(shown).text == "content"


def test_ordinary_names_are_shown_as_they_are() -> None:
    assert shown_path("src/日本 é/x (1).py") == "src/日本 é/x (1).py"
    assert shown_path("caf\udce9\n.txt") == "caf\\xe9\\n.txt"


SECRET = """.env .ENV config/.env .env.local .Env.Production prod.env .envrc id_rsa deploy/ID_ED25519 server.pem
tls.KEY .ssh/config .SSH/known_hosts x/.ssh/id_rsa.pub .aws/credentials .netrc _netrc .npmrc .pypirc .git-credentials
.git/config AUTHORIZED_KEYS .docker/config.json .kube/config vault.kdbx .gnupg/pubring.kbx"""
OPEN = """.env.example .env.sample .ENV.TEMPLATE .env.dist example.env environment.py env .envs/x.py .env/bin/python
id_rsa.pub keys.py monkey.py pem.txt config .gitignore .git/HEAD .github/config src/credentials.py .sshd/config"""


@pytest.mark.parametrize("path", SECRET.split())
def test_secrets_files_are_known_whatever_their_case(path: str) -> None:
    """B082: the comparison is case-folded."""
    assert is_secret(path)


@pytest.mark.parametrize("path", OPEN.split())
def test_files_that_only_resemble_secrets_are_open(path: str) -> None:
    assert not is_secret(path)
