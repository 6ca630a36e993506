"""The operator's policy: ``policy.toml`` in the home. What it denies, no verb, plan or grant allows."""

from __future__ import annotations

import hashlib
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from executor.errors import PolicyError

_FIELDS = {"deny", "approval_minutes", "intent_declaration", "agents"}


@dataclass(frozen=True, slots=True)
class Policy:
    """Denied tools (addresses with or without ``@version``), and how long an approval is good for.

    version: sha256 (hex) of the file; approvals are bound to it. approval_minutes: 1 to 1440.
    strict_server_validation: refuse a call that was declared as less than what the tool does; where it is
    false that is a warning, and nothing else changes. lease_minutes: how long an agent may hold work without
    doing anything, 1 to 1440.
    """

    deny: frozenset[str] = frozenset()
    approval_minutes: int = 15
    version: str = hashlib.sha256(b"").hexdigest()
    strict_server_validation: bool = True
    lease_minutes: int = 15

    @classmethod
    def load(cls, place: Path) -> Policy:
        """Read the file; a missing one denies nothing more.

        Raises:
            PolicyError: BAD_POLICY. A policy that cannot be read stops everything: it may deny what comes
            next.
        """
        try:
            data = place.read_bytes()
        except FileNotFoundError:
            return cls()
        except OSError as problem:
            raise _bad(place, str(problem)) from problem
        try:
            values = tomllib.loads(data.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
            raise _bad(place, str(problem)) from problem
        deny, minutes = values.get("deny", []), values.get("approval_minutes", 15)
        if unknown := sorted(set(values) - _FIELDS):
            raise _bad(place, f"unknown field {unknown[0]!r}")
        if not isinstance(deny, list) or not all(isinstance(one, str) and one for one in deny):
            raise _bad(place, "deny is a list of tool addresses")
        if type(minutes) is not int or not 1 <= minutes <= 1440:
            raise _bad(place, "approval_minutes is a whole number from 1 to 1440")
        strict = _strict(place, values.get("intent_declaration", {}))
        lease = _lease(place, values.get("agents", {}))
        return cls(frozenset(deny), minutes, hashlib.sha256(data).hexdigest(), strict, lease)

    def denies(self, *uris: str) -> bool:
        """Tell whether a tool is on the deny list, by any of its addresses, with or without version."""
        return any(uri in self.deny or uri.partition("@")[0] in self.deny for uri in uris)


class PolicyFile:
    """The policy as its file has it whenever it is asked: what an operator closes while a plan runs is closed
    for its next call.

    Raises:
        PolicyError: BAD_POLICY, at first and whenever it is asked.
    """

    def __init__(self, place: Path) -> None:
        self._place, self._name = place, str(place)
        self._seen = self._stamp()
        self._policy = Policy.load(place)

    @property
    def approval_minutes(self) -> int:
        """As of ``Policy``."""
        return self._now().approval_minutes

    @property
    def version(self) -> str:
        """As of ``Policy``."""
        return self._now().version

    @property
    def strict_server_validation(self) -> bool:
        """As of ``Policy``."""
        return self._now().strict_server_validation

    def denies(self, *uris: str) -> bool:
        """As of ``Policy``."""
        return self._now().denies(*uris)

    def _now(self) -> Policy:
        if (stamp := self._stamp()) != self._seen:
            self._policy, self._seen = Policy.load(self._place), stamp
        return self._policy

    def _stamp(self) -> tuple[int, int, int] | None:
        # Asked for each call, hence no Path, and no exception where there is no file, as is usual.
        if not os.access(self._name, os.F_OK):
            return None
        try:
            status = os.stat(self._name)  # noqa: PTH116
        except OSError:  # not there, or not to be read: reading it says which
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


def _strict(place: Path, section: object) -> bool:
    name = "strict_server_validation"
    if not isinstance(section, dict):
        raise _bad(place, f"intent_declaration is a table with {name}")
    if unknown := sorted(set(section) - {name}):
        raise _bad(place, f"unknown field intent_declaration.{unknown[0]}")
    strict = section.get(name, True)
    if not isinstance(strict, bool):
        raise _bad(place, f"intent_declaration.{name} is true or false")
    return strict


def _lease(place: Path, section: object) -> int:
    name = "lease_minutes"
    if not isinstance(section, dict):
        raise _bad(place, f"agents is a table with {name}")
    if unknown := sorted(set(section) - {name}):
        raise _bad(place, f"unknown field agents.{unknown[0]}")
    minutes = section.get(name, 15)
    if type(minutes) is not int or not 1 <= minutes <= 1440:
        raise _bad(place, f"agents.{name} is a whole number from 1 to 1440")
    return minutes


def _bad(place: Path, why: str) -> PolicyError:
    return PolicyError(
        "BAD_POLICY", f"the policy cannot be read: {why}", place=str(place), fix="repair or remove it"
    )
