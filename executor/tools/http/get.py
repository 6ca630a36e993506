"""Fetches a page from a granted host."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from urllib.parse import urljoin

from anyio import to_thread

from executor.errors import ScopeError, ToolError
from executor.sandbox.origin import Url, parse_url
from executor.sandbox.redaction import visible
from executor.tools.http.charset import decode
from executor.tools.http.fetch import Answer, fetch
from executor.tools.http.readable import readable
from executor.tools.tool import Bench

_MAX_BYTES = 1 << 20  # of the body, when nothing else is asked for
_MAX_TEXT = 200_000  # characters: as JSON they always fit into max_output
_MAX_REDIRECTS = 5
_HTML = ("text/html", "application/xhtml+xml")
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s;"']+)""", re.IGNORECASE)
_TEXT = ("application/json", "application/xml", "application/javascript", "application/x-yaml", "")


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the page's text, readable where it is HTML; each host on the way must be granted."""
    import httpx

    url = parse_url(str(args["url"]))
    limit = int(str(args.get("max_bytes", _MAX_BYTES)))
    trust = httpx.create_ssl_context(trust_env=False)
    for _ in range(_MAX_REDIRECTS + 1):
        if url.origin not in bench.hosts:
            raise ScopeError(
                "HOST_DENIED",
                f"the way of {str(args['url'])[:200]!r} leads to {url.origin}, which was not granted",
                place=str(url.origin),
                fix=f"mcl grants give network --host {url.origin.short}",
            )
        answer = await fetch(url, limit, trust)
        if not answer.location:
            return await to_thread.run_sync(_told, url, answer)
        url = _next(url, answer.location)
    raise ToolError(
        "TOO_MANY_REDIRECTS",
        f"the host sends us on and on, {_MAX_REDIRECTS} times and more",
        place=str(url),
        fix="fetch the address where the page really is",
    )


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


def _told(url: Url, answer: Answer) -> dict[str, object]:
    kind, charset = _kind(answer.content_type)
    html = kind in _HTML
    title, text = "", ""
    if _is_text(kind, charset, answer.body):
        text = decode(answer.body, charset, html=html, cut=answer.truncated)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if html:
            title, text = readable(text, str(url))
    elif answer.body:
        text = f"({kind or 'no type given'}, {len(answer.body)} bytes: no text)"
    text = visible(text)
    return {
        "url": str(url),
        "status": answer.status,
        "content_type": answer.content_type,
        **({"title": visible(title)[:1000]} if title else {}),
        "text": text[:_MAX_TEXT],
        "bytes": len(answer.body),
        "sha256": hashlib.sha256(answer.body).hexdigest(),
        "truncated": answer.truncated or len(text) > _MAX_TEXT,
    }


def _kind(content_type: str) -> tuple[str, str]:
    """Media type and charset of a Content-Type header; "" for what it does not say."""
    named = _CHARSET.search(content_type)
    return content_type.partition(";")[0].strip().lower(), named[1].lower() if named else ""


def _is_text(kind: str, charset: str, body: bytes) -> bool:
    if kind.startswith("text/") or kind in _TEXT or kind in _HTML or kind.endswith(("+json", "+xml")):
        # UTF-16 is full of zeros; anything else that holds one is no text.
        return (
            b"\0" not in body or charset.startswith("utf-16") or body.startswith((b"\xff\xfe", b"\xfe\xff"))
        )
    return False
