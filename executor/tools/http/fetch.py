"""One request to one checked address: no redirect is followed, nothing of the environment or of an earlier
request goes along."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from executor.errors import ScopeError, ToolError
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host answered: ``body`` unpacked and cut; ``location`` is "" unless it sends us elsewhere."""

    status: int
    content_type: str
    location: str = ""
    body: bytes = b""
    truncated: bool = False


async def fetch(url: Url, limit: int, trust: ssl.SSLContext) -> Answer:
    """Ask a host for one page.

    Args:
        limit: bytes of the body that are kept, unpacked.
        trust: whose certificates are believed.

    Raises:
        ScopeError: HOST_DENIED, the name leads into a private network. ToolError: HOST_NOT_FOUND,
            CONNECT_FAILED, TLS_FAILED, BAD_RESPONSE, TIMEOUT, HTTP_STATUS (400 and more).
    """
    import httpx

    refused: httpx.TransportError | None = None
    for address in await addresses_of(url.origin):
        try:
            return await _ask(url, address, limit, trust)
        except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
            refused = problem
            if _tls(problem):
                break
        except httpx.TimeoutException as problem:
            raise ToolError(
                "TIMEOUT",
                f"{url.origin} was silent for {_SILENCE_S:g} s",
                place=str(url),
                fix="try later",
            ) from problem
        except httpx.HTTPError as problem:
            raise ToolError(
                "BAD_RESPONSE",
                f"the answer of {url.origin} cannot be read: {_said(problem)}",
                place=str(url),
                fix="try later, or another host",
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
    ) from refused


async def _ask(url: Url, address: IPAddress, limit: int, trust: ssl.SSLContext) -> Answer:
    import httpx

    origin = url.origin
    host = str(origin).partition("://")[2]
    numeric = f"[{address}]" if address.version == 6 else str(address)
    # The connection goes to the address that was judged; the name is what the certificate must be for.
    named = {} if origin.address else {"sni_hostname": origin.host}
    headers = {
        "Host": host,
        "User-Agent": f"mcl/{_version()}",
        "Accept": _ACCEPT,
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    limits = httpx.Timeout(_SILENCE_S, connect=_CONNECT_S)
    async with (
        httpx.AsyncClient(
            verify=trust, trust_env=False, follow_redirects=False, timeout=limits, headers=headers
        ) as client,
        client.stream(
            "GET", f"{origin.scheme}://{numeric}:{origin.port}{url.target}", extensions=named
        ) as response,
    ):
        content_type = visible(response.headers.get("content-type", ""))[:200]
        if response.status_code in _REDIRECTS and (location := response.headers.get("location", "")):
            return Answer(response.status_code, content_type, location)
        if not 200 <= response.status_code < 300:
            raise ToolError(
                "HTTP_STATUS",
                f"{origin} answered with status {response.status_code}"
                f" ({visible(response.reason_phrase)[:60] or 'no reason given'})",
                place=str(url),
                fix="check the address",
                data={"status": response.status_code},
            )
        body = Body(response.headers.get("content-encoding", ""), limit)
        async for piece in response.aiter_raw():
            body.take(piece)
            if body.full:
                break
        data, truncated = body.end()
        return Answer(response.status_code, content_type, body=data, truncated=truncated)


def _tls(problem: BaseException | None) -> ssl.SSLError | None:
    import ssl  # slow to load, and a run without the network has no use for it

    while problem is not None and not isinstance(problem, ssl.SSLError):
        problem = problem.__cause__ or problem.__context__
    return problem


def _said(problem: Exception) -> str:
    return visible(str(problem))[:300] or type(problem).__name__


def _version() -> str:
    try:
        return version("mcl")
    except PackageNotFoundError:  # run from its sources
        return "0"
