"""Keeping files as they were before a tool writes, and putting them back."""

from executor.walker.undo.images import Images, Kept
from executor.walker.undo.prune import Pruned, prune
from executor.walker.undo.putting import Changed
from executor.walker.undo.undo import NotUndone, UndoReport, undo

__all__ = ["Changed", "Images", "Kept", "NotUndone", "Pruned", "UndoReport", "prune", "undo"]
