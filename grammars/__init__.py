"""Grammars by id and the compiler's own rules: data with a small loader.

`load("intent_frame@1")` reads `intent_frame@1.lark`; `core_modules()` reads `core/*.mtx`. Nothing is kept:
the caller holds what it needs. The digest is sha256 (hex) of the file's bytes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Grammar", "core_modules", "load"]

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Grammar:
    """One grammar file: its id, its text and the sha256 (hex) of its bytes."""

    id: str
    text: str
    digest: str


def load(id: str) -> Grammar:
    """The grammar with this id. Raises LookupError for an id that is not shipped."""
    path = _HERE / f"{id}.lark"
    if "/" in id or "\\" in id or not path.is_file():
        known = ", ".join(sorted(p.stem for p in _HERE.glob("*.lark")))
        raise LookupError(f"no grammar {id!r}; there are: {known}")
    data = path.read_bytes()
    return Grammar(id, data.decode("utf-8"), hashlib.sha256(data).hexdigest())


def core_modules() -> dict[str, Path]:
    """The core modules' files by name (pipeline, verb, frame, …), in name order."""
    return {path.stem: path for path in sorted((_HERE / "core").glob("*.mtx"))}
