"""On which lines of a TOML file its keys and the texts of its lists stand; ``tomllib`` does not tell."""

from __future__ import annotations

import re
from typing import Final

# A text in any of TOML's four forms, a comment, a bracket; or what lies between them.
_PART: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")'
    r"|'''.*?'''(?!')"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]]"
    r"""|[^"'\#\[\]]+""",
    re.DOTALL,
)


def line_of(text: str, key: str) -> int:
    """The line, from 1, where a key is set or a table of this name begins; 0 where that cannot be told."""
    found = _key(text, key)
    return _line(text, found.start(1)) if found else 0


def lines_of_texts(text: str, key: str, count: int) -> tuple[int, ...]:
    """The lines of the texts of a list, in their order; zeros where they cannot be told.

    Args:
        text: valid TOML. count: how many texts the list has.
    """
    found, depth, lines = _key(text, key), 0, list[int]()
    for part in _PART.finditer(text, found.end()) if found else ():
        said = part[0]
        if said[0] in "\"'":
            lines.append(_line(text, part.start()))
        depth += {"[": 1, "]": -1}.get(said, 0)
        if said == "]" and not depth:
            break
    return tuple(lines) if len(lines) == count else (0,) * count


def _key(text: str, key: str) -> re.Match[str] | None:
    name = re.escape(key)
    return re.search(rf"""^[ \t]*\[*[ \t]*((?:\w+[ \t]*\.[ \t]*)?["']?{name}["']?)[ \t]*[=\].]""", text, re.M)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
