"""`--record`, `--replay` and `--attach` through the installed command."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

import pytest

from tests.support.command import KEY, model_flags, orch, result_of
from tests.support.model_server import ServerThread
from tests.support.running import calls, delegates, reports

FINDING = {"path": "src/auth.py", "line": 4, "quote": "def legacy_auth(user):"}


def png(width: int, height: int) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_a_recorded_run_is_replayed_without_server_and_key(workspace: Path, tmp_path: Path) -> None:
    script = {
        "routes": [{"match": "task-l", "turns": [calls("read_file", path="src/auth.py"), reports("Found.", FINDING)]}],
        "turns": [delegates("task-l"), "It is at src/auth.py:4."],
    }
    tape = tmp_path / "run.jsonl"
    with ServerThread(script) as server:
        flags = model_flags(server.url)
        first = orch("ask", "--output", "json", "--record", str(tape), *flags, "where?", folder=workspace)
    assert first.returncode == 0, first.stderr
    assert KEY not in tape.read_text()
    again = orch(
        "ask", "--output", "json", "--replay", str(tape), "where?", folder=workspace, env={"OPENAI_API_KEY": ""}
    )
    assert again.returncode == 0, again.stderr
    for key in ("answer", "citations", "usage"):
        assert result_of(again)[key] == result_of(first)[key]
    other = orch("ask", "--output", "json", "--replay", str(tape), "who?", folder=workspace)
    assert other.returncode != 0
    assert "It first differs" in result_of(other)["error"]["message"]


def test_a_recording_in_the_workspace_is_refused(workspace: Path) -> None:
    ran = orch("ask", "--record", "run.jsonl", "--model", "scout", "where is x", folder=workspace)
    assert ran.returncode == 2
    assert "would be in the workspace" in ran.stderr


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_an_image_and_a_file_go_with_the_question(workspace: Path, tmp_path: Path, wire: str) -> None:
    picture = tmp_path / "shot.png"
    picture.write_bytes(png(8, 8))
    with ServerThread(["The picture is grey; src/auth.py:4 defines it."]) as server:
        flags = model_flags(server.url, wire)
        ran = orch(
            "ask", "--output", "json", "--attach", str(picture), *flags, "what is in @src/auth.py", folder=workspace
        )
        (request,) = server.requests
    assert ran.returncode == 0, ran.stderr
    sent = json.dumps(request.body["messages"])
    assert base64.b64encode(picture.read_bytes()).decode() in sent
    assert "def legacy_auth(user):" in sent
    assert [c["status"] for c in result_of(ran)["citations"]] == ["verified"], "what was attached was shown"


def test_the_scout_takes_no_attachments(workspace: Path) -> None:
    ran = orch("ask", "--attach", "src/auth.py", "--model", "scout", "where is x", folder=workspace)
    assert ran.returncode == 2
    assert "the built-in scout takes no attachments" in ran.stderr
