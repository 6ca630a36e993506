"""Shows rows of a table: those that are meant, in an order, so many of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.sandbox.redaction import visible, visible_value
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.data.tools.data.picture import aligned
from mcl.plugins.data.tools.data.selection import choose_rows

_SHOWN = 100
_WIDE = 300  # characters of a cell


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the rows."""
    return await to_thread.run_sync(_rows, args, bench)


def _rows(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    found = choose_rows(args, bench, from_thread.check_cancelled)
    path = "/".join(bench.workspace.split(str(args["path"])))
    kept = [[cell[:_WIDE] for cell in row] for row in found.rows[:_SHOWN]]
    where = f" where {' and '.join(found.told)}" if found.told else ""
    more = f", the first {_SHOWN}" if len(found.rows) > _SHOWN else ""
    lines = [f"{path}: {len(found.rows):,} of {counted(found.of, 'row')}{where}{more}"]
    if kept:
        lines += ["", *aligned([list(found.names), *kept], left=range(len(found.names)))]
    answer: dict[str, Any] = {
        "path": path,
        "columns": list(found.names),
        "rows": kept,
        "count": len(found.rows),
        "of": found.of,
        "where": list(found.told),
        "truncated": len(found.rows) > _SHOWN,
    }
    answer = {name: visible_value(value) for name, value in answer.items()}
    return {**answer, "text": visible("\n".join(lines))}
