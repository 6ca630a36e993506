"""From the address that was asked for to the one that answers, over hosts that were granted."""

from __future__ import annotations

import ssl
from dataclasses import replace
from urllib.parse import urljoin

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.origin import Origin, Url, parse_url
from executor.sandbox.redaction import visible
from executor.tools.http.fetch import Answer, Request, fetch

_MOST = 5
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
    for _ in range(_MOST + 1):
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
        f"the host sends us on and on, {_MOST} times and more",
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
