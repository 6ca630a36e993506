"""What a file is in its repository, by rules that are data: roles.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RoleRule:
    """One rule: its conditions, all of which must hold, and the role that it gives."""

    id: str
    role: str
    why: str
    names: re.Pattern[str] | None
    folders: frozenset[str]
    languages: frozenset[str] | None
    marks: frozenset[str]
    importers: int
    top: bool
    unused: bool

    def fits(
        self, name: str, above: frozenset[str], language: str, marks: Collection[str], importers: int
    ) -> bool:
        """Do all conditions hold? above: the names of the folders on the way."""
        return (
            (self.languages is None or language in self.languages)
            and (not self.folders or not self.folders.isdisjoint(above))
            and (not self.marks or not self.marks.isdisjoint(marks))
            and importers >= self.importers
            and not (self.unused and importers)
            and not (self.top and above - {"src"})
            and (self.names is None or self.names.match(name) is not None)
        )


@dataclass(frozen=True)
class RoleRules:
    """The rules in their order. code: roles whose files are code that somebody reviews."""

    all: tuple[RoleRule, ...]
    code: frozenset[str]

    def of(self, path: str, language: str, marks: Collection[str], importers: int) -> RoleRule:
        """The first rule that fits; the last one fits everything."""
        *folders, name = path.split("/")
        above = frozenset(folders)
        return next(rule for rule in self.all if rule.fits(name, above, language, marks, importers))

    def get(self, id: str) -> RoleRule | None:
        """The rule with this id."""
        return next((rule for rule in self.all if rule.id == id), None)

    def why(self, id: str, importers: int) -> str:
        """Why a rule gave a role, in words."""
        rule = self.get(id)
        if rule is None:
            return ""
        return f"{rule.why} ({importers})" if rule.importers else rule.why


@cache
def rules() -> RoleRules:
    """The rules of roles.toml."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return RoleRules(tuple(_rule(one) for one in table["rules"]), frozenset(table["code"]))


def _rule(said: dict[str, Any]) -> RoleRule:
    names = "|".join(translate(one) for one in said.get("names", ()))
    return RoleRule(
        id=said["id"],
        role=said["role"],
        why=said["why"],
        names=re.compile(names) if names else None,
        folders=frozenset(said.get("folders", ())),
        languages=frozenset(said["languages"]) if "languages" in said else None,
        marks=frozenset(said.get("marks", ())),
        importers=said.get("importers", 0),
        top=said.get("top", False),
        unused=said.get("unused", False),
    )
