"""Every provider that orch has no wire for, through litellm, which is imported at the first request."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Final

from orchestrator.anthropic_reply import AnthropicReply
from orchestrator.errors import ModelError
from orchestrator.exchange import Endpoint, header_safe, whole_frame
from orchestrator.litellm_errors import NotStreamed, from_litellm, not_streamed
from orchestrator.litellm_text import (
    FINISH_REASON,
    NO_KEY,
    LitellmReply,
    as_messages,
    as_tool,
    is_sent,
    with_own_reason,
)
from orchestrator.model import Done, ModelInfo, ModelRequest, Piece
from orchestrator.model_errors import HINTS
from orchestrator.openai_reply import OpenAIReply
from orchestrator.repair import repair
from orchestrator.thinking import allowed_efforts, anthropic_shape, begun_without, effort, with_room
from orchestrator.wire_text import output_room, refuses_images

_AT_IMPORT: Final = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",  # else it loads the `.env` of a folder above its own into our environment
    "LITELLM_LOG": "ERROR",
    "LITELLM_SUPPRESS_STARTUP_OUTPUT": "true",
}
_ALWAYS: Final = {"LITELLM_OFFLINE_MODE": "true", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True"}
"""No catalogue, tokenizer or header list is fetched; the requests to the model are the only ones."""
_LOGGERS: Final = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_DROPPABLE: Final = ("stream_options", "temperature", "prompt_cache_key", "reasoning_effort")
_WANT_A_KEY: Final = ("openai/", "anthropic/")
"""litellm sends nothing to these without a key, also where the server wants none."""
_CACHE_POINTS: Final = ({"location": "message", "role": "system"}, {"location": "message", "index": -1})
_LOOKBACK: Final = 18
_CLOSE_LIMIT: Final = 2.0
"""Seconds that closing may take."""
_PREPARING_LIMIT: Final = 3.0
"""Seconds that a cancel waits for litellm's thread."""
_SPARE: Final = 30.0
"""Seconds by which litellm's own time limit is later than ours."""


class LitellmModel:
    """A model under litellm's own name for it (`bedrock/…`, `vertex_ai/…`, `openai/…`).

    `name` is what the user sees, `base_url` and `api_key` are `None` where litellm finds them itself, `quirks` those of
    the provider's wire, `idle_timeout` the seconds of silence after which a stream counts as broken.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str,
        base_url: str | None,
        api_key: str | None,
        info: ModelInfo,
        quirks: Mapping[str, object] = {},
        idle_timeout: float = 120.0,
    ) -> None:
        self._name = name
        self._model = model
        self._info = info
        self._key = header_safe(name, api_key)
        self._base_url = base_url or ""
        self._quirks = quirks
        self._idle_timeout = idle_timeout
        self._where = {name: value for name, value in (("api_base", base_url), ("api_key", self._key)) if value}
        if base_url and not self._key and model.startswith(_WANT_A_KEY):
            self._where["api_key"] = NO_KEY
        self._claude = "claude" in model or model.startswith("anthropic/")
        self._without: set[str] = set()
        self._efforts: tuple[str, ...] = ()
        self._images = info.vision is not False
        self._most: int | None = None
        self._litellm: Any = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """One answer; raises `ModelError`."""
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(import_litellm)
        limit = request.max_output_tokens or (self._info.max_output if self._claude else None)
        limit = self._with_room(request, limit)
        while True:
            limit = min(limit, self._most) if limit and self._most else limit
            arguments = self._arguments(request, limit)
            try:
                async with aclosing(self._answer(request, arguments)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except ModelError as error:
                from orchestrator.output_limits import output_limit_in

                room = output_limit_in(error.message) if limit else None
                if limit and room and room.tokens < limit:
                    limit = room.tokens
                    self._most = limit if room.always else self._most
                elif not self._adapt(error, request, arguments):
                    raise

    async def aclose(self) -> None:
        """Close litellm's connections, those of every `LitellmModel`, on the running loop; safe to call twice.

        Call it when the session ends: what litellm has open then would be reported at exit.
        """
        if self._litellm is None:
            return
        for closing in (self._end_logging, self._close_clients, self._forget_clients):
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_LIMIT):
                    await closing()

    async def _end_logging(self) -> None:
        from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER as worker

        await worker.flush()
        await worker.stop()

    async def _close_clients(self) -> None:
        await self._litellm.close_litellm_async_clients()
        shared = vars(self._litellm).get("module_level_aclient")
        if shared is not None:
            await shared.close()

    async def _forget_clients(self) -> None:
        """A client that belongs to this loop must not be found by the next; dropping one starts a task of its own."""
        others = asyncio.all_tasks()
        self._litellm.in_memory_llm_clients_cache.flush_cache()
        started = asyncio.all_tasks() - others
        if started:
            await asyncio.wait(started)

    async def _answer(self, request: ModelRequest, arguments: Mapping[str, Any]) -> AsyncGenerator[Piece, None]:
        try:
            async with aclosing(self._streamed(request, arguments)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except NotStreamed as found:
            whole = found
        for piece in self._whole(request, whole):
            yield piece

    def _whole(self, request: ModelRequest, whole: NotStreamed) -> Iterator[Piece]:
        """The pieces of an answer that was not streamed, read as our own wires do: litellm would leave it empty."""
        endpoint = Endpoint(self._name, self._base_url, {}, self._key, self._idle_timeout)
        answer = AnthropicReply(request) if whole.wire == "anthropic" else OpenAIReply(request)
        yield from answer.feed(whole_frame(endpoint, whole.body).data)
        if answer.empty and not answer.finished:
            raise self._broken_off()
        yield from answer.close()
        yield Done(answer.reply())

    def _broken_off(self) -> ModelError:
        return ModelError("connection", f"{self._name}: the answer broke off before its end.", HINTS["connection"])

    async def _streamed(self, request: ModelRequest, arguments: Mapping[str, Any]) -> AsyncGenerator[Piece, None]:
        reply = LitellmReply(request)
        async with self._opened(arguments) as stream:
            async with aclosing(self._chunks(stream)) as chunks:
                async for chunk in chunks:
                    counted = "usage" in chunk and not _reports_usage(stream)
                    for piece in reply.feed(chunk, counted=counted):
                        yield piece
            if not _ended_well(stream):
                raise self._broken_off()
        for piece in reply.close():
            yield piece
        yield Done(reply.reply())

    @asynccontextmanager
    async def _opened(self, arguments: Mapping[str, Any]) -> AsyncIterator[Any]:
        """The stream of one request; closed on the way out, whatever ended it."""
        async with self._guarded(begun=False):
            stream = await _uncut(self._litellm.acompletion(**arguments))
        try:
            yield stream
        finally:
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_LIMIT):
                    await stream.aclose()

    async def _chunks(self, stream: Any) -> AsyncGenerator[dict[str, Any], None]:
        extensions = _extensions(stream)
        while True:
            async with self._guarded(begun=True):
                chunk = await anext(stream, None)
            if chunk is None:
                return
            yield with_own_reason(chunk.model_dump(exclude_none=True), extensions.get(FINISH_REASON))

    @asynccontextmanager
    async def _guarded(self, *, begun: bool) -> AsyncIterator[None]:
        """What litellm raises becomes `ModelError`, and so does silence; `NotStreamed` stays what it is."""
        try:
            async with asyncio.timeout(self._idle_timeout):
                yield
        except TimeoutError as error:
            message = f"{self._name} sent nothing for {self._idle_timeout:g} s."
            raise ModelError("connection", message, HINTS["connection"]) from error
        except Exception as error:  # it lets errors of any provider's own library through
            if (whole := not_streamed(error)) is not None:
                raise whole from None
            where = self._base_url
            raise from_litellm(self._name, error, begun=begun, address=where, secret=self._key) from error

    def _adapt(self, error: ModelError, request: ModelRequest, arguments: Mapping[str, Any]) -> bool:
        """Leave out or change from now on the one thing that the provider says it does not take."""
        if error.kind != "bad_request":
            return False
        if self._images and refuses_images(error, request.messages):
            self._images = False
            return True
        level = arguments.get("reasoning_effort")
        if level and not self._efforts and "reasoning_effort" in error.message:
            self._efforts = allowed_efforts(error.message)
            if self._efforts and level not in self._efforts:
                return True
        refused = [name for name in _DROPPABLE if name in arguments and _names(error.message, name)]
        self._without.update(refused)
        return bool(refused)

    def _with_room(self, request: ModelRequest, limit: int | None) -> int | None:
        """The output limit with what Claude may think on top, since it counts thoughts as output."""
        if not (self._claude and limit and request.max_output_tokens):
            return limit
        return with_room(limit, anthropic_shape(request.think, self._info, ()), request.think, self._info)

    def _effort(self, request: ModelRequest) -> str:
        """litellm's `reasoning_effort`; empty where nothing is to be said."""
        if request.think is None or self._info.thinks is False or "reasoning_effort" in self._without:
            return ""
        budget = self._claude and anthropic_shape(request.think, self._info, ()) == "budget"
        if budget and begun_without(repair(request.messages), is_sent):
            return ""
        return effort(request.think, self._info, self._efforts)

    def _keeps_thoughts(self, level: str) -> bool:
        """Whether earlier thoughts are sent: a request that certainly does not think must hold none."""
        if level not in ("", "none") or self._info.thinks is None:
            return True
        words = self._info.thinking.split()
        return "always" in words or ("default" in words and level != "none")

    def _arguments(self, request: ModelRequest, limit: int | None) -> dict[str, Any]:
        reasoning = str(self._quirks.get("send_reasoning", ""))
        level = self._effort(request)
        thoughts = self._keeps_thoughts(level)
        fields: dict[str, Any] = {
            "model": self._model,
            "messages": as_messages(
                request, reasoning=reasoning, claude=self._claude, thoughts=thoughts, images=self._images
            ),
            "stream": True,
            "stream_options": {"include_usage": True},
            "drop_params": True,
            "max_retries": 0,
            "timeout": self._idle_timeout + _SPARE,
            **self._where,
        }
        if request.tools:
            fields["tools"] = [as_tool(tool) for tool in request.tools]
        if limit:
            size = len(json.dumps([fields["messages"], fields.get("tools")]))
            seen = request.messages if self._images else ()
            fields["max_tokens"] = output_room(limit, self._info.window, size, seen)
        if level:
            fields["reasoning_effort"] = level
        if request.temperature is not None and not (self._claude and level not in ("", "none")):
            fields["temperature"] = request.temperature
        if self._quirks.get("prompt_cache_key") and request.cache_key:
            fields["prompt_cache_key"] = request.cache_key
        if self._quirks.get("extra_body"):
            fields["extra_body"] = self._quirks["extra_body"]
        if self._claude:
            fields["cache_control_injection_points"] = _cache_points(fields["messages"])
        return {name: value for name, value in fields.items() if name not in self._without}


def _names(words: str, field: str) -> bool:
    """Whether a refusal is about `field`; the effort goes by other names behind litellm."""
    return field in words or (field == "reasoning_effort" and re.search(r"thinking|output_config", words) is not None)


def _cache_points(messages: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, object]]:
    """What Claude is to keep in its prompt cache ends here: the system prompt, and the request.

    It looks for what it has at most 20 blocks before the end. After a turn of many calls the end of the request before
    is further away than that, and is named as well.
    """
    last = next((i for i in range(len(messages) - 1, 0, -1) if messages[i]["role"] == "assistant"), 0)
    blocks = len(messages) - last + len(messages[last].get("tool_calls") or ()) if last else 0
    if blocks <= _LOOKBACK or messages[last - 1]["role"] not in ("user", "tool"):
        return _CACHE_POINTS
    return [*_CACHE_POINTS, {"location": "message", "index": last - 1}]


def import_litellm() -> Any:
    """litellm, kept from the network, from the terminal and from the files of the working folder."""
    before = {name: os.environ.get(name) for name in _AT_IMPORT}
    os.environ.update({**_AT_IMPORT, **_ALWAYS})
    try:
        import litellm
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_streaming_logging = True
    litellm.disable_aiohttp_transport = True  # its sessions are reported as unclosed, its large bodies as a fault
    for name in _LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    from orchestrator.litellm_http import WatchedClients

    if not isinstance(litellm.in_memory_llm_clients_cache, WatchedClients):
        litellm.in_memory_llm_clients_cache = WatchedClients()
    return litellm


async def _uncut(preparing: Coroutine[Any, Any, Any]) -> Any:
    """The result of litellm's `acompletion`; a cancel ends it at a moment when it leaves nothing behind (B180)."""
    asking = asyncio.ensure_future(preparing)
    try:
        return await asyncio.shield(asking)
    except asyncio.CancelledError:
        await _give_up(asking)
        raise


async def _give_up(asking: asyncio.Future[Any]) -> None:
    """Cancel `asking`, but not while litellm prepares its request in a thread, which takes some milliseconds.

    What the thread hands over, a coroutine, would be lost then and be reported as never awaited.
    """
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_PREPARING_LIMIT):
                while _is_in_thread(asking):  # noqa: ASYNC110  # nothing tells when the thread has ended
                    await asyncio.sleep(0.001)
    finally:
        asking.cancel()
    await asyncio.wait([asking])
    if not asking.cancelled() and asking.exception() is None:
        await asking.result().aclose()


def _is_in_thread(asking: asyncio.Future[Any]) -> bool:
    """Whether the innermost coroutine is `acompletion` itself, which awaits nothing else but its thread."""
    if asking.done() or not isinstance(asking, asyncio.Task):
        return False
    innermost: Any = asking.get_coro()
    while inspect.iscoroutine(innermost.cr_await):
        innermost = innermost.cr_await
    return bool(innermost.cr_code.co_name == "acompletion")


def _reports_usage(stream: Any) -> bool:
    """Whether the provider itself gave figures; without them litellm counts, and says nothing of it."""
    return any(getattr(chunk, "usage", None) is not None for chunk in stream.chunks)


def _extensions(stream: Any) -> Mapping[str, Any]:
    """What `litellm_http` knows of the HTTP response, if the stream has one that litellm still holds."""
    inner = stream.completion_stream
    response = getattr(inner, "response", None) or getattr(inner, "_response", None)
    extensions = getattr(response, "extensions", None)
    return extensions if isinstance(extensions, dict) else {}


def _ended_well(stream: Any) -> bool:
    """Whether the provider said why it stopped; without that litellm makes up a reason."""
    return bool(stream.received_finish_reason or stream.intermittent_finish_reason)
