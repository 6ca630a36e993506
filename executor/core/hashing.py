"""JSON values as bytes, and their hash: keys sorted, compact, integers of any size kept exact."""

from __future__ import annotations

import hashlib
import json
from typing import Final

# Made once: json.dumps makes an encoder for every call.
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, sort_keys=True, separators=(",", ":")
)


def json_bytes(value: object) -> bytes:
    """UTF-8 JSON of a plain value; equal values give equal bytes."""
    return _ENCODER.encode(value).encode()


def json_hash(value: object) -> str:
    """Lowercase hex sha256 of ``json_bytes``."""
    return hashlib.sha256(json_bytes(value)).hexdigest()


def json_size(value: object) -> int | None:
    """How many bytes ``json_bytes`` makes of a value of unknown make; None where it cannot be written."""
    try:
        return len(json_bytes(value))
    except (TypeError, ValueError, RecursionError):  # not JSON; NaN or half a character; endless
        return None


def is_json(value: object, limit: int) -> bool:
    """Whether a value of unknown make can be written by ``json_bytes`` in at most ``limit`` bytes."""
    size = json_size(value)
    return size is not None and size <= limit


def is_shallow(value: object, levels: int = 64) -> bool:
    """Whether a JSON value has at most so many lists and objects inside one another."""
    below = [value]
    for _ in range(levels + 1):
        below = [
            item
            for one in below
            if isinstance(one, dict | list)
            for item in (one.values() if isinstance(one, dict) else one)
        ]
        if not below:
            return True
    return False
