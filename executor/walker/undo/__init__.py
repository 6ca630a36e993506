"""Keeping files as they were before a tool writes, and putting them back."""

from executor.walker.undo.images import Images, Kept, Pruned, prune
from executor.walker.undo.restoration import Changed
from executor.walker.undo.undo import NotUndone, UndoReport, undo

__all__ = ["Changed", "Images", "Kept", "NotUndone", "Pruned", "UndoReport", "prune", "undo"]
