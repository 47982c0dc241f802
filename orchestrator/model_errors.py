"""What went wrong at a provider, as one of the closed kinds of `ModelError`, with a hint that says what to do next."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from orchestrator.context_errors import is_context_error
from orchestrator.errors import ModelError, ModelErrorKind

HINTS: Mapping[ModelErrorKind, str] = {
    "auth": "Check the API key and that it may use this model; `orch doctor` shows which key is used.",
    "payment": "Add credit or raise the spending limit at the provider, or choose another model with --model.",
    "rate_limit": "Wait and try again, lower `max_parallel`, or choose another model with --model.",
    "overloaded": "The provider is busy: try again in a few minutes, or choose another model with --model.",
    "context_too_long": "Ask for less at once, start a new session, or choose a model with a larger window.",
    "content_filter": "The provider's filter refused this text: rephrase it, or choose another model with --model.",
    "bad_request": "The provider did not accept the request; `orch doctor` shows the model and the address in use.",
    "connection": "Check the network, the proxy settings and the base URL; `orch doctor` shows the address in use.",
    "server": "The fault is at the provider: try again later, or choose another model with --model.",
}

_FILTER = re.compile(
    r"content_filter|content_policy|content management policy|responsible_?ai|data_inspection_failed"
    r"|content exists risk|flagged|moderation|usage polic|safety system|prohibited_content",
    re.IGNORECASE,
)
_PAYMENT = re.compile(
    r"insufficient_(?:quota|balance|funds|credit)|insufficient (?:balance|credit|funds)|billing|credit balance"
    r"|exceeded your current quota|payment|out of credits|requires more credits|欠费|余额不足",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"authentication_error|permission_error|invalid_api_key|(?:invalid|incorrect|missing|not valid|no) .{0,20}api.?key"
    r"|api.?key (?:is )?(?:not valid|invalid|missing|expired)|unauthorized|invalid x-api-key|no auth credentials",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate.?limit|too many requests|resource_exhausted|throttl", re.IGNORECASE)
_BUSY = re.compile(r"overloaded|over capacity|server_busy|engine is busy|temporarily unavailable|no slots", re.I)
_BAD = re.compile(r"invalid_request|not_found|invalid_argument|badrequest|validation", re.IGNORECASE)
_NETWORK = re.compile(r"timeout|timed out|connection|disconnected", re.IGNORECASE)

_WAIT = re.compile(
    r"(?:try again|retry|retrydelay\"?:?|reset\w*) (?:after |in )?\"?"
    r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?",
    re.IGNORECASE,
)
_SECRET = re.compile(r"\b(?:sk|rk|pk|gsk|xai)[-_][\w*.-]{8,}|(?<=Bearer )\S+|\bAIza[\w-]{20,}", re.IGNORECASE)
_MESSAGE_LIMIT = 500
_READ_LIMIT = 8000
"""Characters of a provider's words that are searched; some send the whole request back."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a provider said: the HTTP status if there was one, its words, and its code or type if it gave one."""

    message: str
    status: int | None = None
    code: str = ""
    retry_after: float | None = None


def model_error(model: str, failure: Failure, *, secret: str | None = None) -> ModelError:
    """The error to raise for `failure`; `secret` never shows in it."""
    kind = classify(failure)
    words = mask(_one_line(failure.message), secret) or "no explanation given"
    status = f" (HTTP {failure.status})" if failure.status is not None else ""
    return ModelError(
        kind, f"{model}: {words}{status}", _hint(kind, failure), status=failure.status, retry_after=failure.retry_after
    )


def failure_of(body: object, *, status: int | None = None, headers: Mapping[str, str] | None = None) -> Failure:
    """Read a provider's error out of `body`: JSON in any of the shapes in use, or plain text."""
    body = _decoded(body)
    message, code = _words(body)
    if not message and isinstance(body, str):
        message = _plain(body)
    wait = _retry_after(headers or {})
    if wait is None and (status == 429 or status is None):
        wait = _wait_in(f"{message} {code}" if message else json.dumps(body, default=str))
    if status is None:
        status = _status_in(body)
    return Failure(message, status, code, wait)


def classify(failure: Failure) -> ModelErrorKind:
    """The kind of a failure, by its words first where they are more exact than its status."""
    said = f"{failure.code} {failure.message[:_READ_LIMIT]}"
    status = failure.status
    if is_context_error(status, said):
        return "context_too_long"
    if status in (None, 400, 403, 422) and _FILTER.search(said):
        return "content_filter"
    if status == 402 or (status in (None, 400, 403, 429) and _PAYMENT.search(said)):
        return "payment"
    if status is None:
        return _by_words(said)
    return _by_status(status, said)


def mask(text: str, secret: str | None) -> str:
    """`text` without `secret` and without anything else that looks like a key."""
    if secret and len(secret) >= 4:
        text = text.replace(secret, "[key]")
    return _SECRET.sub("[key]", text)


def _by_status(status: int, said: str) -> ModelErrorKind:
    match status:
        case 401 | 403:
            return "auth"
        case 413:
            return "context_too_long"
        case 429:
            return "rate_limit"
        case 503 | 529:
            return "overloaded"
        case 408 | 409 | 425:
            return "server"
        case _ if status >= 500:
            return "overloaded" if _BUSY.search(said) else "server"
        case _:
            return "auth" if _AUTH.search(said) else "bad_request"


def _by_words(said: str) -> ModelErrorKind:
    if _AUTH.search(said):
        return "auth"
    if _BUSY.search(said):
        return "overloaded"
    if _RATE.search(said):
        return "rate_limit"
    if _BAD.search(said):
        return "bad_request"
    return "connection" if _NETWORK.search(said) else "server"


def _hint(kind: ModelErrorKind, failure: Failure) -> str:
    if failure.status == 404:
        return "Check the model's name and the base URL (most end in /v1); `orch doctor` shows both."
    if failure.status is not None and 300 <= failure.status < 400:
        return "Set the base URL to the address that it points to."
    return HINTS[kind]


def _decoded(body: object) -> object:
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return body
    return body


def _words(body: object) -> tuple[str, str]:
    """The message and the code (with the type) of an error body."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return (body, "") if isinstance(body, str) and not body.lstrip().startswith("<") else ("", "")
    inner = body.get("error")
    if isinstance(inner, dict):
        body = inner
    elif isinstance(inner, str) and inner:
        return inner, str(body.get("code") or body.get("type") or "")
    message = next((body[key] for key in ("message", "detail", "msg", "error_message") if body.get(key)), "")
    code = " ".join(str(body[key]) for key in ("code", "type", "status") if isinstance(body.get(key), str))
    return _text(message) + _upstream(body), code


def _upstream(body: Mapping[str, object]) -> str:
    """What the provider behind a router said; the router's own message is often empty of meaning."""
    metadata = body.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return f": {_text(raw)}" if raw else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _plain(body: str) -> str:
    """The text of an HTML page, or the body as it is."""
    if not body.lstrip().startswith("<"):
        return body
    title = re.search(r"<title[^>]*>(.*?)</title>", body, re.IGNORECASE | re.DOTALL)
    return f"the answer is a web page: {title[1].strip()}" if title else "the answer is a web page"


def _status_in(body: object) -> int | None:
    """The HTTP status that an error inside a stream carries as its code."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    code = inner.get("code") if isinstance(inner, dict) else None
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _one_line(text: str) -> str:
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _MESSAGE_LIMIT]).split())
    return text if len(text) <= _MESSAGE_LIMIT else f"{text[:_MESSAGE_LIMIT]}… ({len(text)} characters)"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of `Retry-After` (a number or a date) or `retry-after-ms`."""
    lower = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(lower.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = lower.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _wait_in(text: str) -> float | None:
    """Seconds in words such as `Please try again in 6m0.5s`."""
    for hours, minutes, number, unit in _WAIT.findall(text):
        if hours or minutes or number:
            seconds = float(number or 0) / (1000 if unit == "ms" else 1)
            return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds
    return None
