"""How a pattern is refused: with the character where it goes wrong, and what to write instead."""

from __future__ import annotations

from typing import Final, NoReturn

from executor.core.errors import GlobError

EXAMPLE: Final = "src/auth/**"


def refuse(text: str, position: int, why: str, fix: str) -> NoReturn:
    """Raise INVALID_GLOB for a pattern that goes wrong at this character, counted from 0."""
    message = f"{why} (character {position + 1})"
    raise GlobError("INVALID_GLOB", message, place=text, fix=fix, position=position)


def refuse_absolute(text: str) -> NoReturn:
    """Raise ABSOLUTE_PATH."""
    raise GlobError(
        "ABSOLUTE_PATH",
        "a pattern is relative to the workspace",
        place=text,
        fix=f"write it from the workspace on, such as {EXAMPLE}",
    )
