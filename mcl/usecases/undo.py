"""`mcl undo`: put files back as they were before an intent ran."""

from collections.abc import Collection
from pathlib import Path

from executor.store.home import Home
from executor.walker.undo import NotUndone, Pruned, UndoReport
from executor.walker.undo import prune as prune_images
from executor.walker.undo import undo as undo_intent
from executor.walker.undo.records import read_history
from mcl.core.home import open_home
from mcl.usecases.ids import find_intent
from mcl.usecases.show import read_view


def undo(
    intent: str,
    *,
    node: str = "",
    leave: Collection[str] = (),
    check: bool = False,
    workspace: Path | None = None,
    home: Home | None = None,
) -> UndoReport:
    """Put the files back that an ended intent changed, and nothing else: all of them or none.

    node: only the calls of this node and of those below it. leave: paths that stay as they are. check: only
    say what would happen. workspace: where the folder lies now, if it was moved since.

    Raises InputError; UndoError NOT_ENDED, NODE_UNKNOWN, CHANGED_SINCE (`data["changed"]` lists the files;
    nothing was touched), IMAGE_MISSING, IMAGE_DAMAGED, UNDO_INTERRUPTED, WORKSPACE_MOVED,
    VERIFICATION_FAILED; WalkError ALREADY_RUNNING; ScopeError where the folder is gone or cannot be
    written to.
    """
    home = home or open_home()
    id = find_intent(home, intent)
    read_view(home, id)
    return undo_intent(home, id, node=node, leave=leave, check=check, workspace=workspace)


def not_covered(intent: str, *, home: Home) -> tuple[NotUndone, ...]:
    """The files that a run changed and no undo will put back, by the ULID of an intent."""
    return tuple(
        NotUndone(call.node, call.tool, path, why)
        for call in read_history(home.journal, intent).calls
        for path, why in call.uncovered.items()
        if path
    )


def prune_undo(*, days: int = 30, home: Home | None = None) -> Pruned:
    """Remove what is kept for undoing intents that ended more than `days` days ago.

    Those can no longer be undone. Raises HomeError, JournalError.
    """
    return prune_images(home or open_home(), days=days)
