"""What the maps of a repository say of its files, and by which rules: roles.toml."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Literal

from executor.core.globs import fits_name
from executor.core.tables import table_beside

# ---- What a file is in its repository, by rules that are data.


@dataclass(frozen=True)
class RoleRule:
    """One rule: its conditions, all of which must hold, and the role that it gives."""

    id: str
    role: str
    why: str
    names: tuple[str, ...]
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
            and (not self.names or fits_name(self.names, name))
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
    table = table_beside(__file__, "roles")
    return RoleRules(tuple(_rule(one) for one in table["rules"]), frozenset(table["code"]))


def _rule(said: dict[str, Any]) -> RoleRule:
    return RoleRule(
        id=said["id"],
        role=said["role"],
        why=said["why"],
        names=tuple(said.get("names", ())),
        folders=frozenset(said.get("folders", ())),
        languages=frozenset(said["languages"]) if "languages" in said else None,
        marks=frozenset(said.get("marks", ())),
        importers=said.get("importers", 0),
        top=said.get("top", False),
        unused=said.get("unused", False),
    )


# ---- The maps.

FOLDER: Final = "generated/architecture"  # where they lie, in the workspace
IGNORE: Final = "generated/.gitignore"

# A time as the maps have it: ISO 8601 in UTC.
MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z\Z")

# How far git could tell of changes: all of them; a clone that holds the latest only; the latest of very many;
# no repository, or none that may be asked; no commit yet.
History = Literal["whole", "shallow", "cut", "none", "empty"]


@dataclass(frozen=True, slots=True)
class FileSymbol:
    """A name that a file offers to others.

    name: a method's stands behind that of its class, ``Store.put``. kind: class, function, method, type, …
    line: from 1. signature: the name with what follows it where it is declared, on one line, cut at 200
    characters; "" where nothing does.
    """

    name: str
    kind: str
    line: int
    signature: str = ""


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file of the maps.

    sha256: of its content, in hex; of its first 4 MiB where it is larger. size: bytes. lines: 0 for what is
    no text. read: how its symbols were found: ast (Python), table (by lines), "" (not looked for, or binary).
    symbols: public ones, in the order of their lines, at most 200. rule: the id of the rule that gave its
    role. importers: how many other files import it. author: who changed it most often. changes: commits that
    changed it. modified: when it was committed last, ISO 8601 UTC; "" where git does not know it. reviewed:
    when it was reviewed last, as known when the maps were made; "" for never.
    """

    path: str
    sha256: str
    size: int
    lines: int
    language: str
    read: str
    symbols: tuple[FileSymbol, ...]
    rule: str
    role: str
    importers: int
    author: str = ""
    changes: int = 0
    modified: str = ""
    reviewed: str = ""

    @property
    def hub(self) -> float:
        """0 (nothing imports it) to 1: n / (n + 10) with n files that import it, three digits."""
        return round(self.importers / (self.importers + 10), 3)

    @property
    def public(self) -> tuple[str, ...]:
        """The names of its public symbols without those inside of others, each once."""
        return tuple(dict.fromkeys(one.name for one in self.symbols if "." not in one.name))


@dataclass(frozen=True)
class Maps:
    """The maps of a repository.

    head: the commit they were made at, "" where there is none. tree: sha256 (hex) over paths and contents.
    left_out: why files are not in them, or not their symbols, with how many. history: how far git could tell.
    """

    files: Mapping[str, MappedFile]
    head: str = ""
    tree: str = ""
    history: History = "none"
    left_out: Mapping[str, int] = field(default_factory=dict)

    def role(self, path: str) -> str:
        """What a file is in the repository: entry point, hub, test, …; "" where the maps do not know it."""
        return found.role if (found := self.files.get(path)) else ""

    def why(self, path: str) -> str:
        """Why it has that role, in words; "" where the maps do not know it."""
        found = self.files.get(path)
        return rules().why(found.rule, found.importers) if found else ""

    def symbols(self, path: str) -> tuple[FileSymbol, ...]:
        """Its public symbols in the order of their lines."""
        return found.symbols if (found := self.files.get(path)) else ()

    def hub(self, path: str) -> float:
        """How many other files depend on it, from 0 to 1."""
        return found.hub if (found := self.files.get(path)) else 0.0

    def owner(self, path: str) -> str:
        """Who changed it most often; "" where git does not know."""
        return found.author if (found := self.files.get(path)) else ""


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """Something in which the maps differ from the workspace. path: "" for all of it. why: in words."""

    path: str
    why: str


# ---- Maps beside files that may have changed since they were made.

_OLDER = "of an older text of it; its symbols are left out"


class AgedMaps:
    """What maps say of files as these are now. Of one that changed since, its symbols are left out (lines and
    signatures of them are wrong, and a model is shown the text itself), and its role says that it is old."""

    def __init__(self, maps: Maps, now: Mapping[str, str]) -> None:
        """now: sha256 (hex) of files by path; of a file that is not named nothing is known, so it counts as
        unchanged."""
        self._maps = maps
        self.old = frozenset(
            path for path, sha256 in now.items() if path in maps.files and maps.files[path].sha256 != sha256
        )

    def role(self, path: str) -> str:
        """As `Maps.role`; of a file that changed with a word of that."""
        role = self._maps.role(path)
        return f"{role} ({_OLDER})" if path in self.old else role

    def symbols(self, path: str) -> tuple[FileSymbol, ...]:
        """As `Maps.symbols`; () of a file that changed."""
        return () if path in self.old else self._maps.symbols(path)

    def hub(self, path: str) -> float:
        return self._maps.hub(path)
