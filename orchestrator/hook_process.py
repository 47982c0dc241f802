"""Runs a hook that is a shell command: the event as JSON on its standard input, its answer on its standard output.

Its process group never outlives it. It cannot make orch wait longer than its timeout: its input is a file, which may be
left unread, and its output is not waited for once it has ended, whoever still holds the pipe.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from orchestrator.config import HookEvent
from orchestrator.hook_answers import GATING, HookFailed
from orchestrator.json_bytes import dumps, parse_object

MAX_OUTPUT = 1 << 20
"""Bytes that a hook may print; one that prints more has failed."""
DENIES = 2
"""The exit code that denies; what is on standard error is the reason."""

_MAX_COMPLAINTS = 1 << 16
_CHUNK = 1 << 16
_COULD_NOT_RUN = (126, 127)
_PROVIDER_KEY = re.compile(r"_(?:API_KEY|AUTH_TOKEN|AI_TOKEN|OIDC_TOKEN)\Z", re.IGNORECASE)


class ShellHook(NamedTuple):
    """A command for one event. `env` is the whole environment that it gets but for the name of the event."""

    event: HookEvent
    command: str
    match: str | None
    timeout: float
    folder: Path
    env: Mapping[str, str]

    @property
    def name(self) -> str:
        line = " ".join(self.command.split())
        return f"`{line if len(line) <= 80 else line[:79] + '…'}`"

    @property
    def fault(self) -> str:
        """Why the command cannot run as things are, as far as can be told without running it; empty when it may."""
        return _missing(self.command, self.folder, self.env)

    async def ask(self, payload: Mapping[str, Any]) -> object:
        """What the hook answers to `payload`: the object that it printed, or `None`. Raises `HookFailed`."""
        fault = self.fault  # a missing script would give 2, the code that denies, from some interpreters
        if fault:
            raise HookFailed(f"it could not run: {fault}")
        env = {**self.env, "ORCH_HOOK_EVENT": self.event}
        ran = await _run(self.command, dumps(payload) + b"\n", self.folder, env, self.timeout)
        said = ran.errors.decode("utf-8", "replace").strip()
        if ran.code == DENIES and self.event in GATING:
            return {"deny": said or f"the hook {self.name} said no and gave no reason"}
        if ran.code:
            raise HookFailed(_ending(ran.code) + (f": {' '.join(said[-300:].split())}" if said else ""))
        return _printed(ran.output)


def hook_environment(env: Mapping[str, str], workspace: Path, session_id: str) -> dict[str, str]:
    """The variables that hooks see: all of the user's but the keys of model providers, and where they are."""
    kept = {name: value for name, value in env.items() if not _PROVIDER_KEY.search(name)}
    return {**kept, "ORCH_WORKSPACE": str(workspace), "ORCH_SESSION_ID": session_id}


def _printed(output: bytes) -> object:
    if not output.strip():
        return None
    try:
        answer = parse_object(output.decode("utf-8"))
    except UnicodeDecodeError:
        answer = None
    if answer is None:
        shown = " ".join(output[:80].decode("utf-8", "replace").split())
        raise HookFailed(f"it printed {shown!r}, which is not one JSON object")
    return answer


def _ending(code: int) -> str:
    if code in _COULD_NOT_RUN:
        return f"it could not run (exit code {code})"
    if code < 0:
        with suppress(ValueError):
            return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended with exit code {code}"


# --- before it runs --------------------------------------------------------------------------------------------------

_SIMPLE = re.compile(r"[\w@%+=:,./~'\" \t-]+")
"""A command without anything that a shell expands or connects."""
_BUILT_IN = """. : [ alias break case cd command continue echo eval exec exit export false for getopts hash if kill
    printf pwd read readonly return set shift source test time times trap true type ulimit umask unset until wait
    while"""
_INTERPRETER = re.compile(r"(?:python|pypy)[\d.]*|(?:ba|da|z|k)?sh|node|ruby|perl|php")
_FLAGS = re.compile(r"-[bBdEIiOPqsSuvxwW]+")
"""Options of interpreters that take nothing after them."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def _missing(command: str, folder: Path, env: Mapping[str, str]) -> str:
    """The program, or the script given to an interpreter, that is not there. Only looks at simple commands."""
    if not _SIMPLE.fullmatch(command):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    while words and _ASSIGNMENT.match(words[0]):
        if words.pop(0).startswith("PATH="):
            return ""
    if not words or words[0] in _BUILT_IN.split():
        return ""
    return _program_fault(words[0], folder, env) or _script_fault(words, folder, env)


def _script_fault(words: list[str], folder: Path, env: Mapping[str, str]) -> str:
    if not _INTERPRETER.fullmatch(Path(words[0]).name):
        return ""
    script = next((word for word in words[1:] if not _FLAGS.fullmatch(word)), "-")
    return "" if script.startswith("-") or _at(script, folder, env).exists() else f"{script} does not exist"


def _program_fault(name: str, folder: Path, env: Mapping[str, str]) -> str:
    if "/" not in name:
        return "" if shutil.which(name, path=env.get("PATH", os.defpath)) else f"there is no command {name}"
    path = _at(name, folder, env)
    if not path.exists():
        return f"{name} does not exist"
    return "" if path.is_file() and os.access(path, os.X_OK) else f"{name} is not an executable file"


def _at(word: str, folder: Path, env: Mapping[str, str]) -> Path:
    home = env.get("HOME", "")
    return folder / (home + word[1:] if home and (word == "~" or word.startswith("~/")) else word)


# --- the process -----------------------------------------------------------------------------------------------------


class _Ran(NamedTuple):
    code: int
    output: bytes
    errors: bytes


async def _run(command: str, data: bytes, folder: Path, env: Mapping[str, str], timeout: float) -> _Ran:
    """Run `command` to its end and end what it leaves in its process group. Raises `HookFailed`."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    with ExitStack() as open_files:
        try:
            given = open_files.enter_context(_scratch(data))
            output = open_files.enter_context(_Output(MAX_OUTPUT, over))
            errors = open_files.enter_context(_Output(_MAX_COMPLAINTS, None))
            process = _started(command, folder, env, given, output.write_end, errors.write_end)
        except (OSError, ValueError) as error:
            raise HookFailed(f"it could not run: {error}") from None
        open_files.callback(_end, process)
        output.follow()
        errors.follow()
        _tell_exit(process, over, open_files)
        try:
            async with asyncio.timeout(timeout):
                await over
        except TimeoutError:
            raise HookFailed(f"it took longer than {timeout:g} s and was stopped") from None
        output.drain()
        errors.drain()
    if output.overflowed:
        raise _too_much()
    assert process.returncode is not None
    return _Ran(process.returncode, bytes(output.data), bytes(errors.data))


def _started(
    command: str, folder: Path, env: Mapping[str, str], given: BinaryIO, output: int, errors: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env=dict(env),
        stdin=given,
        stdout=output,
        stderr=errors,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the group and reap its leader, whose id stays taken until then, so that no stranger is hit."""
    with suppress(ProcessLookupError, PermissionError):  # macOS refuses for a group of zombies
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)


def _tell_exit(process: subprocess.Popen[bytes], over: asyncio.Future[None], cleanup: ExitStack) -> None:
    """Settle `over` when the process has ended, without reaping it where the kernel allows that."""
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        _tell_exit_from_thread(process, over)
        return
    cleanup.callback(os.close, descriptor)
    cleanup.callback(loop.remove_reader, descriptor)
    loop.add_reader(descriptor, _settle, over)


def _tell_exit_from_thread(process: subprocess.Popen[bytes], over: asyncio.Future[None]) -> None:
    loop = asyncio.get_running_loop()

    def wait() -> None:
        process.wait()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, over)

    threading.Thread(target=wait, name="orch-hook", daemon=True).start()


def _settle(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)


class _Output:
    """One output of a process, taken from its pipe as it comes. The first `limit` bytes are kept.

    More than that settles `over`, if it is given, with a failure; else it is thrown away.
    """

    def __init__(self, limit: int, over: asyncio.Future[None] | None) -> None:
        self.data = bytearray()
        self.overflowed = False
        self._limit = limit
        self._over = over
        self._loop = asyncio.get_running_loop()
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)

    def __enter__(self) -> _Output:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.remove_reader(self._read_end)
        os.close(self._read_end)
        if self.write_end >= 0:
            os.close(self.write_end)

    def follow(self) -> None:
        """The process has its own copy of the pipe's other end: from now on what it writes is taken."""
        os.close(self.write_end)
        self.write_end = -1
        self._loop.add_reader(self._read_end, self._take)

    def drain(self) -> None:
        """Take what is in the pipe now; somebody in the background may still be writing to it, without end."""
        for _ in range(MAX_OUTPUT // _CHUNK):
            if not self._take():
                return

    def _take(self) -> bool:
        try:
            chunk = os.read(self._read_end, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self._loop.remove_reader(self._read_end)
            return False
        room = self._limit - len(self.data)
        self.data += chunk[:room]
        if len(chunk) > room:
            self.overflowed = True
            if self._over is not None and not self._over.done():
                self._over.set_exception(_too_much())
        return True


def _too_much() -> HookFailed:
    return HookFailed(f"it printed more than {MAX_OUTPUT // 1024:,} KiB")


def _scratch(content: bytes) -> BinaryIO:
    """A file without a name that holds `content`."""
    if hasattr(os, "memfd_create"):
        file: BinaryIO = os.fdopen(os.memfd_create("orch-hook"), "w+b")
    else:
        import tempfile

        file = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
    file.write(content)
    file.seek(0)
    return file
