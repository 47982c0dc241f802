"""Streamed fragments of tool calls put together, for every way in which providers are known to cut and label them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.json_bytes import parse_object
from orchestrator.messages import Message, ToolCall


class CallIds:
    """Gives each call an id that is unique in its conversation, the provider's own where that is possible."""

    def __init__(self, history: Sequence[Message] = ()) -> None:
        self._history = history
        self._taken: set[str] | None = None

    def unique(self, given: str) -> str:
        if self._taken is None:
            self._taken = {call.id for message in self._history for call in message.tool_calls}
        number = len(self._taken)
        name = given
        while not name or name in self._taken:
            number += 1
            name = f"call_{number}"
        self._taken.add(name)
        return name


@dataclass(frozen=True, slots=True)
class _Fragment:
    index: int | None
    id: str
    name: str
    arguments: str


class _Slot:
    """One call in the making."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.indexes: set[int] = set()
        self.ready: ToolCall | None = None
        self._parts: list[str] = []
        self._complete: bool | None = None

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def has_arguments(self) -> bool:
        return bool(self._parts)

    @property
    def complete(self) -> bool:
        """Whether the arguments so far are a whole JSON object; parsed only when they end like one."""
        if self._complete is None:
            last = self._parts[-1].rstrip() if self._parts else ""
            self._complete = last.endswith("}") and parse_object(self.text) is not None
        return self._complete

    def resends(self, fragment: _Fragment) -> bool:
        """Whether `fragment` only says again what is here; some providers end with the whole call."""
        same_name = fragment.name in ("", self.name)
        return same_name and self.complete and fragment.arguments.strip() in ("", self.text.strip())

    def add(self, fragment: _Fragment) -> None:
        self.id = self.id or fragment.id
        if fragment.index is not None:
            self.indexes.add(fragment.index)
        self._add_name(fragment.name)
        if not fragment.arguments or (fragment.arguments.strip() and self.resends(fragment)):
            return
        if self._parts == ["{}"] and fragment.arguments.lstrip().startswith("{"):
            self._parts = []  # an empty object as a placeholder before the real one
        self._parts.append(fragment.arguments)
        self._complete = None

    def _add_name(self, name: str) -> None:
        if not self.name or name.startswith(self.name):
            self.name = name or self.name
        elif name and name != self.name and not self.has_arguments:
            self.name += name


class CallAssembler:
    """Feed it the `tool_calls` of each delta; take each call once, as soon as it is certain to be complete.

    A call is certain when another one has begun and its arguments are a whole JSON object, or when the stream has
    finished. Arguments that were cut are handed on as they are, for the tool runner to refuse.
    """

    def __init__(self, ids: CallIds | None = None) -> None:
        self._ids = ids or CallIds()
        self._slots: list[_Slot] = []
        self._at: dict[int, _Slot] = {}
        self._current: _Slot | None = None

    def feed(self, fragments: object) -> list[ToolCall]:
        """Take one delta's list of fragments; give the calls that became certain."""
        if not isinstance(fragments, list):
            return []
        ready: list[ToolCall] = []
        for position, raw in enumerate(fragments):
            fragment = _read(raw, position if len(fragments) > 1 else None)
            slot = self._slot_for(fragment) if fragment else None
            if fragment is None or slot is None:
                continue
            if slot is not self._current:
                ready += self._settled(slot)
            self._current = slot
            if slot.ready is None:
                slot.add(fragment)
        return ready

    def finish(self, *, truncated: bool = False) -> list[ToolCall]:
        """The stream has ended: the calls not given yet whose arguments are complete.

        `truncated` says that the model hit its output limit, so that missing arguments were cut, not left out.
        """
        ready: list[ToolCall] = []
        for slot in self._slots:
            if slot.ready is None:
                call = self._take(slot, "" if truncated else "{}")
                if parse_object(call.arguments) is not None:
                    ready.append(call)
        return ready

    @property
    def begun(self) -> bool:
        """Whether any call has begun."""
        return bool(self._slots)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """After `finish`: every call, in the order in which they began."""
        return tuple(slot.ready for slot in self._slots if slot.ready is not None)

    def _settled(self, begun: _Slot) -> list[ToolCall]:
        open_slots = [slot for slot in self._slots if slot.ready is None and slot is not begun]
        return [self._take(slot) for slot in open_slots if slot.name and slot.complete]

    def _take(self, slot: _Slot, empty: str = "") -> ToolCall:
        slot.ready = ToolCall(self._ids.unique(slot.id), slot.name, slot.text if slot.text.strip() else empty)
        return slot.ready

    def _slot_for(self, fragment: _Fragment) -> _Slot | None:
        if fragment.id:
            return self._by_id(fragment)
        if fragment.index is not None:
            return self._by_index(fragment.index, fragment)
        return self._by_order(fragment)

    def _by_id(self, fragment: _Fragment) -> _Slot:
        index = fragment.index
        for slot in reversed(self._slots):
            if slot.id == fragment.id and (index is None or not slot.indexes or index in slot.indexes):
                again = fragment.name and slot.complete and not slot.resends(fragment)
                return self._new(fragment) if again else slot
        known = self._current if index is None else self._at.get(index)
        if known is None:
            return self._new(fragment)
        if not known.id and not (fragment.name and known.name):
            return known
        if fragment.name or not fragment.arguments or known.complete:
            return self._new(fragment)
        return known  # an id that changes with every fragment

    def _by_index(self, index: int, fragment: _Fragment) -> _Slot | None:
        slot = self._at.get(index)
        if slot is not None:
            return self._new(fragment) if _begins_another(slot, fragment) else slot
        if fragment.name:
            return self._new(fragment)
        if not fragment.arguments:
            return None
        unfinished = [slot for slot in self._slots if slot.ready is None and not slot.complete]
        if len(unfinished) != 1:
            return self._new(fragment)  # nobody can say whose arguments these are: a call without a name, refused later
        self._at[index] = unfinished[0]
        return unfinished[0]

    def _by_order(self, fragment: _Fragment) -> _Slot | None:
        slot = self._current
        if slot is None:
            return self._new(fragment) if fragment.name or fragment.arguments else None
        other_name = fragment.name not in ("", slot.name)
        if _begins_another(slot, fragment) or (slot.name and slot.has_arguments and other_name):
            return self._new(fragment)
        return slot

    def _new(self, fragment: _Fragment) -> _Slot:
        slot = _Slot()
        self._slots.append(slot)
        if fragment.index is not None:
            self._at[fragment.index] = slot
        return slot


def _begins_another(slot: _Slot, fragment: _Fragment) -> bool:
    return bool(fragment.name and slot.name and slot.complete and not slot.resends(fragment))


def _read(raw: object, position: int | None) -> _Fragment | None:
    """A fragment in one form; `position` stands in for an index that is missing from a list of several."""
    if not isinstance(raw, dict):
        return None
    function = raw.get("function")
    if not isinstance(function, dict):
        function = raw
    arguments = function.get("arguments")
    if arguments is None:
        arguments = ""
    elif not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    given = raw.get("id")
    index = raw.get("index")
    if isinstance(index, str) and index.isdecimal():
        index = int(index)
    if not isinstance(index, int) or isinstance(index, bool):
        index = None if given else position
    name = function.get("name")
    return _Fragment(
        index, str(given) if given not in (None, "") else "", name if isinstance(name, str) else "", arguments
    )
