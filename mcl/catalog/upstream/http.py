"""Messages to and from a server at an address, over the SDK's streamable HTTP: bounded, to one origin only.

What goes wrong with one request (no connection, a status, a body too large) becomes the answer to that
request and to no other.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest

from mcl.catalog.streams import Reading, Stream
from mcl.catalog.upstream.faults import down, lied
from mcl.catalog.upstream.lines import MAX_ITEMS, MAX_LINE, MAX_PARTS, count_parts
from mcl.catalog.upstream.watch import Watch

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared._stream_protocols import ReadStream, WriteStream

# Error codes in the answers that we put in the place of the server's.
UNREACHED, STATUS, ENCODED = -32952, -32953, -32954
TOO_LARGE_TEXT: Final = f"larger than {MAX_LINE >> 20} MiB, or has more than {MAX_PARTS:,} parts"

_CONNECT_S: Final = 10.0
_WRITE_S: Final = 30.0
_MOST_CONNECTIONS: Final = 64
_MOST_OF_AN_ERROR: Final = 64 << 10  # bytes read of an answer that is none


@asynccontextmanager
async def over_http(
    url: str, headers: Mapping[str, str], ways: Mapping[str, str], watch: Watch
) -> AsyncIterator[TransportStreams]:
    """The streams that the SDK's client speaks through.

    Args:
        ways: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, SSL_CERT_FILE, where they are to be used; of the
            environment itself nothing is.
    """
    scheme = url.partition(":")[0].upper()
    proxy = ways.get(f"{scheme}_PROXY") or ways.get("ALL_PROXY")
    trusted = ssl.create_default_context(cafile=ways["SSL_CERT_FILE"]) if "SSL_CERT_FILE" in ways else True
    limits = httpx2.Limits(max_connections=_MOST_CONNECTIONS)
    inner = httpx2.AsyncHTTPTransport(verify=trusted, trust_env=False, limits=limits, proxy=proxy)
    client = httpx2.AsyncClient(
        transport=_Bounded(inner, watch),
        headers={**headers, "accept-encoding": "identity"},  # what is unpacked has no bound
        timeout=httpx2.Timeout(_WRITE_S, connect=_CONNECT_S, read=None, pool=None),
        trust_env=False,
    )
    sdk = streamable_http_client(url, http_client=client, max_sse_event_size=2 * MAX_LINE)  # our limit counts
    async with client, sdk as (reading, writing):
        yield _Reading(reading, watch), _Writing(writing, watch)


class _Bounded(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncHTTPTransport, watch: Watch) -> None:
        self._inner, self._watch = inner, watch

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as problem:
            said = f"cannot be reached: {type(problem).__name__} {problem}".strip()
            if not isinstance(problem, httpx2.PoolTimeout):
                self._watch.end(down(said, "start it, or see whether its address is right"))
            return _instead(HTTPStatus.SERVICE_UNAVAILABLE, UNREACHED, said)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _instead(HTTPStatus.BAD_GATEWAY, ENCODED, "packed its answer, which it was told not to")
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            return await self._refused(request, response)
        streams = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Body(response.stream, streams=streams),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _refused(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        body = b""
        try:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            async for piece in response.stream:
                body += piece
                if len(body) > _MOST_OF_AN_ERROR:
                    break
        except httpx2.TransportError:
            body = b""
        finally:
            await response.aclose()
        status = response.status_code
        if status == HTTPStatus.NOT_FOUND and "mcp-session-id" in request.headers:
            self._watch.end(down("ended our session"))
        if _is_an_error(body):
            return httpx2.Response(status, headers={"content-type": "application/json"}, content=body)
        name = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
        return _instead(status, STATUS, f"answered HTTP {status} {name}".strip())


class _Body(httpx2.AsyncByteStream):
    """A body that fails in the one way the SDK takes as the failure of this request alone."""

    def __init__(self, inner: httpx2.AsyncByteStream, *, streams: bool) -> None:
        self._inner, self._streams = inner, streams

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = parts = items = 0
        try:
            async for piece in self._inner:
                size += len(piece)
                event = max(piece.rfind(b"\n\n"), piece.rfind(b"\r\n\r\n")) if self._streams else -1
                if event >= 0:  # of a stream each message is counted by itself
                    size, parts, items = 0, 0, 0
                more = count_parts(piece[event + 1 :])
                parts, items = parts + more[0], items + more[1]
                if size > MAX_LINE or parts > MAX_PARTS or items > MAX_ITEMS:
                    flaw = httpx2.SSEError if self._streams else httpx2.StreamError
                    raise flaw(f"the answer is {TOO_LARGE_TEXT}")
                yield piece
        except httpx2.SSEError:
            raise
        except httpx2.TransportError as problem:
            raise httpx2.StreamError(f"the answer broke off ({type(problem).__name__})") from problem

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Reading(Reading):
    def __init__(self, inner: ReadStream[SessionMessage | Exception], watch: Watch) -> None:
        self._inner, self._watch = inner, watch

    async def receive(self) -> SessionMessage | Exception:
        """The next message that is to be looked at. Raises anyio.EndOfStream when the connection is over."""
        while not self._watch.ended.is_set():
            try:
                item = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._watch.end(down("closed the connection"))
                break
            if isinstance(item, Exception):
                return item
            message = item.message
            if isinstance(message, JSONRPCRequest | JSONRPCNotification):
                pause = self._watch.unasked(message.method)
                if pause:
                    await anyio.sleep(pause)
                return item
            if isinstance(message, JSONRPCError) and message.id is None:
                continue
            assert message.id is not None
            standing = self._watch.answered(message.id)
            if standing == "awaited":
                return item
            if standing == "unknown":
                self._watch.end(lied(f"answered a call that nobody made (id {ascii(message.id)[:80]})"))
        raise anyio.EndOfStream

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Writing(Stream):
    def __init__(self, inner: WriteStream[SessionMessage], watch: Watch) -> None:
        self._inner, self._watch = inner, watch

    async def send(self, item: SessionMessage, /) -> None:
        """Hand over one message."""
        if self._watch.ended.is_set():
            raise anyio.BrokenResourceError
        self._watch.sent(item.message)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _instead(status: int, code: int, message: str) -> httpx2.Response:
    """An answer in the place of one that cannot be used; the SDK puts the id of the request into it."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return httpx2.Response(status, json=body)


def _is_an_error(body: bytes) -> bool:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and isinstance(said.get("error"), dict) and said.get("jsonrpc") == "2.0"
