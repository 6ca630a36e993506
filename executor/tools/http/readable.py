"""An HTML page as text that people read: title, headings, paragraphs, lists, tables, links; nothing hidden.

The page is read as a stream of tags, never as a tree: time and memory grow with its length, whatever it says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

from executor.core.errors import ToolError

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
