"""What a review looks at: a file, a folder, or what changed, with the lines that are to be judged."""

from mcl.plugins.review.target.looking import in_folder, look_at
from mcl.plugins.review.target.piece import (
    FilePiece,
    Kind,
    RemovedLines,
    ReviewTarget,
    SkippedFile,
    State,
    piece_of,
    shown,
)

__all__ = [
    "FilePiece",
    "Kind",
    "RemovedLines",
    "ReviewTarget",
    "SkippedFile",
    "State",
    "in_folder",
    "look_at",
    "piece_of",
    "shown",
]
