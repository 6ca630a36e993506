"""The digest of a file: what it means, not how it is laid out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

from ir import canonical_bytes
from mcl.language.mtx.ast import SECTIONS, File, On, Section
from mcl.language.mtx.codec import named

# A tree holds texts, truth values and null under ASCII names, of which C code makes the RFC 8785 form as well
# as ir.canonical_bytes does (a test compares them), ten times faster: digests are made at every start.
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"), default=named
)


def file_digest(file: File) -> str:
    """sha256 (hex) of the RFC 8785 form of the tree: node kinds named, every field present, the order of
    declaration kept inside a section; comments, layout, the order of the sections and §HASH left out.

    The order of sections is layout: the language gives it no meaning, real files differ in it, and what a
    section says is the same wherever it stands. An absent section and an empty one differ, as do an absent
    and an empty value, and a list and a text.
    """
    order = {name: index for index, name in enumerate(SECTIONS)}
    kept = sorted(
        (section for section in file.sections if section.name != "HASH"),
        key=lambda section: order[section.name],
    )
    hashed = hashlib.sha256(b'{"node":"File","sections":[')
    for index, section in enumerate(kept):
        hashed.update(b"," if index else b"")
        for text in _canonical(section):
            hashed.update(text.encode())
    hashed.update(b"]}")
    return hashed.hexdigest()


def _canonical(section: Section) -> Iterator[str]:
    """The canonical form of a section in pieces: blocks nest deeper than an encoder goes."""
    yield '{"entries":['
    levels: list[tuple[Iterator[Any], str]] = [
        (iter(section.entries), f'],"name":{_ENCODER.encode(section.name)},"node":"Section"}}')
    ]
    comma = ""
    while levels:
        entries, close = levels[-1]
        plain: list[Any] = []
        block = None
        for entry in entries:
            if isinstance(entry, On):
                block = entry
                break
            plain.append(entry)
        if plain:  # many at once: the encoder is quick
            yield comma + _ENCODER.encode(plain)[1:-1]
            comma = ","
        if block is None:
            levels.pop()
            yield close
            comma = ","
        else:
            yield comma + '{"body":['
            levels.append(
                (iter(block.body), f'],"condition":{_ENCODER.encode(block.condition)},"node":"On"}}')
            )
            comma = ""


def value_digest(value: Any) -> str:
    """sha256 (hex) of the RFC 8785 form of plain JSON values."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()
