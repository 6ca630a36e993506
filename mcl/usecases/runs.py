"""Runs whose steps a plug-in answers, and `mcl undo`, which puts files back as they were before a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from executor.store.home import Home
from executor.walker.interfaces import Prompts, Reasoner
from mcl.core.home import open_home
from mcl.plugins.hooks import plugins
from mcl.usecases.intents import find_intent, read_view

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.undo.images import Pruned
    from executor.walker.undo.records import NotUndone
    from executor.walker.undo.undo import UndoReport
    from mcl.model import Model
    from mcl.usecases.intents import Shown


class Steps(Reasoner, Prompts, Protocol):
    """What asks the steps of a plan, and answers them."""


class Runs(Protocol):
    """A plug-in's own plans."""

    def fits(self, found: Shown) -> bool:
        """Is the plan of this intent one of them?"""
        ...

    def steps(self, home: Home, found: Shown, model: Path | Model | None, *, ai: bool) -> Steps:
        """What answers its steps; model, ai: as of ``run``."""
        ...

    def ended(self, home: Home, found: Shown, outcome: Outcome, workspace: Path) -> None:
        """A run of it ended: keep what is to be kept."""
        ...

    def exit(self, outputs: Mapping[str, object]) -> int:
        """The exit code of a run that completed."""
        ...

    def said(self, home: Home, found: Shown) -> tuple[dict[str, Any], str]:
        """What it came to, for the document of the intent and for the screen."""
        ...


def runs_of(found: Shown) -> Runs | None:
    """The plug-in's runs that an intent is of; None: the kernel's own."""
    if found.intent is None or found.plan is None:
        return None
    known = (plugin.load_named(plugin.runs) for plugin in plugins() if plugin.runs)
    return next((one for one in known if one.fits(found)), None)


# ---- `mcl undo`: put files back as they were before an intent ran.


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
    from executor.walker.undo.undo import undo as undo_intent

    home = home or open_home()
    id = find_intent(home, intent)
    read_view(home, id)
    return undo_intent(home, id, node=node, leave=leave, check=check, workspace=workspace)


def not_covered(intent: str, *, home: Home) -> tuple[NotUndone, ...]:
    """The files that a run changed and no undo will put back, by the ULID of an intent."""
    if not home.journal.rows(intent, kind="record.undo.kept", limit=1):
        return ()
    from executor.walker.undo.records import NotUndone, read_history

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
    from executor.walker.undo.images import prune

    return prune(home or open_home(), days=days)
