"""What a release check found, the verdict, and the score.

The verdict follows from the rules alone: blocked where one flaw blocks, warning where there is another flaw,
else pass. The score says how far it is: each check that applies earns its weight where it passes, half of it
where it only warns, nothing where it blocks or did not run. The score is what was earned of the weights of
all checks that apply, in per cent, rounded down: 100 where everything passes and nowhere else.
What only the home of whoever looks knows is noted beside it: whoever looks, the verdict and the score are the
same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import ClassVar, Final, Literal

from executor.core.tables import table_beside
from executor.sandbox.files import is_protected
from ir.results import JsonResult
from mcl.plugins.review.drift.rules import FlawRules, RepositoryFlaw, rules_of

# ---- The rules of a release as data: what is looked at, what it weighs, what each flaw makes of it.


@dataclass(frozen=True, slots=True)
class CheckKind:
    """One thing that is looked at. weight: its share of the score."""

    id: str
    title: str
    weight: int
    reason: str


@dataclass(frozen=True, slots=True)
class PathMeanings:
    """What places mean. mild: folders; settings: names of files; big: bytes."""

    mild: frozenset[str]
    settings: frozenset[str]
    big: int

    def is_mild(self, path: str) -> bool:
        """Does a file lie where broken files are most often meant, among tests and examples?"""
        name = PurePosixPath(path)
        folders = {part.casefold() for part in name.parts[:-1]}
        return bool(folders & self.mild) or name.name.startswith("test_")

    def secret(self, path: str) -> str:
        """The code of the flaw that a tracked file of this name is; "" for none."""
        name = path.rpartition("/")[2]
        # The name of a folder says nothing of what is in it: there are packages called credentials.
        if not is_protected((name,)):
            return ""
        return "PRIVATE_SETTINGS" if name.casefold() in self.settings else "SECRET_FILE"


@dataclass(frozen=True)
class ReleaseRules:
    """All of rules.toml. checks: in the order in which they are told."""

    checks: tuple[CheckKind, ...]
    flaws: FlawRules
    places: PathMeanings


@cache
def release_rules() -> ReleaseRules:
    """The rules that come with mcl."""
    table = dict(table_beside(__file__, "rules"))
    checks, places = table.pop("check"), table.pop("places")
    return ReleaseRules(
        tuple(CheckKind(id=id, **one) for id, one in checks.items()),
        rules_of(table),
        PathMeanings(frozenset(places["mild"]), frozenset(places["settings"]), places["big"]),
    )


Status = Literal["pass", "warning", "blocked", "not run", "noted", "does not apply"]
Verdict = Literal["pass", "warning", "blocked"]

_EARNED: Final = {"pass": 2, "warning": 1, "blocked": 0, "not run": 0}  # halves of the weight
_NEXT: Final = 10  # things to do next that are told


@dataclass(frozen=True, slots=True)
class ReleaseCheck(JsonResult):
    """One thing that was looked at. said: what was found, in words."""

    JSON: ClassVar = "id=looked.id title=looked.title weight=looked.weight status said flaws"
    looked: CheckKind
    status: Status
    said: str
    flaws: tuple[RepositoryFlaw, ...] = ()


def status_of(flaws: Iterable[RepositoryFlaw]) -> Status:
    """The status of a check that was made and has these flaws."""
    levels = {one.level for one in flaws}
    return "blocked" if "blocked" in levels else "warning" if levels else "pass"


@dataclass(frozen=True)
class ReleaseReport(JsonResult):
    """May it be released? intent: that of the tests where they ran or were refused, else ""."""

    JSON: ClassVar = "verdict score workspace version intent checks next"
    workspace: Path
    version: str
    checks: tuple[ReleaseCheck, ...]
    intent: str = ""

    @property
    def verdict(self) -> Verdict:
        """blocked, warning or pass; the score has no part in it."""
        found = {one.status for one in self.checks}
        if "blocked" in found:
            return "blocked"
        return "warning" if found & {"warning", "not run"} else "pass"

    @property
    def score(self) -> int:
        """0 to 100."""
        weighed = [one for one in self.checks if one.status in _EARNED]
        whole = sum(one.looked.weight for one in weighed)
        earned = sum(one.looked.weight * _EARNED[one.status] for one in weighed)
        return 100 * earned // (2 * whole) if whole else 100

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, what blocks first; each thing once."""
        flaws = [flaw for check in self.checks if check.status != "noted" for flaw in check.flaws]
        ordered = [one for level in ("blocked", "warning") for one in flaws if one.level == level]
        fixes: dict[str, list[str]] = {}
        for flaw in ordered:
            fixes.setdefault(flaw.fix, []).append(flaw.place)
        told = [f"{fix}{_places(places)}" for fix, places in fixes.items()]
        return tuple(told[:_NEXT])


def _places(places: list[str]) -> str:
    first, more = places[0], len(set(places)) - 1
    if more:
        return f" ({first} and {more} more)"
    return "" if first == "." else f" ({first})"
