"""Which folder is meant where none is named."""

from __future__ import annotations

import os
from pathlib import Path

from mcl.plugins.agents.file import NAME as FILE
from mcl.plugins.agents.work.store import Work


def find_root(work: Work, place: Path) -> Path:
    """The folder whose work is meant at a place: the nearest at or above it that work was signed for, else
    the nearest that has the file, else the place itself. Links are followed."""
    real = Path(os.path.realpath(place))
    if (governed := work.root_of(real)) is not None:
        return governed
    return _with_file(real) or real


def root_to_sign(work: Work, place: Path) -> Path:
    """The folder whose file a person means to sign at a place: the nearest at or above it that has one, so
    that a part of a folder may have work of its own."""
    return _with_file(Path(os.path.realpath(place))) or find_root(work, place)


def _with_file(real: Path) -> Path | None:
    return next((one for one in (real, *real.parents) if (one / FILE).is_file()), None)
