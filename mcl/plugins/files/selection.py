"""Which files of a workspace a call is about: those it names, or those of a folder that fit a pattern."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from executor.core.errors import ScopeError, ToolError
from executor.core.globs import Glob, anywhere
from executor.sandbox.paths import Entry, Workspace
from executor.sandbox.redaction import visible

_DAY: Final = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})[-_. ]?([01][0-9])[-_. ]?([0-3][0-9])(?![0-9])")
_MONTH: Final = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})[-_]([01][0-9])(?![0-9])")
_LINES: Final = 200  # of a text for people
MOST: Final = 2000  # files and folders that one call changes
Check = Callable[[], None]


def never() -> None:
    """Nothing stops such a look."""


@dataclass(frozen=True)
class FileChoice:
    """What a file must be. glob: of its name, or of its path below the folder, case aside; "" fits all, and
    plain words are those that its path has.

    older, newer: it was changed before, at or after this moment (nanoseconds since 1970). least: bytes.
    hidden: whether names that begin with a dot count too.
    """

    glob: str = ""
    older: int | None = None
    newer: int | None = None
    least: int = 0
    hidden: bool = False

    @classmethod
    def of(cls, args: Mapping[str, object]) -> FileChoice:
        """From the arguments glob, older_days, newer_days (both before ``now``), since, before, least.

        Raises:
            ToolError: BAD_TIME.
        """
        older = _moment(args, "before")
        if (days := _days(args, "older_days")) is not None:
            older = days if older is None else min(days, older)
        newer = _moment(args, "since")
        if (days := _days(args, "newer_days")) is not None:
            newer = days if newer is None else max(days, newer)
        least = int(str(args.get("least", 0)))
        return cls(str(args.get("glob", "")), older, newer, least, str(args.get("glob", "")).startswith("."))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of a glob that is none: those that a path must have ("clas ohlson receipts")."""
        plain = self.glob and not re.search(r"[*?\[{./]", self.glob)
        return frozenset(_words(self.glob)) if plain else frozenset()

    def pattern(self) -> Glob:
        """The pattern of names, in small letters. Raises GlobError."""
        return anywhere("" if self.words else self.glob.casefold())

    def fits(self, entry: Entry, below: str, pattern: Glob) -> bool:
        """Is this file wanted? below: its path below the folder."""
        parts = tuple(below.casefold().split("/"))
        return (
            pattern.fits(parts)
            and self._has_words(below)
            and entry.size >= self.least
            and (self.older is None or entry.modified <= self.older)
            and (self.newer is None or entry.modified >= self.newer)
            and (self.hidden or not any(part.startswith(".") for part in parts))
        )

    def _has_words(self, below: str) -> bool:
        there = _words(below)
        return all(any(_alike(word, one) for one in there) for word in self.words)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _alike(word: str, other: str) -> bool:
    """Are two words one, but for their ends: receipt and receipts?"""
    shorter = min(len(word), len(other))
    return word == other or (
        shorter >= 4 and word[:shorter] == other[:shorter] and abs(len(word) - len(other)) < 3
    )


def _moment(args: Mapping[str, object], name: str) -> int | None:
    text = str(args.get(name, ""))
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fix = "write 2026-11-21 or 2026-11-21T10:00:00Z"
        raise ToolError("BAD_TIME", f"{text!r} is no moment", place=name, fix=fix) from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(moment.timestamp()) * 10**9


def _days(args: Mapping[str, object], name: str) -> int | None:
    if name not in args:
        return None
    now = str(args.get("now", ""))
    if not now:
        fix = "give now, the moment from which days are counted back"
        raise ToolError("BAD_TIME", f"{name} says nothing without now", place=name, fix=fix)
    at = datetime.fromtimestamp((_moment(args, "now") or 0) // 10**9, UTC)
    return int((at - timedelta(days=int(str(args[name])))).timestamp()) * 10**9


def files_in(
    workspace: Workspace,
    folder: str,
    wanted: FileChoice,
    *,
    recursive: bool,
    check: Check = never,
    missed: Callable[[str, str], None] = lambda path, why: None,
) -> Iterator[tuple[Entry, str]]:
    """The files of a folder that are wanted, in the order of a walk, each with its path below the folder.

    Raises:
        ScopeError: as ``Workspace.walk``. GlobError. What ``check`` raises.
    """
    pattern = wanted.pattern()
    deep = recursive or "/" in wanted.glob or bool(wanted.words)
    prefix = "/".join(workspace.split(folder))
    cut = len(prefix) + 1 if prefix else 0
    for entry in workspace.walk(folder, check=check, recursive=deep, missed=missed):
        if entry.kind == "file" and wanted.fits(entry, entry.path[cut:], pattern):
            yield entry, entry.path[cut:]


def paths_of(args: Mapping[str, Any]) -> Sequence[str]:
    """The paths that a call names, each once, in their order."""
    return tuple(dict.fromkeys(str(path) for path in args["paths"]))


def kind_of(workspace: Workspace, path: str) -> str:
    """file, folder, or "" where nothing is. Raises ScopeError for what tools may not touch."""
    status = workspace.check(path)
    return "" if status is None else "folder" if stat.S_ISDIR(status.st_mode) else "file"


def require_there(workspace: Workspace, path: str) -> str:
    """The same, where something must be. Raises ScopeError NOT_FOUND."""
    kind = kind_of(workspace, path)
    if not kind:
        fix = "look with fs/list first"
        raise ScopeError("NOT_FOUND", f"{path!r} does not exist", place=path, fix=fix)
    return kind


def require_some(count: int, path: str, wanted: FileChoice, *, none: bool = False) -> None:
    """Refuse what is about no file, unless ``none`` is good, and about too many.

    Raises:
        ToolError: NOTHING_FOUND, TOO_MANY_FILES.
    """
    if count > MOST:
        fix = "name a smaller folder, or a narrower pattern"
        raise ToolError("TOO_MANY_FILES", f"more than {MOST:,} files", place=path, fix=fix)
    if count == 0 and not none:
        like = f" that fits {wanted.glob!r}" if wanted.glob else ""
        what = f"there is no such file in {path!r}{like}"
        raise ToolError("NOTHING_FOUND", what, place=path, fix="look with fs/list first")


def named(path: str) -> str:
    """The last component of a path."""
    return path.rstrip("/").rpartition("/")[2]


def suffix(name: str) -> str:
    """The ending of a name with its dot (``.tar.gz`` whole), "" where it has none."""
    found = re.search(r"(?<=[^.])((?:\.tar)?\.[A-Za-z0-9_]{1,10})$", name)
    return found[1] if found else ""


def named_day(name: str, *, whole: bool) -> date | None:
    """The day that a name says; the first of a month, where not only whole days count."""
    for pattern in (_DAY,) if whole else (_DAY, _MONTH):
        for match in pattern.finditer(name):
            year, month, *day = map(int, match.groups())
            try:
                return date(year, month, *day or [1])
            except ValueError:
                continue
    return None


def day_of(modified: int) -> date:
    """The day (UTC) of nanoseconds since 1970."""
    return datetime.fromtimestamp(modified // 10**9, UTC).date()


def size_text(size: int) -> str:
    """Bytes as people read them."""
    if size < 10_000:
        return f"{size:,} bytes"
    for unit, worth in (("kB", 10**3), ("MB", 10**6), ("GB", 10**9)):
        if size < 10_000 * worth or unit == "GB":
            break
    return f"{size / worth:,.0f} {unit}"


def day_text(modified: int) -> str:
    """The day of a moment (nanoseconds since 1970), in UTC."""
    return datetime.fromtimestamp(modified / 1e9, UTC).date().isoformat()


def told_lines(lines: Sequence[str], none: str) -> str:
    """A text for people of so many lines that they can be read."""
    more = [f"and {len(lines) - _LINES:,} more"] if len(lines) > _LINES else []
    return "\n".join([*map(visible, lines[:_LINES]), *more]) or none
