"""Images that go with what a user says, over every way to a model."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from orchestrator.messages import Attachment, Message, ToolCall, tool_result, user
from orchestrator.model import ModelInfo
from tests.contract.conftest import MakeModel
from tests.support.asking import error_of, reply_of, request_of
from tests.support.model_server import ModelServer

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(60)).decode()
PICTURE = Attachment("image/png", PIXEL, "shot.png")
PHOTO = Attachment("image/jpeg", "/9j/4AAQ", "photo.jpg")
BLIND = ModelInfo(window=200_000, max_output=8_000, vision=False)


def images_in(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The media type and the data of every image of a request, on either wire."""
    found = []
    for message in body["messages"]:
        for part in message["content"] if isinstance(message["content"], list) else ():
            if part["type"] == "image":
                found.append((part["source"]["media_type"], part["source"]["data"]))
            if part["type"] == "image_url":
                head, data = part["image_url"]["url"].split(";base64,")
                found.append((head.removeprefix("data:"), data))
    return found


def texts_in(body: dict[str, Any]) -> str:
    return "\n".join(
        part["text"]
        for message in body["messages"]
        for part in (message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}])
        if "text" in part
    )


async def test_images_are_sent_with_the_text_after_them(wire: str, make_model: MakeModel) -> None:
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of(user("What is this?", [PICTURE, PHOTO])))
        body = server.requests[0].body
    assert images_in(body) == [("image/png", PIXEL), ("image/jpeg", "/9j/4AAQ")]
    content = next(message["content"] for message in body["messages"] if message["role"] == "user")
    assert content[-1]["text"] == "What is this?"


async def test_an_image_without_words_is_no_empty_message(wire: str, make_model: MakeModel) -> None:
    history = (user("Hi"), Message("assistant", "Yes?"), user("", [PICTURE]))
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url), request_of(*history))
        assert images_in(server.requests[0].body) == [("image/png", PIXEL)]


async def test_a_conversation_with_an_image_begins_with_the_same_bytes(wire: str, make_model: MakeModel) -> None:
    first = (user("Look.", [PICTURE]),)
    more = (*first, Message("assistant", "", (ToolCall("c1", "grep"),)), tool_result("c1", "x"))
    async with ModelServer(["a", "b"]) as server:
        model = make_model(wire, server.url)
        await reply_of(model, request_of(*first))
        await reply_of(model, request_of(*more))
        short, long = (request.raw for request in server.requests)
    assert long.startswith(short[: short.index(b"Look.")])


async def test_a_model_without_vision_is_told_that_there_was_an_image(wire: str, make_model: MakeModel) -> None:
    """A session that began with another model goes on."""
    async with ModelServer(["fine"]) as server:
        await reply_of(make_model(wire, server.url, info=BLIND), request_of(user("What is this?", [PICTURE])))
        body = server.requests[0].body
    assert images_in(body) == []
    assert "shot.png" in texts_in(body)
    assert "What is this?" in texts_in(body)


REFUSALS = [
    (400, "Invalid content type. image_url is only supported by certain models."),
    (404, "No endpoints found that support image input"),
    (400, "Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`"),
    (400, "scripted is not a multimodal model"),
    (400, "messages[0].content must be a string"),
]


@pytest.mark.parametrize(("status", "message"), REFUSALS)
async def test_a_model_that_refuses_images_gets_none_from_then_on(
    wire: str, make_model: MakeModel, status: int, message: str
) -> None:
    """An image in the history must not make every further request of the session fail."""
    async with ModelServer([{"status": status, "error": {"message": message}}, "a", "b"]) as server:
        model = make_model(wire, server.url)
        for _ in range(2):
            await reply_of(model, request_of(user("What is this?", [PICTURE])))
        assert [len(images_in(request.body)) for request in server.requests] == [1, 0, 0]


async def test_other_refusals_are_not_taken_for_one_of_images(make_model: MakeModel) -> None:
    script = [{"status": 401, "error": {"message": "no vision without a key"}}]
    async with ModelServer(script) as server:
        error = await error_of(make_model("openai", server.url), request_of(user("Hi", [PICTURE])))
        assert len(server.requests) == 1
    assert error.kind == "auth"
    async with ModelServer([{"status": 400, "error": {"message": "image: bad request"}}]) as server:
        await error_of(make_model("anthropic", server.url), request_of(user("Hi")))
        assert len(server.requests) == 1


async def test_the_bytes_of_an_image_do_not_take_the_room_of_the_answer(wire: str, make_model: MakeModel) -> None:
    large = Attachment("image/png", base64.b64encode(bytes(900_000)).decode(), "large.png")
    async with ModelServer(["fine"]) as server:
        model = make_model(wire, server.url, info=ModelInfo(window=100_000, max_output=8_000))
        await reply_of(model, request_of(user("Hi", [large]), max_output_tokens=8_000))
        assert server.requests[0].body["max_tokens"] == 8_000


async def test_a_provider_without_figures_is_not_charged_for_the_bytes_of_an_image(make_model: MakeModel) -> None:
    async with ModelServer([{"text": "fine", "usage": None}]) as server:
        reply = await reply_of(make_model("openai", server.url), request_of(user("Hi", [PICTURE])))
    assert reply.usage_estimated
    assert 85 <= reply.usage.input_tokens < 4000
