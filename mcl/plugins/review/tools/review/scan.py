"""Searches code for what is known to be dangerous."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from anyio import from_thread, to_thread

from executor.core.hashing import json_bytes
from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.plugins.review.finding_text import write_findings
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.scan.sweep import SweepResult, sweep, told
from mcl.plugins.review.target import look_at

_LIMIT: Final = 500
_MOST_SKIPPED: Final = 1000
_ROOM: Final = 16384  # bytes of the answer beside its lists


async def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Answer with the findings, the worst first; a file, a folder (the whole workspace where nothing is
    named) or what changed. Raises as `look_at`; KeyringError."""
    path, base, staged = args.get("path", ""), args.get("base", ""), args.get("staged", False)
    if not (path or base or staged):
        path = "."
    target = await look_at(bench, path=path, base=base, staged=staged)
    limit = int(args.get("limit", _LIMIT))
    dismissals = ReviewMemories(home, bench.workspace.root).dismissals
    known = await to_thread.run_sync(dismissals.known, args.get("memories", ""))
    found = await to_thread.run_sync(
        partial(
            sweep,
            target,
            limit=limit,
            progress=bench.progress,
            check=from_thread.check_cancelled,
            known=known,
        )
    )
    return {**_answer(found, bench.max_output - _ROOM), "seal": target.seal}


def _answer(found: SweepResult, room: int) -> dict[str, object]:
    skipped: list[dict[str, str]] = []
    for left_out in found.skipped[:_MOST_SKIPPED]:
        skipped.append(asdict(left_out))
        room -= len(json_bytes(skipped[-1])) + 1
    kept = 0
    for one in found.findings:  # each stands in the answer twice: by itself, and in the text
        size = len(json_bytes(one.to_json())) + len(json_bytes(write_findings((one,)))) + 4
        if size > room:
            break
        room -= size
        kept += 1
    findings = found.findings[:kept]
    dismissed: list[dict[str, object]] = []
    for one in found.dismissed:
        room -= len(json_bytes(one.to_json())) + 1
        if room < 0:
            break
        dismissed.append(one.to_json())
    return {
        "findings": [one.to_json() for one in findings],
        "dismissed": dismissed,
        "blocking": found.blocking,
        "counts": {label: count for label, count in sorted(found.counts.items()) if count},
        "files": found.files,
        "skipped": skipped,
        "truncated": found.truncated
        or (kept, len(skipped), len(dismissed))
        != (len(found.findings), len(found.skipped), len(found.dismissed)),
        "text": f"{told(found)}\n\n{write_findings(findings)}",
    }
