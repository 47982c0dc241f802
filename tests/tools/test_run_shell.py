"""`run_shell`, `shell_output` and `shell_stop`, as an agent calls them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NoReturn

import pytest
from pydantic import ValidationError

from orchestrator.errors import ToolError
from orchestrator.sandbox import open_sandbox
from orchestrator.tool import Effects, ToolContext, ToolResult
from orchestrator.workspace import WorkspaceFiles
from tests.support.read_only_tools import load_tool
from tests.support.shells import Shop, runs, shop, until


class Called:
    """A shop whose tools are called by name."""

    def __init__(self, place: Shop) -> None:
        self.place = place
        self.pieces: list[str] = []
        self.context = ToolContext(
            WorkspaceFiles(place.workspace),
            nothing,
            nothing,
            on_output=self.pieces.append,
            open_shell=lambda: place.shell,
        )

    async def __call__(self, name: str, **arguments: object) -> ToolResult:
        tool = load_tool(name)
        return await tool.run(tool.args(**arguments), self.context)


def nothing() -> NoReturn:
    raise AssertionError("these tools search nothing")


@pytest.fixture
async def call(tmp_path: Path) -> AsyncIterator[Called]:
    async with shop(tmp_path) as place:
        yield Called(place)


async def test_the_exit_code_comes_first(call: Called) -> None:
    result = await call("run_shell", command="echo out; echo err >&2; exit 3")
    assert result.output == "exit code 3\nout\nerr"
    assert result.failed and result.display.startswith("exit code 3, ")
    assert "".join(call.pieces) == "out\nerr\n"
    result = await call("run_shell", command="true")
    assert (result.output, result.failed, result.confined) == ("exit code 0\n[no output]", False, "")


async def test_what_else_there_is_to_know_comes_last(call: Called) -> None:
    result = await call("run_shell", command="mkdir sub; cd sub; echo hi")
    assert result.output == "exit code 0\nhi\n[the next command starts in sub]"
    result = await call("run_shell", command="kill -SEGV $$")
    assert result.output.startswith("exit code 139 (SIGSEGV)\n") and result.failed
    result = await call("run_shell", command="seq 20000")
    assert result.output.endswith(".log]") and "left out here" in result.output
    assert len(result.output) < load_tool("run_shell").max_output


async def test_a_time_limit_is_said(call: Called) -> None:
    result = await call("run_shell", command="echo before; sleep 1000", timeout=0.2)
    assert result.output.startswith("timed out after 0 s, ended by SIGTERM\nbefore\n[it was still running after 0.2 s")
    assert result.failed


async def test_what_the_sandbox_stopped_is_said(tmp_path: Path) -> None:
    sandbox = open_sandbox(True, os.environ)
    if sandbox.name == "none":
        pytest.skip("no sandbox here")
    async with shop(tmp_path, sandbox) as place:
        result = await Called(place)("run_shell", command=f"echo x > '{tmp_path}/outside'")
    assert result.failed and "outside" in result.confined and result.output.endswith(f"[{result.confined}]")


async def test_its_effects_are_the_command_and_the_folder(call: Called) -> None:
    tool = load_tool("run_shell")
    args = tool.args(command="rm x")
    assert await tool.effects(args, call.context) == Effects(command="rm x", cwd=".")
    await call("run_shell", command="cd /usr")
    assert await tool.effects(args, call.context) == Effects(command="rm x", cwd="/usr")
    assert tool.judged and not tool.read_only and tool.timeout == 0


@pytest.mark.parametrize(
    "arguments", [{"command": ""}, {"command": "x", "timeout": 601}, {"command": "x", "timeout": 0}, {"cmd": "x"}, {}]
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        load_tool("run_shell").args(**arguments)


async def test_without_a_shell_it_is_an_error(tmp_path: Path) -> None:
    tool = load_tool("run_shell")
    with pytest.raises(ToolError) as caught:
        await tool.run(tool.args(command="true"), ToolContext(WorkspaceFiles(tmp_path), nothing, nothing))
    assert caught.value.code == "unavailable"


async def test_a_job_from_start_to_stop(call: Called) -> None:
    started = await call("run_shell", command="echo $$ > pid; echo ready; sleep 1000", background=True)
    assert started.output.startswith("job-1 runs in the background; see shell_output, shell_stop")
    assert not started.failed
    said = started.output
    while "ready" not in said:
        said += (await call("shell_output", job="job-1", wait=30)).output
    looked = await call("shell_output", job="job-1")
    assert looked.output == "job-1 is running\n[no new output]"
    stopped = await call("shell_stop", job="job-1")
    assert stopped.output == "job-1 has ended: stopped (SIGTERM)"
    pid = int((call.place.workspace / "pid").read_text())
    await until(lambda: not runs(pid))


async def test_a_job_that_ends_by_itself(call: Called) -> None:
    await call("run_shell", command="until [ -e flag ]; do sleep 0.01; done; echo bad; exit 4", background=True)
    (call.place.workspace / "flag").touch()
    output, failed = "", False
    while "ended" not in output:
        result = await call("shell_output", job="job-1", wait=30)
        output, failed = output + result.output, result.failed
    assert "job-1 has ended: exit code 4" in output and "bad" in output and failed


async def test_a_job_that_is_not_there(call: Called) -> None:
    for name in ("shell_output", "shell_stop"):
        with pytest.raises(ToolError) as caught:
            await call(name, job="job-9")
        assert caught.value.code == "no_job"
