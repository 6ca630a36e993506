"""Writes a table in another format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.data.tools.data.extract import decimal_comma
from mcl.plugins.data.tools.data.selection import choose_rows
from mcl.plugins.data.tools.data.writing import format_of, table_bytes


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Write it to a new file."""
    return await to_thread.run_sync(_convert, args, bench)


def _convert(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    path, to, check = str(args["path"]), str(args["to"]), from_thread.check_cancelled
    form = format_of(to)
    if bench.workspace.split(path) == bench.workspace.split(to):
        raise ToolError("SAME_FILE", f"{to!r} is the table itself", place=to, fix="name another file")
    found = choose_rows({"path": path}, bench, check)
    data = table_bytes(found.names, found.rows, form, comma=decimal_comma(path, bench))
    written = bench.workspace.write(to, data, replace=False, check=check)
    columns = counted(len(found.names), "column")
    text = f"{written.path}: {counted(len(found.rows), 'row')}, {columns} as {form}"
    answer: dict[str, object] = {"path": written.path, "size": written.size, "sha256": written.sha256}
    return {**answer, "format": form, "rows": len(found.rows), "text": visible(text)}
