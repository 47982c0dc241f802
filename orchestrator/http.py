"""One pool of HTTP connections for a whole run. aiohttp is imported at the first request, not before."""

from __future__ import annotations

import asyncio
import errno
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from orchestrator import __version__
from orchestrator.errors import ModelError

if TYPE_CHECKING:
    import aiohttp

_KEEP_ALIVE = 60.0
"""Seconds that an idle connection is kept; tools often run longer than aiohttp's own 15 s."""
_DRAIN = 0.1
_LARGE = 1024 * 1024
"""Bodies above this many bytes are written in pieces, so that the event loop is not held up."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The head of an answer, and its body as bytes that arrive."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]
    _content: aiohttp.StreamReader

    async def drain(self) -> None:
        """Take in the few bytes that end the body, so that the connection can be used again; waits 0.1 s at most."""
        if self._content.at_eof():
            return
        import aiohttp

        with suppress(aiohttp.ClientError, OSError, TimeoutError):
            async with asyncio.timeout(_DRAIN):
                while await self._content.readany():
                    pass


class HttpPool:
    """Shared connections; made once by whoever wires the run together, and closed by it on the same event loop.

    `connect_timeout` is in seconds, `limit` the number of connections open at once.
    """

    def __init__(self, *, connect_timeout: float = 10.0, limit: int = 256) -> None:
        self._connect_timeout = connect_timeout
        self._limit = limit
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[str, str | None] = {}

    @asynccontextmanager
    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, idle_timeout: float
    ) -> AsyncIterator[HttpAnswer]:
        """POST `body`; silence of `idle_timeout` seconds breaks the connection. Redirects are not followed.

        Raises `ModelError`: `connection` when the answer could not be had or broke off, `bad_request` when the address
        is wrong. Leaving the block before the body has ended closes the connection.
        """
        import aiohttp

        session = self._session or self._open()
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._connect_timeout, sock_read=idle_timeout)
        data = io.BytesIO(body) if len(body) > _LARGE else body
        proxy = self._proxy(url)
        try:
            async with session.post(
                url, data=data, headers=headers, timeout=timeout, allow_redirects=False, proxy=proxy
            ) as response:
                content = response.content
                yield HttpAnswer(response.status, response.headers, content.iter_any(), content)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise _connection_error(error, url, idle_timeout) from error

    async def aclose(self) -> None:
        """Close every connection; safe to call twice."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._limit, keepalive_timeout=_KEEP_ALIVE, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": f"orch/{__version__}", "Accept-Encoding": "identity"},
        )
        return self._session

    def _proxy(self, url: str) -> str | None:
        """The proxy for this address, looked up once for each origin."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._proxies:
            self._proxies[origin] = _proxy_for(parts.scheme, parts.hostname or "")
        return self._proxies[origin]


def _proxy_for(scheme: str, host: str) -> str | None:
    """The proxy that the environment names; none for this machine. (aiohttp's own look-up reads ~/.netrc each time.)"""
    from urllib.request import getproxies, proxy_bypass

    found = getproxies().get(scheme)
    if not found or host in ("localhost", "127.0.0.1", "::1") or proxy_bypass(host):
        return None
    proxy = found if "://" in found else f"http://{found}"
    if not proxy.startswith(("http://", "https://")):
        kind = proxy.partition("://")[0]
        hint = f"Set {scheme.upper()}_PROXY to an HTTP proxy, or name {host} in NO_PROXY."
        raise ModelError("bad_request", f"The proxy of the environment is of the kind {kind}, not HTTP.", hint)
    return proxy


def _connection_error(error: Exception, url: str, idle_timeout: float) -> ModelError:
    """Say which of the ways to lose a connection it was, and at which address."""
    import aiohttp

    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
    match error:
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return ModelError("bad_request", f"{where} is not a web address.", "Correct the base URL.")
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            hint = "Trust the certificate (set SSL_CERT_FILE to its authority's file) or correct the base URL."
            return ModelError("bad_request", f"No secure connection to {where}: {error}", hint)
        case aiohttp.ClientHttpProxyError():
            return _broken(f"The proxy does not let requests through to {where}: {error.status} {error.message}.")
        case aiohttp.ClientProxyConnectionError():
            return _broken(f"Cannot connect to the proxy for {where}: {error.os_error.strerror or error.os_error}.")
        case aiohttp.SocketTimeoutError():
            return _broken(f"{where} sent nothing for {idle_timeout:g} s.")
        case aiohttp.ConnectionTimeoutError():
            return _broken(f"{where} did not accept a connection in time.")
        case aiohttp.ClientConnectorError():
            message = f"Cannot connect to {where}: {error.os_error.strerror or error.os_error}."
            if error.os_error.errno == errno.ECONNREFUSED:
                return ModelError(
                    "connection", message, "Is the server running there? Start it, or correct the base URL."
                )
            return _broken(message)
        case _:
            detail = str(error) or type(error).__name__
            return _broken(f"{where} closed the connection before its answer was complete ({detail}).")


def _broken(message: str) -> ModelError:
    from orchestrator.model_errors import HINTS

    return ModelError("connection", message, HINTS["connection"])
