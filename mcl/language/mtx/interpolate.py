"""Places in prompt strings: `{prose}`, `{slot.target}`, …; `{{` is a literal brace, a lone `}` is itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

PLAIN_NAMES = ("prose", "verb", "cortex.bundle", "slots", "unknowns")
_PLACE = re.compile(r"\{\{|\{([^{}\n]*)\}|\{")
_SLOT = re.compile(r"slot\.([A-Za-z_][\w-]*)(\.prose)?")


def interpolate(text: str, value_of: Callable[[str], str]) -> str:
    """The text with every place replaced; what is put in is never read for places again."""
    return _PLACE.sub(lambda match: "{" if match[1] is None else value_of(match[1]), text)


def slot_of(name: str) -> tuple[str, bool] | None:
    """`slot.x` as ("x", False), `slot.x.prose` as ("x", True), else None."""
    match = _SLOT.fullmatch(name)
    return (match[1], bool(match[2])) if match else None


def places(text: str) -> Iterator[tuple[int, str | None]]:
    """Each place with its offset and name; a brace that opens no place has the name None."""
    for match in _PLACE.finditer(text):
        if match[1] is not None or match[0] == "{":
            yield match.start(), match[1]
