"""The file of a recording, and replies found in it again."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import stat
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import ConfigError, ModelError, UsageError
from orchestrator.messages import Message, Reasoning, ToolCall, Usage, tool_result, user
from orchestrator.model import (
    CallReady,
    Done,
    Model,
    ModelInfo,
    ModelRequest,
    Piece,
    ReasoningDelta,
    Reply,
    Retrying,
    TextDelta,
    ToolSchema,
)
from orchestrator.recording import Recorder, require_outside
from orchestrator.replay import Replay, ReplayModel, read_recording
from orchestrator.run_text import RunText
from orchestrator.testing import ScriptedModel, ScriptedTurn, Turn
from tests.support.asking import GLOB, GREP, error_of, pieces_of, reply_of, request_of

INFO = ModelInfo(window=1000, input_price=0.1, output_price=0.3)
EVERY_PIECE: Sequence[Piece] = (
    TextDelta("half"),
    Retrying(1, 5, 60.0, "lost"),
    ReasoningDelta("I th"),
    ReasoningDelta("ink"),
    TextDelta("Look\ud83d "),
    TextDelta("日本"),
    CallReady(ToolCall("c1", "grep", '{"pattern": "é"}')),
    Done(
        Reply(
            Message(
                "assistant",
                "Look\ud83d 日本",
                (ToolCall("c1", "grep", '{"pattern": "é"}'),),
                (Reasoning("", "s", "r"),),
            ),
            Usage(1, 2, 3, 4),
            "tool_calls",
            usage_estimated=True,
        )
    ),
)


class GivenPieces:
    """A model that gives these pieces to every request; `None` waits for ever."""

    name = "given"
    info = INFO

    def __init__(self, *pieces: Piece | None) -> None:
        self._pieces = pieces

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        for piece in self._pieces:
            if piece is None:
                await asyncio.Event().wait()
            else:
                yield piece

    async def aclose(self) -> None:
        """Nothing to close."""


class Run:
    """A recorder over a file, and what it told the user."""

    def __init__(self, folder: Path, name: str = "run.jsonl") -> None:
        self.file = folder / name
        self.text = RunText(workspace=folder / "workspace", state=folder / "state")
        self.notices: list[tuple[str, str, str]] = []
        self.recorder = Recorder(self.file, self.text, notice=lambda *notice: self.notices.append(notice))

    def wrap(self, *turns: Turn, asked: str = "") -> Model:
        return self.recorder.wrap(ScriptedModel(turns, info=INFO), asked)

    def replay(self) -> Replay:
        self.recorder.close()
        return Replay(read_recording(self.file), self.text)

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_bytes().splitlines()]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = Run(tmp_path)
    yield made
    made.recorder.close()


async def replayed(run: Run, *requests: ModelRequest) -> ReplayModel:
    """The recorded model of a run in which `requests` were answered with their number."""
    model = run.wrap(*(f"reply {n}" for n in range(len(requests))))
    for request in requests:
        await pieces_of(model, request)
    return run.replay().model()


# --- what comes back -------------------------------------------------------------------------------------------------


async def test_every_kind_of_piece_comes_back_as_it_was_and_at_once(run: Run) -> None:
    model = run.recorder.wrap(GivenPieces(*EVERY_PIECE))
    assert await pieces_of(model) == [*EVERY_PIECE]
    again = run.replay().model()
    assert (again.name, again.info) == ("given", INFO)
    assert await pieces_of(again) == [*EVERY_PIECE]


async def test_an_error_comes_back_with_all_that_it_says(run: Run) -> None:
    failure = ModelError("rate_limit", "slow down", "wait", status=429, retry_after=7.5)
    await error_of(run.wrap(ScriptedTurn("so far", error=failure)))
    model = run.replay().model()
    pieces = []
    with pytest.raises(ModelError) as caught:
        pieces += [piece async for piece in model.stream(request_of())]
    error = caught.value
    said = (error.kind, error.message, error.hint, error.status, error.retry_after)
    assert said == ("rate_limit", "slow down", "wait", 429, 7.5)


async def test_a_reply_that_was_given_up_ends_in_an_error_and_never_hangs(run: Run) -> None:
    stream = run.recorder.wrap(GivenPieces(TextDelta("so f"), None)).stream(request_of())
    assert await anext(stream) == TextDelta("so f")
    asking = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert run.rows()[-1]["cut"] is True
    error = await error_of(run.replay().model())
    assert "exchange 1 of the recording run.jsonl has no end: the recorded run was stopped" in error.message
    assert not error.passing


async def test_each_role_gets_its_own_model_again(run: Run) -> None:
    await pieces_of(run.wrap("large"))
    await pieces_of(run.recorder.wrap(ScriptedModel(["small"], name="openai/mini"), "small-one"))
    replay = run.replay()
    assert replay.model("small-one").name == "openai/mini"
    assert (await reply_of(replay.model("small-one"))).message.content == "small"
    assert (await reply_of(replay.model())).message.content == "large"
    with pytest.raises(
        ConfigError, match=r"does not have the model other; it has: scripted \(the session's\), small-one"
    ):
        replay.model("other")


# --- strict ----------------------------------------------------------------------------------------------------------


async def test_equal_requests_get_their_replies_in_order_and_no_more_than_there_are(run: Run) -> None:
    model = await replayed(run, request_of(), request_of(user("other")), request_of())
    assert [(await reply_of(model)).message.content for _ in range(2)] == ["reply 0", "reply 2"]
    error = await error_of(model)
    assert error.message.endswith("has no reply to this request: it was recorded 2 times and is sent once more")


async def test_the_order_is_that_in_which_requests_began(run: Run) -> None:
    """The first request is the last to be answered: its exchange is the last in the file."""
    one = run.recorder.wrap(GivenPieces(TextDelta("first"), *EVERY_PIECE[-1:]))
    other = run.recorder.wrap(GivenPieces(TextDelta("second"), *EVERY_PIECE[-1:]))
    stream = one.stream(request_of())
    await anext(stream)
    await pieces_of(other)
    assert [piece async for piece in stream] == [*EVERY_PIECE[-1:]]
    assert [row["n"] for row in run.rows() if row["type"] == "exchange"] == [2, 1]
    model = run.replay().model()
    assert [(await pieces_of(model))[0] for _ in range(2)] == [TextDelta("first"), TextDelta("second")]


async def test_what_only_steers_the_providers_cache_is_not_compared(run: Run) -> None:
    model = await replayed(run, request_of(cache_key="explorer"))
    assert (await reply_of(model, request_of(cache_key="other"))).message.content == "reply 0"


LONG = (user("Find it."), Message("assistant", "", (ToolCall("c1", "grep"),)), tool_result("c1", "a.py:1: x"))
OTHER_CALL = Message("assistant", "", (ToolCall("c1", "grep", '{"a": "\\n"}'),))
FIND = ToolSchema("find", "Find.", {})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            request_of(user("Find it!")),
            "message 1 of 1 (user), its content, at character 8: recorded “Find it.”, now “Find it!”",
        ),
        (
            request_of(*LONG[:2], tool_result("c1", "a.py:\n1: x")),
            "message 3 of 3 (the result of grep), its content, at character 6: recorded “a.py:1: x”, now “a.py:⏎1: x”",
        ),
        (
            request_of(*LONG[:2], tool_result("c1", "a.py:1: x", is_error=True)),
            "its is_error, at character 1: recorded “”, now “true”",
        ),
        (
            request_of(LONG[0], OTHER_CALL, LONG[2]),
            "message 2 of 3 (assistant), its tool_calls[0].arguments, at character 1: recorded “”, now “{",
        ),
        (request_of(*LONG, user("And?")), "the number of messages: recorded 3, now 4; message 4 is user"),
        (request_of(*LONG[:2]), "the number of messages: recorded 3, now 2; message 3 is the result of grep"),
        (
            request_of(*LONG, system="You are a tester."),
            "the system prompt, at character 15: recorded “You are a test.”, now “You are a tester.”",
        ),
        (request_of(*LONG, tools=(GREP, FIND)), "the tools: recorded grep, glob; now grep, find"),
        (
            request_of(*LONG, tools=(GREP, FIND._replace(name="glob"))),
            "the tool glob, its description, at character 5: recorded “Find files.”, now “Find.”",
        ),
        (
            request_of(*LONG, tools=(GREP._replace(parameters={**GREP.parameters, "strict": None}),)),
            "the tools: recorded grep, glob; now grep",
        ),
        (
            request_of(*LONG, tools=(GREP, GLOB._replace(parameters={**GLOB.parameters, "strict": None}))),
            "the tool glob, its parameters.strict, at character 1: recorded “”, now “null”",
        ),
        (request_of(*LONG, temperature=0.5), 'the settings: recorded {}, now {"temperature":0.5}'),
    ],
)
async def test_it_says_where_a_request_first_differs(run: Run, asked: ModelRequest, said: str) -> None:
    model = await replayed(run, request_of(user("Find it.")), request_of(*LONG))
    error = await error_of(model, asked)
    assert error.kind == "bad_request"
    assert said in error.message
    exchange = 1 if len(asked.messages) == 1 else 2
    assert (
        f"the recording run.jsonl has no reply to this request. It first differs from exchange {exchange} in"
        in error.message
    )
    assert "\n" not in error.message


async def test_the_first_difference_is_told_also_by_what_follows_from_it(run: Run) -> None:
    model = await replayed(run, request_of(user("one")), request_of(user("two")))
    first = await error_of(model, request_of(user("one!")))
    second = await error_of(model, request_of(user("two!")))
    assert "“one”, now “one!”" in first.message
    assert second.message == first.message


async def test_what_was_not_asked_for_is_left_over(run: Run) -> None:
    requests = [request_of(user(str(n)), cache_key="explorer") for n in range(7)]
    model = run.wrap(*map(str, range(7)))
    for request in requests:
        await pieces_of(model, request)
    replay = run.replay()
    await pieces_of(replay.model(), requests[2])
    assert replay.leftover[:3] == ("exchange 1 of explorer", "exchange 2 of explorer", "exchange 4 of explorer")
    assert replay.note.startswith("6 of 7 recorded replies were not asked for: exchange 1 of explorer, ")
    assert replay.note.endswith("exchange 6 of explorer and 1 more")


# --- the file --------------------------------------------------------------------------------------------------------


async def test_the_file_is_the_users_alone_and_keeps_each_message_once(run: Run) -> None:
    model = run.wrap(*(["yes"] * 30))
    history = []
    for n in range(30):
        history += [user(f"question {n} {'x' * 1000}"), Message("assistant", "yes")]
        await pieces_of(model, request_of(*history[:-1]))
    assert stat.S_IMODE(run.file.stat().st_mode) == 0o600
    data = run.file.read_text()
    assert all(data.count(f"question {n} ") == 1 for n in range(30))
    rows = run.rows()
    assert rows[0] == {"type": "recording", "schema": 1, "orch": rows[0]["orch"], "created": rows[0]["created"]}
    assert {row["type"] for row in rows} == {"recording", "model", "part", "exchange"}


def test_only_a_new_or_empty_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "empty").touch(0o644)
    Run(tmp_path, "empty").recorder.close()
    assert stat.S_IMODE((tmp_path / "empty").stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="exists and is not empty"):
        Run(tmp_path, "empty")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    for name, why in [
        ("no/folder", "No such file"),
        ("", "Is a directory"),
        ("pipe", "cannot be"),
        ("device", "regular"),
    ]:
        with pytest.raises(UsageError, match=why):
            Run(tmp_path, name)


def test_a_recording_in_the_workspace_is_refused(tmp_path: Path) -> None:
    workspace = tmp_path / "repo"
    workspace.mkdir()
    (tmp_path / "link").symlink_to(workspace)
    require_outside(tmp_path / "repo.jsonl", workspace)
    for file in (workspace / "run.jsonl", tmp_path / "link" / "run.jsonl", workspace / "not" / "there"):
        with pytest.raises(UsageError, match="would be in the workspace") as caught:
            require_outside(file, workspace)
        assert f"--record {tmp_path / file.name}" in caught.value.hint


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file can grow beyond `size` bytes; what fits of a larger write is written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


async def test_a_full_disk_is_said_once_and_ends_neither_the_run_nor_a_line(run: Run) -> None:
    model = run.wrap("one", "two", "three")
    await pieces_of(model)
    whole = run.file.read_bytes()
    with full_disk(len(whole) + 100):
        for n in range(2):
            assert len(await pieces_of(model, request_of(user(f"{n}" * 500)))) == 2
    assert [(level, message) for level, message, _ in run.notices] == [
        ("warning", f"the recording {run.file} could not be written: File too large")
    ]
    assert run.file.read_bytes() == whole
    assert (await reply_of(run.replay().model())).message.content == "one"


async def test_a_recording_that_was_cut_off_is_replayed_as_far_as_it_goes(run: Run) -> None:
    model = run.wrap("one", "two")
    await pieces_of(model)
    await pieces_of(model, request_of(user("more")))
    run.recorder.close()
    run.file.write_bytes(run.file.read_bytes()[:-20])
    recording = read_recording(run.file)
    assert recording.torn
    replay = Replay(recording, run.text)
    assert "the recording was cut off" in replay.note
    assert (await reply_of(replay.model())).message.content == "one"
    assert "this request" in (await error_of(replay.model(), request_of(user("more")))).message


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not a recording of orch"),
        (b"hello\n", "is not a recording of orch"),
        (b'{"type":"result"}\n', "is not a recording of orch"),
        (b"[]\n", "is not a recording of orch"),
        (b'{"type":"recording","schema":2,"orch":"9.0"}\n', "orch 9.0, which writes recordings differently"),
        (
            b'{"type":"recording","schema":1,"orch":"0.1"}\n{"type":"exchange"}\n',
            "line 2 of the recording .* is damaged",
        ),
        (b'{"type":"recording","schema":1,"orch":"0.1"}\nnull\n', "line 2 of the recording .* is damaged"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=why):
        read_recording(file)


def test_what_cannot_be_read_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, why in [("none", "No such file"), ("pipe", "regular file"), ("", "regular file|directory")]:
        with pytest.raises(UsageError, match=why):
            read_recording(tmp_path / name)


async def test_a_part_that_is_missing_is_told(run: Run) -> None:
    await pieces_of(run.wrap("one"))
    run.recorder.close()
    lines = [line for line in run.file.read_bytes().splitlines(True) if b'"Hello"' not in line]
    run.file.write_bytes(b"".join(lines))
    with pytest.raises(UsageError, match=r"is damaged: ValueError.*parts .* are missing"):
        read_recording(run.file)
