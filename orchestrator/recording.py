"""Keeps every model request of a run and what came back, in a file from which the run can be replayed.

The file holds one JSON object a line, its `type` first:

- `recording`, the first line: `schema`, the version of orch, when it was made;
- `model`, one for each model that the run opened: `asked` (the name a role wants, empty for the session's own), its
  `name`, and `info`, its limits and prices;
- `part`: a system prompt, a list of tools or a message, under an `id` that is a hash of it; each is written once;
- `exchange`: the request by its parts (`system`, `tools`, `messages`) and `settings`, the `role` that made it, its
  number `n` in the order in which requests began, and the reply as it came: `pieces`, and `error` where it ended in
  one. `cut: true` says that the run gave up this reply before its end.

Texts are kept as `run_text` says: without secrets, and with placeholders for what differs from run to run.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator import __version__
from orchestrator.errors import ModelError, UsageError
from orchestrator.exchanges import Parts, Requests, asked_of, error_to_data, pieces_to_data
from orchestrator.model import Done, Model, ModelInfo, ModelRequest, Piece
from orchestrator.run_text import RunText

SCHEMA = 1
_OPEN = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
Notify = Callable[[str, str, str], None]
"""Called with a level (`warning`), a message and a hint."""


def require_outside(file: Path, workspace: Path) -> None:
    """Raise `UsageError` for a recording in the workspace: searches would find it, and another one at the replay."""
    if file.resolve().is_relative_to(workspace.resolve()):
        message = f"the recording {file} would be in the workspace, where tools would find it"
        raise UsageError(message, f"give a place outside of it: --record {workspace.resolve().parent / file.name}")


class Recorder:
    """Writes the recording of one run. A disk that cannot be written to is reported once and does not end the run."""

    def __init__(self, path: Path, text: RunText, *, notice: Notify) -> None:
        """Opens `path`, which must be new or empty. Raises `UsageError` when it is neither or cannot be written."""
        self.path = path
        self._text = text
        self._notice = notice
        self._requests = Requests(text)
        self._written: set[str] = set()
        self._models: set[str] = set()
        self._numbers = 0
        self._file: int | None = _opened(path)
        self._size = 0
        created = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(_line({"type": "recording", "schema": SCHEMA, "orch": __version__, "created": created}))

    def wrap(self, model: Model, asked: str = "") -> Model:
        """`model` with every exchange recorded. `asked`: the name by which a role wants it, empty for the session's."""
        if asked not in self._models:
            self._models.add(asked)
            row = {"type": "model", "asked": asked, "name": model.name, "info": asdict(model.info)}
            self._write(_line(row))
        return RecordingModel(model, self, asked)

    def begin(self) -> int:
        """The number of a request that begins now."""
        self._numbers += 1
        return self._numbers

    def keep(
        self, number: int, asked: str, request: ModelRequest, pieces: Collection[Piece], error: ModelError | None
    ) -> None:
        """Write down one exchange."""
        if self._file is None:
            return
        parts = self._requests.parts(asked, request)
        row = _exchange(number, parts, self._text.message(request.cache_key))
        change = self._text.message
        row["pieces"] = pieces_to_data(list(pieces), change)
        if error is not None:
            row["error"] = error_to_data(error, change)
        elif not any(isinstance(piece, Done) for piece in pieces):
            row["cut"] = True
        new = {name: content for name, content in parts.content.items() if name not in self._written}
        lines = [b'{"type":"part","id":"%s","value":%s}\n' % (name.encode(), content) for name, content in new.items()]
        self._write(b"".join([*lines, _line(row)]))
        self._written.update(new)

    def close(self) -> None:
        """The run is over."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, data: bytes) -> None:
        """All of `data` or nothing."""
        if self._file is None:
            return
        try:
            _write_all(self._file, data)
            self._size += len(data)
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        assert self._file is not None
        with suppress(OSError):  # else a reader finds half a line at the end, and passes over it
            os.ftruncate(self._file, self._size)
        self.close()
        message = f"the recording {self.path} could not be written: {error.strerror or error}"
        self._notice("warning", message, "The run goes on; what was recorded so far is kept.")


class RecordingModel:
    """A model whose exchanges a `Recorder` keeps. What it gives is what the inner one gives."""

    def __init__(self, inner: Model, recorder: Recorder, asked: str = "") -> None:
        self._inner = inner
        self._recorder = recorder
        self._asked = asked

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def info(self) -> ModelInfo:
        return self._inner.info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        number = self._recorder.begin()
        pieces: list[Piece] = []
        failure: ModelError | None = None
        try:
            async with aclosing(asked_of(self._inner, request)) as stream:
                async for piece in stream:
                    pieces.append(piece)
                    yield piece
        except ModelError as error:
            failure = error
            raise
        finally:
            self._recorder.keep(number, self._asked, request, pieces, failure)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _exchange(number: int, parts: Parts, role: str) -> dict[str, Any]:
    asked = parts.asked
    head = {"type": "exchange", "n": number, "key": asked.key, "model": asked.model, "role": role}
    request = {"system": asked.system, "tools": asked.tools, "messages": list(asked.messages)}
    return head | request | {"settings": json.loads(asked.settings)}


def _line(row: dict[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _opened(path: Path) -> int:
    """A descriptor of a new file at `path`, or of the empty one that is there, which the user alone can read."""
    try:
        try:
            return os.open(path, _OPEN | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            descriptor = os.open(path, _OPEN)
        try:
            _require_empty(descriptor, path)
            os.fchmod(descriptor, 0o600)
        except BaseException:
            os.close(descriptor)
            raise
    except OSError as error:
        message = f"the recording {path} cannot be written: {error.strerror or error}"
        raise UsageError(message, "give another place with --record FILE") from None
    return descriptor


def _require_empty(descriptor: int, path: Path) -> None:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{path} is not a regular file", "give a new file with --record FILE")
    if status.st_size:
        raise UsageError(f"{path} exists and is not empty", "give a new file with --record FILE, or remove this one")
