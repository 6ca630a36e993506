"""The seed of a compile: everything the answer may depend on, in one digest."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from ir.errors import IrError
from ir.scalars import DIGEST_PATTERN

NO_SNAPSHOT: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class Seed:
    """`hex`: the whole sha256, recorded. `sampler`: its first 8 bytes, big endian, masked to 31 bits."""

    hex: str
    sampler: int


def derive_seed(
    *, intent_id: str, actor: str, snapshot_hash: str, mtx_digest: str, model_digest: str
) -> Seed:
    """sha256 over the five texts joined by 0x1F.

    The digests are 64 lowercase hex digits; an empty snapshot_hash stands for 64 zeros (no memories).
    Raises IrError: SEED_SEPARATOR (a field holds 0x1F), SEED_DIGEST (a digest is none).
    """
    fields = {
        "intent_id": intent_id,
        "actor": actor,
        "snapshot_hash": snapshot_hash or NO_SNAPSHOT,
        "mtx_digest": mtx_digest,
        "model_digest": model_digest,
    }
    for name, text in fields.items():
        if "\x1f" in text:
            raise IrError("SEED_SEPARATOR", "the separator 0x1F stands in a field of the seed", place=name)
        if name.endswith(("_hash", "_digest")) and not re.fullmatch(DIGEST_PATTERN, text):
            raise IrError("SEED_DIGEST", "not 64 lowercase hex digits", place=name)
    digest = hashlib.sha256("\x1f".join(fields.values()).encode()).digest()
    return Seed(digest.hex(), int.from_bytes(digest[:8], "big") & 0x7FFF_FFFF)
