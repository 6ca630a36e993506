"""Fetches a page from a granted host."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import to_thread

from executor.sandbox.origin import parse_url
from executor.tools.http.answer import refusal, told
from executor.tools.http.fetch import Request, follow
from executor.tools.tool import Bench

_MAX_BYTES = 1 << 20  # of the body, when nothing else is asked for


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the page's text, readable where it is HTML; each host on the way must be granted."""
    import httpx

    limit = int(str(args.get("max_bytes", _MAX_BYTES)))
    trust = httpx.create_ssl_context(trust_env=False)
    url, answer = await follow(Request(parse_url(str(args["url"]))), limit, bench.hosts, trust)
    if not answer.ok:
        raise refusal(url, answer)
    return await to_thread.run_sync(told, url, answer)
