"""One request to one checked address: no redirect is followed, nothing of the environment or of an earlier
request goes along.
"""

from __future__ import annotations

import socket
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import anyio

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.origin import Origin, Url, parse_url
from executor.sandbox.redaction import visible

if TYPE_CHECKING:
    import ssl

    import httpx

# ---- The body of an answer, unpacked and cut as it comes in: no packed body grows beyond what is asked
# for.

_GZIP = 31  # zlib's window bits for gzip alone
_SPARE = 1 << 16  # bytes that may come in packed beyond the limit: packing makes small things larger
_ENCODINGS = {"": False, "identity": False, "gzip": True, "x-gzip": True}


class ResponseBody:
    """Takes pieces of a body until it is full.

    Args:
        encoding: of the Content-Encoding header. limit: bytes kept, unpacked.

    Raises:
        ToolError: BAD_RESPONSE, packed in a way that was not asked for.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        name = encoding.strip().lower()
        if name not in _ENCODINGS:
            raise _bad(f"is packed as {name[:40]!r}, which was not asked for")
        self._packed = _ENCODINGS[name]
        self._part: zlib._Decompress | None = None  # gzip bodies are parts, one behind the other; mostly one
        self._padding = False
        self._whole = 0  # parts read to their end
        self._begun = 0  # bytes kept when the present part began
        self._kept = bytearray()
        self._limit = limit
        self._came = 0

    @property
    def full(self) -> bool:
        """Is there more than is kept?"""
        return len(self._kept) > self._limit or self._came > self._limit + _SPARE

    def take(self, piece: bytes) -> None:
        """Take the next piece as it came. Raises ToolError BAD_RESPONSE."""
        self._came += len(piece)
        if not self._packed:
            self._kept += piece[: self._room]
            return
        while piece and not self.full and not self._padding:
            if self._part is None:
                self._part, self._begun = zlib.decompressobj(_GZIP), len(self._kept)
            try:
                self._kept += self._part.decompress(piece, self._room)
            except zlib.error as problem:
                if self._whole and len(self._kept) == self._begun:  # padding behind the last part
                    self._part, self._padding = None, True
                    return
                raise _bad(f"cannot be unpacked ({problem})") from problem
            piece = self._part.unconsumed_tail
            if self._part.eof:
                piece, self._part, self._whole = self._part.unused_data, None, self._whole + 1

    def end(self) -> tuple[bytes, bool]:
        """The bytes kept, and whether the body was longer or broke off."""
        return bytes(self._kept[: self._limit]), self.full or self._part is not None

    @property
    def _room(self) -> int:
        return self._limit + 1 - len(self._kept)


def _bad(why: str) -> ToolError:
    return ToolError("BAD_RESPONSE", f"the answer {why}", fix="try another page of the host")


# ---- The addresses that a host may be reached at: names lead to public addresses only.

IPAddress = IPv4Address | IPv6Address

_LOCALHOST = (IPv4Address("127.0.0.1"), IPv6Address("::1"))  # by RFC 6761, whatever a name server says
_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")  # an IPv4 address as networks without IPv4 see it
# Inside the unicast range: other addresses in disguise (6to4, Teredo and its neighbours), documentation.
_NOT_PUBLIC = tuple(IPv6Network(text) for text in ("2002::/16", "2001::/23", "2001:db8::/32", "3fff::/20"))
_MOST = 4  # addresses tried


async def addresses_of(origin: Origin) -> tuple[IPAddress, ...]:
    """Where to connect for a host that the agent may go to.

    An IP address or ``localhost``, which somebody granted in just these words, is taken as it is; of the
    addresses of a name only public ones are.

    Raises:
        ScopeError: HOST_DENIED. ToolError: HOST_NOT_FOUND.
    """
    if (literal := origin.address) is not None:
        if literal.is_unspecified or literal.is_multicast or literal == IPv4Address("255.255.255.255"):
            raise _denied(origin, "is the address of no single host", "name the host")
        return (literal,)
    if origin.host == "localhost":
        return _LOCALHOST
    try:
        found = await anyio.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise ToolError(
            "HOST_NOT_FOUND",
            f"{origin.host} could not be looked up: {problem}",
            place=str(origin),
            fix="check the name and the network",
            transient=True,
        ) from problem
    known = tuple(dict.fromkeys(ip_address(str(where[4][0]).partition("%")[0]) for where in found))
    public = tuple(address for address in known if is_public(address))
    if not public:
        raise _denied(
            origin,
            f"leads to {', '.join(map(str, known[:_MOST])) or 'nothing'}, which is no public address",
            "an address there must be granted itself: mcl grant add network --host http://10.0.0.5:8080",
        )
    return public[:_MOST]


def is_public(address: IPAddress) -> bool:
    """Is the address one on the internet: not loopback, private, link-local, shared, multicast, reserved?"""
    if isinstance(address, IPv4Address):
        return address.is_global and not address.is_multicast and not address.is_reserved
    if address in _NAT64:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    return address in _UNICAST and not any(address in network for network in _NOT_PUBLIC)


def _denied(origin: Origin, why: str, fix: str) -> ScopeError:
    return ScopeError("HOST_DENIED", f"{origin.short} {why}", place=str(origin), fix=fix)


_CONNECT_S, _SILENCE_S = 8.0, 15.0  # for a connection; between two pieces of an answer
_ACCEPT = "text/html, text/plain, application/json;q=0.9, */*;q=0.5"
_REDIRECTS = (301, 302, 303, 307, 308)
_ERROR_BYTES = 4096  # of a page that comes with an error


@dataclass(frozen=True, slots=True)
class Request:
    """One request. headers: beside those that each request has. silence_s: seconds between two pieces of an
    answer."""

    url: Url
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    silence_s: float = _SILENCE_S


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host answered: ``body`` unpacked and cut; ``location`` is "" unless it sends us elsewhere.
    ``headers``: all of them, names in small letters."""

    status: int
    content_type: str
    location: str = ""
    body: bytes = b""
    truncated: bool = False
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


async def fetch(request: Request, limit: int, trust: ssl.SSLContext) -> Answer:
    """Make one request of a host; any status is an answer.

    Args:
        limit: bytes of the body that are kept, unpacked; fewer of an error's.
        trust: whose certificates are believed.

    Raises:
        ScopeError: HOST_DENIED, the name leads into a private network. ToolError: HOST_NOT_FOUND,
            CONNECT_FAILED, TLS_FAILED, BAD_RESPONSE, TIMEOUT.
    """
    import httpx

    url = request.url
    refused: httpx.TransportError | None = None
    for address in await addresses_of(url.origin):
        try:
            return await _ask(request, address, limit, trust)
        except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
            refused = problem
            if _tls(problem):
                break
        except httpx.TimeoutException as problem:
            raise ToolError(
                "TIMEOUT",
                f"{url.origin} was silent for {request.silence_s:g} s",
                place=str(url),
                fix="try later",
                transient=True,
            ) from problem
        except httpx.HTTPError as problem:
            raise ToolError(
                "BAD_RESPONSE",
                f"the answer of {url.origin} cannot be read: {_said(problem)}",
                place=str(url),
                fix="try later, or another host",
                transient=isinstance(problem, httpx.NetworkError | httpx.RemoteProtocolError),
            ) from problem
        except httpx.InvalidURL as problem:
            raise ScopeError(
                "HOST_DENIED", f"the address cannot be sent: {problem}", place=str(url), fix="shorten it"
            ) from problem
    assert refused is not None, "a host has at least one address"
    if broken := _tls(refused):
        import ssl

        stranger = isinstance(broken, ssl.SSLCertVerificationError)
        what = "cannot prove who it is" if stranger else "speaks no TLS that is understood"
        raise ToolError(
            "TLS_FAILED",
            f"{url.origin} {what}: {visible(str(broken))[:300]}",
            place=str(url),
            fix="do not trust this host, or fetch from another one",
        ) from refused
    raise ToolError(
        "CONNECT_FAILED",
        f"{url.origin} cannot be reached: {_said(refused)}",
        place=str(url),
        fix="check that the host is up and the network works",
        transient=True,
    ) from refused


async def _ask(request: Request, address: IPAddress, limit: int, trust: ssl.SSLContext) -> Answer:
    import httpx

    url, origin = request.url, request.url.origin
    host = str(origin).partition("://")[2]
    numeric = f"[{address}]" if address.version == 6 else str(address)
    # The connection goes to the address that was judged; the name is what the certificate must be for.
    named = {} if origin.address else {"sni_hostname": origin.host}
    headers = {
        "Accept": _ACCEPT,
        **request.headers,
        "Host": host,
        "User-Agent": f"mcl/{_version()}",
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    limits = httpx.Timeout(request.silence_s, connect=_CONNECT_S)
    async with (
        httpx.AsyncClient(
            verify=trust, trust_env=False, follow_redirects=False, timeout=limits, headers=headers
        ) as client,
        client.stream(
            request.method,
            f"{origin.scheme}://{numeric}:{origin.port}{url.target}",
            content=request.body,
            extensions=named,
        ) as response,
    ):
        told = {name.lower(): visible(value)[:2000] for name, value in response.headers.items()}
        content_type, reason = told.get("content-type", "")[:200], response.reason_phrase
        if response.status_code in _REDIRECTS and (location := response.headers.get("location", "")):
            return Answer(response.status_code, content_type, location, reason=reason, headers=told)
        limit = limit if response.is_success else min(limit, _ERROR_BYTES)
        body = ResponseBody(response.headers.get("content-encoding", ""), limit)
        async for piece in response.aiter_raw():
            body.take(piece)
            if body.full:
                break
        data, truncated = body.end()
        return Answer(response.status_code, content_type, "", data, truncated, reason, told)


def _tls(problem: BaseException | None) -> ssl.SSLError | None:
    import ssl  # slow to load, and a run without the network has no use for it

    while problem is not None and not isinstance(problem, ssl.SSLError):
        problem = problem.__cause__ or problem.__context__
    return problem


def _said(problem: Exception) -> str:
    return visible(str(problem))[:300] or type(problem).__name__


def _version() -> str:
    try:
        return version("mcl-intent")
    except PackageNotFoundError:  # run from its sources
        return "0"


# ---- From the address that was asked for to the one that answers, over hosts that were granted.

_MOST_REDIRECTS = 5
_READS = ("GET", "HEAD")
_EVERYWHERE = frozenset(
    {"accept", "accept-language"}
)  # headers that say nothing to a host that was not meant


async def follow(
    request: Request, limit: int, hosts: frozenset[Origin], trust: ssl.SSLContext
) -> tuple[Url, Answer]:
    """Ask, and go where the host sends us, at most 5 times. Gives the last address and its answer.

    What is sent stays with the host that it was meant for: another one is asked without body and without
    the headers of the call, credentials first of all.

    Args:
        limit, trust: as of ``fetch``.
        hosts: where the call may go.

    Raises:
        ScopeError: HOST_DENIED, the way leads to a host that was not granted.
        ToolError: TOO_MANY_REDIRECTS, BAD_RESPONSE, REDIRECT_REFUSED (the same request at another host), and
            those of ``fetch``.
    """
    asked = request.url
    for _ in range(_MOST_REDIRECTS + 1):
        if request.url.origin not in hosts:
            raise ScopeError(
                "HOST_DENIED",
                f"the way of {str(asked)[:200]!r} leads to {request.url.origin}, which was not granted",
                place=str(request.url.origin),
                fix=f"mcl grant add network --host {request.url.origin.short}",
            )
        answer = await fetch(request, limit, trust)
        if not answer.location:
            return request.url, answer
        request = _sent_on(request, answer, _next(request.url, answer.location))
    raise ToolError(
        "TOO_MANY_REDIRECTS",
        f"the host sends us on and on, {_MOST_REDIRECTS} times and more",
        place=str(request.url),
        fix="fetch the address where the page really is",
    )


def _sent_on(request: Request, answer: Answer, url: Url) -> Request:
    elsewhere = url.origin != request.url.origin
    headers = {
        name: value for name, value in request.headers.items() if not elsewhere or name.lower() in _EVERYWHERE
    }
    if request.method in _READS:
        return replace(request, url=url, headers=headers)
    if answer.status == 303 or (answer.status in (301, 302) and request.method == "POST"):
        headers = {name: value for name, value in headers.items() if not _of_the_body(name)}
        return Request(url, "GET", headers)
    if elsewhere:
        raise ToolError(
            "REDIRECT_REFUSED",
            f"{request.url.origin} wants the {request.method} sent to {url.origin}, which nobody approved",
            place=str(url),
            fix="call that address itself, if it is right",
        )
    return replace(request, url=url)


def _of_the_body(name: str) -> bool:
    return name.lower() in ("content-type", "content-language", "idempotency-key")


def _next(url: Url, location: str) -> Url:
    try:
        return parse_url(urljoin(str(url), location))
    except ValueError as problem:
        raise ToolError(
            "BAD_RESPONSE",
            f"{url.origin} sends us to {visible(location)[:200]!r}, which is no address",
            place=str(url),
            fix="try another page of the host",
        ) from problem
