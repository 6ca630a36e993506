"""Replaces a word or phrase wherever it stands in text files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from anyio import to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.fs.edit import require_editable
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.lines import TextLines, read_lines, rewrite


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Put ``new`` wherever ``old`` stands."""
    return await to_thread.run_sync(_replace, args, bench)


def _replace(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    paths = list(dict.fromkeys(str(one) for one in args["paths"]))
    old, new = str(args["old"]), str(args["new"])
    if old == new:
        raise ToolError("NO_CHANGE", "old and new are the same", place="new", fix="say what is to be there")
    pattern = _pattern(old, args)
    counts: dict[str, int] = {}

    def change(path: str, text: TextLines) -> Sequence[str]:
        whole, counts[path] = pattern.subn(lambda _: new, "\n".join(text.lines))
        if not counts[path]:
            fix = "look with fs/search how it is spelled there"
            raise ToolError("NO_MATCH", f"{old!r} is not in {path!r}", place=path, fix=fix)
        return whole.split("\n") if text.lines else []

    for path in paths:  # nothing is written where one of them lacks it, or is not to be written
        require_editable(bench.workspace.split(path), path)
        change(path, read_lines(path, bench))
    done = [(path, rewrite(path, path, bench, partial(change, path))) for path in paths]
    files = [
        {"path": one.path, "size": one.size, "sha256": one.sha256, "count": counts[path]}
        for path, one in done
    ]
    told = [
        f"{one['path']}: {counted(int(str(one['count'])), 'place')} changed from {old!r} to {new!r}"
        for one in files
    ]
    return {"files": files, "count": sum(counts.values()), "text": visible("\n".join(told))}


def _pattern(old: str, args: Mapping[str, object]) -> re.Pattern[str]:
    """What is looked for: as it is written, by default where no letter goes on from it."""
    text = re.escape(old.replace("\r\n", "\n"))
    if args.get("words", True):
        text = (r"(?<!\w)" if old[:1].isalnum() else "") + text + (r"(?!\w)" if old[-1:].isalnum() else "")
    return re.compile(text, re.IGNORECASE if args.get("ignore_case") else 0)
