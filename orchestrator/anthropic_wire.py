"""The Anthropic messages wire."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Final

from orchestrator.anthropic_reply import AnthropicReply
from orchestrator.errors import ModelError
from orchestrator.exchange import Endpoint, converse, header_safe, web_address
from orchestrator.http import HttpPool
from orchestrator.json_bytes import EncodedOnce, dumps
from orchestrator.messages import Message, Reasoning
from orchestrator.model import ModelInfo, ModelRequest, Piece, ToolSchema
from orchestrator.openai_reply import DETAILS
from orchestrator.quirks import AnthropicQuirks, read_quirks
from orchestrator.repair import repair
from orchestrator.thinking import Shape, anthropic_fields, anthropic_shape, begun_without, with_room
from orchestrator.wire_text import (
    EMPTY_RESULT,
    arguments_object,
    output_room,
    refuses_images,
    said,
    valid_id,
    valid_name,
    without_images,
)

_VERSION: Final = "2023-06-01"
_DEFAULT_OUTPUT: Final = 8192
"""Tokens asked for when neither the request nor the model's table says how many; the wire requires a figure."""
_BREAKPOINT: Final = b',"cache_control":{"type":"ephemeral"}}'
_SHORTENED: Final = dumps({"type": "text", "text": "(The conversation before this point was left out.)"})
_CONTINUE: Final = dumps({"type": "text", "text": "Continue."})


class AnthropicModel:
    """A model behind `base_url` + `/v1/messages`.

    `name` is what the user sees, `model_id` what the provider gets, `quirks` the fields of `AnthropicQuirks`,
    `idle_timeout` the seconds of silence after which a stream counts as broken. Raises `ConfigError` for an impossible
    key, address or quirk.
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
        self._quirks = read_quirks(AnthropicQuirks, quirks, name)
        key = header_safe(name, api_key)
        sent = {"Content-Type": "application/json", "anthropic-version": _VERSION}
        if key:
            sent |= {"x-api-key": key} if self._quirks.auth == "x-api-key" else {"Authorization": f"Bearer {key}"}
        self._endpoint = Endpoint(
            name, _messages_url(web_address(name, base_url)), {**sent, **headers}, key, idle_timeout
        )
        self._messages = EncodedOnce(self._blocks)
        self._unthought = EncodedOnce(self._blocks_without_thoughts)
        self._tools = EncodedOnce(_tool)
        self._barred: dict[int, Reasoning] = {}
        self._refused: set[Shape] = set()
        self._temperature = True
        self._images = info.vision is not False
        self._most: int | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """One answer; raises `ModelError`."""
        wanted = request.max_output_tokens
        most = self._most
        while True:
            shape = self._shape(request)
            limit = with_room(wanted, shape, request.think, self._info) if wanted else self._info.max_output
            limit = min(limit or _DEFAULT_OUTPUT, most or sys.maxsize)
            body = self._body(request, limit, shape)
            try:
                async with aclosing(converse(self._pool, self._endpoint, body, AnthropicReply(request))) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelError as error:
                from orchestrator.output_limits import output_limit_in

                room = output_limit_in(error.message)
                if room and room.tokens < limit:
                    most = room.tokens
                    self._most = most if room.always else self._most
                elif not self._adapt(error, request, shape):
                    raise

    async def aclose(self) -> None:
        """Nothing to close: the pool belongs to whoever made it."""

    def _shape(self, request: ModelRequest) -> Shape | None:
        shape = anthropic_shape(request.think, self._info, self._refused)
        too_late = shape == "budget" and begun_without(repair(request.messages), self._reasoning)
        return None if too_late else shape

    def _adapt(self, error: ModelError, request: ModelRequest, shape: Shape | None) -> bool:
        """Leave out or change the one thing that the provider says it does not take."""
        if error.status not in (400, 404, 422):
            return False
        if self._images and refuses_images(error, request.messages):
            self._images = False
            return self._encode_anew()
        if "signature" in error.message and self._bar_reasoning(request):
            return self._encode_anew()
        if shape and shape not in self._refused and re.search(r"thinking|output_config|effort", error.message):
            self._refused.add(shape)
            return True
        if "temperature" in error.message and self._temperature and request.temperature is not None:
            self._temperature = False
            return True
        return False

    def _bar_reasoning(self, request: ModelRequest) -> bool:
        """Leave out reasoning whose signature the provider does not take (it came from another model or account)."""
        fresh = [block for message in request.messages for block in message.reasoning if id(block) not in self._barred]
        self._barred |= {id(block): block for block in fresh}
        return bool(fresh)

    def _encode_anew(self) -> bool:
        self._messages = EncodedOnce(self._blocks)
        self._unthought = EncodedOnce(self._blocks_without_thoughts)
        return True

    def _body(self, request: ModelRequest, limit: int, shape: Shape | None) -> bytes:
        parts = [b'{"model":', dumps(self._model_id)]
        if request.tools:
            tools = self._tools.all(request.tools)
            parts += [b',"tools":[', b",".join([*tools[:-1], self._marked(tools[-1])]), b"]"]
        if request.system.strip():
            parts += [b',"system":[', self._marked(dumps({"type": "text", "text": request.system})), b"]"]
        encoded = self._messages if self._keeps_thoughts(shape) else self._unthought
        parts += [b',"messages":[', b",".join(self._turns(repair(request.messages), encoded)), b"]"]
        fields: dict[str, object] = {"stream": True}
        seen = request.messages if self._images else ()
        limit = output_room(limit, self._info.window, sum(map(len, parts)), seen)
        fields["max_tokens"] = limit
        if request.temperature is not None and self._temperature and shape in (None, "disabled"):
            fields["temperature"] = request.temperature
        if shape and request.think:
            fields |= anthropic_fields(shape, request.think, limit)
        parts += [b",", dumps({**fields, **self._quirks.extra_body})[1:]]
        return b"".join(parts)

    def _keeps_thoughts(self, shape: Shape | None) -> bool:
        """Whether thoughts of earlier turns are sent: a request that certainly does not think must hold none."""
        if shape is None:
            words = self._info.thinking.split()
            return self._info.thinks is None or "default" in words
        return shape != "disabled"

    def _turns(self, messages: Sequence[Message], encoded: EncodedOnce[Message]) -> list[bytes]:
        """The messages as turns that alternate, from the user's to the user's; the last two of those are marked.

        The mark before the last is where the previous request ended, so what that one left in the cache is found.
        """
        turns = _alternating(zip(messages, encoded.all(messages), strict=True))
        for _, blocks in [turn for turn in turns if turn[0] == b"user"][-2:]:
            blocks[-1] = self._marked(blocks[-1])
        return [b'{"role":"%b","content":[%b]}' % (role, b",".join(blocks)) for role, blocks in turns]

    def _marked(self, block: bytes) -> bytes:
        return block[:-1] + _BREAKPOINT if self._quirks.cache_control else block

    def _blocks(self, message: Message) -> bytes:
        """The content blocks of a message, joined by commas; empty when nothing of it can be sent."""
        thoughts = [each for block in message.reasoning if (each := self._reasoning(block))]
        return self._content(message, thoughts)

    def _blocks_without_thoughts(self, message: Message) -> bytes:
        return self._content(message, [])

    def _content(self, message: Message, blocks: list[dict[str, object]]) -> bytes:
        if message.role == "tool":
            return dumps(_result(message))
        if message.role == "user" and message.attachments:
            return self._pictured(message)
        text = said(message)
        if text:
            blocks.append({"type": "text", "text": text})
        for call in message.tool_calls:
            name = valid_name(call.name)
            blocks.append({"type": "tool_use", "id": valid_id(call.id), "name": name, "input": arguments_object(call)})
        only_reasoning = not text and not message.tool_calls
        return b"" if only_reasoning else b",".join(map(dumps, blocks))

    def _pictured(self, message: Message) -> bytes:
        """A user's message with images, which come before its text."""
        if not self._images:
            return dumps({"type": "text", "text": without_images(message)})
        blocks: list[dict[str, object]] = [
            {"type": "image", "source": {"type": "base64", "media_type": each.media_type, "data": each.data}}
            for each in message.attachments
        ]
        if message.content.strip():
            blocks.append({"type": "text", "text": message.content})
        return b",".join(map(dumps, blocks))

    def _reasoning(self, block: Reasoning) -> dict[str, object]:
        """A block as it came, or nothing when it is not this provider's: one without a signature would be refused."""
        if id(block) in self._barred:
            return {}
        if block.redacted and not block.redacted.startswith(DETAILS):
            return {"type": "redacted_thinking", "data": block.redacted}
        if block.signature:
            return {"type": "thinking", "thinking": block.text, "signature": block.signature}
        return {}


def _alternating(encoded: Iterable[tuple[Message, bytes]]) -> list[tuple[bytes, list[bytes]]]:
    turns: list[tuple[bytes, list[bytes]]] = []
    for message, blocks in encoded:
        role = b"assistant" if message.role == "assistant" else b"user"
        if not blocks:
            continue
        if not turns and role == b"assistant":
            turns.append((b"user", [_SHORTENED]))
        if turns and turns[-1][0] == role:
            turns[-1][1].append(blocks)
        else:
            turns.append((role, [blocks]))
    if not turns or turns[-1][0] == b"assistant":
        turns.append((b"user", [_CONTINUE]))
    return turns


def _result(message: Message) -> dict[str, object]:
    content = message.content if message.content.strip() else EMPTY_RESULT
    result: dict[str, object] = {
        "type": "tool_result",
        "tool_use_id": valid_id(message.tool_call_id),
        "content": content,
    }
    return result | {"is_error": True} if message.is_error else result


def _tool(tool: ToolSchema) -> bytes:
    return dumps({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})


def _messages_url(base_url: str) -> str:
    """`base_url` may be given with or without `/v1`, as litellm's variable is."""
    base = base_url.removesuffix("/messages")
    return f"{base}/messages" if base.endswith("/v1") else f"{base}/v1/messages"
