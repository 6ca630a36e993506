"""Makes one HTTP request of a granted host."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping

from anyio import to_thread

from executor.core.errors import ToolError
from executor.core.hashing import json_bytes
from executor.sandbox.origin import Url, parse_url, require_encrypted
from executor.tools.http.answer import refusal, told
from executor.tools.http.fetch import Answer, Request, follow
from executor.tools.tool import Bench

_MAX_BYTES = 1 << 20  # of the answer, when nothing else is asked for
_READS = ("GET", "HEAD")
_TOLD_HEADERS = ("etag", "last-modified", "link", "location", "retry-after")
_HEADER_VALUE = re.compile(r"[!-~](?:[ -~]*[!-~])?")


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with what the host said; each host on the way must be granted."""
    import httpx

    url, method = parse_url(str(args["url"])), str(args["method"])
    body, kind = _body(args, method)
    headers = {**_given(args), **_credentials(args, url)}
    if kind:
        headers["Content-Type"] = kind
    if bench.idempotency_key and method not in _READS:
        headers["Idempotency-Key"] = bench.idempotency_key
    limit = int(str(args.get("max_bytes", _MAX_BYTES)))
    trust = httpx.create_ssl_context(trust_env=False)
    where, answer = await follow(Request(url, method, headers, body), limit, bench.hosts, trust)
    if not (answer.ok or answer.status == 304):
        raise refusal(where, answer, quote=True)
    return await to_thread.run_sync(_answered, where, answer)


def _answered(url: Url, answer: Answer) -> dict[str, object]:
    kept = {name: answer.headers[name] for name in _TOLD_HEADERS if name in answer.headers}
    return {**told(url, answer, values=True), **({"headers": kept} if kept else {})}


def _body(args: Mapping[str, object], method: str) -> tuple[bytes | None, str]:
    """The body and its type; None and "" where there is none."""
    if "body" not in args and "json" not in args:
        if "content_type" in args:
            raise _bad("content_type goes with a body", "leave it out, or give body")
        return None, ""
    if "body" in args and "json" in args:
        raise _bad("there are two bodies, body and json", "give one of them")
    if method in _READS:
        raise _bad(f"a {method} has no body", "leave body and json out, or use POST")
    if "json" in args:
        return json_bytes(args["json"]), str(args.get("content_type", "application/json"))
    return str(args["body"]).encode(), str(args.get("content_type", "text/plain; charset=utf-8"))


def _given(args: Mapping[str, object]) -> dict[str, str]:
    given = args.get("headers")
    if not isinstance(given, Mapping):
        return {}
    names = [name.lower() for name in given]
    if len(set(names)) != len(names):
        raise _bad("a header stands there twice", "name each header once")
    return {name: str(value).strip() for name, value in given.items()}


def _credentials(args: Mapping[str, object], url: Url) -> dict[str, str]:
    """The headers with credentials, whose values are here by now. They are never sent in clear."""
    named = [name for name in ("bearer", "basic_auth", "api_key") if name in args]
    if not named:
        return {}
    if "bearer" in named and "basic_auth" in named:
        raise _bad("there are two credentials for one header, bearer and basic_auth", "give one of them")
    require_encrypted(url)
    headers: dict[str, str] = {}
    for name in named:
        value = str(args[name])
        if name != "basic_auth" and not _HEADER_VALUE.fullmatch(value):
            raise _bad(f"the value that {name} names cannot stand in a header", "set the variable anew")
        if name == "api_key":
            headers[str(args["api_key_header"])] = value
        else:
            packed = base64.b64encode(value.encode()).decode()
            headers["Authorization"] = f"Bearer {value}" if name == "bearer" else f"Basic {packed}"
    if len({name.lower() for name in headers}) != len(headers):
        raise _bad("there are two credentials for one header", "name another api_key_header")
    return headers


def _bad(why: str, fix: str) -> ToolError:
    return ToolError("BAD_REQUEST", why, place="http/request", fix=fix)
