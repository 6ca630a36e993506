"""What a review looks at: a file, a folder, or what changed, with the lines that are to be judged."""

from mcl.plugins.review.target.looking import in_folder, look_at
from mcl.plugins.review.target.piece import Kind, Piece, Removed, Skipped, State, Target, piece_of, shown

__all__ = [
    "Kind",
    "Piece",
    "Removed",
    "Skipped",
    "State",
    "Target",
    "in_folder",
    "look_at",
    "piece_of",
    "shown",
]
