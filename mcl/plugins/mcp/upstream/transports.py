"""The two ways to a server, its process (stdio) and its address (the SDK's streamable HTTP), each under
the one bounding stream.

What goes wrong with one request (an answer too large, a status, no connection) becomes the answer to that
request and to no other.
"""

from __future__ import annotations

import json
import math
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import ValidationError
from pydantic_core import from_json

from mcl.plugins.mcp.upstream.answers import Fault, FaultError, down, lied, slow, too_large
from mcl.plugins.mcp.upstream.bounds import BoundedReading, BoundedWriting, ConnectionWatch
from mcl.plugins.mcp.upstream.process import ServerProcess
from mcl.plugins.mcp.upstream.streams import (
    ENDLESS,
    MAX_LINE,
    LineReader,
    LineWriter,
    MessageReader,
    Overlong,
)

# Error codes that we put in the place of an answer that cannot be used; a server that sends them itself says
# no more than that of its answer.
LIED, TOO_LARGE, UNREACHED, STATUS, ENCODED = -32950, -32951, -32952, -32953, -32954

MAX_PARTS: Final = 100_000  # objects and lists in it: checking the shape of more blocks everybody for seconds
MAX_ITEMS: Final = 2_000_000  # commas in it
TOO_LARGE_TEXT: Final = f"larger than {MAX_LINE >> 20} MiB, or has more than {MAX_PARTS:,} parts"


def count_parts(data: bytes) -> tuple[int, int]:
    """How many objects and lists, and how many items, some JSON has at most; brackets in texts count too."""
    return data.count(b"{") + data.count(b"["), data.count(b",")


# ---- A server's process.

_STALLED_S: Final = 15.0  # seconds in which it must read something
_LAST_WORDS_S: Final = 0.3  # seconds to learn how a process ended that closed its output


@asynccontextmanager
async def over_stdio(
    process: ServerProcess, watch: ConnectionWatch
) -> AsyncIterator[tuple[BoundedReading, BoundedWriting]]:
    """The streams that the SDK's client speaks through."""

    def lost(problem: OSError) -> None:
        stalled = isinstance(problem, TimeoutError)
        watch.end(
            slow(f"read nothing of what it was sent for {_STALLED_S:.0f} s")
            if stalled
            else down(f"reads no more: {problem.strerror}")
        )

    reading = _Messages(process, watch)
    writing = LineWriter(process.stdin, patience_s=_STALLED_S, lost=lost)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writing.flush)
        try:
            yield BoundedReading(reading, watch, lambda: reading.size), BoundedWriting(writing, watch)
        finally:
            tasks.cancel_scope.cancel()


class _Messages(MessageReader):
    """The lines of a process as messages. size: bytes of the last one."""

    def __init__(self, process: ServerProcess, watch: ConnectionWatch) -> None:
        self._process, self._watch = process, watch
        self._lines = LineReader(process.stdout)
        self.size = 0

    async def receive(self) -> SessionMessage:
        """The next message. Raises anyio.EndOfStream where the connection is over, which the watch knows."""
        fault: Fault | None = None
        try:
            line = await self._lines.line()
            return SessionMessage(self._message(line))
        except anyio.EndOfStream:
            fault = down(await self._process.ending(_LAST_WORDS_S))
        except anyio.DelimiterNotFound:
            fault = too_large(f"sent a line of more than {ENDLESS >> 20} MiB without an end")
        except FaultError as problem:
            fault = problem.fault
        self._watch.end(fault)
        raise anyio.EndOfStream

    def _message(self, line: bytes | Overlong) -> JSONRPCMessage:
        if isinstance(line, bytes):
            parts, items = count_parts(line)
            if parts > MAX_PARTS or items > MAX_ITEMS:
                line = Overlong(line[:512])
        if isinstance(line, Overlong):
            self.size = 0
            said = f"a message is {TOO_LARGE_TEXT}"
            if line.id is None or not self._watch.awaits(line.id):
                raise FaultError(
                    too_large(f"sent too much: {said}, and does not begin as an answer to a call")
                )
            return JSONRPCError(jsonrpc="2.0", id=line.id, error=ErrorData(code=TOO_LARGE, message=said))
        self.size = len(line)
        try:
            read = parse_message(line)
        except ValueError as problem:
            begun = ascii(line[:80].decode("utf-8", "replace"))
            raise FaultError(
                lied(f"wrote something to its output that is no JSON message ({problem}): {begun}")
            ) from None
        message, id = _typed(read), read.get("id")
        if message is not None:
            return message
        if isinstance(id, bool) or not isinstance(id, int | str):
            raise FaultError(lied(f"sent a message that is none of JSON-RPC: {ascii(list(read))[:200]}"))
        error = ErrorData(code=LIED, message="its answer is none of JSON-RPC")
        return JSONRPCError(jsonrpc="2.0", id=id, error=error)


_MIGHT_OVERFLOW: Final = re.compile(rb"[0-9][eE]\+?[0-9]{3}")


def parse_message(line: bytes) -> dict[str, Any]:
    """One JSON object in strict UTF-8: no NaN, no infinity, no half characters.

    Raises:
        ValueError: what is wrong with it.
    """
    value = from_json(line, allow_inf_nan=False)
    if not isinstance(value, dict):
        raise ValueError("a message is one JSON object")
    if _MIGHT_OVERFLOW.search(line) and not _finite(value):
        raise ValueError("a number in it is too large")
    return value


def _finite(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_finite(one) for one in value.values())
    return not isinstance(value, list) or all(_finite(one) for one in value)


def _typed(said: dict[str, Any]) -> JSONRPCMessage | None:
    """The message as the SDK's type, None where it is none.

    What it is is decided here: to the SDK a request whose id is none passes for a notification, and an answer
    that is a result and an error too for a result.
    """
    kind: type[JSONRPCMessage]
    result = said.get("result")
    if said.get("method") is not None:
        kind = JSONRPCRequest if "id" in said else JSONRPCNotification
    elif said.get("error") is None:
        kind = JSONRPCResponse
    elif "result" not in said:
        kind = JSONRPCError
    else:
        return None
    try:
        if kind is JSONRPCResponse and isinstance(result, dict):
            # All but the result is checked: to check it is to copy it, and everybody waits meanwhile.
            answer = JSONRPCResponse.model_validate({**said, "result": {}})
            answer.result = result
            return answer
        return kind.model_validate(said)
    except ValidationError:
        return None


# ---- A server at an address, over the SDK's streamable HTTP: to one origin only.

_CONNECT_S: Final = 10.0
_WRITE_S: Final = 30.0
_MOST_CONNECTIONS: Final = 64
_MOST_OF_AN_ERROR: Final = 64 << 10  # bytes read of an answer that is none


@asynccontextmanager
async def over_http(
    url: str, headers: Mapping[str, str], ways: Mapping[str, str], watch: ConnectionWatch
) -> AsyncIterator[tuple[BoundedReading, BoundedWriting]]:
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
        yield BoundedReading(reading, watch), BoundedWriting(writing, watch)


class _Bounded(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncHTTPTransport, watch: ConnectionWatch) -> None:
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
