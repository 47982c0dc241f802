"""The script of a model server, as data: what it answers, to whom, and how badly.

A script is a list of turns, or a mapping:

    {"turns": [...],                     # for every request that no route takes
     "routes": [{"match": "You are an explorer", "turns": [...], "by": "depth"}],
     "by": "queue", "repeat": false,     # the same two settings for the turns above
     "reject": ["stream_options"],       # request fields that are answered with a 400
     "api_key": "sk-test",               # a request without this key is answered with a 401
     "delay": 0.2,                       # seconds before every answer
     "validate": true,                   # refuse what the real providers refuse
     "record": true}                     # keep bodies; false keeps only paths and times

A route takes a request when `match` occurs in its system prompt or its first user message; the first one that does.
`by: queue` gives the turns in the order of the requests; `by: depth` gives turn N to a request with N assistant
messages in its history, so that any number of equal conversations can run at once. `repeat` gives the last turn again
and again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer. Times are in seconds; `*_after` count pieces of content (of text, reasoning or a tool call)."""

    text: str | Sequence[str] = ""
    """A list is streamed piece by piece."""
    reasoning: Any = ()
    """A text, `{"text", "signature"}`, `{"redacted"}`, or a list of these."""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    """`{"name", "arguments", "id"}`; arguments are an object, or a string that is sent as it is."""
    finish_reason: str | None = ""
    """`stop`, `tool_calls`, `length`, `content_filter`; by content unless given; null leaves it out."""
    usage: Mapping[str, int] | None = field(default_factory=lambda: {"input_tokens": 100, "output_tokens": 20})
    """In orch's own terms; null sends none."""
    fragments: int = 2
    """Into how many pieces arguments are cut."""
    reasoning_field: str = "reasoning_content"
    end: bool = True
    """Send the wire's end mark (`[DONE]`, `message_stop`)."""
    stream: bool = True
    """False answers with one JSON body although a stream was asked for."""
    raw: Any = None
    """Events to send instead: a list, or a list for each wire; objects become events, strings are sent as they are."""
    status: int = 200
    error: Mapping[str, Any] | None = None
    """`{"type", "message", "code"}` in the provider's shape; with status 200 it comes after the content of a stream."""
    body: Any = None
    """The whole body of an answer, in place of all above: text, or an object sent as JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float | None = None
    """Before the first byte; the script's own `delay` unless given."""
    gap: float = 0.0
    """Between events."""
    chunk: int = 0
    """Cut the stream into pieces of this many bytes."""
    stall: float | str = 0.0
    """Seconds, or `forever`, of silence after `stall_after` pieces."""
    stall_after: int = 1
    drop_after: int = -1
    """Close the connection after this many pieces."""
    drop_after_bytes: int = -1


@dataclass(slots=True)
class Route:
    match: str
    turns: list[Turn]
    by: Literal["queue", "depth"] = "queue"
    repeat: bool = False
    played: int = 0

    def next(self, depth: int) -> Turn | None:
        """The turn for a request with `depth` assistant messages, or `None` beyond the end."""
        index = depth if self.by == "depth" else self.played
        self.played += 1
        if index < len(self.turns):
            return self.turns[index]
        return self.turns[-1] if self.repeat and self.turns else None

    @property
    def left(self) -> int:
        """Turns of a queue that nobody asked for."""
        return max(0, len(self.turns) - self.played) if self.by == "queue" and not self.repeat else 0


@dataclass(slots=True)
class Script:
    routes: list[Route]
    reject: tuple[str, ...] = ()
    api_key: str = ""
    delay: float = 0.0
    validate: bool = True
    record: bool = True

    def route(self, texts: Sequence[str]) -> Route:
        """The route for a request with these texts (system prompt, first user message)."""
        return next(route for route in self.routes if any(route.match in text for text in (*texts, "")))


def read_script(data: Any) -> Script:
    """A script out of plain data; raises `ValueError` for a key that does not exist."""
    if not isinstance(data, Mapping):
        data = {"turns": data}
    _known(data, {"turns", "routes", "by", "repeat", "reject", "api_key", "delay", "validate", "record"})
    routes = [_route(each) for each in data.get("routes", ())]
    routes.append(_route({key: data[key] for key in ("turns", "by", "repeat") if key in data}))
    rest = {key: data[key] for key in ("api_key", "delay", "validate", "record") if key in data}
    return Script(routes, tuple(data.get("reject", ())), **rest)


def _route(data: Mapping[str, Any]) -> Route:
    _known(data, {"match", "turns", "by", "repeat"})
    turns = [_turn(each) for each in data.get("turns", ())]
    return Route(data.get("match", ""), turns, data.get("by", "queue"), data.get("repeat", False))


def _turn(data: Any) -> Turn:
    if isinstance(data, str):
        return Turn(text=data)
    _known(data, {each.name for each in fields(Turn)})
    return Turn(**data)


def _known(data: Mapping[str, Any], names: set[str]) -> None:
    unknown = set(data) - names
    if unknown:
        raise ValueError(f"unknown in the script: {sorted(unknown)}; there are: {sorted(names)}")
