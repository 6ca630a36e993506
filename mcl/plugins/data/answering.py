"""Which tables of a folder answer a goal that names none: those whose own names and values it speaks of.

A folder of texts that say the same of each thing is one of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Final

from executor.core.clock import FixedClock
from executor.core.errors import ExecutorError
from executor.sandbox.paths import Workspace
from executor.tools.tool import Bench
from mcl.plugins.data.told import counts_files
from mcl.plugins.data.tools.data.entries import ENDINGS, RECEIPTS
from mcl.plugins.data.tools.data.logs import ENDING
from mcl.plugins.data.tools.data.question import SpokenOf, is_asked, is_left_out, read_question, spoken_of
from mcl.plugins.data.tools.data.schema import TableSchema, schema_of

_ENDINGS: Final = (".csv", ".tsv", ".json", ".jsonl")
_MOST: Final = 40  # tables that are looked at, those at the top first
_MOST_FOLDERS, _TEXTS = 10, 100  # folders of texts, and of each
_BYTES: Final = 1 << 17  # of one
_ALL_BYTES: Final = 1 << 19
_LEAST: Final = 3  # what must be said of a table
_WHOLE: Final = 2  # the same where all that is asked is about it
_NEAR: Final = 1  # less is said of one that may be meant too
_LONGEST: Final = 1 << 10  # characters of a question
_PATH: Final = re.compile(r"\[[\w*-]*\](?:\.\w|\s)")  # of a JSON file: people[0].name


def answering(prose: str, at: str, workspace: Workspace, paths: Sequence[str]) -> tuple[str, ...]:
    """The tables that the words of a goal can be read against, for which most speaks; none where little does,
    and no other where the path of one is in the goal. at: when it was said."""
    if len(prose) > _LONGEST or _PATH.search(prose):
        return ()
    bench, today = Bench(workspace, FixedClock(at), "read", 0, ""), date.fromisoformat(at[:10])
    spoken: list[tuple[SpokenOf, TableSchema]] = []
    left = _ALL_BYTES
    tables = sorted(
        (one for one in paths if one.casefold().endswith(_ENDINGS)), key=lambda one: one.count("/")
    )
    logs = [one for one in paths if one.casefold().endswith(ENDING)]
    said = prose.casefold()
    files = (*tables, *logs)
    named = [one for one in files if one.rpartition("/")[2].casefold() in said]
    named = [one for one in named if one.casefold() in said] or named
    folders = () if counts_files(prose) else _folders(paths)[:_MOST_FOLDERS]
    for path in named or [*tables[:_MOST], *folders]:
        try:
            size = workspace.read(path, 1)[1] if path in files else 0
            left -= size if size <= min(_BYTES, left) else 0
            if size > min(_BYTES, left + size):
                continue
            schema = schema_of(path, bench, lambda: None)
            if path not in named and is_left_out(prose, schema):
                continue
            if tuple(one.name for one in schema.columns) == RECEIPTS:
                continue  # only where its folder is named
            said_of = spoken_of(prose, schema, today)
            if path in named:
                said_of = said_of._replace(weight=said_of.weight + _LEAST, strange=0)
            if schema.rows:
                spoken.append((said_of, schema))
        except ExecutorError:
            continue
    found: list[tuple[SpokenOf, str]] = []
    for one, schema in sorted(spoken, key=lambda each: -each[0].sure):
        least = _WHOLE if not one.strange else _LEAST
        if one.sure < max(least, *(best.sure - _NEAR for best, _ in found), 0):
            continue
        try:
            passed = [word for asked in read_question(prose, schema, today) for word in asked.passed]
            beside = schema.path in named and all(word[0].isdigit() for word in passed)
            if is_asked(prose, schema) and (beside or not passed):
                found.append((one, schema.path))
        except ExecutorError:
            continue
    return tuple(
        path
        for one, path in found
        if not any(other.sure >= one.sure and other.unnamed < one.unnamed for other, _ in found)
    )


def _folders(paths: Sequence[str]) -> list[str]:
    """The folders with a few short texts, in their order, and those with logs."""
    texts = Counter(one.rpartition("/")[0] for one in paths if one.casefold().endswith(ENDINGS))
    logs = (one.rpartition("/")[0] for one in paths if one.casefold().endswith(ENDING))
    few = (one for one, many in texts.items() if 1 < many <= _TEXTS)
    return [one for one in dict.fromkeys((*logs, *few)) if one]
