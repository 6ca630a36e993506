"""What a PDF says: the texts that its pages show, as far as they are kept in letters. Pure."""

from __future__ import annotations

import re
import zlib
from typing import Final

_STREAM: Final = re.compile(
    rb"<<(?P<says>(?:[^>]|>(?!>))*)>>\s*stream\r?\n(?P<data>.*?)\r?\nendstream", re.DOTALL
)
_SHOWN: Final = re.compile(
    rb"\[((?:\([^()\\]*(?:\\.[^()\\]*)*\)|[^\]()])*)\]\s*TJ|\(([^()\\]*(?:\\.[^()\\]*)*)\)\s*(?:Tj|'|\")",
    re.DOTALL,
)
_PART: Final = re.compile(rb"\(([^()\\]*(?:\\.[^()\\]*)*)\)", re.DOTALL)
_ESCAPED: Final = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_MOST: Final = 1 << 20  # bytes of a stream


def pdf_text(data: bytes) -> str:
    """The texts of a PDF, one a line; "" where it is none, or keeps them otherwise."""
    if not data.startswith(b"%PDF-"):
        return ""
    lines = []
    for stream in _STREAM.finditer(data):
        content = _unpacked(stream["says"], stream["data"])
        for shown in _SHOWN.finditer(content):
            parts = _PART.findall(shown[1]) if shown[1] is not None else [shown[2]]
            lines.append("".join(_ESCAPED.sub(_letter, part).decode("cp1252", "replace") for part in parts))
    return "\n".join(line for line in lines if line.strip())


def _unpacked(says: bytes, data: bytes) -> bytes:
    if b"/Filter" not in says:
        return data
    if b"/FlateDecode" not in says:
        return b""
    try:
        return zlib.decompressobj().decompress(data, _MOST)
    except zlib.error:
        return b""


def _letter(match: re.Match[bytes]) -> bytes:
    said = match[1]
    if said.isdigit():
        return bytes([int(said, 8) & 255])
    return {b"n": b"\n", b"r": b"", b"t": b"\t"}.get(said, said)
