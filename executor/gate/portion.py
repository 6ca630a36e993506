"""A part of what an agent may do: what a sub-dispatch leaves to the plan below it, or what a rule of the goal
leaves of everything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from executor.core.errors import PolicyError, ScopeError
from executor.core.globs import Glob, GlobError
from executor.gate.verdict import Deny
from executor.sandbox.files import components, readings
from executor.sandbox.origin import Origin, parse_grant
from ir import SIDE_EFFECTS

if TYPE_CHECKING:
    from executor.tools.manifest import Manifest

SCOPE: Final = "matrix://scope/"
_FORM: Final = f"such as {SCOPE}read, or {SCOPE}read+network?host=example.org&folder=docs&calls=10"
_MOST_CALLS: Final = 1_000_000

Folder = tuple[str, ...]  # components of a path in the workspace; () is the workspace


@dataclass(frozen=True)
class Portion:
    """A part of the grants of the plan above, or of everything. ``hosts`` and ``folders``: None leaves all;
    ``calls``: 0 leaves as many as there are. ``closed``: folders that are left to nobody. ``paths``: patterns
    of paths that are left beside the folders. ``around``: another portion, in whose places all lies too."""

    classes: frozenset[str] = frozenset(SIDE_EFFECTS)
    hosts: frozenset[Origin] | None = None
    folders: frozenset[Folder] | None = None
    calls: int = 0
    closed: frozenset[Folder] = frozenset()
    paths: frozenset[str] = frozenset()
    around: Portion | None = None

    def within(self, above: Portion | None) -> Portion:
        """What both leave. The calls are the plan's own: those above it count for themselves."""
        if above is None:
            return self
        classes, hosts = self.classes & above.classes, _both(self.hosts, above.hosts)
        if self.paths or above.paths or above.around:  # patterns are asked one after the other
            return replace(self, classes=classes, hosts=hosts, around=above)
        folders = _inner(self.folders, above.folders)
        return Portion(classes, hosts, folders, self.calls, self.closed | above.closed)

    def roaming(self, manifest: Manifest) -> Deny | None:
        """HOST_DENIED for a tool of another server, which goes to hosts that nobody sees."""
        if self.hosts is not None and manifest.outside is not None and "network" in manifest.effects:
            return Deny(
                "HOST_DENIED",
                f"{manifest.name} goes where it likes, and the dispatch leaves only"
                f" {', '.join(sorted(origin.short for origin in self.hosts))}",
                "leave the whole network in the scope_uri of the sub_dispatch, and have the plan accepted",
                example=f"scope_uri = {SCOPE}read+network",
            )
        return None

    def foreign(self, origins: Iterable[Origin]) -> Deny | None:
        """HOST_DENIED for the first of these that is not among the hosts."""
        for origin in origins:
            if self.hosts is not None and origin not in self.hosts:
                return Deny(
                    "HOST_DENIED",
                    f"the dispatch does not leave {origin.short} to the plan below it",
                    "name the host in the scope_uri of the sub_dispatch, and have the plan accepted",
                    example=f"scope_uri = {SCOPE}read+network?host={origin.short}",
                )
        return None

    def outside(self, paths: Iterable[str], manifest: Manifest) -> Deny | None:
        """OUT_OF_SCOPE for what `stray` finds."""
        try:
            found = self.stray(paths, manifest)
        except ScopeError as error:
            return Deny(error.code, error.message, error.fix)
        if found is None:
            return None
        if not found:
            return self._refused(f"{manifest.uri} goes where it likes, and the dispatch leaves only")
        return self._refused(f"{found!r} lies in none of the folders that the dispatch leaves:")

    def stray(self, paths: Iterable[str], manifest: Manifest) -> str | None:
        """The first of these that lies in none of the folders, or in or around one that is closed; "" for a
        tool that no folder could hold: a command, one that names no path, or one of another server.

        Raises:
            ScopeError: a path that is none.
        """
        if self.around is not None and (found := self.around.stray(paths, manifest)) is not None:
            return found
        if self.folders is None and not self.closed and not self.paths:
            return None
        if roams(manifest):
            return ""
        for path in paths:
            parts = None if path.startswith("/") else components(path)
            if parts is None or self._shuts(parts):
                return path
        return None

    def _shuts(self, parts: Folder) -> bool:
        if (self.folders is not None or self.paths) and not self._leaves(parts):
            return True
        folded = _folded(parts)  # a file system may take two spellings for one
        return any(
            folded[: len(shut)] == shut or shut[: len(folded)] == folded for shut in map(_folded, self.closed)
        )

    def _leaves(self, parts: Folder) -> bool:
        if any(parts[: len(folder)] == folder for folder in self.folders or ()):
            return True
        return any(Glob.read(pattern).fits(parts) for pattern in self.paths)

    def _refused(self, why: str) -> Deny:
        places = ["/".join(folder) or "." for folder in sorted(self.folders or ())]
        named = ", ".join((*places, *sorted(self.paths))) or "none"
        return Deny(
            "OUT_OF_SCOPE",
            f"{why} {named}",
            "name the folder in the scope_uri of the sub_dispatch, and have the plan accepted",
            example=f"scope_uri = {SCOPE}read?folder=docs",
        )


def roams(manifest: Manifest) -> bool:
    """Whether nobody can tell from a call of this tool where in the workspace it goes."""
    unnamed = manifest.scope.kind == "workspace" and not manifest.scope.paths
    return "shell" in manifest.effects or unnamed or manifest.outside is not None


def _folded(parts: Folder) -> Folder:
    return tuple(readings(part)[0] for part in parts)


def parse_portion(text: str) -> Portion:
    """Read a scope_uri.

    Raises:
        PolicyError: BAD_SCOPE. Nothing in it is passed over.
    """
    if not text.startswith(SCOPE):
        raise _bad(text, f"it does not begin with {SCOPE}")
    said, _, query = text.removeprefix(SCOPE).partition("?")
    classes = frozenset(said.split("+"))
    if not classes <= set(SIDE_EFFECTS):
        raise _bad(text, f"the side-effect classes are {', '.join(SIDE_EFFECTS)}")
    hosts: set[Origin] = set()
    folders: set[Folder] = set()
    paths: set[str] = set()
    calls = 0
    try:
        for name, value in parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else ():
            if name == "host":
                hosts.add(parse_grant(value))
            elif name == "folder":
                folders.add(components(value))
            elif name == "path":
                Glob.read(value)
                paths.add(value)
            elif name == "calls" and not calls and value.isascii() and value.isdigit():
                calls = int(value)
                if not 0 < calls <= _MOST_CALLS:
                    raise ValueError(f"calls is a number from 1 to {_MOST_CALLS}")
            else:
                raise ValueError(f"{name}={value} is no host, no folder, no path and no number of calls")
    except (PolicyError, ScopeError, GlobError) as problem:
        raise _bad(text, problem.message) from problem
    except ValueError as problem:
        raise _bad(text, str(problem)) from problem
    return Portion(
        classes, frozenset(hosts) or None, frozenset(folders) or None, calls, paths=frozenset(paths)
    )


def _both(one: frozenset[Origin] | None, other: frozenset[Origin] | None) -> frozenset[Origin] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _inner(one: frozenset[Folder] | None, other: frozenset[Folder] | None) -> frozenset[Folder] | None:
    """The folders that lie in one of each."""
    if one is None or other is None:
        return other if one is None else one
    pairs = ((mine, its) for mine in one for its in other)
    return frozenset(
        max(mine, its, key=len) for mine, its in pairs if mine[: len(its)] == its or its[: len(mine)] == mine
    )


def _bad(text: str, why: str) -> PolicyError:
    return PolicyError("BAD_SCOPE", f"{text[:200]!r} is no scope: {why}", place=text[:200], fix=_FORM)
