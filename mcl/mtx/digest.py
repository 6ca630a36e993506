"""The digest of a file: what it means, not how it is laid out."""

from __future__ import annotations

import hashlib
from typing import Any

from ir import canonical_bytes
from mcl.mtx.ast import SECTIONS, File
from mcl.mtx.codec import plain


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
    return value_digest({"node": "File", "sections": [plain(section) for section in kept]})


def value_digest(value: Any) -> str:
    """sha256 (hex) of the RFC 8785 form of plain JSON values."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()
