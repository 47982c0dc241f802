"""A recorded run again, without network: each request gets the reply that the same request got when it was recorded.

Strict: a request that was not recorded is an error that says where it first differs from the nearest one that was. Each
recorded exchange is used once, equal requests in the order in which they were recorded, since agents that run at the
same time ask in no fixed order.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator import __version__
from orchestrator.errors import ConfigError, ModelError, UsageError
from orchestrator.exchanges import Asked, Parts, Requests, canonical, error_from_data, pieces_from_data
from orchestrator.model import ModelInfo, ModelRequest, Piece
from orchestrator.recording import SCHEMA
from orchestrator.recording_diff import Compared, describe_difference, nearest
from orchestrator.run_text import RunText

_NAMED = 5


class Recorded(NamedTuple):
    """One exchange of a recording; `n` is its number in the order in which the requests began."""

    n: int
    role: str
    asked: Asked
    pieces: Sequence[Mapping[str, Any]]
    error: Mapping[str, Any] | None
    cut: bool


class RecordedModel(NamedTuple):
    name: str
    info: ModelInfo


@dataclass(slots=True)
class Recording:
    """What a file of `recording.Recorder` holds."""

    path: Path
    version: str = ""
    models: dict[str, RecordedModel] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    exchanges: list[Recorded] = field(default_factory=list)
    torn: bool = False
    """The last line is not whole: the recording was cut off there."""


def read_recording(path: Path) -> Recording:
    """The recording at `path`. Raises `UsageError` when it is none, is damaged, or is of a newer version."""
    recording = Recording(path)
    try:
        for number, line in enumerate(_lines(path), 1):
            if not line.endswith(b"\n"):
                recording.torn = True
                break
            _take(recording, number, line)
    except OSError as error:
        message = f"the recording {path} cannot be read: {error.strerror or error}"
        raise UsageError(message, "give a file made with --record") from None
    if not recording.version:
        raise _no_recording(path)
    recording.exchanges.sort(key=lambda exchange: exchange.n)
    return recording


def _lines(path: Path) -> Iterator[bytes]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"{path} is not a regular file", "give a file made with --record")
        yield from file


def _take(recording: Recording, number: int, line: bytes) -> None:
    """Read one whole line into `recording`."""
    try:
        row = json.loads(line)
        kind = row["type"]
        if number == 1:
            _check_head(recording, row)
        elif kind == "model":
            recording.models[row["asked"]] = RecordedModel(row["name"], ModelInfo(**row["info"]))
        elif kind == "part":
            recording.parts[row["id"]] = row["value"]
        elif kind == "exchange":
            recording.exchanges.append(_recorded(row, recording.parts))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if number == 1:
            raise _no_recording(recording.path) from None
        message = f"line {number} of the recording {recording.path} is damaged: {error!r}"
        raise UsageError(message, "record the run again") from None


def _check_head(recording: Recording, row: Mapping[str, Any]) -> None:
    if row["type"] != "recording":
        raise _no_recording(recording.path)
    recording.version = str(row["orch"])
    if row["schema"] != SCHEMA:
        message = f"{recording.path} was recorded with orch {recording.version}, which writes recordings differently"
        raise UsageError(message, f"replay it with that version, or record the run again with this one ({__version__})")


def _no_recording(path: Path) -> UsageError:
    return UsageError(f"{path} is not a recording of orch", "give a file made with --record")


def _recorded(row: Mapping[str, Any], parts: Mapping[str, Any]) -> Recorded:
    messages = tuple(row["messages"])
    asked = Asked(row["model"], row["system"], row["tools"], messages, canonical(row["settings"]).decode())
    missing = {asked.system, asked.tools, *messages} - parts.keys()
    if missing:
        raise ValueError(f"the parts {sorted(missing)} are missing")
    exchange = Recorded(row["n"], row["role"], asked, row["pieces"], row.get("error"), row.get("cut", False))
    pieces_from_data(exchange.pieces, str)
    return exchange


class Replay:
    """The replies of a recording, given to the models of one run."""

    def __init__(self, recording: Recording, text: RunText) -> None:
        self._recording = recording
        self._text = text
        self._requests = Requests(text)
        self.difference = ""
        """Where the run first left the recording. What differs later (a parent's request, for its child's) follows."""
        self._left: defaultdict[Asked, deque[Recorded]] = defaultdict(deque)
        for exchange in recording.exchanges:
            self._left[exchange.asked].append(exchange)

    def model(self, asked: str = "") -> ReplayModel:
        """The model that a role wants under the name `asked`; empty: that of the session. Raises `ConfigError`."""
        found = self._recording.models.get(asked)
        if found is None:
            known = ", ".join(name or f"{model.name} (the session's)" for name, model in self._recording.models.items())
            what = f"the model {asked}" if asked else "a model of the session"
            raise ConfigError(
                f"the recording {self._recording.path} does not have {what}; it has: {known or 'none'}",
                "replay with the models, roles and settings of the recorded run",
            )
        return ReplayModel(found.name, found.info, self, asked)

    @property
    def leftover(self) -> tuple[str, ...]:
        """The recorded exchanges that no request has asked for, in one phrase each, in their order."""
        left = {exchange.n: exchange.role for queue in self._left.values() for exchange in queue}
        return tuple(f"exchange {n}{_by(left[n])}" for n in sorted(left))

    @property
    def note(self) -> str:
        """What to tell the user at the end of the run: replies that were not used; empty when all is well."""
        left = self.leftover
        if not left:
            return ""
        named = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
        torn = "; the recording was cut off while it was written" if self._recording.torn else ""
        return f"{len(left)} of {len(self._recording.exchanges)} recorded replies were not asked for: {named}{torn}"

    def take(self, asked: str, request: ModelRequest) -> Recorded:
        """The exchange of `request`, which is used up by that. Raises `ModelError` when there is none."""
        parts = self._requests.parts(asked, request)
        queue = self._left.get(parts.asked)
        if not queue:
            raise self._unknown(parts, request.cache_key)
        return queue.popleft()

    def pieces(self, exchange: Recorded) -> list[Piece]:
        return pieces_from_data(exchange.pieces, self._text.restored)

    def error(self, exchange: Recorded) -> ModelError | None:
        """What the exchange ends in, if not in a reply."""
        if exchange.error is not None:
            return error_from_data(exchange.error, self._text.restored)
        if not exchange.cut:
            return None
        reason = "the recorded run was stopped in the middle of this reply (by the user or a timeout)"
        return ModelError("bad_request", f"{self._of(exchange)} has no end: {reason}", "The replay ends here too.")

    def _of(self, exchange: Recorded) -> str:
        return f"exchange {exchange.n} of the recording {self._recording.path.name}"

    def _unknown(self, parts: Parts, role: str) -> ModelError:
        recording = self._recording
        hint = "A replay needs the question, files, roles, settings and answers of the recorded run."
        if recording.version != __version__:
            hint += f" It was recorded with orch {recording.version}, this is {__version__}."
        if not self.difference:
            start = f"the recording {recording.path.name} has no reply to this request{_by(role)}"
            self.difference = start + self._why(parts, role)
        return ModelError("bad_request", self.difference, hint)

    def _why(self, parts: Parts, role: str) -> str:
        rows = self._recording.exchanges
        same = sum(row.asked == parts.asked for row in rows)
        if same:
            return f": it was recorded {'once' if same == 1 else f'{same} times'} and is sent once more"
        if not rows:
            return ": it holds none at all"
        unused = {row.n for queue in self._left.values() for row in queue}
        now = Compared(parts.asked, role, {name: json.loads(part) for name, part in parts.content.items()})
        then = [Compared(row.asked, row.role, self._recording.parts) for row in rows]
        index = nearest(now, then, [row.n in unused for row in rows])
        close, difference = rows[index], describe_difference(then[index], now)
        return f". It first differs from exchange {close.n}{_by(close.role)} in {difference}"


class ReplayModel:
    """A recorded model: the replies of a `Replay`, with the name, limits and prices of the model that gave them."""

    def __init__(self, name: str, info: ModelInfo, replay: Replay, asked: str = "") -> None:
        self._name = name
        self._info = info
        self._replay = replay
        self._asked = asked

    @property
    def name(self) -> str:
        return self._name

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        """The recorded pieces at once, then the recorded error if there was one. Raises `ModelError` for others too."""
        exchange = self._replay.take(self._asked, request)
        for piece in self._replay.pieces(exchange):
            yield piece
            await asyncio.sleep(0)  # tools that start while a reply streams get their turn
        error = self._replay.error(exchange)
        if error is not None:
            raise error

    async def aclose(self) -> None:
        """Nothing to close."""


def _by(role: str) -> str:
    return f" of {role}" if role else ""
