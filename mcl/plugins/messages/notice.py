"""One request that carries a notice: to a granted host, followed nowhere, its answer looked at and told."""

from __future__ import annotations

from collections.abc import Mapping

from executor.sandbox.origin import Url
from executor.tools.http.answer import refusal
from executor.tools.http.fetch import Request, follow
from executor.tools.tool import Bench

_MOST = 1 << 16  # bytes of an answer that are looked at


async def post(url: Url, headers: Mapping[str, str], body: bytes, bench: Bench) -> int:
    """Send it; gives the status of the answer.

    Raises:
        ToolError: HTTP_STATUS, and what ``follow`` raises. ScopeError: HOST_DENIED.
    """
    import httpx

    trust = httpx.create_ssl_context(trust_env=False)
    where, answer = await follow(Request(url, "POST", dict(headers), body), _MOST, bench.hosts, trust)
    if not answer.ok:
        raise refusal(where, answer, quote=True)
    return answer.status
