"""Takes an entry out of a list in a text file, or ticks it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from anyio import to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.language.bm25 import WORD
from mcl.plugins.text.lines import TextLines, rewrite

_BOX: Final = re.compile(r"^(?P<before>\s*(?:[-*+]|\d+[.)])?\s*\[)(?P<tick>[ xX]?)(?P<after>\].*)$")
_MARK: Final = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:\[[ xX]?\]\s*)?")
_SAME: Final = 4  # letters at its beginning by which a longer word is another form of one


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Find the entry, and take it out or tick it."""
    return await to_thread.run_sync(_entry, args, bench)


def _entry(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    path, said, what = str(args["path"]), str(args["entry"]), str(args["what"])
    found: list[str] = []

    def change(text: TextLines) -> Sequence[str]:
        ticked = {"tick": " ", "untick": "x"}.get(what, "")
        meant = {
            one for part in _parts(said, text.lines) for one in _meant(text.lines, part, path, ticked=ticked)
        }
        found[:] = [text.lines[place].strip() for place in sorted(meant)]
        if what == "remove":
            return [line for place, line in enumerate(text.lines) if place not in meant]
        mark = "x" if what == "tick" else " "
        return [_ticked(line, mark) if place in meant else line for place, line in enumerate(text.lines)]

    done = rewrite(path, path, bench, change)
    how = {"remove": "taken out of", "tick": "ticked in", "untick": "open again in"}[what]
    return done.answer(f"{visible('; '.join(found))}: {how} {done.path}", entries=found)


def _parts(said: str, lines: Sequence[str]) -> list[str]:
    """The entries that are said: one, or several with a semicolon between them."""
    there = {_MARK.sub("", line).strip().casefold() for line in lines}
    parts = [one.strip() for one in said.split(";") if one.strip()]
    return parts if len(parts) > 1 and said.strip().casefold() not in there else [said]


def _ticked(line: str, mark: str) -> str:
    box = _BOX.match(line)
    return f"{box['before']}{mark}{box['after']}" if box else line


def _meant(lines: Sequence[str], said: str, path: str, *, ticked: str) -> set[int]:
    """The lines that are the entry: those of one text, which is it, or else has its words.

    ticked: the mark in the box that it has; "": it needs none. Raises ToolError NO_MATCH, AMBIGUOUS.
    """
    there = {place: _MARK.sub("", line).strip() for place, line in enumerate(lines)}
    open_ = {
        place for place, line in enumerate(lines) if (box := _BOX.match(line)) and _is(box["tick"], ticked)
    }
    looked = open_ if ticked else {place for place, text in there.items() if text}
    same = {place for place in looked if there[place].casefold() == said.strip().casefold()}
    words = [word.casefold() for word in WORD.findall(said)]
    found = same or {place for place in looked if words and _has(there[place], words)}
    texts = sorted({there[place] for place in found})
    if not found:
        kind = "entry with a box" if ticked else "entry"
        fix = "look how it is written there"
        raise ToolError("NO_MATCH", f"{path!r} has no {kind} {said!r}", place=path, fix=fix)
    if len(texts) > 1:
        named = "; ".join(visible(text) for text in texts[:5])
        raise ToolError("AMBIGUOUS", f"it may be any of: {named}", place=path, fix="say more of the entry")
    return found


def _is(tick: str, wanted: str) -> bool:
    return (tick.casefold() == "x") == (wanted == "x")


def _has(text: str, words: Sequence[str]) -> bool:
    there = [word.casefold() for word in WORD.findall(text)]
    return all(any(_alike(word, one) for one in there) for word in words)


def _alike(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return word == other or (len(shorter) >= _SAME and longer.startswith(shorter))
