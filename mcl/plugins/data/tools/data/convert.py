"""Writes a table in another format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.data.tools.data.extract import decimal_comma
from mcl.plugins.data.tools.data.selection import choose_rows
from mcl.plugins.data.tools.data.writing import format_of, table_bytes


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """The file that will be made."""
    return [(target_of(args, workspace), "write")]


def target_of(args: Mapping[str, object], workspace: Workspace) -> str:
    """Where the table goes: the file named, else beside the table with the ending of the format.

    Raises:
        ToolError: UNKNOWN_FORMAT, SAME_FILE.
    """
    path, to, form = str(args["path"]), str(args.get("to", "")), str(args.get("format", ""))
    parts = workspace.split(path)
    if to in ("", "."):
        if not form:
            fix = "say csv, tsv, json, jsonl or markdown, or name a file"
            raise ToolError("UNKNOWN_FORMAT", "the format is not said", place="format", fix=fix)
        stem = parts[-1].rpartition(".")[0] or parts[-1]
        to = "/".join((*parts[:-1], f"{stem}.{'md' if form == 'markdown' else form}"))
    if workspace.split(to) == parts:
        raise ToolError("SAME_FILE", f"{to!r} is the table itself", place=path, fix="name another file")
    return "/".join(workspace.split(to))


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Write it to a new file."""
    return await to_thread.run_sync(_convert, args, bench)


def _convert(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    path, check = str(args["path"]), from_thread.check_cancelled
    to = target_of(args, bench.workspace)
    form = format_of(to)
    found = choose_rows({"path": path}, bench, check)
    data = table_bytes(found.names, found.rows, form, comma=decimal_comma(path, bench))
    written = bench.workspace.write(to, data, replace=False, check=check)
    columns = counted(len(found.names), "column")
    text = f"{written.path}: {counted(len(found.rows), 'row')}, {columns} as {form}"
    answer: dict[str, object] = {"path": written.path, "size": written.size, "sha256": written.sha256}
    return {**answer, "format": form, "rows": len(found.rows), "text": visible(text)}
