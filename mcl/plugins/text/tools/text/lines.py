"""Keeps or drops the lines of a text file that have a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anyio import to_thread

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.lines import TextLines, rewrite


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Keep the lines with the word, or those without it."""
    return await to_thread.run_sync(_filter, args, bench)


def _filter(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    path, what = str(args["path"]), str(args["what"])
    word, exact = str(args.get("word", "")), bool(args.get("match_case"))
    if what != "drop_blank" and not word:
        raise ToolError("NO_WORD", "which word is not said", place="word", fix="say the word of the lines")
    wanted = word if exact else word.casefold()

    def change(text: TextLines) -> Sequence[str]:
        if what == "drop_blank":
            return [line for line in text.lines if line.strip()]
        having = [wanted in (line if exact else line.casefold()) for line in text.lines]
        if not any(having):
            fix = "look with fs/search how it is spelled there"
            raise ToolError("NO_MATCH", f"no line of {path!r} has {word!r}", place=path, fix=fix)
        return [line for line, has in zip(text.lines, having, strict=True) if has == (what == "keep")]

    done = rewrite(path, str(args["to"]), bench, change)
    gone = done.before - done.after
    told = f"{done.path}: {counted(done.after, 'line')} kept, {counted(gone, 'line')} left out"
    return done.answer(told, removed=gone, lines=done.after)
