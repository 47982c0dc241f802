"""Hooks written in Python: the files that register them, and the functions called."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from orchestrator.config import HookEvent
from orchestrator.errors import ConfigError
from orchestrator.hook_answers import EVENTS, HookFailed
from orchestrator.json_bytes import dumps
from orchestrator.problems import did_you_mean
from orchestrator.small_file import read_small_file

F = TypeVar("F", bound=Callable[[dict[str, Any]], Any])

MAX_TIMEOUT = 30.0
_MAX_FILE = 1 << 20
_GRACE = 1.0
"""Seconds that an async function which is stopped has to clean up."""


class PythonHook(NamedTuple):
    """A function for one event; it is given the payload and answers with `None`, a dict or a `HookOutcome`."""

    event: HookEvent
    function: Callable[[dict[str, Any]], Any]
    match: str | None
    timeout: float
    file: Path

    @property
    def name(self) -> str:
        return f"`{getattr(self.function, '__qualname__', type(self.function).__name__)}` of {self.file}"

    @property
    def fault(self) -> str:
        """Never any: a file that does not load is refused at once."""
        return ""

    async def ask(self, payload: Mapping[str, Any]) -> object:
        """What the function answers to a copy of `payload`, which it may change. Raises `HookFailed`."""
        own = json.loads(dumps(payload))
        if inspect.iscoroutinefunction(self.function):
            returned = await self._awaited(self.function(own))
        else:
            returned = await self._called(own)
            if returned.error is None and inspect.isawaitable(returned.answer):
                returned = await self._awaited(returned.answer)
        if returned.error is not None:
            raise HookFailed(f"it raised {_raised(returned.error, self.file)}")
        return returned.answer

    async def _called(self, payload: dict[str, Any]) -> _Returned:
        """Call the function in a thread of its own, which keeps nothing from ending."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[_Returned] = loop.create_future()

        def call() -> None:
            try:
                returned = _Returned(self.function(payload), None)
            except BaseException as error:  # noqa: BLE001  # also sys.exit(): it is told by the hook's failure
                returned = _Returned(None, error)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, done, returned)

        threading.Thread(target=call, name="orch-hook", daemon=True).start()
        try:
            async with asyncio.timeout(self.timeout):
                return await done
        except TimeoutError:
            raise HookFailed(f"it took longer than {self.timeout:g} s; its thread is left behind") from None

    async def _awaited(self, answer: Awaitable[Any]) -> _Returned:
        task = asyncio.ensure_future(_outcome(answer))
        try:
            await asyncio.wait({task}, timeout=self.timeout)
            in_time = task.done()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=_GRACE)
        if not in_time:
            raise HookFailed(f"it took longer than {self.timeout:g} s and was stopped")
        if task.cancelled():
            raise HookFailed("it cancelled itself")
        return task.result()


class _Returned(NamedTuple):
    answer: Any
    error: BaseException | None


async def _outcome(answer: Awaitable[Any]) -> _Returned:
    try:
        return _Returned(await answer, None)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it is told by the hook's failure
        return _Returned(None, error)


def _settle(done: asyncio.Future[_Returned], returned: _Returned) -> None:
    if not done.done():
        done.set_result(returned)


# --- registering -----------------------------------------------------------------------------------------------------

_LOADING: ContextVar[list[PythonHook] | None] = ContextVar("hooks of the file that is being loaded", default=None)
_FILE: ContextVar[Path] = ContextVar("the file that is being loaded")


def register_hook(event: HookEvent, match: str | None = None, timeout: float = 5.0) -> Callable[[F], F]:
    """Register the decorated function, sync or async, for `event`. It takes the payload (a dict) and returns `None`, a
    dict such as `{"deny": "why"}`, or a `HookOutcome`.

    `match` is a pattern for names of tools or roles (`edit_file|write_file`), `timeout` in seconds, at most 30. Counts
    for the file that orch is loading; anywhere else, such as in a test of the function, nothing is registered.
    """
    if event not in EVENTS:
        raise ConfigError(f"there is no event {event!r}", did_you_mean(str(event), EVENTS) or ", ".join(EVENTS))
    if match is not None and not (isinstance(match, str) and match.strip()):
        raise ConfigError(f"`match` is {match!r}", "give a pattern such as 'edit_file|write_file', or leave it out")
    numeric = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not numeric or not math.isfinite(timeout) or not 0 < timeout <= MAX_TIMEOUT:
        raise ConfigError(f"`timeout` is {timeout!r}", f"give seconds, more than 0 and at most {MAX_TIMEOUT:g}")

    def register(function: F) -> F:
        if not callable(function) or inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
            raise ConfigError(f"{function!r} is no function that gives an answer", "use it as @register_hook(event)")
        loading = _LOADING.get()
        if loading is not None:
            loading.append(PythonHook(event, function, match, float(timeout), _FILE.get()))
        return function

    return register


def load_hook_file(path: Path) -> tuple[PythonHook, ...]:
    """Run the file and give the hooks that it registers, in order. Raises `ConfigError` that names file and line.

    No bytecode is kept beside it: that would change what a trusted folder supplies.
    """
    name = f"orchestrator_hooks_{abs(hash(path)):x}"
    module = ModuleType(name)
    module.__file__ = str(path)
    found: list[PythonHook] = []
    loading, file = _LOADING.set(found), _FILE.set(path)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        exec(compile(read_small_file(path, _MAX_FILE), str(path), "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _unusable(path, error) from error
    finally:
        _LOADING.reset(loading)
        _FILE.reset(file)
    return tuple(found)


def _unusable(path: Path, error: BaseException) -> ConfigError:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return ConfigError(f"{path}:{error.lineno}: {error.msg}", _HINT)
    line = _line_in(path, error)
    place = f"{path}:{line}" if line else str(path)
    if isinstance(error, ConfigError):
        return ConfigError(f"{place}: {error.message}", error.hint)
    return ConfigError(f"{place}: the hooks cannot be loaded: {_shown(error)}", _HINT)


_HINT = "mend the file or move it away; without its hooks nothing is started, since they may forbid something"


def _raised(error: BaseException, file: Path) -> str:
    line = _line_in(file, error)
    return _shown(error) + (f" (line {line})" if line else "")


def _shown(error: BaseException) -> str:
    text = " ".join(traceback.format_exception_only(error)[-1].split())
    return text if len(text) <= 300 else text[:299] + "…"


def _line_in(path: Path, error: BaseException) -> int | None:
    """The last line of `path` that the error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == str(path)), None)
