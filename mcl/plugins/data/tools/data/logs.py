"""A log, or a folder of logs, as a table: each line with its file, its moment, its level and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from executor.core.errors import ToolError
from executor.tools.tool import Bench

ENDING: Final = ".log"
NAMES: Final = ("file", "date", "level", "message")
_LINE: Final = re.compile(
    r"\[?(?P<date>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)\]?"
    r"[\s,:|-]*\[?(?P<level>[A-Za-z]{3,9})\]?[\s,:|-]+(?P<message>\S.*)"
)
_MOST: Final = 64 << 20  # bytes
_MOST_FILES: Final = 200


def logs_in(path: str, bench: Bench) -> list[str]:
    """The logs that lie in a folder itself, by their names."""
    prefix = "/".join(bench.workspace.split(path))
    found = (one.path for one in bench.workspace.walk(path, check=lambda: None) if one.kind == "file")
    own = (one for one in found if one.removeprefix(prefix).strip("/").count("/") == 0)
    return sorted(one for one in own if one.casefold().endswith(ENDING))[:_MOST_FILES]


def log_rows(paths: Sequence[str], bench: Bench) -> list[list[str]]:
    """The lines of logs.

    Raises:
        ToolError: BAD_TABLE, where most lines do not begin with a moment and a level; TOO_LARGE.
    """
    rows = [row for path in paths for row in _lines(path, bench)]
    if 2 * sum(bool(row[1]) for row in rows) < len(rows) or not rows:
        message, fix = f"{paths[0]!r} is no log that can be read", "name one whose lines begin with a moment"
        raise ToolError("BAD_TABLE", message, place=paths[0], fix=fix)
    return rows


def _lines(path: str, bench: Bench) -> Iterator[list[str]]:
    data, size = bench.workspace.read(path, _MOST)
    if size > _MOST:
        message = f"{path!r} has more than {_MOST:,} bytes"
        raise ToolError("TOO_LARGE", message, place=path, fix="take a smaller file")
    for line in data.decode(errors="replace").splitlines():
        found = _LINE.match(line)
        if found is not None:
            yield [path.rpartition("/")[2], found["date"], found["level"], found["message"].rstrip()]
        elif line.strip():
            yield [path.rpartition("/")[2], "", "", line.strip()]
