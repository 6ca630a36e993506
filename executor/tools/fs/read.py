"""Reads a text file."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.tools.tool import Bench

_MAX_BYTES = 200_000


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the file's text, at most ``max_bytes`` of it, cut at a whole character."""
    return await to_thread.run_sync(
        _read, str(args["path"]), int(str(args.get("max_bytes", _MAX_BYTES))), bench
    )


def _read(path: str, limit: int, bench: Bench) -> dict[str, object]:
    data, size = bench.workspace.read(path, limit)
    truncated = size > len(data)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=not truncated)
    except UnicodeDecodeError as problem:
        raise ToolError(
            "NOT_TEXT", f"{path!r} is no UTF-8 text", place=path, fix="name a text file"
        ) from problem
    if "\0" in text:
        raise ToolError("NOT_TEXT", f"{path!r} is a binary file", place=path, fix="name a text file")
    if truncated:
        digest, _ = bench.workspace.digest(path, check=from_thread.check_cancelled)
    else:
        digest = hashlib.sha256(data).hexdigest()
    return {"path": path, "text": text, "size": size, "sha256": digest, "truncated": truncated}
