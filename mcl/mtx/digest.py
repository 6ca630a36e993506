"""The digest of a file: what it means, not how it is laid out."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from ir import canonical_bytes
from mcl.mtx.ast import SECTIONS, File
from mcl.mtx.codec import named

# A tree holds texts, truth values and null under ASCII names, of which C code makes the RFC 8785 form as well
# as ir.canonical_bytes does (a test compares them), ten times faster: digests are made at every start.
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":"), default=named
)


def file_digest(file: File) -> str:
    """sha256 (hex) of the RFC 8785 form of the tree: node kinds named, every field present, the order of
    declaration kept; comments, layout, the order of sections and §HASH left out.

    An absent section and an empty one differ.
    """
    order = {name: index for index, name in enumerate(SECTIONS)}
    kept = sorted(
        (section for section in file.sections if section.name != "HASH"),
        key=lambda section: order[section.name],
    )
    text = _ENCODER.encode({"node": "File", "sections": kept})
    return hashlib.sha256(text.encode()).hexdigest()


def value_digest(value: Any) -> str:
    """sha256 (hex) of the RFC 8785 form of plain JSON values."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()
