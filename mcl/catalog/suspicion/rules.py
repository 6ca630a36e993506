"""What a rule found in a tool's definition, and the rules: their names, how grave each is, and why."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

Level = Literal["warning", "notice"]

_RULES: Final = "rules.toml"


@dataclass(frozen=True, slots=True)
class SuspicionRule:
    """One thing that is looked for.

    level: a warning is approved in so many words only; a notice is shown and no more. reason: what is
    suspicious about it, for people. patterns: of rules about wording, any of them.
    """

    id: str
    level: Level
    reason: str
    patterns: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What is suspicious in a definition.

    rule, level, reason: as of ``SuspicionRule``. place: a JSON path
    (``inputSchema.properties.path.description``). excerpt: the words, with everything written out that cannot
    be seen.
    """

    rule: str
    level: Level
    reason: str
    place: str
    excerpt: str

    def to_json(self) -> dict[str, object]:
        """It as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Mark:
    """A rule that fits, where, and on which words; what a rule is about is told by its table."""

    rule: str
    place: str
    excerpt: str


@cache
def rules() -> Mapping[str, SuspicionRule]:
    """All rules by their ids, in the order in which they are told."""
    table = tomllib.loads((Path(__file__).parent / _RULES).read_text(encoding="utf-8"))
    return {
        one["id"]: SuspicionRule(
            one["id"],
            one["level"],
            one["reason"],
            tuple(re.compile(pattern, re.VERBOSE) for pattern in one.get("patterns", ())),
        )
        for one in table["rule"]
    }
