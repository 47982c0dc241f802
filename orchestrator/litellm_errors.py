"""What litellm raises, as one of the closed kinds of `ModelError`.

litellm is not imported here: its errors are told apart by the names of their classes. It wraps what happened up to
three times, replaces statuses, and calls its own faults on our data connection errors, so the cause is what counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from orchestrator.errors import ModelError
from orchestrator.model_errors import HINTS, Failure, classify, failure_of, model_error

_CODES: Mapping[str, str] = {
    "ContextWindowExceededError": "context_length_exceeded",
    "ContentPolicyViolationError": "content_filter",
}
_NETWORK = ("httpx", "httpcore", "aiohttp", "anyio")
_PREFIX = re.compile(r"(?:litellm\.)?\w*(?:Error|Exception|Timeout): ?|\w*(?:Exception|Error) ?- ?")
_ADVICE = re.compile(r"\. Handle with `litellm\.\w+`\.$")
_OUR_FAULT = "litellm could not carry out this request; `orch doctor` shows the model and how it is reached."


class NotStreamed(Exception):
    """The provider sent a whole answer where a stream was asked for: `body`, in the shape of `wire`."""

    def __init__(self, wire: str, body: bytes) -> None:
        super().__init__("the answer is not a stream")
        self.wire = wire
        self.body = body


def not_streamed(error: Exception) -> NotStreamed | None:
    """The whole answer that litellm took for a failure, if that is what `error` came from."""
    return next((each for each in _chain(error) if isinstance(each, NotStreamed)), None)


def from_litellm(model: str, error: Exception, *, begun: bool, address: str, secret: str | None) -> ModelError:
    """The error to raise for `error`.

    `begun` says whether the provider had accepted the request, `address` is where it was sent (may be empty), `secret`
    never shows.
    """
    chain = list(_chain(error))
    answer = next((each for each in chain if _is_answer(each)), None)
    failure = _said(error) if answer is None else _answered(answer, address)
    code = next((_CODES[name] for each in chain for name in _names(each) if name in _CODES), failure.code)
    failure = replace(failure, message=failure.message or type(error).__name__, code=code)
    if failure.status is None and any(map(_is_network, chain)):
        words = model_error(model, failure, secret=secret).message
        return ModelError("connection", f"{words} ({address})" if address else words, HINTS["connection"])
    if failure.status is None and classify(failure) in ("server", "connection"):
        return _unexplained(model_error(model, failure, secret=secret), chain, begun=begun)
    return model_error(model, failure, secret=secret)


def _unexplained(made: ModelError, chain: list[BaseException], *, begun: bool) -> ModelError:
    """No status, no lost connection: a garbled or short answer, or litellm stumbled over the request (B055)."""
    if not begun:
        return ModelError("bad_request", made.message, _OUR_FAULT)
    broken = any(isinstance(each, ValueError | StopAsyncIteration) for each in chain)
    kind = "connection" if broken else made.kind
    return ModelError(kind, made.message, HINTS[kind], retry_after=made.retry_after)


def _answered(error: BaseException, address: str) -> Failure:
    """What the provider answered, read as the wires of our own read it."""
    response = getattr(error, "response", None)
    headers = {str(name).lower(): str(value) for name, value in dict(getattr(response, "headers", None) or {}).items()}
    status = _status(error)
    if status is not None and status < 400 and "location" in headers:
        return Failure(f"{address or 'the address'} redirects to {headers['location']}", status)
    return failure_of(_body(error), status=status, headers=headers)


def _said(error: Exception) -> Failure:
    """What litellm says where there is no answer; its statuses of 500 and more are made up."""
    status = _status(error)
    return failure_of(_words(error), status=status if status and status < 500 and status != 408 else None)


def _body(error: BaseException) -> object:
    body = getattr(error, "body", None)
    return body if body else _words(error)


def _words(error: BaseException) -> str:
    """The provider's own words: litellm puts names of classes before them, and sometimes its advice after."""
    inner = getattr(error, "original_exception", None)
    text = str(getattr(inner or error, "message", None) or inner or error)
    while (prefix := _PREFIX.match(text)) is not None and prefix.end() < len(text):
        text = text[prefix.end() :]
    text = _ADVICE.sub("", text).strip()
    if text[:2] in ("b'", 'b"') and text[-1] == text[1]:
        text = text[2:-1].replace('\\\\"', '\\"').replace("\\'", "'")
    return text.replace("REDACTED", "[key]")


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) and 300 <= status < 600 else None


def _is_answer(error: BaseException) -> bool:
    """Whether this is an HTTP answer as it came, not one of litellm's own making."""
    from_sdk = type(error).__module__.split(".")[0] == "openai"
    return (from_sdk or "HTTPStatusError" in _names(error)) and _status(error) is not None


def _is_network(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return True
    if type(error).__module__.split(".")[0] in _NETWORK:
        return "HTTPStatusError" not in _names(error)
    return bool({"APITimeoutError", "Timeout"} & set(_names(error)))


def _names(error: BaseException) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__]


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and all that it came from, outermost first (B128: litellm's own mid-stream error holds another)."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        current = pending.pop(0)
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        inner = getattr(current, "original_exception", None)
        pending += [inner if isinstance(inner, BaseException) else None, current.__cause__, current.__context__]
