"""Patterns that are compiled when they are first asked: of the hundreds there are, one goal needs few."""

import re
from typing import Any, cast


def late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but later. The functions of `re` take no such pattern."""
    return cast(re.Pattern[str], _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._said = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = getattr(re.compile(*self._said), name)
        return found
