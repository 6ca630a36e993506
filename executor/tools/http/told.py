"""An answer as a plan gets it: readable text, JSON where it is JSON, and what its bytes were."""

from __future__ import annotations

import hashlib
import json
import re

from executor.core.errors import ToolError
from executor.core.hashing import is_shallow
from executor.sandbox.origin import Url
from executor.sandbox.redaction import visible, visible_value
from executor.tools.http.charset import decode
from executor.tools.http.fetch import Answer
from executor.tools.http.readable import readable

_MAX_TEXT = 200_000  # characters: as JSON they always fit into max_output
_MAX_JSON = 1 << 18  # bytes of a document that is told as values too; beside it, text is only for a look
_BESIDE_JSON = 20_000  # characters
_MAX_SAID = 300  # characters of an error page that are quoted
_HTML = ("text/html", "application/xhtml+xml")
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s;"']+)""", re.IGNORECASE)
_TEXT = ("application/json", "application/xml", "application/javascript", "application/x-yaml", "")
_PASSING = (408, 425, 429, 500, 502, 503, 504)  # what a host answers for a while


def told(url: Url, answer: Answer, *, values: bool = False) -> dict[str, object]:
    """What came back.

    Args:
        url: where it came from in the end.
        values: tell a JSON document as values too.
    """
    title, text = _text(answer, url)
    text = visible(text)
    document = _document(answer) if values else None
    limit = _MAX_TEXT if document is None else _BESIDE_JSON
    return {
        "url": str(url),
        "status": answer.status,
        "content_type": answer.content_type,
        **({"title": visible(title)[:1000]} if title else {}),
        "text": text[:limit],
        **({"json": visible_value(document[0])} if document else {}),
        "bytes": len(answer.body),
        "sha256": hashlib.sha256(answer.body).hexdigest(),
        "truncated": answer.truncated or len(text) > limit,
    }


def refusal(url: Url, answer: Answer, *, quote: bool = False) -> ToolError:
    """The error for a status that is none of success. quote: with the beginning of what the host says."""
    said = " ".join(visible(_text(answer, url)[1]).split())[:_MAX_SAID] if quote else ""
    return ToolError(
        "HTTP_STATUS",
        f"{url.origin} answered with status {answer.status}"
        f" ({visible(answer.reason)[:60] or 'no reason given'})" + (f": {said}" if said else ""),
        place=str(url),
        fix="check the address",
        data={"status": answer.status},
        transient=answer.status in _PASSING,
    )


def _text(answer: Answer, url: Url) -> tuple[str, str]:
    """Title and text of the body, as far as it is text."""
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
    return title, text


def _document(answer: Answer) -> tuple[object] | None:
    """The values of a JSON document, integers exact; None where it is none, cut short or too long."""
    kind, _ = _kind(answer.content_type)
    if kind != "application/json" and not kind.endswith("+json"):
        return None
    if answer.truncated or len(answer.body) > _MAX_JSON:
        return None
    try:
        found = json.loads(answer.body, parse_constant=_no_number, object_pairs_hook=_named_once)
    except (ValueError, RecursionError):
        return None
    return (found,) if is_shallow(found) else None


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number of JSON")


def _named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names differ: of two alike each reader takes another one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found


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
