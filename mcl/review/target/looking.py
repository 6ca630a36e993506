"""Looking at a file, a folder, or what changed."""

from __future__ import annotations

from executor.tools.tool import Bench
from mcl.errors import ReviewError
from mcl.review.target.piece import Target


async def look_at(bench: Bench, *, path: str = "", base: str = "", staged: bool = False) -> Target:
    """Read what is to be reviewed.

    Args:
        path: a file or a folder, relative to the workspace.
        base: a revision, in place of a path: the files as they are, with new ones, against it.
        staged: what would be committed against `base` (default: the last commit).

    Raises:
        ReviewError: NOTHING_NAMED, NOT_FOUND, NOT_A_FILE, NOT_TEXT, TOO_LARGE, SECRET_FILE, OUT_OF_SCOPE,
            NOT_A_REPOSITORY, UNKNOWN_REVISION, LOOKS_LIKE_OPTION, NOTHING_CHANGED.
    """
    raise ReviewError("NOTHING_NAMED", "no file is named", fix="name a file, a folder or a revision")
