"""Counts the lines, words and characters of text files, or how often a word stands there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from anyio import to_thread

from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.lines import read_lines


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the numbers of each file, and of all together."""
    return await to_thread.run_sync(_count, args, bench)


def _count(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    word = str(args.get("word", ""))
    what = str(args.get("what", ""))
    files: list[dict[str, Any]] = [_of(str(path), word, bench) for path in args["paths"]]
    names = ("lines", "words", "characters", *(("times",) if word else ()))
    whole = {name: sum(one[name] for one in files) for name in names}
    told = [f"{one['path']}: {_told(one, what, word)}" for one in files]
    told += [f"together: {_told(whole, what, word)}"] if len(files) > 1 else []
    return {"files": files, **whole, "text": "\n".join(told)}


def _of(path: str, word: str, bench: Bench) -> dict[str, Any]:
    lines = read_lines(path, bench).lines
    text = "\n".join(lines)
    found: dict[str, Any] = {
        "path": "/".join(bench.workspace.split(path)),
        "lines": len(lines),
        "words": sum(len(line.split()) for line in lines),
        "characters": len(text),
    }
    if word:
        edges = (r"(?<!\w)" if word[0].isalnum() else "", r"(?!\w)" if word[-1].isalnum() else "")
        found["times"] = len(re.findall(f"{edges[0]}{re.escape(word)}{edges[1]}", text, re.IGNORECASE))
    return found


def _told(one: Mapping[str, Any], what: str, word: str) -> str:
    if word:
        return f"{word!r} {counted(one['times'], 'time')}"
    if what:
        return counted(one[what], what.removesuffix("s"))
    names = ("line", "word", "character")
    return ", ".join(counted(one[f"{name}s"], name) for name in names)
