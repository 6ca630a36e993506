"""JSON values as bytes, and their hash: keys sorted, compact, integers of any size kept exact."""

from __future__ import annotations

import hashlib
import json


def json_bytes(value: object) -> bytes:
    """UTF-8 JSON of a plain value; equal values give equal bytes."""
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode()


def json_hash(value: object) -> str:
    """Lowercase hex sha256 of ``json_bytes``."""
    return hashlib.sha256(json_bytes(value)).hexdigest()
