from __future__ import annotations

import gc
import json

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.json_bytes import EncodedOnce, dumps, parse_object
from orchestrator.messages import Message, user


@given(st.text(st.characters(codec=None)))
def test_any_text_becomes_valid_utf8_json(text: str) -> None:
    """B059."""
    read = json.loads(dumps({"text": text}).decode("utf-8"))
    assert read["text"] == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def test_two_halves_of_a_character_become_one() -> None:
    assert dumps("\ud83c\udf0d") == '"🌍"'.encode()


def test_only_objects_are_objects() -> None:
    texts = [
        "",
        "null",
        "[1]",
        '"x"',
        "42",
        "{",
        '{"a": NaN}',
        '{"a": Infinity}',
        "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
    ]
    assert [parse_object(text) for text in texts] == [None] * len(texts)
    assert parse_object(' {"a": 1} ') == {"a": 1}


def test_an_object_is_encoded_once_for_as_long_as_it_is_used() -> None:
    count: list[Message] = []

    def encode(message: Message) -> bytes:
        count.append(message)
        return message.content.encode()

    cache = EncodedOnce(encode)
    messages = [user(str(n)) for n in range(50)]
    for end in range(51):
        assert cache.all(messages[:end]) == [str(n).encode() for n in range(end)]
    assert len(count) == 50


def test_memory_is_bounded_and_ids_that_are_used_again_do_no_harm() -> None:
    cache: EncodedOnce[Message] = EncodedOnce(lambda message: message.content.encode(), limit=1000)
    for n in range(2000):
        assert cache.all([user(f"message {n}")]) == [f"message {n}".encode()]
    gc.collect()
    held = [each for each in gc.get_objects() if isinstance(each, Message) and each.content.startswith("message ")]
    assert len(held) < 300
