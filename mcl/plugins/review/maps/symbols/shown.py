"""What a text shows, and how much of it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from executor.sandbox.redaction import Redactor
from mcl.plugins.review.maps.maps import Symbol

MOST_NAME: Final = 200  # characters of a name, of a signature
_REDACTOR: Final = Redactor()


@dataclass(frozen=True, slots=True)
class Shown:
    """What a text shows.

    symbols: public ones in the order of their lines. imports: what it imports, as its language writes it; for
    Python ``module|name``. marks: what roles ask for. provides: the name that others import its folder by (of
    a go.mod). read: ast, table, or "" where nobody looked for symbols. cut: were there more than are told?
    """

    symbols: tuple[Symbol, ...] = ()
    imports: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    provides: str = ""
    read: str = ""
    cut: bool = False


def one_line(text: str) -> str:
    """A signature as it is kept: on one line, printable, without secrets, cut."""
    line = " ".join(text[: 4 * MOST_NAME].split())
    line = "".join(char if char.isprintable() else "\ufffd" for char in line)
    line = _REDACTOR.text(line)
    return line if len(line) <= MOST_NAME else f"{line[: MOST_NAME - 1]}…"
