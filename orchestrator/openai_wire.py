"""The OpenAI chat completions wire, which most providers and local servers speak."""

from __future__ import annotations

import json
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
from orchestrator.wire_text import (
    EMPTY_RESULT,
    arguments_object,
    output_limit_in,
    output_room,
    said,
    short_id,
    valid_name,
)

_DROPPABLE: Final = ("stream_options", "temperature", "prompt_cache_key")
"""Fields that some back ends refuse and that an answer can be had without."""


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
            fields = self._fields(request)
            body = self._body(request, fields, limit)
            try:
                async with aclosing(converse(self._pool, self._endpoint, body, OpenAIReply(request))) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelError as error:
                room = output_limit_in(error.message) if limit else None
                if limit and room and room < limit:
                    limit = room
                elif not self._adapt(error, fields, limit):
                    raise

    async def aclose(self) -> None:
        """Nothing to close: the pool belongs to whoever made it."""

    def _adapt(self, error: ModelError, fields: Mapping[str, object], limit: int | None) -> bool:
        """Leave out, or rename, the one field that the provider says it does not take."""
        if error.status not in (400, 422) or error.kind != "bad_request":
            return False
        if limit and "max_completion_tokens" in error.message and self._limit_field == "max_tokens":
            self._limit_field = "max_completion_tokens"
            return True
        refused = [name for name in _DROPPABLE if name in fields and name in error.message]
        self._without.update(refused)
        return bool(refused)

    def _fields(self, request: ModelRequest) -> dict[str, object]:
        fields: dict[str, object] = {"stream": True}
        if self._quirks.stream_options:
            fields["stream_options"] = {"include_usage": True}
        if request.temperature is not None:
            fields["temperature"] = request.temperature
        if self._quirks.prompt_cache_key and request.cache_key:
            fields["prompt_cache_key"] = request.cache_key
        fields.update(self._quirks.extra_body)
        return {name: value for name, value in fields.items() if name not in self._without}

    def _body(self, request: ModelRequest, fields: dict[str, object], limit: int | None) -> bytes:
        messages = self._messages.all(repair(request.messages))
        if request.system:
            messages.insert(0, dumps({"role": self._quirks.system_role, "content": request.system}))
        parts = [b'{"model":', dumps(self._model_id)]
        if request.tools:
            parts += [b',"tools":[', b",".join(self._tools.all(request.tools)), b"]"]
        parts += [b',"messages":[', b",".join(messages), b"]"]
        if limit:
            size = sum(map(len, parts))
            fields = {**fields, self._limit_field: output_room(limit, self._info.window, size)}
        parts += [b",", dumps(fields)[1:]]
        return b"".join(parts)

    def _message(self, message: Message) -> bytes:
        if message.role == "tool":
            content = message.content if message.content.strip() else EMPTY_RESULT
            return dumps({"role": "tool", "tool_call_id": self._id(message.tool_call_id), "content": content})
        if message.role == "user":
            return dumps({"role": "user", "content": message.content})
        fields: dict[str, object] = {"role": "assistant", "content": said(message) or None}
        fields |= self._reasoning(message.reasoning)
        if message.tool_calls:
            fields["tool_calls"] = [self._call(call) for call in message.tool_calls]
        return dumps(fields)

    def _call(self, call: ToolCall) -> dict[str, object]:
        whole = parse_object(call.arguments) is not None
        arguments = call.arguments if whole else json.dumps(arguments_object(call), ensure_ascii=False)
        function = {"name": valid_name(call.name), "arguments": arguments}
        return {"id": self._id(call.id), "type": "function", "function": function}

    def _id(self, call_id: str) -> str:
        return short_id(call_id) if self._quirks.short_call_ids else call_id

    def _reasoning(self, blocks: tuple[Reasoning, ...]) -> dict[str, object]:
        """The reasoning, where the provider wants its own back; never another provider's signed blocks."""
        field = self._quirks.send_reasoning
        own = [block for block in blocks if not block.signature]
        if not field or not own:
            return {}
        if field != "reasoning_details":
            return {field: "".join(block.text for block in own)}
        opaque = [block.redacted.removeprefix(DETAILS) for block in own if block.redacted.startswith(DETAILS)]
        return {field: [item for text in opaque for item in json.loads(text)]} if opaque else {}


def _tool(tool: ToolSchema) -> bytes:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return dumps({"type": "function", "function": function})
