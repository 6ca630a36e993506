"""What is scanned."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was already opened.

    path: as it is told in findings, relative to the workspace; it says which language this is, and no file is
    opened by it. text: the whole content, decoded.
    """

    path: str
    text: str
