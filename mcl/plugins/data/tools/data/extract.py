"""Writes rows of a table to a file: those that are meant, in an order, with some columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.data.tools.data.answer import answers_of
from mcl.plugins.data.tools.data.entries import is_folder
from mcl.plugins.data.tools.data.figures import plain
from mcl.plugins.data.tools.data.logs import ENDING, NAMES
from mcl.plugins.data.tools.data.selection import Chosen, choose_rows
from mcl.plugins.data.tools.data.source import kinds_of
from mcl.plugins.data.tools.data.table import open_table
from mcl.plugins.data.tools.data.writing import format_of, table_bytes

MOST_BYTES = 256 << 20


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Write them, to a new file or in place of the table itself."""
    return await to_thread.run_sync(_extract, args, bench)


def _extract(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    path, to, check = str(args["path"]), str(args["to"]), from_thread.check_cancelled
    form = "" if args.get("question") and to.lower().endswith((".txt", ENDING)) else format_of(to)
    found = _asked(args, bench, check) if args.get("question") else choose_rows(args, bench, check)
    whole = len(found.rows) == found.of and not args.get("columns")
    if args.get("doubles") == "drop":
        found = replace(found, rows=[list(one) for one in dict.fromkeys(map(tuple, found.rows))])
    where = f" where {' and '.join(found.told)}" if found.told else ""
    if not found.rows:
        message, fix = f"no row of {path!r}{where}", "look at its rows first"
        raise ToolError("NO_ROWS", message, place=path, fix=fix)
    if form:
        data = table_bytes(found.names, found.rows, form, comma=decimal_comma(path, bench))
    else:
        if (len(found.names), len(found.rows)) != (1, 1) and found.names != NAMES:
            format_of(to)  # a text holds one value or the lines of logs, and no table
        lines = [row[1:] if found.names == NAMES else row for row in found.rows]
        data = "".join(f"{' '.join(filter(None, line))}\n" for line in lines).encode()
    if bench.workspace.split(path) == bench.workspace.split(to):
        if not whole or (args.get("also") and found.names != kinds_of(path, bench, check)[0]):
            message, fix = "some of the table would be lost in it", "name another file"
            raise ToolError("WOULD_LOSE_ROWS", message, place=to, fix=fix)
        written = bench.workspace.update(to, lambda _: data, limit=MOST_BYTES, check=check)
    else:
        written = bench.workspace.write(to, data, replace=False, check=check)
    text = f"{written.path}: {len(found.rows):,} of {counted(found.of, 'row')}{where}"
    if args.get("question"):
        text = f"{written.path}: {counted(len(found.rows), 'row')} ({', '.join(found.names)}){where}"
    answer: dict[str, object] = {"path": written.path, "size": written.size, "sha256": written.sha256}
    answer |= {"rows": len(found.rows), "of": found.of, "where": [visible(one) for one in found.told]}
    return {**answer, "text": visible(text)}


def _asked(args: Mapping[str, Any], bench: Bench, check: Callable[[], None]) -> Chosen:
    """The answer to a question in words, as rows."""
    answers = answers_of(args, bench, check)
    if len(answers) > 1:
        fix = "ask for one of them"
        raise ToolError("UNCLEAR", "several questions, and one file", place="question", fix=fix)
    one = answers[0]
    names, rows = one.names, one.rows
    if one.single:
        names, rows = (one.figure,), [[plain(one.value)]]
    return Chosen(names, rows, one.of, one.told)


def decimal_comma(path: str, bench: Bench) -> bool:
    """Whether numbers of a table have a decimal comma."""
    if path.lower().endswith((".json", ".jsonl", ".ndjson", ENDING)) or is_folder(path, bench):
        return False
    with open_table(path, bench, from_thread.check_cancelled) as table:
        return table.form.delimiter == ";"
