"""`mcl review history`, `decide`, `decisions`, `remember`, `recall`, `bootstrap`: what reviews remember."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, cast

from executor.sandbox.paths import Workspace
from executor.store.home import Home
from mcl.core.errors import ReviewError
from mcl.core.home import open_home
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.memory.decision import KINDS, STATUSES, ArchitectureDecision, Kind, Status
from mcl.plugins.review.memory.decisions import DecisionDifference
from mcl.plugins.review.memory.dismissals import Dismissal
from mcl.plugins.review.memory.documents import Bootstrapped, bootstrap
from mcl.plugins.review.memory.history import NEWEST, Review, ReviewMemories
from mcl.plugins.review.memory.meanings import MEANINGS, Meaning, MeaningKind


def review_history(
    file: str | Path = "", *, limit: int = NEWEST, workspace: Path | None = None, home: Home | None = None
) -> tuple[Review, ...]:
    """The newest reviews of a file, the newest first, at most 10; or, without one, the last review of each
    file, in the order of their names.

    file: relative to the workspace, or a path in it. workspace: a folder (default: this one). Raises
    ReviewError REVIEW_PATH.
    """
    memories = _memories(workspace, home)
    return memories.history.last(inside(file, workspace), limit) if str(file) else memories.history.files()


def review_decide(
    title: str,
    *,
    decision: str,
    context: str = "",
    consequences: str = "",
    about: Sequence[str] = (),
    kind: str = "decisions",
    status: str = "accepted",
    write: bool = True,
    workspace: Path | None = None,
    home: Home | None = None,
) -> tuple[ArchitectureDecision, bool]:
    """Write a decision of architecture down: a memory under the next id (ADR-0001 …) and, with write, a
    Markdown file in the workspace. Gives it, and whether it is new: the same is not decided twice.

    about: patterns of the paths that it is about, such as src/** (none: all). kind: decisions, boundaries,
    philosophy, rejected. status: proposed, accepted, superseded, deprecated, rejected. Raises ReviewError
    DECISION_SHAPE, DECISION_FULL; ScopeError where the file cannot be written, and nothing is remembered.
    """
    home = home or open_home()
    with _opened(workspace, home) as opened:
        return _memories(workspace, home).decisions.decide(
            title,
            context=context,
            decision=decision,
            consequences=consequences,
            files=about,
            status=cast("Status", _one_of(status, STATUSES, "status")),
            kind=cast("Kind", _one_of(kind, KINDS, "kind")),
            workspace=opened if write else None,
        )


def review_decisions(
    file: str | Path = "", *, workspace: Path | None = None, home: Home | None = None
) -> tuple[ArchitectureDecision, ...]:
    """All decisions of a workspace, by their ids; or those that a review of a file is told, at most 3.

    Raises ReviewError REVIEW_PATH.
    """
    decisions = _memories(workspace, home).decisions
    return decisions.relevant(inside(file, workspace)) if str(file) else decisions.all()


def review_decisions_differ(
    *, read: bool = False, workspace: Path | None = None, home: Home | None = None
) -> tuple[DecisionDifference, ...]:
    """What the files below architecture_memory/ and the memory do not agree on.

    read: what files say and memory does not is remembered, all or nothing, and what it was is given. Raises
    ReviewError DECISION_FILE where a file cannot be read then.
    """
    home = home or open_home()
    with _opened(workspace, home) as opened:
        decisions = _memories(workspace, home).decisions
        return decisions.take_in(opened) if read else decisions.compare(opened)


def review_remember(
    text: str,
    *,
    kind: str = "fact",
    tags: Sequence[str] = (),
    source: str = "",
    id: str = "",
    workspace: Path | None = None,
    home: Home | None = None,
) -> Meaning:
    """Remember a text about a workspace, under the id of one that is there as its next version.

    kind: fact, decision, convention, summary, warning. id: made of kind and text where it is empty. Secrets
    are taken out. Raises ReviewError MEANING_SHAPE.
    """
    return _memories(workspace, home).meanings.remember(
        text,
        kind=cast("MeaningKind", _one_of(kind, MEANINGS, "kind")),
        tags=tags,
        source=source,
        id=id,
    )


def review_recall(
    words: str = "", *, limit: int = 10, workspace: Path | None = None, home: Home | None = None
) -> tuple[Meaning, ...]:
    """The texts that are most like some words, the best first; without words all, in the order of their
    ids. limit: at most so many, 0 for all."""
    meanings = _memories(workspace, home).meanings
    found = meanings.recall(words, limit or len(meanings.all())) if words.strip() else meanings.all()
    return found[:limit] if limit else found


def review_bootstrap(*, workspace: Path | None = None, home: Home | None = None) -> Bootstrapped:
    """Remember what the documents and settings of a workspace say of it. The same again changes nothing."""
    home = home or open_home()
    with _opened(workspace, home) as opened:
        return bootstrap(_memories(workspace, home), opened)


def _memories(workspace: Path | None, home: Home | None) -> ReviewMemories:
    return ReviewMemories(home or open_home(), workspace or Path.cwd())


@contextmanager
def _opened(workspace: Path | None, home: Home) -> Iterator[Workspace]:
    opened = Workspace(workspace or Path.cwd(), forbidden=(home.path,))
    try:
        yield opened
    finally:
        opened.close()


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


def _one_of(word: str, words: Sequence[str], place: str) -> str:
    if word in words:
        return word
    code = "MEANING_SHAPE" if tuple(words) == MEANINGS else "DECISION_SHAPE"
    raise ReviewError(code, f"{word[:40]!r} is none", place=place, fix=", ".join(words))


# ---- `mcl review dismiss`, `dismissals`: a person says that what a review found is no fault.

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
