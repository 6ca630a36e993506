"""Entering mcl in a program's file: what is there stays, and the file is replaced whole or not at all."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from executor.sandbox import taken
from executor.sandbox.redaction import Redactor
from mcl.core.errors import McpError
from mcl.core.replacing import replacing
from mcl.serve.install.entry import Entry
from mcl.serve.install.jsonc import with_entry

_MOST: Final = 64 << 20  # bytes; Claude Code keeps its history in the same file
_LINE: Final = 400  # characters of a line that are shown
_HEAD: Final = re.compile(r"^\s*\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """What would be written. before: None where there is no file yet."""

    place: Path
    before: str | None
    after: str

    @property
    def needed(self) -> bool:
        """Is it not there already?"""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The lines that change, and no others: those beside them may hold secrets of other servers."""
        old, new, place = (self.before or "").splitlines(), self.after.splitlines(), str(self.place)
        redact = Redactor(taken.variables()).text  # a file may be one single line
        lines = [
            redact(line if len(line) <= _LINE else f"{line[:_LINE]}…")
            for line in difflib.unified_diff(old, new, place, place, n=0, lineterm="")
        ]
        return "".join(f"{line}\n" for line in lines)


def change_of(entry: Entry, place: Path) -> Change:
    """What entering mcl would change in a file.

    Raises:
        McpError: CONFIG_UNREADABLE, CONFIG_NOT_UNDERSTOOD. Nothing was written then.
    """

    def edited(text: str) -> str:
        if entry.host.format == "toml":
            return _with_table(text, entry)
        return with_entry(text, entry.host.key, entry.name, entry.value)

    return changed(place, edited, by_hand=f"mcl mcp install --host {entry.host.name}")


def changed(place: Path, edited: Callable[[str], str], *, by_hand: str) -> Change:
    """What an edit would change in a program's file.

    edited: the new text of an old one ("" where there is no file); ValueError where it cannot say. by_hand:
    the command that prints what a person could enter instead.

    Raises:
        McpError: CONFIG_UNREADABLE, CONFIG_NOT_UNDERSTOOD. Nothing was written then.
    """
    before = _text(place)
    try:
        after = edited(before or "")
    except ValueError as problem:
        raise McpError(
            "CONFIG_NOT_UNDERSTOOD",
            f"{place} cannot be changed safely: {problem}",
            place=str(place),
            fix=f"add it by hand: {by_hand}",
        ) from problem
    return Change(place, before, after)


def write(change: Change) -> None:
    """Write it: a new file takes the place of the old one, with its owner and permissions.

    Raises:
        McpError: CONFIG_CHANGED (by somebody else meanwhile), CONFIG_UNWRITABLE.
    """
    target = change.place.resolve()  # where it is a link, what it leads to

    def unchanged() -> None:
        if _text(change.place) != change.before:
            raise McpError(
                "CONFIG_CHANGED",
                f"{change.place} was changed by another program meanwhile",
                place=str(change.place),
                fix="close that program, and try again",
            )

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        like = target.stat() if change.before is not None else None
        with replacing(target, like=like, last=unchanged) as file:
            file.write(change.after.encode())
    except OSError as problem:
        raise McpError(
            "CONFIG_UNWRITABLE",
            f"{change.place} cannot be written: {problem.strerror}",
            place=str(change.place),
            fix="see that the folder is yours, or add it by hand",
        ) from problem


def _text(place: Path) -> str | None:
    try:
        if place.exists() and not place.is_file():  # a device or a pipe is never replaced
            raise OSError(None, "it is no ordinary file")
        data = place.read_bytes()
        if len(data) > _MOST:
            raise OSError(None, f"it has more than {_MOST >> 20} MiB")
        return data.decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "it is no UTF-8"
        raise McpError(
            "CONFIG_UNREADABLE",
            f"{place} cannot be read: {why}",
            place=str(place),
            fix="see what it is; nothing was written",
        ) from problem


def _with_table(text: str, entry: Entry) -> str:
    """The text of a TOML file with the entry's table, in place of one of the same name. Raises
    ValueError where it cannot be changed so that all else stays."""
    key, name = entry.host.key, entry.name
    before = tomllib.loads(text)
    if before.get(key, {}).get(name) == entry.value:
        return text
    kept = _without(text, f"{key}.{name}")
    joined = kept + ("" if not kept or kept.endswith("\n\n") else "\n" if kept.endswith("\n") else "\n\n")
    after = joined + entry.table
    wanted = {**before, key: {**before.get(key, {}), name: entry.value}}
    if tomllib.loads(after) != wanted:
        raise ValueError(f"{key}.{name} stands there in a form that is not known here")
    return after


def _without(text: str, table: str) -> str:
    """The text without a table and the tables below it, where they have headings of their own."""
    heads = [match.start() for match in _HEAD.finditer(text)] + [len(text)]
    kept = text[: heads[0]]
    for start, end in pairwise(heads):
        head = text[start:end].lstrip().partition("\n")[0].strip()
        if not re.match(rf"\[{re.escape(table)}(\.[^\]]+)?\]", head):
            kept += text[start:end]
    return kept
