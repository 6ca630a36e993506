"""What an agent may do at all. Nothing is granted that is not written here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from executor.clock import Clock
from executor.database import Database
from executor.errors import PolicyError
from ir import SIDE_EFFECTS

if TYPE_CHECKING:  # its module is fetched where hosts are read: opening a home reads none
    from executor.sandbox.origin import Origin

DEFAULT_CLASSES = ("read", "write")  # inside the workspace, and writing only under an accepted plan
_TABLES = [
    """CREATE TABLE grants (
         id TEXT PRIMARY KEY, agent TEXT NOT NULL, class TEXT NOT NULL, since TEXT NOT NULL,
         revoked_at TEXT NOT NULL DEFAULT ''
       ) STRICT""",
    "CREATE INDEX grants_of_agent ON grants (agent)",
    """CREATE TABLE grants_hosts (
         id TEXT PRIMARY KEY, agent TEXT NOT NULL, host TEXT NOT NULL, since TEXT NOT NULL,
         revoked_at TEXT NOT NULL DEFAULT ''
       ) STRICT;
       CREATE INDEX grants_hosts_of_agent ON grants_hosts (agent)""",
]


@dataclass(frozen=True, slots=True)
class Grant:
    """One side-effect class granted to one agent. ``revoked_at`` is empty while it holds."""

    id: str
    agent: str
    side_effect: str
    since: str
    revoked_at: str


@dataclass(frozen=True, slots=True)
class HostGrant:
    """One host that one agent may reach over the network. ``host`` is an origin: ``https://example.org``."""

    id: str
    agent: str
    host: str
    since: str
    revoked_at: str


class Grants:
    """The grants of a home."""

    def __init__(self, database: Database, clock: Clock) -> None:
        database.migrate("grants", _TABLES)
        self._database = database
        self._clock = clock

    def ensure_default(self, agent: str) -> None:
        """Give a new agent the default grants; an agent that ever had a grant keeps what it has."""
        with self._database.write() as connection:
            if not connection.execute("SELECT 1 FROM grants WHERE agent = ?", (agent,)).fetchone():
                self.grant(agent, DEFAULT_CLASSES)

    def grant(self, agent: str, classes: Iterable[str]) -> None:
        """Grant side-effect classes to an agent (its did).

        Raises:
            PolicyError: UNKNOWN_SIDE_EFFECT.
        """
        wanted = list(classes)
        if unknown := [name for name in wanted if name not in SIDE_EFFECTS]:
            raise PolicyError(
                "UNKNOWN_SIDE_EFFECT",
                f"{unknown[0]!r} is no side-effect class",
                place=agent,
                fix=f"one of {', '.join(SIDE_EFFECTS)}",
            )
        with self._database.write() as connection:
            connection.executemany(
                "INSERT INTO grants (id, agent, class, since) VALUES (?, ?, ?, ?)",
                [(self._clock.new_id(), agent, name, self._clock.now()) for name in wanted],
            )

    def revoke(self, agent: str, side_effect: str) -> None:
        """Take a side-effect class back; with the network go all hosts, so that none comes back unasked."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE grants SET revoked_at = ? WHERE agent = ? AND class = ? AND revoked_at = ''",
                (self._clock.now(), agent, side_effect),
            )
            if side_effect == "network":
                connection.execute(
                    "UPDATE grants_hosts SET revoked_at = ? WHERE agent = ? AND revoked_at = ''",
                    (self._clock.now(), agent),
                )

    def grant_hosts(self, agent: str, hosts: Iterable[str]) -> None:
        """Let an agent reach hosts; those that it may reach already are left as they are.

        Args:
            hosts: as people write them, see ``parse_grant``.

        Raises:
            PolicyError: BAD_HOST. Nothing is granted then.
        """
        from executor.sandbox.origin import parse_grant

        wanted = {parse_grant(host) for host in hosts}
        with self._database.write() as connection:
            connection.executemany(
                "INSERT INTO grants_hosts (id, agent, host, since) VALUES (?, ?, ?, ?)",
                [
                    (self._clock.new_id(), agent, str(origin), self._clock.now())
                    for origin in sorted(wanted - self.hosts(agent))
                ],
            )

    def revoke_hosts(self, agent: str, hosts: Iterable[str]) -> None:
        """Take hosts back.

        Raises:
            PolicyError: BAD_HOST, NOT_GRANTED. Nothing is taken back then.
        """
        from executor.sandbox.origin import parse_grant

        wanted = sorted({parse_grant(host) for host in hosts})
        with self._database.write() as connection:
            if missing := [origin for origin in wanted if origin not in self.hosts(agent)]:
                raise PolicyError(
                    "NOT_GRANTED",
                    f"{missing[0].short} is not granted",
                    place=agent,
                    fix="mcl grants lists what is; scheme and port count",
                )
            connection.executemany(
                "UPDATE grants_hosts SET revoked_at = ? WHERE agent = ? AND host = ? AND revoked_at = ''",
                [(self._clock.now(), agent, str(origin)) for origin in wanted],
            )

    def list(self, agent: str) -> tuple[Grant, ...]:
        """All grants of an agent, revoked ones included, in the order they were given."""
        rows = self._database.read(
            "SELECT id, agent, class, since, revoked_at FROM grants WHERE agent = ? ORDER BY id", (agent,)
        )
        return tuple(Grant(*row) for row in rows)

    def classes(self, agent: str) -> frozenset[str]:
        """The side-effect classes that an agent holds now."""
        rows = self._database.read("SELECT class FROM grants WHERE agent = ? AND revoked_at = ''", (agent,))
        return frozenset(name for (name,) in rows)

    def list_hosts(self, agent: str) -> tuple[HostGrant, ...]:
        """All hosts ever granted to an agent, in the order they were given."""
        rows = self._database.read(
            "SELECT id, agent, host, since, revoked_at FROM grants_hosts WHERE agent = ? ORDER BY id",
            (agent,),
        )
        return tuple(HostGrant(*row) for row in rows)

    def hosts(self, agent: str) -> frozenset[Origin]:
        """Where an agent may go now, and nowhere else."""
        from executor.sandbox.origin import parse_grant

        rows = self._database.read(
            "SELECT host FROM grants_hosts WHERE agent = ? AND revoked_at = ''", (agent,)
        )
        return frozenset(parse_grant(host) for (host,) in rows)
