"""JSON as it goes over a wire: compact, always valid UTF-8, and encoded once for each immutable object."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from orchestrator.messages import scrub

T = TypeVar("T")


def dumps(value: object) -> bytes:
    """Compact JSON; lone surrogates become U+FFFD, keys keep their order."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return scrub(text).encode()


def parse_object(text: str) -> dict[str, object] | None:
    """`text` as a JSON object, or `None` when it is anything else (NaN and Infinity are not JSON)."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class EncodedOnce(Generic[T]):
    """Bytes of immutable objects, kept by identity so that a long history is not encoded again at every turn.

    The objects are held with their bytes: an id is never reused while it is a key. Two generations bound the memory to
    about twice `limit` bytes; what was not used for a whole generation is forgotten.
    """

    def __init__(self, encode: Callable[[T], bytes], limit: int = 16 * 1024 * 1024) -> None:
        self._encode = encode
        self._limit = limit
        self._size = 0
        self._young: dict[int, tuple[T, bytes]] = {}
        self._old: dict[int, tuple[T, bytes]] = {}

    def all(self, items: Iterable[T]) -> list[bytes]:
        """The bytes of every item, in order."""
        young = self._young.get
        encoded: list[bytes] = []
        for item in items:
            hit = young(id(item))
            if hit is None:
                encoded.append(self._add(item))
                young = self._young.get
            else:
                encoded.append(hit[1])
        return encoded

    def _add(self, item: T) -> bytes:
        entry = self._old.get(id(item)) or (item, self._encode(item))
        if self._size > self._limit:
            self._old, self._young, self._size = self._young, {}, 0
        self._young[id(item)] = entry
        self._size += len(entry[1])
        return entry[1]
