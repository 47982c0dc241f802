"""The scripted model server: real HTTP on loopback, the OpenAI and the Anthropic wire, from one script in data.

    async with ModelServer(["Hello."]) as server:          # in the test's own event loop
        ... server.url, server.requests, server.failures

    with ServerThread(script) as server: ...               # for tests that run the installed command
    with ServerProcess(script) as server: ...              # in its own process, for benchmarks

    python -m tests.support.model_server script.json       # prints its port, runs until it is ended

`POST */chat/completions` and `POST */messages` are answered, whatever stands before. It is strict: a request beyond the
script, or one that a real provider would refuse, gets an error and is kept in `failures`; leaving the `with` block
raises `AssertionError` for failures that the test did not take out. `GET /state` shows requests and failures as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.request import urlopen

from tests.support.model_script import Script, Turn, read_script
from tests.support.plain_http import Request, head_of, http_chunk, pieces_of, read_request, send
from tests.support.wire_replies import Event, error_body, stream_of, whole_of
from tests.support.wire_rules import complaint


class ModelServer:
    """The server in the current event loop; see the module for how it is used."""

    def __init__(self, script: Any, *, port: int = 0) -> None:
        self.script: Script = read_script(script)
        self.requests: list[Request] = []
        self.failures: list[str] = []
        self.connections = 0
        self._changed = asyncio.Event()
        self._port = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._rendered: dict[tuple[int, str, bool], list[Event]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    async def __aenter__(self) -> ModelServer:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, backlog=512)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: object) -> None:
        assert self._server is not None
        for _ in range(5):
            await asyncio.sleep(0)  # a connection that was accepted a moment ago gets to its task
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # lets the transports close
        if kind is None:
            self.check()

    def check(self) -> None:
        """Raise `AssertionError` when a request was beyond the script or not valid."""
        assert not self.failures, "\n".join(self.failures)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition` holds; it is looked at whenever a request comes or a client goes."""
        async with asyncio.timeout(20):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def state(self) -> dict[str, Any]:
        """All that happened, as plain data."""
        keys = ("path", "body", "received", "responded", "disconnected")
        rows = [{key: getattr(request, key) for key in keys} for request in self.requests]
        return {"requests": rows, "failures": self.failures}

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.connections += 1
        self._tasks.add(task)
        try:
            while (request := await read_request(reader)) is not None:
                if not await self._answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; false when the connection is to be closed."""
        if request.path == "/state":
            await send(writer, 200, json.dumps(self.state()).encode())
            return True
        self.requests.append(request)
        self._changed.set()
        serial = len(self.requests)
        try:
            turn = self._turn(request, serial)
            pause = self.script.delay if turn.delay is None else turn.delay
            if pause:
                await self._silence(pause, request, reader)
            return await self._play(turn, request, serial, reader, writer)
        except ConnectionError:
            request.disconnected = True
            self._changed.set()
            raise
        finally:
            request.responded = request.responded or time.monotonic()
            if not self.script.record:
                request.raw, request.body = b"", None

    def _turn(self, request: Request, serial: int) -> Turn:
        """The scripted turn, or the error that the request deserves."""
        refused = self._refusal(request)
        if refused:
            return refused
        route = self.script.route((request.system, request.first_user))
        turn = route.next(request.depth)
        if turn is not None:
            return turn
        where = f"the route {route.match!r}" if route.match else "the script"
        message = (
            f"request {serial} is beyond {where} ({len(route.turns)} turns); its task: {request.first_user[:200]!r}"
        )
        self.failures.append(message)
        return Turn(status=500, error={"type": "script_exhausted", "message": message})

    def _refusal(self, request: Request) -> Turn | None:
        if not request.wire:
            self.failures.append(f"unknown path {request.path}")
            return Turn(status=404, error={"type": "not_found_error", "message": f"Invalid URL (POST {request.path})"})
        if self.script.api_key and self.script.api_key not in str(request.headers):
            return Turn(status=401, error={"type": "authentication_error", "message": "Incorrect API key provided."})
        for name in self.script.reject:
            if isinstance(request.body, dict) and name in request.body:
                return Turn(status=400, error={"message": f"Unknown parameter: '{name}'.", "param": name})
        wrong = complaint(request.wire, request.body, request.raw, request.headers) if self.script.validate else ""
        if not wrong:
            return None
        self.failures.append(wrong)
        return Turn(status=400, error={"type": "invalid_request_error", "message": wrong})

    async def _play(
        self, turn: Turn, request: Request, serial: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        if turn.body is not None or turn.status != 200:
            body = error_body(request.wire, turn.error or {}) if turn.body is None else turn.body
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            await send(writer, turn.status, data, turn.headers)
            return True
        if not (turn.stream and request.body.get("stream")):
            await send(writer, 200, json.dumps(whole_of(turn, request.wire, serial)).encode(), turn.headers)
            return True
        writer.write(
            head_of(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **turn.headers})
        )
        events = self._events(turn, request, serial)
        if turn.chunk or turn.gap or turn.stall or turn.drop_after >= 0 or turn.drop_after_bytes >= 0:
            return await self._slowly(turn, events, request, reader, writer)
        whole = b"".join([http_chunk(event.data) for event in events]) + b"0\r\n\r\n"
        request.responded = time.monotonic()  # not afterwards: sending may hand the core over to the client
        writer.write(whole)
        await writer.drain()
        return True

    def _events(self, turn: Turn, request: Request, serial: int) -> list[Event]:
        options = request.body.get("stream_options") or {}
        usage = bool(options.get("include_usage"))
        if turn.tool_calls:
            return stream_of(turn, request.wire, serial, include_usage=usage)  # ids follow from the serial number
        key = (id(turn), request.wire, usage)
        if key not in self._rendered:
            self._rendered[key] = stream_of(turn, request.wire, serial, include_usage=usage)
        return self._rendered[key]

    async def _slowly(
        self,
        turn: Turn,
        events: list[Event],
        request: Request,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """The stream with whatever the turn does to it."""
        sent = said = 0
        stall = turn.stall
        for event in events:
            if stall and said == turn.stall_after:
                await self._silence(stall, request, reader)
                stall = 0.0
            if 0 <= turn.drop_after <= said:
                return False
            said += event.content
            for piece in pieces_of(event.data, turn.chunk):
                if 0 <= turn.drop_after_bytes <= sent:
                    return False
                writer.write(http_chunk(piece))
                await writer.drain()
                sent += len(piece)
                await asyncio.sleep(0)
            if turn.gap:
                await asyncio.sleep(turn.gap)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _silence(self, seconds: float | str, request: Request, reader: asyncio.StreamReader) -> None:
        """Say nothing for so long, or until the client has gone."""
        limit = None if seconds == "forever" else float(seconds)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit):
                if await reader.read(1) == b"":
                    raise ConnectionResetError("the client closed the connection")


class ServerThread:
    """The same server in a thread of its own, for tests that block on a child process."""

    def __init__(self, script: Any) -> None:
        self._server = ModelServer(script)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return self._server.url

    @property
    def requests(self) -> list[Request]:
        return self._server.requests

    @property
    def failures(self) -> list[str]:
        return self._server.failures

    def __enter__(self) -> ServerThread:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.__aenter__(), self._loop).result(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        closing = self._server.__aexit__(kind, error, tb)
        try:
            asyncio.run_coroutine_threadsafe(closing, self._loop).result(10)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()


class ServerProcess:
    """The same server in a process of its own; `state()` fetches what it saw."""

    def __init__(self, script: Any) -> None:
        self._script = script
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def __enter__(self) -> ServerProcess:
        root = Path(__file__).resolve().parents[2]
        command = [sys.executable, "-m", "tests.support.model_server", "-"]
        self._process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(self._script).encode() + b"\n")
        self._process.stdin.flush()
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        return self

    def state(self) -> dict[str, Any]:
        with urlopen(f"{self.url}/state", timeout=30) as answer:
            state: dict[str, Any] = json.load(answer)
        return state

    def __exit__(self, *exception: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


async def _serve_until_told(script: Any, port: int, from_stdin: bool) -> None:
    async with ModelServer(script, port=port) as server:
        print(server.port, flush=True)
        if from_stdin:
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            server.failures.clear()  # whoever started the process has read them
        else:
            await asyncio.Event().wait()


def main(arguments: list[str]) -> None:
    """`SCRIPT.json [PORT]`, or `-` for a script on the first line of standard input, whose end is the server's too."""
    source, port = arguments[0], int(arguments[1]) if len(arguments) > 1 else 0
    text = sys.stdin.readline() if source == "-" else Path(source).read_text(encoding="utf-8")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve_until_told(json.loads(text), port, source == "-"))


if __name__ == "__main__":
    main(sys.argv[1:])
