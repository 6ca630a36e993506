"""The operator's policy: ``policy.toml`` in the home. What it denies, no verb, plan or grant allows.

It fails closed: an entry that names nothing which is there would deny nothing, so a file with one is as bad
as one that cannot be read, and nothing is called until it is mended.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from executor.core.errors import KeyringError, ManifestError, PolicyError
from executor.gate.host import HOST_TOOLS
from executor.store.journal.standing import POLICY
from executor.tools.manifest import Manifest
from executor.tools.names import OURSELVES, SCHEME, NamedTool, nearest, parse_tool, short_name

if TYPE_CHECKING:
    from executor.store.home import Home


# ---- On which lines of a TOML file its keys and the texts of its lists stand; ``tomllib`` does not tell.

# A text in any of TOML's four forms, a comment, a bracket; or what lies between them.
_PART: Final = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")'
    r"|'''.*?'''(?!')"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]]"
    r"""|[^"'\#\[\]]+""",
    re.DOTALL,
)


def line_of(text: str, key: str) -> int:
    """The line, from 1, where a key is set or a table of this name begins; 0 where that cannot be told."""
    found = _key(text, key)
    return _line(text, found.start(1)) if found else 0


def lines_of_texts(text: str, key: str, count: int) -> tuple[int, ...]:
    """The lines of the texts of a list, in their order; zeros where they cannot be told.

    Args:
        text: valid TOML. count: how many texts the list has.
    """
    found, depth, lines = _key(text, key), 0, list[int]()
    for part in _PART.finditer(text, found.end()) if found else ():
        said = part[0]
        if said[0] in "\"'":
            lines.append(_line(text, part.start()))
        depth += {"[": 1, "]": -1}.get(said, 0)
        if said == "]" and not depth:
            break
    return tuple(lines) if len(lines) == count else (0,) * count


def _key(text: str, key: str) -> re.Match[str] | None:
    name = re.escape(key)
    return re.search(rf"""^[ \t]*\[*[ \t]*((?:\w+[ \t]*\.[ \t]*)?["']?{name}["']?)[ \t]*[=\].]""", text, re.M)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


_FIELDS: Final = {"deny", "approval_minutes", "lock_seconds", "intent_declaration", "agents"}
_FIX: Final = "mend it, or take it out: nothing is called until then; mcl policy check shows every entry"
_SHOWN: Final = 120  # characters of an entry
_LOCK_SECONDS: Final = 60


class Tools(Protocol):
    """What a policy may name: our own tools, and whatever tools the servers have that a person let in."""

    @property
    def own(self) -> tuple[Manifest, ...]:
        """All of our own, in each of their versions."""

    @property
    def servers(self) -> Collection[str]:
        """The names of the servers."""

    def fault(self, reference: str) -> ManifestError | None:
        """Why a tool of ours is not there that should be; None where nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Denied:
    """One entry of the deny list. text: as it was written; line: of the file, from 1 (0: not known)."""

    text: str
    line: int = 0

    def named(self, tools: Tools) -> NamedTool | None:
        """The tool that is meant, by any spelling of ``executor.tools.names``: one of ours or of an agent's
        host that is there, or one, known or not, of a server that is; None where it is none of these."""
        found = parse_tool(self.text)
        if found is None:
            return None
        if found.server:
            known = found.server in tools.servers and (":" in found.version or found.version in ("", "1.0.0"))
            return found if known else None
        there = any(found.means(one.uri, one.pin) for one in (*tools.own, *HOST_TOOLS.values()))
        return found if there or tools.fault(found.place) is not None else None

    def nearest(self, tools: Tools) -> list[str]:
        """What may have been meant, spelled as the entry is."""
        text = self.text[:_SHOWN]
        begun = next((one for one in (SCHEME, f"{OURSELVES}:") if text.startswith(one)), "")
        own = [one.uri.removeprefix(SCHEME) if "@" in text else short_name(one.uri) for one in tools.own]
        known = [f"{begun}{one}" for one in own]
        for server in tools.servers:
            if not begun and ":" in text:
                known.append(f"{server}:{text.partition(':')[2]}")
            elif text.startswith(f"{begun}mcp-"):
                known.append(f"{begun}mcp-{server}/{text.rpartition('/')[2]}")
            elif text.startswith(f"{server}/"):
                known.append(f"{server}:{text.partition('/')[2]}")
        return nearest(text, known)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator closes, and how long an approval is good for.

    entries: the deny list as it is written. closed: the tools that it means, None as long as nobody looked
    what there is (``closing``). version: sha256 (hex) of the file; approvals are bound to it.
    approval_minutes: 1 to 1440. strict_server_validation: refuse a call that was declared as less than what
    the tool does; where it is false that is a warning, and nothing else changes. lease_minutes: how long an
    agent may hold work without doing anything, 1 to 1440. lock_seconds: how long a run waits for another one
    that is writing where it wants to write, 0 to 3600. place: the file.
    """

    entries: tuple[Denied, ...] = ()
    approval_minutes: int = 15
    version: str = hashlib.sha256(b"").hexdigest()
    strict_server_validation: bool = True
    lease_minutes: int = 15
    place: str = ""
    lock_seconds: int = _LOCK_SECONDS
    closed: Mapping[str, tuple[NamedTool, ...]] | None = None

    @classmethod
    def read(cls, place: Path) -> Policy:
        """Read the file; a missing one denies nothing more. Whether what it names is there is not looked at.

        Raises:
            PolicyError: BAD_POLICY. A policy that cannot be read stops everything: it may deny what comes
            next.
        """
        try:
            data = place.read_bytes()
        except FileNotFoundError:
            return cls(place=str(place))
        except OSError as problem:
            raise _bad(str(place), str(problem)) from problem
        try:
            text = data.decode()
            values = tomllib.loads(text)
        except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
            said = re.search(r"at line (\d+)", str(problem))
            line = int(said[1]) if said else data.count(b"\n") + 1  # at the end of the document
            raise _bad(f"{place}:{line}", str(problem)) from problem
        if unknown := sorted(set(values) - _FIELDS):
            near = nearest(unknown[0], _FIELDS)
            told = f"unknown field {unknown[0]!r}" + (f"; nearest: {near[0]}" if near else "")
            raise _bad(_at(place, text, unknown[0]), told)
        deny, minutes = values.get("deny", []), values.get("approval_minutes", 15)
        if not isinstance(deny, list) or not all(isinstance(one, str) and one for one in deny):
            raise _bad(_at(place, text, "deny"), "deny is a list of names of tools")
        if type(minutes) is not int or not 1 <= minutes <= 1440:
            raise _bad(
                _at(place, text, "approval_minutes"), "approval_minutes is a whole number from 1 to 1440"
            )
        seconds = values.get("lock_seconds", _LOCK_SECONDS)
        if type(seconds) is not int or not 0 <= seconds <= 3600:
            raise _bad(_at(place, text, "lock_seconds"), "lock_seconds is a whole number from 0 to 3600")
        lines = lines_of_texts(text, "deny", len(deny))
        return cls(
            tuple(Denied(one, line) for one, line in zip(deny, lines, strict=True)),
            minutes,
            hashlib.sha256(data).hexdigest(),
            _strict(place, text, values.get("intent_declaration", {})),
            _lease(place, text, values.get("agents", {})),
            str(place),
            seconds,
        )

    @classmethod
    def load(cls, place: Path, tools: Tools) -> Policy:
        """Read the file, and look whether all that it denies is there.

        Raises:
            PolicyError: BAD_POLICY.
        """
        return cls.read(place).closing(tools)

    def closing(self, tools: Tools) -> Policy:
        """The same, with its deny list understood.

        Raises:
            PolicyError: BAD_POLICY, with every entry that names nothing (`flaws` in data).
        """
        found = [(one, one.named(tools)) for one in self.entries]
        if flaws := [self.flaw(one, tools) for one, named in found if named is None]:
            more = f" (and {len(flaws) - 1} more such entries)" if len(flaws) > 1 else ""
            raise _bad(
                str(flaws[0]["place"]),
                f"{flaws[0]['message']}{more}",
                data={"flaws": flaws, "nearest": flaws[0]["nearest"]},
            )
        closed: dict[str, tuple[NamedTool, ...]] = {}
        for _, named in found:
            if named is not None:
                closed[named.place] = (*closed.get(named.place, ()), named)
        return replace(self, closed=closed)

    def flaw(self, entry: Denied, tools: Tools) -> dict[str, object]:
        """What is wrong with an entry that names nothing: entry, place, message, nearest."""
        named, near = parse_tool(entry.text), entry.nearest(tools)
        shown = ascii(entry.text[:_SHOWN])
        if named is None:
            why = f"deny holds {shown}, which is no name of a tool"
        elif named.server and named.server not in tools.servers:
            why = f"deny names {shown}, and there is no server {named.server}"
        else:
            why = f"deny names {shown}, and there is no such tool"
        if near:
            why += f"; nearest: {', '.join(near)}"
        place = f"{self.place}:{entry.line}" if entry.line else self.place
        return {"entry": entry.text, "place": place, "message": why, "nearest": near}

    def denies(self, manifest: Manifest) -> bool:
        """Tell whether a tool is on the deny list, by whatever name, with or without version."""
        if self.closed is None:  # nobody looked what its entries name: any of them may name this
            return bool(self.entries)
        meant = self.closed.get(manifest.uri.partition("@")[0], ())
        return any(one.means(manifest.uri, manifest.pin) for one in meant)


class PolicyFile:
    """The policy as its file has it whenever it is asked: what an operator closes while a plan runs is closed
    for its next call, and noted in the journal. tools: what there is to close.

    Raises:
        PolicyError: BAD_POLICY, at first and whenever it is asked.
    """

    def __init__(self, home: Home, tools: Tools) -> None:
        self._place, self._home, self._tools = home.path / "policy.toml", home, tools
        self._name = str(self._place)
        self._seen = self._stamp()
        self._policy = self._load()

    @property
    def approval_minutes(self) -> int:
        return self._now().approval_minutes

    @property
    def lock_seconds(self) -> int:
        return self._now().lock_seconds

    @property
    def version(self) -> str:
        return self._now().version

    @property
    def strict_server_validation(self) -> bool:
        return self._now().strict_server_validation

    def denies(self, manifest: Manifest) -> bool:
        return self._now().denies(manifest)

    def _now(self) -> Policy:
        if (stamp := self._stamp()) != self._seen:
            self._policy, self._seen = self._load(), stamp
        return self._policy

    def _load(self) -> Policy:
        """The policy as it is; where it is another than was followed last, the journal says so."""
        policy, journal = Policy.load(self._place, self._tools), self._home.journal
        if policy.version != journal.standing().policy and not self._home.db.read_only:
            body = {"version": policy.version, "deny": [one.text for one in policy.entries]}
            with suppress(KeyringError):  # nothing is called as long as the agent's key is sealed
                journal.record(POLICY, body)
        return policy

    def _stamp(self) -> tuple[int, int, int] | None:
        # Asked for each call, hence no Path, and no exception where there is no file, as is usual.
        if not os.access(self._name, os.F_OK):
            return None
        try:
            status = os.stat(self._name)  # noqa: PTH116
        except OSError:  # not there, or not to be read: reading it says which
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


def _strict(place: Path, text: str, section: object) -> bool:
    name = "strict_server_validation"
    if not isinstance(section, dict):
        raise _bad(_at(place, text, "intent_declaration"), f"intent_declaration is a table with {name}")
    if unknown := sorted(set(section) - {name}):
        raise _bad(_at(place, text, unknown[0]), f"unknown field intent_declaration.{unknown[0]}")
    strict = section.get(name, True)
    if not isinstance(strict, bool):
        raise _bad(_at(place, text, name), f"intent_declaration.{name} is true or false")
    return strict


def _lease(place: Path, text: str, section: object) -> int:
    name = "lease_minutes"
    if not isinstance(section, dict):
        raise _bad(_at(place, text, "agents"), f"agents is a table with {name}")
    if unknown := sorted(set(section) - {name}):
        raise _bad(_at(place, text, unknown[0]), f"unknown field agents.{unknown[0]}")
    minutes = section.get(name, 15)
    if type(minutes) is not int or not 1 <= minutes <= 1440:
        raise _bad(_at(place, text, name), f"agents.{name} is a whole number from 1 to 1440")
    return minutes


def _at(place: Path, text: str, name: str) -> str:
    """The line where a field is set, where it can be told."""
    line = line_of(text, name)
    return f"{place}:{line}" if line else str(place)


def _bad(place: str, why: str, data: Mapping[str, object] | None = None) -> PolicyError:
    return PolicyError(
        "BAD_POLICY", f"the policy cannot be followed: {why}", place=place, fix=_FIX, data=data
    )
