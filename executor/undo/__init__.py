"""Keeping files as they were before a tool writes, and putting them back."""

from executor.undo.images import Images, Kept
from executor.undo.prune import Pruned, prune
from executor.undo.undo import NotUndone, UndoReport, undo
from executor.undo.wanted import Changed

__all__ = ["Changed", "Images", "Kept", "NotUndone", "Pruned", "UndoReport", "prune", "undo"]
