"""Faults that others' shell tools were reported for; each is a test here."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path

import pytest

from orchestrator.sandbox import Sandbox, open_sandbox
from orchestrator.shell_process import GRACE
from tests.support.shells import LIMIT, Shop, runs, shop


@cache
def opened(name: str) -> Sandbox:
    return open_sandbox(True, os.environ, prefer=name)


@pytest.fixture(params=["none", "landlock", "bubblewrap"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shop]:
    sandbox = opened(request.param)
    if sandbox.name != request.param:
        pytest.skip(f"no {request.param} here")
    async with shop(tmp_path, sandbox, env={"OPENAI_API_KEY": "sk-of-the-user", "MARK": str(tmp_path)}) as made:
        yield made


def still_running(mark: str) -> list[int]:
    """Processes whose environment holds `mark`."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and f"MARK={mark}\0".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return [pid for pid in found if runs(pid)]


async def test_b096_grandchildren_that_hold_the_pipe(place: Shop, tmp_path: Path) -> None:
    inner = await place.run("timeout 0.2 sh -c 'sleep 600 & sleep 600'")
    assert (inner.exit_code, inner.timed_out) == (124, False)
    assert still_running(str(tmp_path)) == []
    own = await place.run("sh -c 'sleep 600 & sleep 600'", 0.2)
    assert (own.exit_code, own.timed_out) == (None, True)
    assert inner.duration_s < LIMIT and own.duration_s < GRACE + LIMIT
    assert still_running(str(tmp_path)) == []


async def test_b097_a_server_left_in_the_background_is_ended_and_that_is_said(tmp_path: Path) -> None:
    async with shop(tmp_path) as made:
        port = free_port()
        server = f"{sys.executable} -u -m http.server --bind 127.0.0.1 {port}"
        started = await made.run(f"{server} > log 2>&1 & until grep -qs Serving log; do sleep 0.01; done; echo up")
        assert started.output == "up\n"
        assert f"http.server --bind 127.0.0.1 {port}"[:20] in started.notes[0]
        assert "ended with it" in started.notes[0] and "background: true" in started.notes[0]
        assert not listens(port)

        job = await made.shell.start(server)
        said = job.output
        while "Serving" not in said:
            said += (await made.shell.output(job.id, wait=LIMIT)).output
        assert (await made.run(fetch(port))).exit_code == 0
        await made.shell.stop(job.id)
        assert not listens(port)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def fetch(port: int) -> str:
    return f"{sys.executable} -c 'import urllib.request as r; r.urlopen(\"http://127.0.0.1:{port}/\").read()'"


@pytest.mark.parametrize("command", ["read x; echo got:$x", "cat; echo got:", "npm init; echo got:"])
async def test_b099_standard_input_is_at_its_end(place: Shop, command: str) -> None:
    if shutil.which(command.split(maxsplit=1)[0]) is None and "npm" in command:
        pytest.skip("npm is not installed")
    run = await place.run(command, 60)
    assert not run.timed_out and run.output.endswith("got:\n")


async def test_b101_a_flood_of_output_does_not_hold_up_the_time_limit(place: Shop) -> None:
    pieces: list[str] = []
    run = await place.run("yes", 0.5, pieces.append)
    assert run.timed_out and run.duration_s < 0.5 + GRACE + LIMIT
    assert 1 <= len(pieces) <= 10 * run.duration_s + 2
    assert sum(map(len, pieces)) < 10_000 * (len(pieces) + 1)
    assert "bytes not shown" in "".join(pieces)
    assert len(run.output) < 40_000


async def test_b102_output_that_is_not_utf8(place: Shop) -> None:
    run = await place.run(r"printf 'ok\xf0\xff\n'")
    assert (run.exit_code, run.output) == (0, "ok\ufffd\ufffd\n")


async def test_b102_a_character_that_comes_in_two_parts(place: Shop) -> None:
    pieces: list[str] = []
    arrived = place.workspace / "arrived"
    task = asyncio.create_task(
        place.run(
            r"printf 'a\xe4\xbd'; until [ -e arrived ]; do sleep 0.01; done; printf '\xa0b\n'", LIMIT, pieces.append
        )
    )
    async with asyncio.timeout(LIMIT):
        while "a" not in "".join(pieces):  # noqa: ASYNC110  # other processes set no events
            await asyncio.sleep(0.005)
    arrived.touch()
    assert (await task).output == "a你b\n" == "".join(pieces)


async def test_b103_a_bad_byte_loses_nothing(place: Shop) -> None:
    run = await place.run(r"echo before; printf '\xe4'; echo after")
    assert (run.exit_code, run.output) == (0, "before\n\ufffdafter\n")


async def test_b103_output_that_cannot_be_taken_in_is_no_success(tmp_path: Path) -> None:
    """Whoever looks at the output fails: the call fails too, and nothing runs on."""

    def show(text: str) -> None:
        raise RuntimeError("the screen is gone")

    async with shop(tmp_path, env={"MARK": str(tmp_path)}) as made:
        with pytest.raises(RuntimeError, match="the screen is gone"):
            await made.run("echo x; sleep 1000", LIMIT, show)
        assert still_running(str(tmp_path)) == []


async def test_b172_the_keys_of_providers_are_not_passed_on(place: Shop) -> None:
    run = await place.run("echo [$OPENAI_API_KEY]; env")
    assert run.output.startswith("[]\n") and "sk-of-the-user" not in run.output
    job = await place.shell.start("echo [$OPENAI_API_KEY]; cat /proc/self/environ")
    while job.running:
        job = await place.shell.output(job.id, wait=LIMIT)
    assert "sk-of-the-user" not in job.output


async def test_b172_a_kept_variable_is_passed_on(tmp_path: Path) -> None:
    async with shop(tmp_path, env={"OPENAI_API_KEY": "sk-of-the-user"}, keep_env=("OPENAI_API_KEY",)) as made:
        assert (await made.run("echo $OPENAI_API_KEY")).output == "sk-of-the-user\n"
