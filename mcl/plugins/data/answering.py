"""Which tables of a folder answer a goal that names none: those whose own names and values it speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from executor.core.clock import SystemClock
from executor.core.errors import ExecutorError
from executor.sandbox.paths import Workspace
from executor.tools.tool import Bench
from mcl.plugins.data.tools.data.question import read_question, spoken_of
from mcl.plugins.data.tools.data.schema import schema_of

_ENDINGS: Final = (".csv", ".tsv", ".json", ".jsonl")
_MOST: Final = 40  # tables that are looked at
_BYTES: Final = 1 << 20  # of one
_LEAST: Final = 3  # what must be said of a table
_NEAR: Final = 1  # less is said of one that may be meant too


def answering(prose: str, workspace: Workspace, paths: Sequence[str]) -> tuple[str, ...]:
    """The tables that the words of a goal can be read against, for which most speaks; none where little does,
    or where a path of one is in the goal."""
    clock = SystemClock()
    bench, today = Bench(workspace, clock, "read", 0, ""), date.fromisoformat(clock.now()[:10])
    found: list[tuple[int, str]] = []
    for path in [one for one in paths if one.casefold().endswith(_ENDINGS)][:_MOST]:
        try:
            if workspace.read(path, 1)[1] > _BYTES:
                continue
            schema = schema_of(path, bench, lambda: None)
            if schema.rows:
                read_question(prose, schema, today)
                found.append((spoken_of(prose, schema, today), path))
        except ExecutorError:
            continue
    best = max(found, default=(0, ""))[0]
    return tuple(path for said, path in found if said >= max(_LEAST, best - _NEAR))
