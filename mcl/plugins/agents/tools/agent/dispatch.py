"""Sends a signed envelope to another agent and takes the bytes of its answer; the walker judges them."""

from __future__ import annotations

from collections.abc import Mapping

import anyio

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.origin import Url, parse_url
from executor.tools.http.answer import refusal
from executor.tools.http.fetch import Answer, Request, fetch
from executor.tools.tool import Bench

MAX_ANSWER = 1 << 18  # bytes of an envelope
_CBOR = "application/cbor"
_SILENCE_S = 600.0  # an agent may think for long; the node's own time ends it
_WAIT_S, _LONGEST_WAIT_S = 2, 60  # between two looks at an agent that is still at work


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the bytes that the agent sent, once it is done: it says 202 until then, and is asked again
    with the very same envelope."""
    import httpx

    if not bench.letter:
        raise ToolError(
            "NO_ENVELOPE",
            "there is nothing signed to send",
            place=bench.node_id,
            fix="use a sub_dispatch node with agent_ref",
        )
    url = parse_url(str(args["endpoint"]))
    if url.origin not in bench.hosts:
        raise ScopeError(
            "HOST_DENIED", f"{url.origin} was not granted", place=str(url), fix="have it granted"
        )
    headers = {"Content-Type": _CBOR, "Accept": _CBOR, "Idempotency-Key": bench.idempotency_key}
    request = Request(url, "POST", headers, bench.letter, _SILENCE_S)
    trust = httpx.create_ssl_context(trust_env=False)
    while (answer := await fetch(request, MAX_ANSWER, trust)).status == 202:
        await anyio.sleep(_wait(answer))
    return {"text": f"{url.origin} answered", "answer": _body(url, answer).hex()}


def _wait(answer: Answer) -> float:
    """Seconds until the agent is asked again: what it wishes, within reason."""
    said = answer.headers.get("retry-after", "")
    wished = int(said) if said.isascii() and said.isdigit() and len(said) < 5 else _WAIT_S
    return min(max(wished, 1), _LONGEST_WAIT_S)


def _body(url: Url, answer: Answer) -> bytes:
    if answer.location:
        raise ToolError(
            "REDIRECT_REFUSED",
            f"{url.origin} sends us elsewhere; work goes to the address that was entered, and nowhere else",
            place=str(url),
            fix="mcl agent add … --endpoint with the address where it really listens",
        )
    if not answer.ok:
        raise refusal(url, answer, quote=True)
    if answer.content_type.partition(";")[0].strip().lower() != _CBOR or answer.truncated:
        what = (
            f"more than {MAX_ANSWER} bytes"
            if answer.truncated
            else f"{answer.content_type[:60] or 'no type'}"
        )
        raise ToolError(
            "BAD_RESPONSE",
            f"{url.origin} answered with {what}, not with an envelope ({_CBOR})",
            place=str(url),
            fix="ask the operator of that agent",
        )
    return answer.body
