"""What a command was declared for: files, or parts of them, that must be what they were."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from executor.core.errors import ScopeError, ToolError
from executor.core.hashing import json_hash
from executor.sandbox.paths import Workspace

MOST: Final = 1 << 20  # bytes of such a file


def part_digest(name: str, data: bytes) -> str:
    """sha256 (hex) of a file, or of a part of one: ``package.json#scripts`` is what is under that key of a
    JSON or TOML file, keys below one another between dots.

    Raises:
        ValueError: it cannot be read as what it is, or is too large.
    """
    if len(data) > MOST:
        raise ValueError(f"it has more than {MOST:,} bytes")
    file, part, keys = name.partition("#")
    if not part:
        return sha256(data).hexdigest()
    try:
        value: object = json.loads(data) if file.endswith(".json") else tomllib.loads(data.decode())
        for key in keys.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return json_hash(value)
    except RecursionError as problem:
        raise ValueError("it is too deep") from problem


def require_unchanged(workspace: Workspace, folder: str, wanted: Mapping[str, str]) -> None:
    """Raise ToolError COMMAND_CHANGED where a file in a folder of the workspace is not what it was.

    wanted: by name, as of `part_digest`.
    """
    for name, digest in wanted.items():
        file = name.partition("#")[0]
        try:
            data, size = workspace.read(f"{folder}/{file}", MOST + 1)
            found = part_digest(name, data) if size <= MOST else ""
        except (ValueError, ScopeError):  # not there, say
            found = ""
        if found != digest:
            raise ToolError(
                "COMMAND_CHANGED",
                f"{file} is not what it was when this command was declared",
                place=file,
                fix=f"look at it, and let it be asked for again: mcl skill import {file}",
            )
