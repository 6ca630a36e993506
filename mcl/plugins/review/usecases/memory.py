"""`mcl review history`, `decide`, `decisions`, `remember`, `recall`, `bootstrap`: what reviews remember."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from executor.sandbox.paths import Workspace
from executor.store.home import Home
from mcl.core.errors import ReviewError
from mcl.core.home import open_home
from mcl.plugins.review.memory import Decision, Difference, Meaning, Memories, Review
from mcl.plugins.review.memory.decision import KINDS, STATUSES, Kind, Status
from mcl.plugins.review.memory.documents import Bootstrapped, bootstrap
from mcl.plugins.review.memory.history import NEWEST
from mcl.plugins.review.memory.meanings import MEANINGS, MeaningKind


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
) -> tuple[Decision, bool]:
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
) -> tuple[Decision, ...]:
    """All decisions of a workspace, by their ids; or those that a review of a file is told, at most 3.

    Raises ReviewError REVIEW_PATH.
    """
    decisions = _memories(workspace, home).decisions
    return decisions.relevant(inside(file, workspace)) if str(file) else decisions.all()


def review_decisions_differ(
    *, read: bool = False, workspace: Path | None = None, home: Home | None = None
) -> tuple[Difference, ...]:
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


def _memories(workspace: Path | None, home: Home | None) -> Memories:
    return Memories(home or open_home(), workspace or Path.cwd())


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
