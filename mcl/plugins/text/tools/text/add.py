"""Adds an entry to a list in a text file, written as the others are."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.fs.edit import require_editable
from executor.tools.tool import Bench
from mcl.plugins.text.lines import MOST_BYTES, TextLines, read_lines

_MARK: Final = re.compile(r"\s*(?:[-*+]\s+(?:\[[ xX]?\]\s*)?|\[[ xX]?\]\s*)")
_TICK: Final = re.compile(r"\[[xX]\]")
_PARTS: Final = re.compile(r"\s*,\s*(?:(?:and|och|o|å|n)\s+)?|\s+(?:and|och|o|å|n|&)\s+")
_TABLES: Final = (".csv", ".tsv", ".tab")
_SHORT: Final = 5  # words of an entry of a list at most, where all are sentences
_LONG: Final = 8  # and where they are not
_THING: Final = 3  # words of a thing to buy, say


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Add it; a file that is not there yet is made."""
    return await to_thread.run_sync(_add, args, bench)


def _add(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    path = str(args["path"])
    entry, sources = str(args.get("entry", "")), args.get("sources") or ()
    if bool(entry) is bool(sources):
        raise ToolError("BAD_ARGUMENTS", "one of entry and sources says what is added", place="entry")
    said = [" ".join(line.split()) for line in entry.splitlines() if line.strip()] or [""]
    own = [line for one in sources for line in read_lines(str(one), bench).lines]
    added: list[str] = []

    def change(data: bytes | None) -> bytes:
        text = TextLines.read(data or b"", path)
        there = [line for line in text.lines if line.strip()]
        rows = there and path.casefold().endswith(_TABLES)
        mark = "" if rows or (len(said) > 1 and not there) else _mark(there)
        listed = (one if _MARK.match(one) else f"{mark}{one}" for one in _entries(said, there))
        added[:] = own if sources else [_row(" ".join(said), there[0], path)] if rows else listed
        lines = list(text.lines)
        while lines and not lines[-1].strip():
            lines.pop()
        at = _place(lines, args, path)
        return TextLines(text.lines, text.end, True, text.mark).data([*lines[:at], *added, *lines[at:]])

    require_editable(bench.workspace.split(path), path)
    written = bench.workspace.update(path, change, limit=MOST_BYTES, check=from_thread.check_cancelled)
    told = f"{written.path}: {visible('; '.join(added))}"
    return {
        "path": written.path,
        "size": written.size,
        "sha256": written.sha256,
        "created": written.created,
        "entries": added,
        "text": f"made {told}" if written.created else f"added to {told}",
    }


def _place(lines: Sequence[str], args: Mapping[str, object], path: str) -> int:
    """Before which line it goes: at the end, before the first entry, or behind a line or what stands under a
    heading. Raises ToolError NO_MATCH."""
    if args.get("first"):
        entries = (at for at, line in enumerate(lines) if line.strip() and not line.startswith("#"))
        return next(entries, len(lines))
    below = str(args.get("below", "")).strip().casefold()
    if not below:
        return len(lines)
    texts = [re.sub(r"^#+\s+", "", _MARK.sub("", line)).strip().casefold() for line in lines]
    if below not in texts:
        message = f"{path!r} has no line {below!r}"
        raise ToolError("NO_MATCH", message, place="below", fix="say it as it is written there")
    at = texts.index(below)
    if not lines[at].startswith("#"):
        return at + 1
    end = next((place for place in range(at + 1, len(lines)) if lines[place].startswith("#")), len(lines))
    while end > at + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _row(entry: str, head: str, path: str) -> str:
    """A row of a table, which has a cell for each column. Raises ToolError BAD_ROW."""
    mark = max("\t;,", key=head.count)
    columns, cells = (next(csv.reader([line], delimiter=mark)) for line in (head, entry))
    if len(columns) != len(cells):
        message = f"{path!r} has {len(columns)} columns, and the row {len(cells)} cells"
        raise ToolError(
            "BAD_ROW", message, place="entry", fix=f"give a value for each of {', '.join(columns)}"
        )
    return entry


def _mark(there: Sequence[str]) -> str:
    """What stands before an entry: as before the last one; nothing in a list of plain lines."""
    if there and (found := _MARK.match(there[-1])):
        return _TICK.sub("[ ]", found[0])
    longest = _SHORT if all(line.rstrip().endswith((".", "!", "?")) for line in there) else _LONG
    plain = all(len(line.split()) <= longest and not line.startswith("#") for line in there)
    return "" if there and plain else "- "


def _entries(said: Sequence[str], there: Sequence[str]) -> list[str]:
    """The entry, each line of it, or each thing of it for a list that has one on each line."""
    parts = [one for one in _PARTS.split(said[0]) if one]
    things = [*(_MARK.sub("", line) for line in there), *parts]
    single = len(there) > 1 and all(len(one.split()) <= _THING for one in things)
    return parts if single and len(said) == 1 else list(said)
