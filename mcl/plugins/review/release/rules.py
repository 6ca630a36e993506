"""The rules of a release as data: what is looked at, what it weighs, what each flaw makes of it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from executor.sandbox.protected import is_protected
from mcl.plugins.review.drift.rules import Rules, rules_of


@dataclass(frozen=True, slots=True)
class Looked:
    """One thing that is looked at. weight: its share of the score."""

    id: str
    title: str
    weight: int
    reason: str


@dataclass(frozen=True, slots=True)
class Places:
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

    checks: tuple[Looked, ...]
    flaws: Rules
    places: Places


@cache
def release_rules() -> ReleaseRules:
    """The rules that come with mcl."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    checks, places = table.pop("check"), table.pop("places")
    return ReleaseRules(
        tuple(Looked(id=id, **one) for id, one in checks.items()),
        rules_of(table),
        Places(frozenset(places["mild"]), frozenset(places["settings"]), places["big"]),
    )
