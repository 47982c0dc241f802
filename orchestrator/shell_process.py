"""One running command with all that it starts: its output read, its end awaited, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from orchestrator.shell_members import Mark, Member, find_members, send_each, send_group

GRACE = 2.0
"""Seconds between asking a command to end and killing it."""

CANCEL_GRACE = 0.5
"""The same, when nobody waits for what it still says."""

LEFTOVER_GRACE = 1.0
"""The same, for what a command left running when it ended."""

_SETTLE = 0.2
"""Seconds in which the last output comes after the shell itself has ended (`cmd > >(tee log)`)."""

_LAST_BREATH = 0.05
"""Seconds in which what ends by itself together with the shell is gone."""

_QUICK = 1.0
"""Seconds; a shorter command cannot have used up all process numbers."""

_CHUNK = 1 << 16
_LAST_CHUNKS = 64
_KILL_ROUNDS = 50
_KILL_PAUSE = 0.002
_REAP_SECONDS = 1.0


class Ended(NamedTuple):
    """How a command ended: the exit code as `subprocess` gives it (`-9` for SIGKILL), `None` if it cannot be ended.

    `stopped`: orch ended it. `left` are the processes that it had left running, which were ended.
    """

    code: int | None
    timed_out: bool
    stopped: bool
    left: Sequence[Member]


class ShellProcess:
    """A started command. `output` is the reading end of a pipe, whose pieces go to `consume`.

    `run` must be awaited; until then, and until it is over, the process is not reaped, so its number is its own.
    """

    def __init__(
        self, popen: subprocess.Popen[bytes], output: int, mark: str, consume: Callable[[bytes], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._popen = popen
        self._output = output
        self._consume = consume
        self._mark = Mark(popen.pid, mark)
        self._began = time.monotonic()
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._closed: asyncio.Future[None] = self._loop.create_future()
        self._released: asyncio.Future[None] = self._loop.create_future()
        self._failure: Exception | None = None
        self._stopped = self._over = False
        self._exit_watch = -1
        os.set_blocking(output, False)
        self._loop.add_reader(output, self._read)
        self._watch_exit()

    @property
    def group(self) -> int:
        return self._popen.pid

    async def run(self, timeout: float | None) -> Ended:
        """Wait for the end, at most `timeout` seconds. When cancelled, everything is ended first."""
        try:
            await asyncio.wait({self._exited}, timeout=timeout)
            timed_out = not self._exited.done()
            if timed_out:
                await self.stop(GRACE)
            left = await self._settled()
            if self._failure is not None:
                raise self._failure
            return Ended(self._popen.poll(), timed_out, self._stopped, left)
        except asyncio.CancelledError:
            await self.stop(CANCEL_GRACE)
            raise
        finally:
            self._release()

    async def stop(self, grace: float) -> None:
        """End everything, first gently; killed after `grace` seconds, and at once when this is cancelled."""
        self._stopped = self._stopped or not self._exited.done()
        await self._end(grace)

    def kill(self) -> None:
        """End everything at once. Blocks for the milliseconds that this takes."""
        for _ in range(_KILL_ROUNDS):
            members = self._members()
            if not members:
                return
            self._send(signal.SIGKILL, members)
            time.sleep(_KILL_PAUSE)

    def fail(self, error: Exception) -> None:
        """End everything because its output cannot be taken in; `run` raises `error`."""
        self._failure = error
        self.kill()

    def interrupt(self, wanted: Callable[[Member], bool]) -> None:
        """Ask those of its processes to end that are `wanted`; the command goes on."""
        members = [member for member in self._members() if wanted(member)]
        if members:
            send_each(signal.SIGTERM, members)

    async def over(self) -> None:
        """Wait until nothing of it is left and `run` has ended."""
        await asyncio.wait({self._released}, timeout=_REAP_SECONDS)

    # --- its end ----------------------------------------------------------------------------------------------------

    async def _settled(self) -> Sequence[Member]:
        """After the shell's end: its last output, and the end of what it left running."""
        if not self._closed.done():
            await asyncio.wait({self._closed}, timeout=_SETTLE)
        await self._gone(_LAST_BREATH)
        left = self._members()
        if left:
            await self._end(LEFTOVER_GRACE)
        for _ in range(_LAST_CHUNKS):
            if not self._read():
                break
        return left

    async def _end(self, grace: float) -> None:
        try:
            self._send(signal.SIGTERM, self._members())
            await self._gone(grace)
        finally:
            self.kill()
        await asyncio.wait({self._exited}, timeout=_REAP_SECONDS)

    def _send(self, number: signal.Signals, members: Sequence[Member]) -> None:
        if not self._over:
            send_group(number, self._mark)
            send_each(number, members)

    async def _gone(self, grace: float) -> None:
        until, pause = time.monotonic() + grace, _KILL_PAUSE
        while time.monotonic() < until and self._members():
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.1)

    def _members(self) -> Sequence[Member]:
        if self._over:
            return ()
        return find_members(self._mark, quick=time.monotonic() - self._began < _QUICK)

    def _release(self) -> None:
        if self._over:
            return
        self.kill()
        self._close_output()
        os.close(self._output)
        self._close_exit_watch()
        with suppress(subprocess.TimeoutExpired):  # it hangs in the kernel; there is nothing more to be done
            self._popen.wait(_REAP_SECONDS)
        self._over = True
        self._released.set_result(None)

    # --- watching ---------------------------------------------------------------------------------------------------

    def _read(self) -> bool:
        """Take in one piece. Gives whether there was one."""
        if self._closed.done():
            return False
        try:
            data = os.read(self._output, _CHUNK)
            if data:
                self._consume(data)
        except BlockingIOError:
            return False
        except Exception as error:  # noqa: BLE001  # raised by `run`: lost output must not pass for a success
            self.fail(error)
            data = b""
        if not data:
            self._close_output()
        return bool(data)

    def _close_output(self) -> None:
        if not self._closed.done():
            self._loop.remove_reader(self._output)
            self._closed.set_result(None)

    def _watch_exit(self) -> None:
        try:
            self._exit_watch = os.pidfd_open(self._popen.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._await_exit, name="shell-exit", daemon=True).start()
            return
        self._loop.add_reader(self._exit_watch, self._set_exited)

    def _await_exit(self) -> None:
        """Where the kernel cannot tell of it: wait in a thread."""
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._popen.wait()
        with suppress(RuntimeError):  # nobody waits any more: the loop is closed
            self._loop.call_soon_threadsafe(self._set_exited)

    def _set_exited(self) -> None:
        self._close_exit_watch()
        if not self._exited.done():
            self._exited.set_result(None)

    def _close_exit_watch(self) -> None:
        if self._exit_watch >= 0:
            self._loop.remove_reader(self._exit_watch)
            os.close(self._exit_watch)
            self._exit_watch = -1
