"""An answer as a plan gets it: readable text, JSON where it is JSON, and what its bytes were."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import urljoin

from executor.core.errors import ToolError
from executor.core.hashing import is_shallow
from executor.sandbox.origin import Url
from executor.sandbox.redaction import visible, visible_value
from executor.tools.http.fetch import Answer

# ---- From the bytes of a page to its text.

# Python knows codecs that are no character sets, or that take long; these are the ones of the web.
_KNOWN = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1250", "cp1251", "cp1252", "cp1253"),
        *("cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp866", "cp874", "iso8859-2"),
        *("iso8859-3", "iso8859-4", "iso8859-5", "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-10"),
        *("iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "koi8-r", "koi8-u", "mac-roman"),
        *("gb18030", "big5", "big5hkscs", "euc_jp", "cp932", "iso8859-11", "iso2022_jp", "cp949", "tis-620"),
    }
)
# Pages name less than they use: what browsers read in its place.
_LARGER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEAD = 1024  # bytes of a page in which its own word about its charset must stand
_META = re.compile(
    rb"<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9._:-]{1,40})", re.IGNORECASE
)


def decode(data: bytes, declared: str, *, html: bool, cut: bool) -> str:
    """The text of a body; what cannot be read shows as replacement characters.

    Args:
        declared: the charset of the Content-Type header, or "".
        html: may the page itself name its charset?
        cut: does the body break off, so that half a character at its end is no fault?
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _read(data[len(mark) :], name, cut)
    found = _META.search(data[:_HEAD]) if html else None
    for label in (declared, found[1].decode("ascii") if found else ""):
        if name := _codec(label):
            return _read(data, name, cut)
    try:
        return codecs.getincrementaldecoder("utf-8")("strict").decode(data, final=not cut)
    except UnicodeDecodeError:
        return _read(data, "cp1252", cut)


def _codec(label: str) -> str:
    try:
        name = codecs.lookup(label.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return ""
    name = _LARGER.get(name, name)
    return name if name in _KNOWN else ""


def _read(data: bytes, name: str, cut: bool) -> str:
    return codecs.getincrementaldecoder(name)("replace").decode(data, final=not cut)


# ---- An HTML page as text that people read: title, headings, paragraphs, lists, tables, links; nothing
# hidden.

_DROPPED: Final = frozenset(
    {
        *("script", "style", "template", "noscript", "svg", "math", "iframe", "object", "embed"),
        *("canvas", "audio", "video", "select", "textarea"),
    }
)
_PARAGRAPHS: Final = frozenset(
    {
        *("p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "blockquote"),
        *("pre", "ul", "ol", "dl", "table", "form", "fieldset", "figure", "figcaption", "address"),
        *("details", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "body"),
    }
)
_LINES: Final = frozenset({"li", "dt", "dd", "tr", "br", "option", "caption"})
_HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_HIDDEN = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_PIECE = 1 << 16  # bytes given to the parser at once
_MOST_LINKS = 2000  # whose addresses are told
_LONGEST_LINK = 300  # characters


def readable(html: str, address: str) -> tuple[str, str]:
    """Title and text of a page.

    Args:
        address: where the page is from; links are told in full.
    """
    try:
        from lxml.etree import HTMLParser  # heavy
    except ImportError as missing:
        raise ToolError(
            "EXTRA_MISSING",
            "what makes readable text of HTML is not installed",
            place=address,
            fix="install mcl with its extra: data",
        ) from missing
    page = _Page(address)
    parser = HTMLParser(target=page, encoding="utf-8", remove_comments=True, remove_pis=True)
    data = html.replace("\0", "").encode("utf-8", "replace")
    if not data.strip():
        return "", ""
    for start in range(0, len(data), _PIECE):
        parser.feed(data[start : start + _PIECE])
    parser.close()
    return page.told()


class _Page:
    """What lxml tells of a page, tag by tag."""

    def __init__(self, address: str) -> None:
        self._base = address
        self._title: list[str] = []
        self._lines: list[str] = []
        self._line: list[str] = []
        self._prefix = ""
        self._dropped = 0  # how many elements deep inside one that is not shown
        self._open = {"title": 0, "pre": 0, "ul": 0, "ol": 0}
        self._link: tuple[str, int] | None = None  # its address, and where in the line it began
        self._links = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._dropped or tag in _DROPPED or _hidden(attributes):
            self._dropped += 1
            return
        self._end_block(tag)
        if tag in self._open:
            self._open[tag] += 1
        if tag in _HEADINGS:
            self._prefix = _HEADINGS[tag]
        elif tag == "li":
            self._prefix = "  " * min(self._open["ul"] + self._open["ol"] - 1, 8) + "- "
        elif tag in ("td", "th") and self._line:
            self._line.append(" | ")
        elif tag == "img" and attributes.get("alt", "").strip():
            self.data(f"[{attributes['alt'].strip()}]")
        elif tag == "base":
            self._base = self._joined(attributes.get("href", "")) or self._base
        elif tag == "a":
            self._link = (attributes.get("href", ""), len(self._line))

    def end(self, tag: str) -> None:
        if self._dropped:
            self._dropped -= 1
            return
        if tag == "a":
            self._end_link()
        if self._open["pre"] and tag == "pre":
            self._end_line(paragraph=True)
        if self._open.get(tag):
            self._open[tag] -= 1
        if tag != "br":
            self._end_block(tag)

    def data(self, text: str) -> None:
        if self._dropped:
            return
        if self._open["title"]:
            self._title.append(text)
        elif self._open["pre"]:
            first, *more = text.split("\n")
            self._line.append(first)
            for line in more:
                self._end_line(paragraph=False)
                self._line.append(line)
        else:
            self._line.append(_BLANKS.sub(" ", text))

    def close(self) -> None:
        self._end_line(paragraph=True)

    def told(self) -> tuple[str, str]:
        """Title and text."""
        while self._lines and not self._lines[-1]:
            self._lines.pop()
        return _BLANKS.sub(" ", "".join(self._title)).strip(), "\n".join(self._lines)

    def _end_block(self, tag: str) -> None:
        if tag in _PARAGRAPHS or tag in _LINES:
            in_list = self._open["ul"] or self._open["ol"]
            self._end_line(paragraph=tag in _PARAGRAPHS and not in_list)

    def _end_line(self, *, paragraph: bool) -> None:
        joined = "".join(self._line)
        text = joined.rstrip() if self._open["pre"] else _BLANKS.sub(" ", joined).strip()
        self._line, self._link = [], None
        if text:
            self._lines.append(self._prefix + text)
            self._prefix = ""
        if paragraph and self._lines and self._lines[-1]:
            self._lines.append("")

    def _end_link(self) -> None:
        link, self._link = self._link, None
        if link is None or self._links >= _MOST_LINKS or not "".join(self._line[link[1] :]).strip():
            return
        address = self._joined(link[0])
        if address and not link[0].startswith("#"):
            self._links += 1
            self._line.append(f" ({address})")

    def _joined(self, link: str) -> str:
        try:
            found = urljoin(self._base, link.strip()) if len(link) <= _LONGEST_LINK else ""
        except ValueError:
            return ""
        return found if found.startswith(("https://", "http://")) and len(found) <= _LONGEST_LINK else ""


def _hidden(attributes: Mapping[str, str]) -> bool:
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDDEN.search(attributes.get("style", "")))
    )


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
    said = ""
    with suppress(ToolError):  # a page that cannot be read here is not quoted: its status is what counts
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
