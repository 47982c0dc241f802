"""Commands for agents: bash in a sandbox, with folder and exported variables kept from one command to the next.

What a session's commands start is ended by the session: at the end of the command, at its time limit, when the call is
cancelled, when the session closes, and when orch itself is killed.

A command that succeeds hands on its folder and its exported variables; one that fails changes neither. Functions,
aliases and options of the shell are not kept. Commands outside the sandbox start without the variables that earlier
ones exported, so that a confined command cannot steer an unconfined one.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import BinaryIO, NamedTuple

from orchestrator.errors import ToolError
from orchestrator.sandbox import Policy, Sandbox
from orchestrator.shell_env import SHELL_ID, CommandEnvironment, command_environment
from orchestrator.shell_jobs import Job, Jobs
from orchestrator.shell_lifeline import Lifeline
from orchestrator.shell_notes import (
    interactive_note,
    is_waiting_for_a_person,
    leftover_note,
    may_wait_for_a_person,
    signal_name,
    timeout_note,
    withheld_note,
)
from orchestrator.shell_output import LOG_LIMIT, KeptOutput, LiveOutput
from orchestrator.shell_process import CANCEL_GRACE, Ended, ShellProcess
from orchestrator.shell_script import STATE_LIMIT, Told, is_kept, read_told, shell_arguments
from orchestrator.tool import ShellJob, ShellRun

_FIRST_LOOK = 0.3
"""Seconds in which a background command that cannot start says so."""

_SCREEN_PAUSE = 0.5
"""Seconds that a program has to notice by itself that there is no terminal."""

_USUAL_TOLD = 1 << 14
_MOVES = ("cd ", "pushd ", "popd", "export ", "unset ", "source ", ". ")


@dataclass(slots=True)
class _Lasting:
    """What lasts from one command of an agent to the next: its folder, and how its variables differ from the usual."""

    folder: Path
    changed: dict[str, str] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    jobs: Jobs = field(default_factory=lambda: Jobs({}))

    def applied(self, variables: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in variables.items() if name not in self.removed} | self.changed

    def learn(self, before: Mapping[str, str], told: Told) -> None:
        """Take over what a command changed."""
        self.folder = Path(told.folder)
        for name, value in told.exported.items():
            if is_kept(name) and before.get(name) != value:
                self.changed[name] = value
                self.removed.discard(name)
        for name in before:
            if is_kept(name) and name not in told.exported:
                self.changed.pop(name, None)
                self.removed.add(name)


class _Start(NamedTuple):
    """Where and with what a command starts, and what is to be said about it."""

    folder: Path
    env: CommandEnvironment
    notes: tuple[str, ...]


class _Opened(NamedTuple):
    process: ShellProcess
    told: BinaryIO


class ShellService:
    """The commands of a session. `logs` is the folder for long outputs, made when it is needed.

    `keep_env` names variables that commands see although they look like secrets.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        workspace: Path,
        env: Mapping[str, str],
        keep_env: Sequence[str],
        logs: Path,
        log_limit: int = LOG_LIMIT,
    ) -> None:
        self.sandbox = sandbox
        self.workspace = Path(os.path.realpath(workspace))
        self._env = dict(env)
        self._keep_env = tuple(keep_env)
        self._logs = logs
        self._log_limit = log_limit
        self._program = find_shell(self._env.get("PATH", os.defpath), self.workspace)
        self._id = secrets.token_hex(8)
        self._count = 0
        self._running: set[ShellProcess] = set()
        self._lifeline: Lifeline | None = None
        self._is_closed = False
        self._environments: dict[Path, CommandEnvironment] = {}

    def for_agent(self, agent: str, policy: Policy) -> AgentShell:
        """A shell of its own, in the workspace."""
        return AgentShell(self, agent, policy, _Lasting(self.workspace))

    async def aclose(self) -> None:
        """End everything that still runs, first gently. All is killed at once when this is cancelled."""
        self._is_closed = True
        try:
            running = tuple(self._running)
            await asyncio.gather(*(process.stop(CANCEL_GRACE) for process in running))
            await asyncio.gather(*(process.over() for process in running))
        finally:
            for process in tuple(self._running):
                process.kill()
            if self._lifeline is not None:
                self._lifeline.close()
                self._lifeline = None

    # --- for the shells of the agents -------------------------------------------------------------------------------

    def environment(self, policy: Policy) -> CommandEnvironment:
        if policy.temp not in self._environments:
            self._environments[policy.temp] = command_environment(self._env, self._keep_env, policy.temp)
        return self._environments[policy.temp]

    def output(self, agent: str) -> KeptOutput:
        """Where the output of the next command of `agent` goes."""
        name = "".join(char if char.isalnum() else "-" for char in agent)[:40]
        return KeptOutput(self._logs / f"{name}-{self._id}-{self._count + 1}.log", self._log_limit)

    def open(
        self, command: bytes, policy: Policy, start: _Start, consume: Callable[[bytes], None], *, background: bool
    ) -> _Opened:
        """Start a command. Raises `ToolError` when it cannot be started."""
        if self._is_closed:
            raise ToolError("closed", "The session is ending; no more commands are started.")
        self._count += 1
        mark = f"{self._id}.{self._count}"
        told = _told_file()
        try:
            popen, output = self._popen(command, policy, start, told, mark, background=background)
        except OSError as error:
            told.close()
            raise ToolError("cannot_start", f"The command could not be started: {error}.") from error
        process = ShellProcess(popen, output, mark, consume)
        self._running.add(process)
        self._watch()
        return _Opened(process, told)

    def forget(self, process: ShellProcess) -> None:
        """A process is over."""
        self._running.discard(process)
        self._watch()

    def _popen(
        self, command: bytes, policy: Policy, start: _Start, told: BinaryIO, mark: str, *, background: bool
    ) -> tuple[subprocess.Popen[bytes], int]:
        argv = shell_arguments(self._program, told.fileno(), background=background)
        env = start.env.variables | {SHELL_ID: mark}
        if self._lifeline is None:
            self._lifeline = Lifeline(f"{self._id}.")
        output, writing = os.pipe()
        try:
            with _scratch(command) as script:
                popen = self.sandbox.popen(
                    argv,
                    policy,
                    cwd=start.folder,
                    env=env,
                    stdin=script.fileno(),
                    stdout=writing,
                    stderr=writing,
                    pass_fds=(told.fileno(),),
                )
        except BaseException:
            os.close(output)
            raise
        finally:
            os.close(writing)
        return popen, output

    def _watch(self) -> None:
        if self._lifeline is not None:
            self._lifeline.watch(process.group for process in self._running)


class AgentShell:
    """The shell of one agent under one policy; implements `tool.Shell`."""

    def __init__(self, service: ShellService, agent: str, policy: Policy, lasting: _Lasting) -> None:
        self._service = service
        self._agent = agent
        self._policy = policy
        self._lasting = lasting

    def under(self, policy: Policy) -> AgentShell:
        """The same shell, with its folder, variables and jobs, under another policy."""
        return AgentShell(self._service, self._agent, policy, self._lasting)

    @property
    def cwd(self) -> str:
        return self._named(self._lasting.folder)

    async def run(self, command: str, *, timeout: float, on_output: Callable[[str], None]) -> ShellRun:
        began = perf_counter()
        script, start = _script(command), self._start()
        kept = self._service.output(self._agent)

        def consume(data: bytes) -> None:
            kept.add(data)
            live.add(data)

        process, told = self._service.open(script, self._policy, start, consume, background=False)
        live = LiveOutput(on_output, process.fail)
        watch = _ScreenWatch(process) if may_wait_for_a_person(command) else None
        with told:
            try:
                ended = await process.run(timeout)
            finally:
                if watch is not None:
                    watch.close()
                kept.close()
                self._service.forget(process)
                live.close()
            moved = self._learn(command, start, ended, read_told(_content(told)))
        return self._result(command, start, ended, kept, moved, timeout, perf_counter() - began)

    async def start(self, command: str) -> ShellJob:
        jobs = self._lasting.jobs
        jobs.check_room()
        script, start = _script(command), self._start()
        job = Job(f"job-{len(jobs.rows) + 1}", command, self._service.output(self._agent), self._service.forget)
        process, told = self._service.open(script, self._policy, start, job.add, background=True)
        told.close()
        jobs.rows[job.id] = job
        job.follow(process)
        await job.wait_ended(_FIRST_LOOK)
        return await job.look(0)

    async def output(self, job: str, *, wait: float = 0.0) -> ShellJob:
        return await self._lasting.jobs.get(job).look(wait)

    async def stop(self, job: str) -> ShellJob:
        found = self._lasting.jobs.get(job)
        await found.stop()
        return await found.look(0)

    # --- before and after a command ---------------------------------------------------------------------------------

    def _start(self) -> _Start:
        lasting, notes = self._lasting, []
        if not (lasting.folder.is_dir() and os.access(lasting.folder, os.X_OK)):
            notes.append(f"the folder {self.cwd} is gone; the command ran in the workspace")
            lasting.folder = self._service.workspace
        env = self._service.environment(self._policy)
        if self._policy.level == "off" and self._service.sandbox.name != "none":
            if lasting.changed:
                notes.append(
                    f"outside the sandbox, without the variables exported before: {', '.join(lasting.changed)}"
                )
            return _Start(lasting.folder, env, tuple(notes))
        return _Start(lasting.folder, env._replace(variables=lasting.applied(env.variables)), tuple(notes))

    def _learn(self, command: str, start: _Start, ended: Ended, told: Told | None) -> str:
        """Take over folder and variables of a command that succeeded. Gives what there is to say about it."""
        changes = any(word in command for word in _MOVES)
        if ended.code != 0 or ended.timed_out or ended.stopped:
            moved = told is not None and told.folder != str(start.folder)
            return f"it did not succeed, so the next command starts in {self.cwd} again" if moved else ""
        if told is None:
            return "its changes of folder and variables were not kept: it replaced the shell or its EXIT trap" * changes
        self._lasting.learn(start.env.variables, told)
        if Path(told.folder) == start.folder:
            return ""
        outside = "" if Path(told.folder).is_relative_to(self._service.workspace) else ", outside the workspace"
        return f"the next command starts in {self.cwd}{outside}"

    def _result(
        self, command: str, start: _Start, ended: Ended, kept: KeptOutput, moved: str, timeout: float, spent: float
    ) -> ShellRun:
        output, code, name = kept.take(), ended.code, signal_name(ended.code)
        by_orch = ended.timed_out or ended.stopped or code is None
        notes = (
            *start.notes,
            timeout_note(timeout) if ended.timed_out else "",
            "" if by_orch else interactive_note(command, code, output),
            withheld_note(command, start.env.withheld),
            leftover_note(ended.left),
            kept.trouble,
            moved,
        )
        return ShellRun(
            None if code is None or by_orch else code if code >= 0 else 128 - code,
            output,
            spent,
            ended.timed_out,
            name,
            kept.log,
            tuple(note for note in notes if note),
            "" if ended.stopped and not ended.timed_out else self._service.sandbox.explain(self._policy, code, output),
            self.cwd,
        )

    def _named(self, folder: Path) -> str:
        """Relative to the workspace, or absolute where it lies outside."""
        workspace = self._service.workspace
        return str(folder.relative_to(workspace)) if folder.is_relative_to(workspace) else str(folder)


class _ScreenWatch:
    """Ends editors and the like while a command runs: without a screen they wait for ever."""

    def __init__(self, process: ShellProcess) -> None:
        self._process = process
        self._later()

    def close(self) -> None:
        self._timer.cancel()

    def _later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_SCREEN_PAUSE, self._look)

    def _look(self) -> None:
        self._process.interrupt(is_waiting_for_a_person)
        self._later()


def find_shell(path: str, workspace: Path) -> str:
    """The first bash of `path` that is not one of the workspace, else `/bin/sh`."""
    folders = [each for each in path.split(os.pathsep) if each.startswith("/")]
    outside = (each for each in (*folders, "/bin") if not Path(os.path.realpath(each)).is_relative_to(workspace))
    return shutil.which("bash", path=os.pathsep.join(outside)) or "/bin/sh"


def _script(command: str) -> bytes:
    if not command.strip():
        raise ToolError("invalid_command", "The command is empty.")
    try:
        script = command.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        script = b"\0"
    if b"\0" in script:
        raise ToolError("invalid_command", "The command holds a character that no shell can read (NUL or half of one).")
    return script


def _scratch(content: bytes) -> BinaryIO:
    """A file without a name that holds `content`, open at its beginning."""
    if hasattr(os, "memfd_create"):
        file: BinaryIO = os.fdopen(os.memfd_create("command"), "w+b")
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
    file.write(content)
    file.seek(0)
    return file


def _content(told: BinaryIO) -> bytes:
    """What was told; the rest of the file is zeros."""
    begin = os.pread(told.fileno(), _USUAL_TOLD, 0)
    return begin if b"\0" in begin else begin + os.pread(told.fileno(), STATE_LIMIT, len(begin))


def _told_file() -> BinaryIO:
    """A file without a name for what a shell tells at its end, which cannot grow beyond its limit."""
    if not hasattr(os, "memfd_create"):
        return _scratch(b"")
    descriptor = os.memfd_create("told", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    file: BinaryIO = os.fdopen(descriptor, "w+b")
    file.truncate(STATE_LIMIT)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return file
