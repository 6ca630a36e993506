"""Rules as data: what a flaw makes of a release, why it matters, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Final, Literal, get_args

from executor.core.tables import table_beside
from ir.findings import Finding
from mcl.core.text import cut

Level = Literal["blocked", "warning"]

MOST: Final = 50  # flaws of one rule that are told; one that holds everywhere is told by its count
_SAID: Final = 300  # characters of a message


@dataclass(frozen=True, slots=True)
class FlawRule:
    """One kind of flaw. about: the part that it belongs to; level: what it makes of a release."""

    code: str
    about: str
    level: Level
    reason: str
    fix: str


@dataclass(frozen=True, slots=True)
class RepositoryFlaw(Finding):
    """One thing that is not as it is said to be.

    place: a file of the repository, with the line where there is one; level: of its rule, or milder where the
    place is one of tests or examples.
    """

    JSON: ClassVar = "code level place message fix"
    fix: str = ""  # told where there is none, too
    level: Level = field(kw_only=True)


class FlawRules:
    """The rules of one file, by code. flaw: makes a flaw of a rule."""

    def __init__(self, rules: Iterable[FlawRule]) -> None:
        self._rules = {rule.code: rule for rule in rules}

    def __getitem__(self, code: str) -> FlawRule:
        return self._rules[code]

    def __iter__(self) -> Iterator[FlawRule]:
        return iter(self._rules.values())

    def flaw(
        self, code: str, place: str, message: str, *, mild: bool = False, fix: str = ""
    ) -> RepositoryFlaw:
        """A flaw of a rule. mild: it is never more than a warning. fix: "" for that of the rule."""
        rule = self._rules[code]
        said = cut(message, _SAID)
        return RepositoryFlaw(code, said, place, fix or rule.fix, level="warning" if mild else rule.level)


def rules_of(table: Mapping[str, Mapping[str, str]]) -> FlawRules:
    """Rules from a table of TOML."""
    for rule in table.values():
        assert rule["level"] in get_args(Level), rule
    return FlawRules(FlawRule(code=code, **rule) for code, rule in table.items())  # type: ignore[arg-type]


@cache
def drift_rules() -> FlawRules:
    """What counts as drift."""
    return rules_of(table_beside(__file__))


def bounded(
    flaws: Iterable[RepositoryFlaw], rules: FlawRules, *, more: str = "TOO_MANY"
) -> tuple[RepositoryFlaw, ...]:
    """The flaws, each once; of one rule no more than MOST, and then how many more (as a flaw of the rule
    `more`)."""
    kept: dict[str, list[RepositoryFlaw]] = {}
    for flaw in dict.fromkeys(flaws):
        kept.setdefault(flaw.code, []).append(flaw)
    told = [flaw for some in kept.values() for flaw in some[:MOST]]
    rest = {code: len(some) - MOST for code, some in kept.items() if len(some) > MOST}
    return (*told, *(rules.flaw(more, code, f"{count} more of {code}") for code, count in rest.items()))
