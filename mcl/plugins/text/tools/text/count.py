"""Counts the lines, words and characters of text files, or how often a word stands there."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from anyio import to_thread

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.lines import read_lines

_MOST: Final = 1_000  # files of a folder


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the numbers of each file, and of all together."""
    return await to_thread.run_sync(_count, args, bench)


def _count(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    word = str(args.get("word", ""))
    what = str(args.get("what", ""))
    files = [one for path in args["paths"] for one in _at(str(path), word, bench)]
    names = ("lines", "words", "characters", *(("times",) if word else ()))
    whole = {name: sum(one[name] for one in files) for name in names}
    told = [f"{one['path']}: {_told(one, what, word)}" for one in files]
    told += [f"together: {_told(whole, what, word)}"] if len(files) > 1 else []
    return {"files": files, **whole, "text": "\n".join(told)}


def _at(path: str, word: str, bench: Bench) -> Iterator[dict[str, Any]]:
    """The numbers of a file, or of each text in a folder."""
    status = bench.workspace.check(path)
    if status is None or not stat.S_ISDIR(status.st_mode):
        yield _of(path, word, bench)
        return
    entries = bench.workspace.walk(path, check=lambda: None, skip=lambda name: name.startswith("."))
    for entry in islice((one for one in entries if one.kind == "file"), _MOST):
        with suppress(ToolError):  # no text
            yield _of(entry.path, word, bench)


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
