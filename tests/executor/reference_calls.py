"""Calls, and the workspace they are made in, as the other way of working out promises sees them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from executor import Manifest

# ---- Places of files. The world that is simulated knows files and folders by their plain paths.


@dataclass
class World:
    """What lies in the workspace."""

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)

    def is_file(self, path: str) -> bool:
        return not path.startswith("/") and "/".join(names(path)) in self.files

    def is_folder(self, path: str) -> bool:
        return not path.startswith("/") and (not names(path) or "/".join(names(path)) in self.folders)

    def has(self, path: str) -> bool:
        return self.is_file(path) or self.is_folder(path)


def is_plain(path: str) -> bool:
    """Is it written as a path of the workspace has to be?"""
    return path == "." or (bool(path) and all(name not in ("", ".", "..") for name in path.split("/")))


def names(path: str) -> list[str]:
    """The names on the way to a place; () for the workspace itself. Ways up are walked, in text."""
    found: list[str] = []
    for name in path.split("/"):
        if name == ".." and found:
            found.pop()
        elif name not in ("", "."):
            found.append(name)
    return found


def alike(path: str) -> list[str]:
    """The same as a file system may take them that knows no case and one normal form."""
    return [unicodedata.normalize("NFC", unicodedata.normalize("NFC", one).casefold()) for one in names(path)]


def inside(path: str, place: str) -> bool:
    """Does a path lie at a place or below it, to the letter?"""
    if path.startswith("/"):
        return False
    return names(path)[: len(names(place))] == names(place)


def meets(path: str, place: str) -> bool:
    """Does a path lie at a place, below it, or around it, in any spelling?"""
    one, other = alike(path), alike(place)
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


# ---- Calls.


@dataclass(frozen=True)
class Made:
    """A call as it is made: its manifest, and its arguments. late: names of arguments that are not known yet.
    carries: do arguments hold what earlier nodes gave?"""

    manifest: Manifest
    args: Mapping[str, Any]
    late: frozenset[str] = frozenset()
    carries: bool = False

    def effect(self, world: World) -> tuple[set[str], str]:
        """Side-effect classes and operation, of the first case of the manifest that fits."""
        for case in self.manifest.when:
            fits = all(name not in self.args for name in case.absent)
            fits = fits and all(self.args.get(name) == value for name, value in case.equals.items())
            if case.exists:
                if case.exists in self.late:
                    fits = False
                else:
                    fits = fits and world.has(str(self.args.get(case.exists)))
            if fits:
                classes = set(case.effects or self.manifest.effects)
                return classes, case.operation or self.manifest.operation
        return set(self.manifest.effects), self.manifest.operation

    def paths(self, *modes: str) -> list[str]:
        """Where it goes, as far as that is known; a folder that is left out is the workspace."""
        found = []
        for name, mode in self.manifest.scope.paths.items():
            if mode not in modes or name in self.late:
                continue
            schema = self.manifest.properties
            given = self.args.get(name, schema[name].get("default", "." if mode == "list" else None))
            if given is not None:
                found.append(str(given))
        return found

    @property
    def late_paths(self) -> bool:
        modes = self.manifest.scope.paths
        return any(name in self.late and modes[name] in ("write", "add") for name in modes)

    def hosts(self) -> list[str]:
        return [origin(str(self.args[name])) for name in self.manifest.scope.urls if name in self.args]

    @property
    def changed(self) -> list[str]:
        return self.paths("write", "add")

    @property
    def outside(self) -> bool:
        return self.manifest.outside is not None

    @property
    def handed(self) -> bool:
        """Is it work that another agent does?"""
        return self.manifest.uri.startswith("matrix://tool/agent/dispatch@")

    @property
    def command(self) -> bool:
        return "shell" in self.manifest.effects

    def only_reads(self, world: World) -> bool:
        """Can it be seen that nothing is changed by it?"""
        outputs = self.manifest.command is not None and bool(self.manifest.command.outputs)
        return self.effect(world)[1] == "read" and not outputs and not self.handed

    def contradicts(self, world: World) -> bool:
        """Does its manifest say that it reads, and that it writes? No page says which of them counts."""
        classes, operation = self.effect(world)
        writes = "write" in classes or {"write", "add"} & set(self.manifest.scope.paths.values())
        return operation == "read" and bool(writes)

    def roams(self, world: World) -> bool:
        """May it go where nobody here sees it? Commands, tools of other servers, work of others."""
        return self.command or self.outside or self.handed

    def networks(self, world: World) -> bool:
        return bool(self.effect(world)[0] & {"network", "chain"}) or self.roams(world)


def origin(url: str) -> str:
    """Scheme, host and port of an address; a host alone is https."""
    parts = urlsplit(url if "://" in url else f"https://{url}")
    usual = {"https": 443, "http": 80}.get(parts.scheme, 0)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{parts.port or usual}"
