"""Leaves out lines of a text file that stand there already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anyio import to_thread

from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.lines import TextLines, rewrite


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Keep the first of each line."""
    return await to_thread.run_sync(_unique, args, bench)


def _unique(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    alike, blank = bool(args.get("ignore_case")), bool(args.get("keep_blank", True))

    def change(text: TextLines) -> Sequence[str]:
        seen: set[str] = set()
        kept = []
        for line in text.lines:
            key = line.strip().casefold() if alike else line.rstrip()
            if key in seen and not (blank and not key):
                continue
            seen.add(key)
            kept.append(line)
        return kept

    done = rewrite(str(args["path"]), str(args["to"]), bench, change)
    gone = done.before - done.after
    told = f"{done.path}: {counted(gone, 'duplicate line')} left out, {counted(done.after, 'line')} kept"
    return done.answer(told, removed=gone, lines=done.after)
