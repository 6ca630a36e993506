"""Streamable HTTP on this machine: a token that only its user can read, and no page of a browser gets in."""

from __future__ import annotations

import hmac
import json
import logging
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final

import uvicorn
from anyio import create_task_group
from mcp.server.transport_security import TransportSecuritySettings

from executor.store.database import explain_os
from mcl.core.errors import McpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send

    from mcl.plugins.mcp.server import Face

PATH: Final = "/mcp"
TOKEN_FILE: Final = "mcp-token"  # noqa: S105  # its name, in the home
HERE: Final = "127.0.0.1"
_GRACE_S: Final = 2  # for answers that are under way when the server is stopped
_SHORTEST: Final = 32  # characters of a token
_CLIENTS: Final = 256  # of the handshake era, at the same time


def token_of(home: Path) -> str:
    """The token that clients must send, made at its first use; mode 0600.

    Raises:
        McpError: BAD_TOKEN_FILE, others may read it, or it holds none. HomeError.
    """
    place = home / TOKEN_FILE
    try:
        with suppress(FileExistsError):
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(token_urlsafe(32) + "\n")
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor) as file:
            exposed = stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077
            token = file.read(4096).strip()
    except OSError as problem:
        raise explain_os(problem, place) from problem
    except UnicodeDecodeError:
        exposed, token = 0, ""
    if exposed or len(token) < _SHORTEST or not token.isascii() or not token.isprintable():
        why = "others may read it" if exposed else "it holds no token"
        fix = "remove the file; the next start makes another, which clients then have to be told"
        raise McpError(
            "BAD_TOKEN_FILE", f"the token of this home cannot be used: {why}", place=str(place), fix=fix
        )
    return token


@contextmanager
def listening(host: str, port: int, *, anywhere: bool = False) -> Iterator[socket.socket]:
    """A socket that listens. port: 0 for any free one. anywhere: may others than this machine connect?

    Raises:
        McpError: NOT_LOOPBACK, PORT_TAKEN, BAD_PORT.
    """
    if not 0 <= port <= 65535:
        raise McpError("BAD_PORT", f"{port} is no port", place="--port", fix="0 to 65535; 0 takes a free one")
    try:
        address = ip_address(host)
    except ValueError:
        address = None
    if address is None or not (anywhere or address.is_loopback):
        raise McpError(
            "NOT_LOOPBACK",
            f"{host} is not this machine alone" if address else f"{host} is no address",
            place="--host",
            fix="127.0.0.1, or --unsafe-bind: then whoever reaches the port and has the token may call tools,"
            " and the token travels unencrypted",
        )
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
            bound.listen(128)  # who is told the address may connect before uvicorn has begun
        except OSError as problem:
            raise McpError(
                "PORT_TAKEN",
                f"cannot listen on {host}:{port}: {problem.strerror}",
                place="--port",
                fix="another --port, or 0 for any free one",
            ) from problem
        yield bound


@asynccontextmanager
async def serving(face: Face, bound: socket.socket, token: str) -> AsyncIterator[str]:
    """Serve clients until the context ends; gives the address."""
    host, port = bound.getsockname()[:2]
    named = f"[{host}]" if ":" in host else host
    app = face.server.streamable_http_app(
        streamable_http_path=PATH, transport_security=_security(host, port), host=host, max_sessions=_CLIENTS
    )
    config = uvicorn.Config(
        _Guarded(app, token, _security(host, port)),
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=_GRACE_S,
        server_header=False,
    )
    server = _Server(config)
    async with create_task_group() as tasks:
        tasks.start_soon(server.serve, [bound])
        try:
            yield f"http://{named}:{port}{PATH}"
        finally:
            # What is cut off in the end was told to its client; it is no fault to be told here as one.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)
            face.changes.close()
            server.should_exit = True


def _security(host: str, port: int) -> TransportSecuritySettings:
    """Only who asks for this very address gets in: no page whose name was made to lead here."""
    if ip_address(host).is_unspecified:  # nobody can say by which names it is reached: pages stay out
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = {HERE, "localhost", "[::1]"} if ip_address(host).is_loopback else set()
    names.add(f"[{host}]" if ":" in host else host)
    hosts = sorted(f"{name}:{port}" for name in names)
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"http://{one}" for one in hosts],
    )


class _Server(uvicorn.Server):
    """One that leaves signals to us."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Guarded:
    """Nothing gets past without the token, and no page of another origin with it."""

    def __init__(self, app: ASGIApp, token: str, security: TransportSecuritySettings) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()
        self._origins = frozenset(origin.encode() for origin in security.allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            return
        elif not self._knows(scope):
            fix = f"send the header Authorization: Bearer TOKEN; the file {TOKEN_FILE} in the home has it"
            await _refuse(send, 401, "BAD_TOKEN", "the request has no token, or not that of this home", fix)
        elif any(one not in self._origins for one in _given(scope, b"origin")):
            await _refuse(send, 403, "BAD_ORIGIN", "pages of other origins may not call", "send no Origin")
        else:
            await self._app(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = _given(scope, b"authorization")
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def _given(scope: Scope, header: bytes) -> list[bytes]:
    return [value for name, value in scope.get("headers", ()) if name == header]


async def _refuse(send: Send, status: int, code: str, message: str, fix: str) -> None:
    body = json.dumps({"code": code, "message": message, "fix": fix}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="mcl"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
