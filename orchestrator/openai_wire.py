"""The OpenAI chat completions wire, which most providers and local servers speak."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final

from orchestrator.errors import ModelError
from orchestrator.exchange import Endpoint, converse, header_safe, web_address
from orchestrator.http import HttpPool
from orchestrator.json_bytes import EncodedOnce, dumps, parse_object
from orchestrator.messages import Message, Reasoning, ToolCall
from orchestrator.model import ModelInfo, ModelRequest, Piece, ToolSchema
from orchestrator.openai_reply import DETAILS, OpenAIReply
from orchestrator.quirks import OpenAIQuirks, read_quirks
from orchestrator.repair import repair
from orchestrator.thinking import allowed_efforts, effort, openai_fields
from orchestrator.wire_text import (
    EMPTY_RESULT,
    arguments_object,
    output_room,
    refuses_images,
    said,
    short_id,
    valid_name,
    without_images,
)

_DROPPABLE: Final = ("stream_options", "temperature", "prompt_cache_key")
"""Fields that some back ends refuse and that an answer can be had without."""

_CONTINUE: Final = dumps({"role": "user", "content": "Continue."})
"""For a history of which nothing can be sent."""


class OpenAIModel:
    """A model behind `base_url` + `/chat/completions`.

    `name` is what the user sees, `model_id` what the provider gets, `quirks` the fields of `OpenAIQuirks`,
    `idle_timeout` the seconds of silence after which a stream counts as broken. A field that the provider refuses
    (`stream_options`, …) is left out from then on. Raises `ConfigError` for an impossible key, address or quirk.
    """

    def __init__(
        self,
        name: str,
        *,
        model_id: str,
        base_url: str,
        api_key: str | None,
        pool: HttpPool,
        info: ModelInfo,
        quirks: Mapping[str, object] = {},
        headers: Mapping[str, str] = {},
        idle_timeout: float = 120.0,
    ) -> None:
        self._name = name
        self._model_id = model_id
        self._pool = pool
        self._info = info
        self._quirks = read_quirks(OpenAIQuirks, quirks, name)
        key = header_safe(name, api_key)
        sent = {"Content-Type": "application/json"}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        url = web_address(name, base_url).removesuffix("/chat/completions") + "/chat/completions"
        self._endpoint = Endpoint(name, url, {**sent, **headers}, key, idle_timeout)
        self._messages = EncodedOnce(self._message)
        self._tools = EncodedOnce(_tool)
        self._without: set[str] = set()
        self._limit_field: str = self._quirks.max_tokens_field
        self._most: int | None = None
        self._efforts: tuple[str, ...] = ()
        self._images = info.vision is not False
        self._fill_reasoning = False
        self._longest_id: int | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """One answer; raises `ModelError`."""
        limit = request.max_output_tokens
        while True:
            limit = min(limit, self._most) if limit and self._most else limit
            fields = self._fields(request)
            body = self._body(request, fields, limit)
            try:
                async with aclosing(converse(self._pool, self._endpoint, body, OpenAIReply(request))) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelError as error:
                from orchestrator.output_limits import output_limit_in

                room = output_limit_in(error.message) if limit else None
                if limit and room and room.tokens < limit:
                    limit = room.tokens
                    self._most = limit if room.always else self._most
                elif not self._adapt(error, request, fields, limit):
                    raise

    async def aclose(self) -> None:
        """Nothing to close: the pool belongs to whoever made it."""

    def _adapt(self, error: ModelError, request: ModelRequest, fields: Mapping[str, object], limit: int | None) -> bool:
        """Leave out, rename or change the one thing that the provider says it does not take."""
        if self._images and refuses_images(error, request.messages):
            self._images = False
            return self._encode_anew()
        if error.status not in (400, 422) or error.kind != "bad_request":
            return False
        if limit and "max_completion_tokens" in error.message and self._limit_field == "max_tokens":
            self._limit_field = "max_completion_tokens"
            return True
        if self._adapt_messages(error.message) or self._adapt_effort(error.message, fields):
            return True
        thought = [name for name in self._thinking(request) if name not in self._quirks.extra_body]
        refused = [name for name in (*_DROPPABLE, *thought) if name in fields and name in error.message]
        self._without.update(refused)
        return bool(refused)

    def _adapt_messages(self, words: str) -> bool:
        """What a provider wants of messages that another one wrote."""
        if "reasoning_content" in words and "passed back" in words and not self._fill_reasoning:
            self._fill_reasoning = True
            return self._encode_anew()
        too_long = re.search(r"id'.{0,40}too long.*?maximum length (\d+)", words)
        if too_long and self._longest_id is None:
            self._longest_id = int(too_long[1])
            return self._encode_anew()
        return False

    def _adapt_effort(self, words: str, fields: Mapping[str, object]) -> bool:
        """Ask for a level of effort that the provider names, when it does not take the one that was asked for."""
        if self._efforts or "reasoning_effort" not in fields or "reasoning_effort" not in words:
            return False
        self._efforts = allowed_efforts(words)
        return bool(self._efforts) and fields["reasoning_effort"] not in self._efforts

    def _encode_anew(self) -> bool:
        self._messages = EncodedOnce(self._message)
        return True

    def _fields(self, request: ModelRequest) -> dict[str, object]:
        fields: dict[str, object] = {"stream": True}
        if self._quirks.stream_options:
            fields["stream_options"] = {"include_usage": True}
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        if self._quirks.prompt_cache_key and request.cache_key:
            fields["prompt_cache_key"] = request.cache_key
        fields.update(self._thinking(request))
        fields.update(self._quirks.extra_body)
        return {name: value for name, value in fields.items() if name not in self._without}

    def _thinking(self, request: ModelRequest) -> dict[str, object]:
        if request.think is None or self._info.thinks is False:
            return {}
        level = effort(request.think, self._info, self._efforts)
        return openai_fields(self._quirks.think, request.think, level)

    def _body(self, request: ModelRequest, fields: dict[str, object], limit: int | None) -> bytes:
        messages = self._messages.all(repair(request.messages)) or [_CONTINUE]
        if request.system:
            messages.insert(0, dumps({"role": self._quirks.system_role, "content": request.system}))
        parts = [b'{"model":', dumps(self._model_id)]
        if request.tools:
            parts += [b',"tools":[', b",".join(self._tools.all(request.tools)), b"]"]
        parts += [b',"messages":[', b",".join(messages), b"]"]
        if limit:
            size = sum(map(len, parts))
            room = output_room(limit, self._info.window, size, request.messages if self._images else ())
            fields = {**fields, self._limit_field: room}
        parts += [b",", dumps(fields)[1:]]
        return b"".join(parts)

    def _message(self, message: Message) -> bytes:
        if message.role == "tool":
            content = message.content if message.content.strip() else EMPTY_RESULT
            return dumps({"role": "tool", "tool_call_id": self._id(message.tool_call_id), "content": content})
        if message.role == "user":
            return dumps({"role": "user", "content": self._said_by_user(message)})
        fields: dict[str, object] = {"role": "assistant", "content": said(message) or None}
        fields |= self._reasoning(message.reasoning)
        if message.tool_calls:
            fields["tool_calls"] = [self._call(call) for call in message.tool_calls]
        return dumps(fields)

    def _said_by_user(self, message: Message) -> str | list[dict[str, object]]:
        if not message.attachments:
            return message.content
        if not self._images:
            return without_images(message)
        parts: list[dict[str, object]] = [
            {"type": "image_url", "image_url": {"url": f"data:{each.media_type};base64,{each.data}"}}
            for each in message.attachments
        ]
        return [*parts, {"type": "text", "text": message.content}] if message.content.strip() else parts

    def _call(self, call: ToolCall) -> dict[str, object]:
        whole = parse_object(call.arguments) is not None
        arguments = call.arguments if whole else json.dumps(arguments_object(call), ensure_ascii=False)
        function = {"name": valid_name(call.name), "arguments": arguments}
        return {"id": self._id(call.id), "type": "function", "function": function}

    def _id(self, call_id: str) -> str:
        too_long = self._longest_id is not None and len(call_id) > self._longest_id
        return short_id(call_id) if self._quirks.short_call_ids or too_long else call_id

    def _reasoning(self, blocks: tuple[Reasoning, ...]) -> dict[str, object]:
        """The reasoning, where the provider wants its own back; never another provider's signed blocks."""
        field = self._quirks.send_reasoning
        own = [block for block in blocks if not block.signature]
        if self._fill_reasoning and field == "reasoning_content" and not any(block.text for block in own):
            return {field: " "}
        if not field or not own:
            return {}
        if field != "reasoning_details":
            return {field: "".join(block.text for block in own)}
        opaque = [block.redacted.removeprefix(DETAILS) for block in own if block.redacted.startswith(DETAILS)]
        return {field: [item for text in opaque for item in json.loads(text)]} if opaque else {}


def _tool(tool: ToolSchema) -> bytes:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return dumps({"type": "function", "function": function})
