"""Model requests and replies as plain data, for recordings and for the cache of replies.

A request is taken apart: the system prompt, the tools and each message are parts, known by a hash of their content, so
that a conversation of many turns is kept once and not once a turn. Two requests are the same when their model, parts
and settings are; `cache_key`, which only steers the provider's cache, is not compared.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from orchestrator.errors import ModelError
from orchestrator.json_bytes import EncodedOnce
from orchestrator.messages import Message, Reasoning, ToolCall, Usage
from orchestrator.model import (
    CallReady,
    Done,
    Model,
    ModelRequest,
    Piece,
    ReasoningDelta,
    Reply,
    Retrying,
    TextDelta,
    ToolSchema,
)
from orchestrator.run_text import RunText

_NO_SETTINGS = frozenset({"system", "messages", "tools", "cache_key"})


async def asked_of(model: Model, request: ModelRequest) -> AsyncGenerator[Piece, None]:
    """The stream of `model`; closing it closes that one, whichever kind of iterator it is."""
    stream = model.stream(request)
    try:
        async for piece in stream:
            yield piece
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


class Asked(NamedTuple):
    """A request by the names of its parts. `settings` holds what differs from the default."""

    model: str
    """The name it was asked for by: empty for the model of the session, else what a role wants."""
    system: str
    tools: str
    messages: tuple[str, ...]
    settings: str

    @property
    def key(self) -> str:
        return named("\0".join([self.model, self.system, self.tools, *self.messages, self.settings]).encode())


class Parts(NamedTuple):
    """A request taken apart, with the content (canonical JSON) of every part by its name."""

    asked: Asked
    content: Mapping[str, bytes]


class Requests:
    """Takes the requests of a run apart. What was seen before is not looked through again."""

    def __init__(self, text: RunText, *, whole_system: bool = False) -> None:
        """`whole_system`: the day and the platform in the system prompt count as well."""
        self._system: Callable[[str], str] = text.message if whole_system else text.system
        self._systems: dict[str, bytes] = {}
        self._messages = EncodedOnce[Message](lambda message: canonical(_message(message, text)))
        self._tools = EncodedOnce[ToolSchema](lambda tool: canonical(mapped(plain(tool), text.message)))

    def parts(self, model: str, request: ModelRequest) -> Parts:
        if request.system not in self._systems:
            self._systems[request.system] = canonical(self._system(request.system))
        system = self._systems[request.system]
        tools = b"[" + b",".join(self._tools.all(request.tools)) + b"]"
        messages = self._messages.all(request.messages)
        content = {named(part): part for part in (system, tools, *messages)}
        asked = Asked(model, named(system), named(tools), tuple(map(named, messages)), _settings(request))
        return Parts(asked, content)


def canonical(value: object) -> bytes:
    """`value` (plain data) as JSON that is the same for equal values. Lone surrogates are kept, as escapes."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def named(part: bytes) -> str:
    """The name of a part: a hash of its content."""
    return blake2b(part, digest_size=10).hexdigest()


def plain(value: object) -> Any:
    """Any value of a request as plain data; fields that have their default are left out."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return {"bytes": len(value), "blake2b": named(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    named_fields = getattr(value, "_fields", None)
    if named_fields is not None:
        return _without_defaults(value, named_fields, getattr(value, "_field_defaults", {}))
    if is_dataclass(value):
        defaults = {field.name: _default(field) for field in fields(value)}
        return _without_defaults(value, defaults, defaults)
    if isinstance(value, Sequence | set | frozenset):
        return [plain(each) for each in value]
    return str(value)


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Plain data with every text in it changed, except keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(each, change) for key, each in value.items()}
    return [mapped(each, change) for each in value] if isinstance(value, list) else value


def _default(field: Any) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _without_defaults(value: object, names: Any, defaults: Mapping[str, object]) -> dict[str, Any]:
    given = {name: getattr(value, name) for name in names}
    return {name: plain(each) for name, each in given.items() if name not in defaults or each != defaults[name]}


def _message(message: Message, text: RunText) -> Any:
    return mapped(plain(message), text.result if message.role == "tool" else text.message)


def _settings(request: ModelRequest) -> str:
    return canonical({key: each for key, each in plain(request).items() if key not in _NO_SETTINGS}).decode()


# --- replies ---------------------------------------------------------------------------------------------------------


def pieces_to_data(pieces: Sequence[Piece], change: Callable[[str], str]) -> list[dict[str, Any]]:
    """The pieces of a reply as plain data, one key each, every text in them changed.

    What `change` finds may begin in one delta and end in the next: then the deltas of that kind become one.
    """
    data: list[dict[str, Any]] = []
    for attempt in _attempts(pieces):
        for kind in (TextDelta, ReasoningDelta):
            attempt = _rejoined(attempt, kind, change)
        data += [_piece_to_data(piece, change) for piece in attempt]
    return data


def pieces_from_data(data: Sequence[Mapping[str, Any]], change: Callable[[str], str]) -> list[Piece]:
    """The inverse. Raises `ValueError`, `TypeError` or `KeyError` for what is no such data."""
    return [_piece_from_data(mapped(dict(each), change)) for each in data]


def error_to_data(error: ModelError, change: Callable[[str], str]) -> dict[str, Any]:
    data = {"kind": error.kind, "message": change(error.message), "hint": change(error.hint)}
    return data | {"status": error.status, "retry_after": error.retry_after}


def error_from_data(data: Mapping[str, Any], change: Callable[[str], str]) -> ModelError:
    texts = change(data["message"]), change(data["hint"])
    return ModelError(data["kind"], *texts, status=data["status"], retry_after=data["retry_after"])


def _attempts(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces, parted after each `Retrying`."""
    attempts: list[list[Piece]] = [[]]
    for piece in pieces:
        attempts[-1].append(piece)
        if isinstance(piece, Retrying):
            attempts.append([])
    return attempts


def _rejoined(
    pieces: list[Piece], kind: type[TextDelta] | type[ReasoningDelta], change: Callable[[str], str]
) -> list[Piece]:
    deltas = [piece for piece in pieces if isinstance(piece, kind)]
    whole = "".join(piece.text for piece in deltas)
    if len(deltas) < 2 or change(whole) == "".join(change(piece.text) for piece in deltas):
        return pieces
    at = pieces.index(deltas[0])
    return [*pieces[:at], kind(whole), *(piece for piece in pieces[at:] if not isinstance(piece, kind))]


def _piece_to_data(piece: Piece, change: Callable[[str], str]) -> dict[str, Any]:
    match piece:
        case TextDelta(text):
            return {"text": change(text)}
        case ReasoningDelta(text):
            return {"reasoning": change(text)}
        case CallReady(call):
            return {"call": mapped(plain(call), change)}
        case Done(reply):
            return {"done": mapped(plain(reply), change)}
    return {"retrying": mapped(plain(piece), change)}


def _piece_from_data(data: Mapping[str, Any]) -> Piece:
    ((kind, value),) = data.items()
    match kind:
        case "text":
            return TextDelta(value)
        case "reasoning":
            return ReasoningDelta(value)
        case "call":
            return CallReady(ToolCall(**value))
        case "retrying":
            return Retrying(**value)
        case "done":
            return Done(_reply(value))
    raise ValueError(f"{kind!r} is no piece of a reply")


def _reply(data: Mapping[str, Any]) -> Reply:
    message = dict(data["message"])
    message["tool_calls"] = tuple(ToolCall(**call) for call in message.get("tool_calls", ()))
    message["reasoning"] = tuple(Reasoning(**block) for block in message.get("reasoning", ()))
    usage = Usage(**data.get("usage", {}))
    return Reply(**{**data, "message": Message(**message), "usage": usage})
