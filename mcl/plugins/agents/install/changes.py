"""Entering mcl in a program's file: what is there stays, and the file is replaced whole or not at all.

Only a file of plain JSON is written. Remarks would be lost by reading and writing it, and a text that keeps
them takes an editor of its own for each form; where there are some, a person enters what is printed.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from executor.core.files import whole_file
from executor.sandbox.redaction import Redactor, known_variables
from mcl.core.errors import McpError
from mcl.plugins.agents.install.hosts import HostEntry

_MOST: Final = 64 << 20  # bytes; Claude Code keeps its history in the same file
_LINE: Final = 400  # characters of a line that are shown
_INDENT: Final = re.compile(r"\{\r?\n([ \t]+)\"")  # of the first member


@dataclass(frozen=True, slots=True)
class ConfigChange:
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
        # Written alike, or other lines than those of the entry would differ in their blanks, and be shown.
        old, new = (_alike(text) for text in (self.before or "", self.after))
        place = str(self.place)
        redact = Redactor(known_variables()).text  # a file may be one single line
        lines = [
            redact(line if len(line) <= _LINE else f"{line[:_LINE]}…")
            for line in difflib.unified_diff(old, new, place, place, n=0, lineterm="")
        ]
        return "".join(f"{line}\n" for line in lines)


def change_of(entry: HostEntry, place: Path) -> ConfigChange:
    """What entering mcl would change in a file.

    Raises:
        McpError: CONFIG_UNREADABLE, CONFIG_NOT_UNDERSTOOD. Nothing was written then.
    """
    host = entry.host

    def edited(said: dict[str, Any]) -> Mapping[str, Any]:
        servers = said.get(host.key, {})
        if not isinstance(servers, dict):
            raise ValueError(f"its {host.key} is no object")
        return {**said, host.key: {**servers, entry.name: entry.value}}

    by_hand = f"mcl mcp install --host {host.name} prints what goes into it"
    if entry.by_command:
        by_hand += f"; or: {entry.by_command}"
    if host.format != "json":
        raise _not_understood(place, f"it is {host.format.upper()}, and mcl writes JSON", by_hand)
    return changed(place, edited, by_hand=by_hand)


def changed(
    place: Path, edited: Callable[[dict[str, Any]], Mapping[str, Any]], *, by_hand: str
) -> ConfigChange:
    """What an edit would change in a program's file of plain JSON.

    edited: what the file is to say, of what it says ({} where there is none yet); ValueError where it
    cannot tell. by_hand: what a person can do instead.

    Raises:
        McpError: CONFIG_UNREADABLE, CONFIG_NOT_UNDERSTOOD. Nothing was written then.
    """
    before = _text(place)
    try:
        said = read_object(before or "")
        wanted = edited(said)
        after = before if before is not None and wanted == said else _written(wanted, before or "")
    except ValueError as problem:
        raise _not_understood(place, str(problem), by_hand) from problem
    return ConfigChange(place, before, after)


def read_object(text: str) -> dict[str, Any]:
    """The object that a text of plain JSON says; {} of an empty one.

    Raises:
        ValueError: it says none, has remarks or trailing commas, or names a member twice.
    """
    if not text.strip():
        return {}
    try:
        said = json.loads(text, object_pairs_hook=_members)
    except json.JSONDecodeError as problem:
        raise ValueError(
            f"it is no plain JSON (remarks? commas too many?), line {problem.lineno}"
        ) from problem
    except RecursionError as problem:
        raise ValueError("it is too deep") from problem
    if not isinstance(said, dict):
        raise ValueError("it is no object")
    return said


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    said = dict(pairs)
    if len(said) != len(pairs):
        raise ValueError("a name is there twice")
    return said


def _written(said: Mapping[str, Any], before: str) -> str:
    """The text of a file, indented as it was before. Raises ValueError for what JSON cannot say."""
    found = _INDENT.match(before.lstrip())
    text = json.dumps(said, ensure_ascii=False, indent=found[1] if found else 2, allow_nan=False)
    text.encode()  # half a character is no UTF-8
    return text + "\n"


def _alike(text: str) -> list[str]:
    try:
        return _written(read_object(text), "").splitlines() if text else []
    except ValueError:
        return text.splitlines()


def _not_understood(place: Path, why: str, by_hand: str) -> McpError:
    return McpError(
        "CONFIG_NOT_UNDERSTOOD",
        f"{place} was left as it is: {why}",
        place=str(place),
        fix=f"add it by hand: {by_hand}",
    )


def write(change: ConfigChange) -> None:
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
        with whole_file(target, like=like, last=unchanged) as file:
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
