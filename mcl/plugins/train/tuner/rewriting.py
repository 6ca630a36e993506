"""A model file written again: the tensors byte for byte, other texts under keys, other heads behind them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from mcl.model.files import BEHIND_KEYS, read_header
from mcl.model.heads import SIZE_KEY

_TEXT, _NUMBER = 8, 10  # kinds of values of a GGUF: a text, a whole number of eight bytes


def rewrite(base: Path, target: Path, *, said: Mapping[str, str], heads: bytes) -> None:
    """Write `base` to `target` with these texts under keys and these heads; what else lies behind the tensors
    stays. Raises ModelError as `read_header` does."""
    header, old = read_header(base), base.read_bytes()
    sizes = {key: int(str(header.metadata.get(key, 0))) for key in BEHIND_KEYS}
    behind = len(old) - sum(sizes.values())
    new = {key: struct.pack("<I", _TEXT) + _text(value) for key, value in sorted(said.items())}
    new[SIZE_KEY] = struct.pack("<IQ", _NUMBER, len(heads))
    kept = [old[start:end] for key, start, end in header.keys if key not in new]
    made = [_text(key) + value for key, value in new.items()]
    head = b"".join(
        (
            struct.pack("<4sIQQ", b"GGUF", header.version, header.tensors, len(kept) + len(made)),
            *kept,
            *made,
            old[slice(*header.table)],
        )
    )
    alignment = header.metadata.get("general.alignment", 32)
    assert isinstance(alignment, int), "read_header has looked"
    parts = (
        head,
        bytes(-len(head) % alignment),
        old[header.data : behind],
        heads,
        old[behind + sizes[SIZE_KEY] :],
    )
    target.write_bytes(b"".join(parts))


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
