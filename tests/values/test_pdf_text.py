"""What a PDF says."""

from __future__ import annotations

import zlib

from mcl.values.pdf_text import pdf_text


def _pdf(content: bytes, says: bytes = b"") -> bytes:
    return b"%%PDF-1.4\n<< /Length %d%s >>\nstream\n%s\nendstream\n" % (len(content), says, content)


def test_the_texts_of_its_pages_are_read_packed_or_not() -> None:
    content = rb"BT (Tea \(green\)) Tj [(Mi) -20 (lk)] TJ (caf\351) ' ET"
    assert pdf_text(_pdf(content)) == "Tea (green)\nMilk\ncafé"
    assert pdf_text(_pdf(zlib.compress(content), b" /Filter /FlateDecode")) == "Tea (green)\nMilk\ncafé"


def test_what_is_no_pdf_or_keeps_no_letters_says_nothing() -> None:
    assert pdf_text(b"(Tea) Tj") == ""
    assert pdf_text(_pdf(b"\x00\x01", b" /Filter /DCTDecode")) == ""
    assert pdf_text(_pdf(b"broken", b" /Filter /FlateDecode")) == ""
