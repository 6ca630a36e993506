"""`mcl review dismiss`, `dismissals`: a person says that what a review found is no fault."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from executor.store.home import Home
from mcl.core.errors import ReviewError
from mcl.core.home import open_home
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.memory.dismissals import Dismissal
from mcl.plugins.review.memory.history import ReviewMemories


def inside(file: str | Path, workspace: Path | None) -> str:
    """A path in the workspace, relative to it."""
    path, root = Path(file), (workspace or Path.cwd()).absolute()
    if not path.is_absolute():
        return str(file)
    for one in (root, root.resolve()):
        if path.is_relative_to(one):
            return str(path.relative_to(one))
    raise ReviewError(
        "REVIEW_PATH", f"it does not lie in {root}", place=str(file), fix="name the folder: --workspace DIR"
    )


_AT: Final = re.compile(r"(?P<file>.+):(?P<line>[0-9]{1,9})")
_NAMED: Final = 5


def review_dismiss(
    where: str | Sequence[str],
    why: str,
    *,
    rule: str = "",
    mark: str = "",
    workspace: Path | None = None,
    home: Home | None = None,
) -> tuple[Dismissal, ...]:
    """Dismiss findings of the last reviews of their files, all of them or none: from now on they count for
    nothing, until the lines change that they are about. What is dismissed already gets the new words.

    where: `file:line`, as the review told it, or several. why: in a few words; secrets are taken out. rule,
    mark: which of several findings there; a mark may be cut short. Only a person may do this: no tool does.

    Raises ReviewError FINDING_UNKNOWN, FINDINGS_MANY, NOT_DISMISSIBLE, DISMISSAL_SHAPE, REVIEW_PATH.
    """
    home = home or open_home()
    memories = ReviewMemories(home, workspace or Path.cwd())
    with home.db.write():
        places = [where] if isinstance(where, str) else where
        found = [_found(memories, one, rule=rule, mark=mark, workspace=workspace) for one in places]
        return tuple(memories.dismissals.dismiss(one, why) for one in found)


def review_dismissals(
    file: str | Path = "", *, workspace: Path | None = None, home: Home | None = None
) -> tuple[Dismissal, ...]:
    """What is dismissed in a workspace, or in one file of it, in the order of places. Raises ReviewError
    REVIEW_PATH."""
    found = ReviewMemories(home or open_home(), workspace or Path.cwd()).dismissals.all().values()
    name = inside(file, workspace) if str(file) else ""
    return tuple(one for one in found if name in ("", one.file))


def review_undismiss(
    where: str | Sequence[str],
    *,
    rule: str = "",
    mark: str = "",
    workspace: Path | None = None,
    home: Home | None = None,
) -> tuple[Dismissal, ...]:
    """Let findings count again, all of them or none. where: the place at which one was dismissed, or
    where the last review found it; or several.

    Raises ReviewError DISMISSAL_UNKNOWN, FINDINGS_MANY, REVIEW_PATH.
    """
    home = home or open_home()
    memories = ReviewMemories(home, workspace or Path.cwd())
    with home.db.write():
        places = [where] if isinstance(where, str) else where
        gone = [_dismissed(memories, one, rule=rule, mark=mark, workspace=workspace) for one in places]
        for one in gone:
            memories.dismissals.forget(one.mark)
    return tuple(gone)


def _dismissed(
    memories: ReviewMemories, where: str, *, rule: str, mark: str, workspace: Path | None
) -> Dismissal:
    """The dismissal that is meant. Raises ReviewError."""
    file, line = _place(where)
    name, known = inside(file, workspace), memories.dismissals.all()
    now = {one.mark for last in memories.history.last(name, 1) for one in last.dismissed if one.line == line}
    fits = [
        one
        for one in known.values()
        if (one.mark in now or (one.file, one.line) == (name, line))
        and rule in ("", one.rule)
        and one.mark.startswith(mark)
    ]
    if not fits:
        fix = "mcl review dismissals"
        raise ReviewError("DISMISSAL_UNKNOWN", "nothing is dismissed there", place=where, fix=fix)
    if len(fits) > 1:
        raise _many(where, [(one.rule, one.mark) for one in fits])
    return fits[0]


def _found(
    memories: ReviewMemories, where: str, *, rule: str, mark: str, workspace: Path | None
) -> ReviewFinding:
    """The finding of the last review that is meant. Raises ReviewError."""
    file, line = _place(where)
    last = memories.history.last(inside(file, workspace), 1)
    there = [one for review in last for one in (*review.findings, *review.dismissed) if one.line == line]
    fits = [one for one in there if rule in ("", one.rule) and one.mark.startswith(mark)]
    return _only(fits, there, where, reviewed=bool(last))


def _place(where: str) -> tuple[str, int]:
    found = _AT.fullmatch(where)
    if found is None:
        raise ReviewError(
            "FINDING_UNKNOWN",
            "this names no place of a finding",
            place=where,
            fix="write file:line, as the review told it: mcl review dismiss app.py:12 --why …",
        )
    return found["file"], int(found["line"])


def _only(
    fits: list[ReviewFinding], there: list[ReviewFinding], where: str, *, reviewed: bool
) -> ReviewFinding:
    """The one finding that is meant. Raises ReviewError."""
    several = {one.mark or one: one for one in fits}
    if len(several) == 1:
        return fits[0]
    if several:
        raise _many(where, [(one.rule, one.mark) for one in several.values()])
    if there:
        rules = ", ".join(sorted({one.rule or "no rule" for one in there}))
        raise ReviewError(
            "FINDING_UNKNOWN", f"no such finding there; there is: {rules}", place=where, fix="name another"
        )
    file = where.rpartition(":")[0]
    raise ReviewError(
        "FINDING_UNKNOWN",
        "the last review of this file found nothing there" if reviewed else "this file was not reviewed",
        place=where,
        fix=f"see what it found: mcl review history {file}" if reviewed else f"mcl review {file} --no-ai",
    )


def _many(where: str, found: list[tuple[str, str]]) -> ReviewError:
    rules = {rule for rule, _ in found}
    apart = len(rules) == len(found) and "" not in rules
    ways = [f"--rule {rule}" if apart else f"--mark {mark[:6]}" for rule, mark in found]
    more = f", … ({len(ways) - _NAMED} more)" if len(ways) > _NAMED else ""
    return ReviewError(
        "FINDINGS_MANY",
        f"{len(found)} findings stand there",
        place=where,
        fix=f"name one: {', '.join(ways[:_NAMED])}{more}",
    )
