"""The canonical layout of a document as an edit of whole lines."""

from __future__ import annotations

from typing import NamedTuple

from mcl.language.mtx.format import format_file
from mcl.language.mtx.parse import Parsed
from mcl.plugins.editor.document import BOM, Document, Point, rows


class Edit(NamedTuple):
    """Write `text` from `start` up to `end`, both in the editor's count."""

    start: Point
    end: Point
    text: str


def layout(document: Document, parsed: Parsed) -> Edit | None:
    """The edit that gives a well-formed text its canonical layout, as small as whole lines allow; None where
    it has it. The document's own line ends and BOM stay. Raises ValueError for a text with errors.
    """
    ending = "\r\n" if document.text.count("\r\n") * 2 > document.text.count("\n") else "\n"
    bom = BOM if document.text.startswith(BOM) else ""
    old, new = rows(document.text), rows((bom + format_file(parsed)).replace("\n", ending))
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head == len(old) == len(new):
        return None
    end = Point(len(old) - tail, 0) if tail else document.end()
    return Edit(Point(head, 0), end, "".join(new[head : len(new) - tail]))
