"""Sorts the lines of a text file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from anyio import to_thread

from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.lines import TextLines, rewrite, sort_key

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Put the lines in order."""
    return await to_thread.run_sync(_sort, args, bench)


def _sort(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    order, unique = str(args.get("order", "ascending")), bool(args.get("unique"))

    def change(text: TextLines) -> Sequence[str]:
        lines = list(dict.fromkeys(text.lines)) if unique else list(text.lines)
        if args.get("by") == "number":
            return sorted(lines, key=_first_number, reverse=order == "descending")
        if args.get("by") == "length":
            return sorted(lines, key=len, reverse=order == "descending")
        return sorted(lines, key=sort_key, reverse=order == "descending")

    path = str(args["path"])
    done = rewrite(path, str(args["to"]), bench, change)
    left = f", {counted(done.before - done.after, 'duplicate')} left out" if done.before > done.after else ""
    return done.answer(f"{done.path}: {counted(done.after, 'line')} sorted, {order}{left}", lines=done.after)


def _first_number(line: str) -> tuple[bool, float, tuple[str, str]]:
    found = _NUMBER.search(line)
    return found is None, float(found[0].replace(",", ".")) if found else 0.0, sort_key(line)
