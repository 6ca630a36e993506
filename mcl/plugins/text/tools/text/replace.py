"""Replaces a word or phrase wherever it stands in a text file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from anyio import to_thread

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.lines import TextLines, rewrite


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Put ``new`` wherever ``old`` stands."""
    return await to_thread.run_sync(_replace, args, bench)


def _replace(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    path, old, new = str(args["path"]), str(args["old"]), str(args["new"])
    if old == new:
        raise ToolError("NO_CHANGE", "old and new are the same", place=path, fix="say what is to be there")
    pattern, count = _pattern(old, args), 0

    def change(text: TextLines) -> Sequence[str]:
        nonlocal count
        whole, count = pattern.subn(lambda _: new, "\n".join(text.lines))
        if not count:
            fix = "look with fs/search how it is spelled there"
            raise ToolError("NO_MATCH", f"{old!r} is not in {path!r}", place=path, fix=fix)
        return whole.split("\n") if text.lines else []

    done = rewrite(path, str(args.get("to", path)), bench, change)
    told = f"{done.path}: {counted(count, 'place')} changed from {old!r} to {new!r}"
    return done.answer(told, count=count)


def _pattern(old: str, args: Mapping[str, object]) -> re.Pattern[str]:
    """What is looked for: as it is written, by default where no letter goes on from it."""
    text = re.escape(old.replace("\r\n", "\n"))
    if args.get("words", True):
        text = (r"(?<!\w)" if old[:1].isalnum() else "") + text + (r"(?!\w)" if old[-1:].isalnum() else "")
    return re.compile(text, re.IGNORECASE if args.get("ignore_case") else 0)
