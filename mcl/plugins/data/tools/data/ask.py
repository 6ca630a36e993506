"""Answers a question about a table: a figure of a column, by groups, of the rows that are meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from anyio import from_thread, to_thread

from executor.sandbox.redaction import visible, visible_value
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.data.tools.data.answer import answers_of, told_of
from mcl.plugins.data.tools.data.figures import FigureTable, figures_of, plain
from mcl.plugins.data.tools.data.picture import aligned

_SHOWN = 200  # groups that are told


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the figure, or with that of each group."""
    return await to_thread.run_sync(_ask, args, bench)


def _ask(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    if args.get("question"):
        return _answered(args, bench)
    found = figures_of(args, bench, from_thread.check_cancelled)
    path = "/".join(bench.workspace.split(str(args["path"])))
    answer: dict[str, Any] = {
        "path": path,
        "figure": found.figure,
        "column": found.column,
        "by": found.by,
        "groups": [{"name": name, "value": plain(value)} for name, value in found.groups[:_SHOWN]],
        "rows": found.rows,
        "where": list(found.told),
        "truncated": len(found.groups) > _SHOWN,
    }
    if not found.by:
        answer["value"] = plain(found.groups[0][1])
    answer = {name: visible_value(value) for name, value in answer.items()}
    return {**answer, "text": visible("\n".join(_told(found, path)))}


def _answered(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    """The answer to a question in words."""
    answers = answers_of(args, bench, from_thread.check_cancelled)
    path = "/".join(bench.workspace.split(str(args["path"])))
    last = answers[-1]
    answer: dict[str, Any] = {
        "path": path,
        "figure": last.figure,
        "column": last.names[-1] if last.names else "",
        "by": last.by,
        "groups": [dict(zip(last.names, row, strict=True)) for row in last.rows[:_SHOWN]],
        "rows": last.count,
        "where": list(last.told),
        "truncated": len(last.rows) > _SHOWN,
    }
    if last.single:
        answer["value"] = plain(last.value)
    answer = {name: visible_value(value) for name, value in answer.items()}
    return {**answer, "text": visible(told_of(path, answers))}


def _told(found: FigureTable, path: str) -> Iterator[str]:
    what = f"{found.figure} of {found.column}" if found.column else "rows"
    where = f" where {' and '.join(found.told)}" if found.told else ""
    if not found.by:
        rows = f" ({counted(found.rows, 'row')})" if found.column else ""
        yield f"{what} in {path}{where}: {grouped(found.groups[0][1])}{rows}"
    else:
        yield f"{what} by {found.by} in {path}{where} ({counted(found.rows, 'row')})"
        yield ""
        lines = [[name or "-", grouped(value)] for name, value in found.groups[:_SHOWN]]
        yield from aligned([[found.by, what], *lines])
        if len(found.groups) > _SHOWN:
            yield f"and {len(found.groups) - _SHOWN:,} more"
    if found.skipped:
        yield f"{counted(found.skipped, 'cell')} of {found.column} held no number"


def grouped(value: Decimal | None) -> str:
    """The same with its thousands marked."""
    return "-" if value is None else f"{value:,f}"
