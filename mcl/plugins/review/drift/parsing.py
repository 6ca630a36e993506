"""Python of a stranger, parsed and never run."""

from __future__ import annotations

import ast
import warnings
from typing import Final

_LONGEST: Final = 1 << 19  # characters: what is made to take long takes seconds then, not minutes


def parsed(text: str) -> ast.Module | None:
    """The syntax of a module; None where it is none, too long, or too deep."""
    if len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it says of the stranger's escapes is nobody's news here
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
