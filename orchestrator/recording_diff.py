"""Where a request differs from a recorded one, in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orchestrator.exchanges import Asked
from orchestrator.safe_text import safe_text

_BEFORE, _AFTER = 20, 60
"""Characters of an excerpt around the place where two texts part."""

_LIKENESS = 2000
"""Characters by which the likeness of messages is judged."""


class Compared(NamedTuple):
    """A request by its parts, and their content by name."""

    asked: Asked
    role: str
    parts: Mapping[str, Any]

    def message(self, index: int) -> Mapping[str, Any]:
        message: Mapping[str, Any] = self.parts[self.asked.messages[index]]
        return message


def nearest(now: Compared, recorded: Sequence[Compared], unused: Sequence[bool]) -> int:
    """The index of the recorded request most like `now`; `unused` says of each whether its reply is still there.

    The longest common beginning of the conversation counts most, then what else is equal, then the likeness of the
    first message that differs.
    """

    def likeness(index: int) -> tuple[int, ...]:
        then = recorded[index]
        same = _common(then.asked.messages, now.asked.messages)
        equal = [then.asked[field] == now.asked[field] for field in (0, 1, 2, 4)]
        length = abs(len(then.asked.messages) - len(now.asked.messages))
        return (
            same,
            *map(int, equal),
            int(then.role == now.role),
            int(unused[index]),
            _alike(then, now, same),
            -length,
        )

    return max(range(len(recorded)), key=likeness)  # of equals the first


def describe_difference(then: Compared, now: Compared) -> str:
    """The first difference between a recorded request and one that is made now."""
    old, new = then.asked, now.asked
    if old.model != new.model:
        return f"the model: recorded {old.model or 'that of the session'}, now {new.model or 'that of the session'}"
    if old.system != new.system:
        return f"the system prompt, {_texts(then.parts[old.system], now.parts[new.system])}"
    if old.tools != new.tools:
        return _tools(then.parts[old.tools], now.parts[new.tools])
    if old.settings != new.settings:
        return f"the settings: recorded {old.settings}, now {new.settings}"
    return _messages(then, now)


def _messages(then: Compared, now: Compared) -> str:
    same = _common(then.asked.messages, now.asked.messages)
    counts = len(then.asked.messages), len(now.asked.messages)
    if same == min(counts):
        longer = then if counts[0] > counts[1] else now
        what = f"recorded {counts[0]}, now {counts[1]}"
        return f"the number of messages: {what}; message {same + 1} is {_name(longer, same)}"
    where = f"message {same + 1} of {counts[1]} ({_name(now, same)})"
    return f"{where}, {_fields(then.message(same), now.message(same))}"


def _fields(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Where two messages or tools part: `its tool_calls[0].arguments, at character 3: …`."""
    place, old, new = _place(then, now, "")
    return f"its {place.removeprefix('.')}, {_texts(old, new)}"


def _place(then: Any, now: Any, path: str) -> tuple[str, Any, Any]:
    """The way to the innermost value that differs, and that value in both."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in dict.fromkeys(["role", "content", *then, *now]):
            old, new = then.get(key, ""), now.get(key, "")
            if _text(old) != _text(new):
                return _place(old, new, f"{path}.{key}")
    if isinstance(then, list) and isinstance(now, list):
        for index, (old, new) in enumerate(zip(then, now, strict=False)):
            if _text(old) != _text(new):
                return _place(old, new, f"{path}[{index}]")
    return path, then, now


def _name(compared: Compared, index: int) -> str:
    """What a message is: `user`, `assistant`, `the result of grep`."""
    message = compared.message(index)
    if message.get("role") != "tool":
        return str(message.get("role"))
    wanted = message.get("tool_call_id")
    calls = [call for i in range(index) for call in compared.message(i).get("tool_calls", ())]
    return next((f"the result of {call['name']}" for call in calls if call["id"] == wanted), "the result of a tool")


def _tools(then: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> str:
    old, new = ([tool["name"] for tool in tools] for tools in (then, now))
    if old != new:
        return f"the tools: recorded {', '.join(old) or 'none'}; now {', '.join(new) or 'none'}"
    name, *pair = next((a["name"], a, b) for a, b in zip(then, now, strict=True) if _text(a) != _text(b))
    return f"the tool {name}, {_fields(*pair)}"


def _texts(then: object, now: object) -> str:
    """Where two values part: the character, and an excerpt of each from just before it."""
    old, new = _text(then), _text(now)
    at = _shared(old, new)
    return f"at character {at + 1}: recorded {_excerpt(old, at)}, now {_excerpt(new, at)}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _excerpt(text: str, at: int) -> str:
    """Line breaks and tabs are written out, since they may be the difference."""
    start, end = max(0, at - _BEFORE), at + _AFTER
    shown = text[start:end].replace("\n", "⏎").replace("\t", "⇥")
    return f"“{'…' if start else ''}{safe_text(shown)}{'…' if end < len(text) else ''}”"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _alike(then: Compared, now: Compared, index: int) -> int:
    """How many characters the messages at `index` have in common from their beginning."""
    if index >= min(len(then.asked.messages), len(now.asked.messages)):
        return 0
    one, other = (str(compared.message(index).get("content", ""))[:_LIKENESS] for compared in (then, now))
    return _shared(one, other)


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common from their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
