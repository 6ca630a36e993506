"""From the bytes of a page to its text."""

from __future__ import annotations

import codecs
import re

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
