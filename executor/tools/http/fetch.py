"""One request to one checked address: no redirect is followed, nothing of the environment or of an earlier
request goes along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.origin import Url
from executor.sandbox.redaction import visible
from executor.tools.http.addresses import IPAddress, addresses_of
from executor.tools.http.body import Body

if TYPE_CHECKING:
    import ssl

    import httpx

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
        """A status of success."""
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
        body = Body(response.headers.get("content-encoding", ""), limit)
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
