"""Guides: what to look for in files of a kind, chosen by a file's path and the mode of the review."""

import functools
from dataclasses import dataclass
from pathlib import PurePosixPath

from executor.core.globs import Glob, GlobError
from mcl.plugins.review.contracts.contract import FOLDER, MODES, Mode, read_front

SCHEMA = "review-guide.v1"
_EVERY = "**"  # also what no pattern matches: names with control characters
_KEYS = ("guide", "files", "modes")


@dataclass(frozen=True)
class ReviewGuide:
    """One guide. files: the paths that it is for. modes: the reviews that it is told to.

    text: what a model is told. digest: sha256 (hex) of the guide's file.
    """

    name: str
    files: tuple[Glob, ...]
    modes: frozenset[str]
    text: str
    digest: str

    def fits(self, path: str, mode: str) -> bool:
        """Is it for this path, in this mode?"""
        return mode in self.modes and any(glob.text == _EVERY or glob.matches(path) for glob in self.files)


def guides_for(path: str, mode: Mode) -> tuple[ReviewGuide, ...]:
    """The guides for a file, in the order of their names. path: relative to the workspace, with `/`.

    The guide `security` is for every path in the modes security and risk. Raises ReviewError
    CONTRACT_INVALID.
    """
    return tuple(guide for guide in guides() if guide.fits(path, mode))


@functools.cache
def guides() -> tuple[ReviewGuide, ...]:
    """All guides, in the order of their names. Raises ReviewError CONTRACT_INVALID."""
    files = sorted((FOLDER / "guides").glob("*.md"))
    return tuple(read_guide(file.read_bytes(), place=f"review/guides/{file.name}") for file in files)


def read_guide(data: bytes, *, place: str) -> ReviewGuide:
    """Read a guide's file. place: its name for messages. Raises ReviewError CONTRACT_INVALID."""
    front = read_front(data, place=place, schema=SCHEMA, keys=_KEYS)
    name = front.one_of("guide", (PurePosixPath(place).stem,))
    modes = front.list_of_words("modes")
    for mode in modes:
        if mode not in MODES:
            front.refuse("modes", f"modes may have {', '.join(MODES)}, not {mode!r}")
    globs = []
    for text in front.list_of_words("files"):
        try:
            globs.append(Glob.read(text))
        except GlobError as error:
            front.refuse("files", f"{text!r}: {error.message}")
    return ReviewGuide(name, tuple(globs), frozenset(modes), front.text, front.digest)
