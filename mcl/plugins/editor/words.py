"""What every word of the language means, in a line each (`words.toml`): shown beside completions and on
hover."""

from __future__ import annotations

from typing import Final

from executor.core.tables import table_beside

_WORDS: Final = table_beside(__file__)
Words = dict[str, str]
SECTIONS: Final[Words] = _WORDS["sections"]
TERMINALS: Final[Words] = _WORDS["terminals"]
SETTINGS: Final[dict[str, Words]] = _WORDS["settings"]
TYPES: Final[Words] = _WORDS["types"]
VERBS: Final[Words] = _WORDS["verbs"]
PLACES: Final[Words] = _WORDS["places"]
CALLS: Final[Words] = _WORDS["calls"]
ARGUMENTS: Final[Words] = _WORDS["arguments"]
SEVERITIES: Final[Words] = _WORDS["severities"]
ACTIONS: Final[Words] = _WORDS["actions"]


def setting(section: str, key: str) -> str:
    """What a setting means, or ""."""
    known = SETTINGS.get(section, {})
    return known.get(key) or known.get(f"{key.partition('.')[0]}.1", "")
