"""The intent map of a governed folder: by file, the intents under which it was changed."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from executor.sandbox.files import explain, read_up_to
from ir import DocumentError, parse_json
from mcl.plugins.agents.trace.folder import MAP, NAME, open_file

SCHEMA: Final = "mcl.intent_map.v1"
_MOST: Final = 16 << 20  # bytes


def read_map(folder: int) -> dict[str, tuple[str, ...]]:
    """By file, the labels; empty where there is no map or it cannot be read. folder: of `opened_folder`.

    Raises:
        ScopeError: what lies there is no plain file.
    """
    try:
        file = open_file(folder, MAP, os.O_RDONLY)
    except FileNotFoundError:
        return {}
    try:
        data = read_up_to(file, _MOST + 1)
    finally:
        os.close(file)
    try:
        told = parse_json(data.decode(), max_nesting=4)
    except (DocumentError, UnicodeDecodeError):
        return {}
    files = told.get("files") if isinstance(told, dict) else None
    if not isinstance(files, Mapping):
        return {}
    return {
        path: tuple(sorted({label for label in labels if isinstance(label, str)}))
        for path, labels in files.items()
        if isinstance(labels, list)
    }


def write_map(folder: int, pairs: Iterable[tuple[str, str]]) -> None:
    """Add pairs of file and label to the map, and put it in place whole. Raises ScopeError."""
    known = {path: set(labels) for path, labels in read_map(folder).items()}
    for path, label in pairs:
        known.setdefault(path, set()).add(label)
    told = {"schema": SCHEMA, "files": {path: sorted(known[path]) for path in sorted(known)}}
    data = json.dumps(told, ensure_ascii=False, indent=2).encode() + b"\n"
    spare = f".{MAP}.{secrets.token_hex(8)}"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(spare, flags, 0o644, dir_fd=folder), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(spare, MAP, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as problem:
        with suppress(OSError):
            os.unlink(spare, dir_fd=folder)
        explain(problem, f"{NAME}/{MAP}")
