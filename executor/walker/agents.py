"""Other agents that work may be handed to: a name, the key that signs for it, and the address it listens at.

Only the operator makes these entries, and each is a record in the journal. A plan names an agent; where that
leads, and whose signature is believed, is said here, and the key is one that the user trusts.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import Final

from executor.core.errors import PolicyError
from executor.sandbox.origin import parse_url
from executor.store.home import Home
from ir import key_of

_TABLES: Final = (
    """CREATE TABLE agents (
         id TEXT PRIMARY KEY, name TEXT NOT NULL, did TEXT NOT NULL, endpoint TEXT NOT NULL,
         since TEXT NOT NULL, removed_at TEXT NOT NULL DEFAULT ''
       ) STRICT;
       CREATE UNIQUE INDEX agents_by_name ON agents (name) WHERE removed_at = ''""",
)
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,62}", re.ASCII)
_SCHEME: Final = "matrix://agent/"


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent. endpoint: the address that a signed intent.dispatch is sent to."""

    name: str
    did: str
    endpoint: str
    since: str

    @property
    def uri(self) -> str:
        """Its address in plans."""
        return f"{_SCHEME}{self.name}"


class Agents:
    """The agents that a home knows."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("agents", _TABLES)
        self._home = home

    def add(self, name: str, did: str, endpoint: str) -> Agent:
        """Enter an agent, and trust its key in the role of an agent.

        Raises:
            PolicyError: BAD_AGENT_NAME, AGENT_TAKEN, OWN_AGENT. ScopeError: HOST_DENIED, the endpoint is no
            address. ir.KeyTextError: no did:key. KeyringError: the key is a user's, or was revoked.
        """
        if not _NAME.fullmatch(name):
            raise PolicyError(
                "BAD_AGENT_NAME",
                f"{name[:80]!r} is no name for an agent",
                place=name[:80],
                fix="small letters, digits and dashes, such as print-shop",
            )
        key_of(did)
        address = str(parse_url(endpoint))
        keyring, clock = self._home.keyring, self._home.clock
        own = keyring.resolver(did)
        if did in {entry.did for entry in keyring.entries() if entry.origin != "trusted"}:
            raise PolicyError(
                "OWN_AGENT",
                "this key is one of this home",
                place=did,
                fix="leave agent_ref out of a sub_dispatch to have it run here",
            )
        if self.find(name) is not None:
            raise _taken(name)
        if own is None or own.role != "agent" or own.revoked:
            keyring.trust(did, "agent", label=name)
        try:
            with self._home.journal.tables.changing() as connection:
                connection.execute(
                    "INSERT INTO agents (id, name, did, endpoint, since) VALUES (?, ?, ?, ?, ?)",
                    (clock.new_id(), name, did, address, clock.now()),
                )
                told = {"name": name, "did": did, "endpoint": address, "by": keyring.user.did}
                self._home.journal.record("record.agent.added", told)
        except sqlite3.IntegrityError as problem:
            raise _taken(name) from problem
        found = self.find(name)
        assert found is not None, "it was just entered"
        return found

    def remove(self, name: str) -> Agent:
        """Take an agent out; nothing is handed to it any more. Its key stays as it is.

        Raises:
            PolicyError: AGENT_UNKNOWN.
        """
        found = self.require(name)
        with self._home.journal.tables.changing() as connection:
            connection.execute(
                "UPDATE agents SET removed_at = ? WHERE name = ? AND removed_at = ''",
                (self._home.clock.now(), found.name),
            )
            told = {"name": found.name, "did": found.did, "by": self._home.keyring.user.did}
            self._home.journal.record("record.agent.removed", told)
        return found

    def list(self) -> tuple[Agent, ...]:
        """All of them, in the order of their names."""
        rows = self._home.journal.tables.read(
            "SELECT name, did, endpoint, since FROM agents WHERE removed_at = '' ORDER BY name"
        )
        return tuple(Agent(*row) for row in rows)

    def find(self, reference: str) -> Agent | None:
        """The agent that a plan names: ``matrix://agent/<name>``, or by its did; None for an unknown one.

        A key that listens at several addresses is no name: then there is none.
        """
        said = reference.removeprefix(_SCHEME)
        found = [one for one in self.list() if said in (one.name, one.did)]
        return found[0] if len(found) == 1 else None

    def require(self, reference: str) -> Agent:
        """The same.

        Raises:
            PolicyError: AGENT_UNKNOWN, nobody entered it; AGENT_NOT_TRUSTED, its key is trusted no more.
        """
        found = self.find(reference)
        if found is None:
            known = ", ".join(one.name for one in self.list()) or "none"
            raise PolicyError(
                "AGENT_UNKNOWN",
                f"{reference[:200]!r} is no agent that is known here (known: {known})",
                place=reference[:200],
                fix="mcl agent add NAME --did did:key:… --endpoint https://…",
            )
        return found

    def require_trusted(self, reference: str) -> Agent:
        """The same, for an agent whose signature is believed now. Raises as ``require``."""
        found = self.require(reference)
        key = self._home.keyring.resolver(found.did)
        if key is None or key.role != "agent" or key.revoked:
            raise PolicyError(
                "AGENT_NOT_TRUSTED",
                f"the key of {found.name} is trusted no more",
                place=found.did,
                fix=f"ask its owner for the new key, then mcl agent remove {found.name} and add it again",
            )
        return found


def _taken(name: str) -> PolicyError:
    return PolicyError(
        "AGENT_TAKEN",
        f"there is an agent {name}",
        place=name,
        fix=f"mcl agent remove {name}, or another name",
    )
