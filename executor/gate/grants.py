"""What an agent may do at all. Nothing is granted that is not written here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.clock import instant
from executor.core.errors import PolicyError
from executor.sandbox.paths import Known, Workspace
from executor.sandbox.reach import allowed_roots, readable_root
from executor.store.home import Home
from ir import SIDE_EFFECTS
from ir.results import WHERE_SAID

if TYPE_CHECKING:
    from executor.sandbox.origin import Origin
    from executor.store.home import Home


DEFAULT_CLASSES = ("read", "write")  # inside the workspace, and writing only under an accepted plan
PERIOD: Final = timedelta(hours=24)  # that max_calls is counted over
STEPS = [
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
    # by: did of who granted it; until: ISO 8601 UTC, '' = no end; max_calls: in PERIOD, 0 = any number.
    """ALTER TABLE grants ADD COLUMN by TEXT NOT NULL DEFAULT '';
       ALTER TABLE grants ADD COLUMN until TEXT NOT NULL DEFAULT '';
       ALTER TABLE grants ADD COLUMN max_calls INTEGER NOT NULL DEFAULT 0;
       ALTER TABLE grants_hosts ADD COLUMN by TEXT NOT NULL DEFAULT '';
       ALTER TABLE grants_hosts ADD COLUMN until TEXT NOT NULL DEFAULT '';
       CREATE TABLE grants_roots (
         id TEXT PRIMARY KEY, agent TEXT NOT NULL, root TEXT NOT NULL, since TEXT NOT NULL,
         revoked_at TEXT NOT NULL DEFAULT '', by TEXT NOT NULL, until TEXT NOT NULL
       ) STRICT;
       CREATE INDEX grants_roots_of_agent ON grants_roots (agent);
       CREATE TABLE grants_calls (agent TEXT NOT NULL, class TEXT NOT NULL, at TEXT NOT NULL) STRICT;
       CREATE INDEX grants_calls_of_agent ON grants_calls (agent, class, at)""",
    # The default is not written any more; where nothing is in the journal yet, it is all that can be here.
    "DELETE FROM grants WHERE by = '' AND NOT EXISTS (SELECT 1 FROM journal)",
    # Codes between commas; '' where nobody said where the host is.
    "ALTER TABLE grants_hosts ADD COLUMN regions TEXT NOT NULL DEFAULT ''",
]
_OF_HOST: Final = ("id", "agent", "host", "since", "revoked_at", "by", "until", "regions")
_REGION: Final = re.compile(r"[A-Z]{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Grant:
    """One side-effect class granted to one agent.

    since, until: ISO 8601 UTC; until is empty where it has no end. ``revoked_at`` is empty while it holds.
    id: "" of a default grant, which no table holds until something else is granted or taken back. by: did of
    who granted it, "" where it came with the first use. max_calls: calls in 24 hours, over all
    runs of the agent; 0 = any number.
    """

    id: str
    agent: str
    side_effect: str
    since: str
    revoked_at: str
    by: str = ""
    until: str = ""
    max_calls: int = 0


@dataclass(frozen=True, slots=True)
class HostGrant:
    """One host that one agent may reach over the network. ``host`` is an origin: ``https://example.org``.
    ``regions``: where whoever granted it says that it is (ISO 3166-1, or EU); () where they did not."""

    id: str
    agent: str
    host: str
    since: str
    revoked_at: str
    by: str = ""
    until: str = ""
    regions: tuple[str, ...] = field(default=(), metadata=WHERE_SAID)


@dataclass(frozen=True, slots=True)
class RootGrant:
    """One folder outside the workspace that one agent may read, with all below it. ``root`` is absolute."""

    id: str
    agent: str
    root: str
    since: str
    revoked_at: str
    by: str = ""
    until: str = ""


class Grants:
    """The grants of a home."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("grants", STEPS)
        self._tables, self._clock, self._folder = home.journal.tables, home.clock, home.path
        self._keyring = home.keyring
        # of each agent: rows, as grants
        self._made: dict[str, tuple[list[tuple[Any, ...]] | None, tuple[Grant, ...]]] = {}

    # ---- side-effect classes ----

    def grant(
        self, agent: str, classes: Iterable[str], *, by: str = "", until: str = "", max_calls: int = 0
    ) -> None:
        """Grant side-effect classes to an agent (its did).

        A class that is held keeps its terms but for those given: ``until`` is empty and ``max_calls`` 0 where
        they are not.

        Raises:
            PolicyError: UNKNOWN_SIDE_EFFECT. Nothing is granted then.
        """
        wanted = list(dict.fromkeys(classes))
        if unknown := [name for name in wanted if name not in SIDE_EFFECTS]:
            raise PolicyError(
                "UNKNOWN_SIDE_EFFECT",
                f"{unknown[0]!r} is no side-effect class",
                place=agent,
                fix=f"one of {', '.join(SIDE_EFFECTS)}",
            )
        if not wanted:
            return
        with self._tables.changing() as connection:
            self._write_default(agent)
            held = self.held(agent)
            for name in wanted:
                if name in held and not (until or max_calls):
                    continue
                now, was = self._clock.now(), held.get(name)
                terms = (until or (was.until if was else ""), max_calls or (was.max_calls if was else 0))
                connection.execute(
                    "UPDATE grants SET revoked_at = ? WHERE agent = ? AND class = ? AND revoked_at = ''",
                    (now, agent, name),
                )
                connection.execute(
                    "INSERT INTO grants (id, agent, class, since, by, until, max_calls)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (self._clock.new_id(), agent, name, now, by, *terms),
                )

    def revoke(self, agent: str, side_effect: str) -> None:
        """Take a side-effect class back. With the network go all hosts and with reading all roots, so that
        none comes back unasked."""
        places = {"network": "grants_hosts", "read": "grants_roots"}.get(side_effect)
        now = self._clock.now()
        with self._tables.changing() as connection:
            self._write_default(agent)
            connection.execute(
                "UPDATE grants SET revoked_at = ? WHERE agent = ? AND class = ? AND revoked_at = ''",
                (now, agent, side_effect),
            )
            if places:
                connection.execute(
                    f"UPDATE {places} SET revoked_at = ? WHERE agent = ? AND revoked_at = ''",  # noqa: S608  # fixed
                    (now, agent),
                )

    def list(self, agent: str) -> tuple[Grant, ...]:
        """All grants of an agent, revoked ones included, in the order they were given."""
        rows = self._tables.read(
            "SELECT id, agent, class, since, revoked_at, by, until, max_calls FROM grants"
            " WHERE agent = ? ORDER BY rowid",
            (agent,),
        )
        read, made = self._made.get(agent, (None, ()))
        if rows != read:  # asked for each call, and nearly always answered as the last time
            made = tuple(Grant(*row) for row in rows) or self._default(agent)
            self._made[agent] = rows, made
        return made

    def held(self, agent: str) -> Mapping[str, Grant]:
        """What an agent holds now, by side-effect class."""
        present = (one for one in self.list(agent) if not one.revoked_at)
        return {one.side_effect: one for one in present if not self._over(one.until)}

    def _default(self, agent: str) -> tuple[Grant, ...]:
        """What the agent of this home holds as long as nothing was ever granted to it or taken back."""
        own = (one for one in self._keyring.entries() if (one.did, one.origin) == (agent, "own"))
        return tuple(Grant("", agent, name, one.added_at, "") for one in own for name in DEFAULT_CLASSES)

    def _write_default(self, agent: str) -> None:
        """Before the first change."""
        with self._tables.changing() as connection:
            connection.executemany(
                "INSERT INTO grants (id, agent, class, since) VALUES (?, ?, ?, ?)",
                [
                    (self._clock.new_id(), agent, one.side_effect, one.since)
                    for one in self.list(agent)
                    if not one.id
                ],
            )

    def classes(self, agent: str) -> frozenset[str]:
        """The side-effect classes that an agent holds now."""
        return frozenset(self.held(agent))

    # ---- calls ----

    def used(self, agent: str, side_effect: str) -> int:
        """Calls of a class that an agent was allowed in the last 24 hours, as far as they were limited."""
        rows = self._tables.read(
            "SELECT count(*) FROM grants_calls WHERE agent = ? AND class = ? AND at > ?",
            (agent, side_effect, self._period_began()),
        )
        return int(rows[0][0])

    def spent(self, agent: str, classes: Iterable[str]) -> Grant | None:
        """The first grant of these classes whose calls are used up."""
        held = self.held(agent)
        limited = (held[name] for name in sorted(classes) if name in held and held[name].max_calls)
        return next((one for one in limited if self.used(agent, one.side_effect) >= one.max_calls), None)

    def count(self, agent: str, classes: Iterable[str]) -> Grant | None:
        """Count one call of these classes, which begins now, against the grants that limit it.

        Of two processes with one call left, one gets it. Gives the grant that is used up, if one is; nothing
        is counted then.
        """
        held = self.held(agent)
        limited = [name for name in sorted(classes) if name in held and held[name].max_calls]
        if not limited:
            return None
        with self._tables.changing() as connection:
            if (spent := self.spent(agent, limited)) is not None:
                return spent
            connection.execute("DELETE FROM grants_calls WHERE at <= ?", (self._period_began(),))
            connection.executemany(
                "INSERT INTO grants_calls (agent, class, at) VALUES (?, ?, ?)",
                [(agent, name, self._clock.now()) for name in limited],
            )
        return None

    # ---- hosts ----

    def grant_hosts(
        self,
        agent: str,
        hosts: Iterable[str],
        *,
        by: str = "",
        until: str = "",
        regions: Iterable[str] = (),
    ) -> None:
        """Let an agent reach hosts; those that it may reach already keep their terms but for those given.

        Args:
            hosts: as people write them, see ``parse_grant``. regions: where all of these are, by their codes.

        Raises:
            PolicyError: BAD_HOST, BAD_REGION. Nothing is granted then.
        """
        from executor.sandbox.origin import parse_grant

        codes = [code.strip().upper() for code in regions]
        if wrong := [code for code in codes if not _REGION.fullmatch(code)]:
            raise PolicyError(
                "BAD_REGION",
                f"{wrong[0]!r} is no region",
                place=agent,
                fix="the two letters of ISO 3166-1, such as DE, or EU",
            )
        said = ",".join(sorted(set(codes)))
        self._give("host", agent, {str(parse_grant(host)) for host in hosts}, by, until, said)

    def revoke_hosts(self, agent: str, hosts: Iterable[str]) -> None:
        """Take hosts back.

        Raises:
            PolicyError: BAD_HOST, NOT_GRANTED. Nothing is taken back then.
        """
        from executor.sandbox.origin import parse_grant

        wanted = {str(origin): origin.short for origin in (parse_grant(host) for host in hosts)}
        self._take("host", agent, wanted, "mcl grant list lists what is; scheme and port count")

    def list_hosts(self, agent: str) -> tuple[HostGrant, ...]:
        """All hosts ever granted to an agent, in the order they were given."""
        rows = self._tables.read(
            f"SELECT {', '.join(_OF_HOST)} FROM grants_hosts WHERE agent = ? ORDER BY rowid",  # noqa: S608  # fixed
            (agent,),
        )
        return tuple(
            HostGrant(**{**dict(zip(_OF_HOST, row, strict=True)), "regions": _codes(row[-1])}) for row in rows
        )

    def hosts(self, agent: str) -> frozenset[Origin]:
        """Where an agent may go now, and nowhere else."""
        from executor.sandbox.origin import parse_grant

        return frozenset(parse_grant(host) for host in self._present("host", agent))

    def regions(self, agent: str) -> Mapping[Origin, tuple[str, ...]]:
        """Where the hosts are that an agent may reach now, as far as somebody said so."""
        from executor.sandbox.origin import parse_grant

        rows = self._tables.read(
            "SELECT host, until, regions FROM grants_hosts"
            " WHERE agent = ? AND revoked_at = '' AND regions <> ''",
            (agent,),
        )
        return {parse_grant(host): _codes(said) for host, until, said in rows if not self._over(until)}

    # ---- folders outside the workspace ----

    def grant_roots(self, agent: str, roots: Iterable[Path], *, by: str = "", until: str = "") -> None:
        """Let an agent read folders outside the workspace, with all below them but secrets.

        Args:
            roots: they must exist; links on the way to them are resolved now, and none is followed later.

        Raises:
            PolicyError: BAD_ROOT. Nothing is granted then.
        """
        self._give("root", agent, {self._root(root) for root in roots}, by, until)

    def revoke_roots(self, agent: str, roots: Iterable[Path]) -> None:
        """Take folders back.

        Raises:
            PolicyError: NOT_GRANTED. Nothing is taken back then.
        """
        wanted = {str(root): str(root) for root in (one.expanduser().absolute() for one in roots)}
        held = self._present("root", agent)
        known = {name if name in held else str(Path(name).resolve()): shown for name, shown in wanted.items()}
        self._take("root", agent, known, "mcl grant list lists what is")

    def list_roots(self, agent: str) -> tuple[RootGrant, ...]:
        """All folders ever granted to an agent, in the order they were given."""
        return tuple(RootGrant(*row) for row in self._places("root", agent))

    def roots(self, agent: str) -> frozenset[str]:
        """The folders outside the workspace that an agent may read now."""
        return frozenset(self._present("root", agent))

    def _root(self, root: Path) -> str:
        return readable_root(root.expanduser().absolute(), self._folder)

    # ---- what hosts and folders have in common ----

    def _give(
        self, what: str, agent: str, names: Iterable[str], by: str, until: str, regions: str = ""
    ) -> None:
        """Regions are of hosts."""
        with self._tables.changing() as connection:
            held = self._present(what, agent)
            for name in sorted(names):
                if name in held and not (until or regions):
                    continue
                now = self._clock.now()
                was = self._terms(agent, name) if what == "host" and name in held else ("", "")
                connection.execute(
                    f"UPDATE grants_{what}s SET revoked_at = ?"  # noqa: S608  # fixed names
                    f" WHERE agent = ? AND {what} = ? AND revoked_at = ''",
                    (now, agent, name),
                )
                connection.execute(
                    f"INSERT INTO grants_{what}s (id, agent, {what}, since, by, until)"  # noqa: S608  # fixed names
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (self._clock.new_id(), agent, name, now, by, until or was[0]),
                )
                if said := regions or was[1]:
                    connection.execute(
                        "UPDATE grants_hosts SET regions = ?"
                        " WHERE agent = ? AND host = ? AND revoked_at = ''",
                        (said, agent, name),
                    )

    def _terms(self, agent: str, host: str) -> tuple[str, str]:
        """Until when a host is granted, and where it is said to be."""
        rows = self._tables.read(
            "SELECT until, regions FROM grants_hosts WHERE agent = ? AND host = ? AND revoked_at = ''",
            (agent, host),
        )
        return (str(rows[0][0]), str(rows[0][1])) if rows else ("", "")

    def _take(self, what: str, agent: str, names: Mapping[str, str], fix: str) -> None:
        with self._tables.changing() as connection:
            held = self._present(what, agent)
            if missing := [shown for name, shown in sorted(names.items()) if name not in held]:
                raise PolicyError("NOT_GRANTED", f"{missing[0]} is not granted", place=agent, fix=fix)
            connection.executemany(
                f"UPDATE grants_{what}s SET revoked_at = ?"  # noqa: S608  # fixed names
                f" WHERE agent = ? AND {what} = ? AND revoked_at = ''",
                [(self._clock.now(), agent, name) for name in names],
            )

    def _places(self, what: str, agent: str) -> tuple[tuple[str, ...], ...]:
        return tuple(
            self._tables.read(
                f"SELECT id, agent, {what}, since, revoked_at, by, until FROM grants_{what}s"  # noqa: S608  # fixed
                " WHERE agent = ? ORDER BY rowid",
                (agent,),
            )
        )

    def _present(self, what: str, agent: str) -> tuple[str, ...]:
        rows = self._tables.read(
            f"SELECT {what}, until FROM grants_{what}s WHERE agent = ? AND revoked_at = ''",  # noqa: S608  # fixed
            (agent,),
        )
        return tuple(name for name, until in rows if not self._over(until))

    def _over(self, until: str) -> bool:
        return bool(until) and datetime.fromisoformat(self._clock.now()) >= datetime.fromisoformat(until)

    def _period_began(self) -> str:
        return instant(datetime.fromisoformat(self._clock.now()) - PERIOD)


def _codes(said: str) -> tuple[str, ...]:
    return tuple(said.split(",")) if said else ()


# ---- In which folders outside a workspace its history may lie: what a person granted, allowed or named.


def workspace_of(home: Home, root: Path) -> Workspace:
    """A folder to work in: the home is closed to it, and what the home knows is known. Raises ScopeError."""
    return Workspace(root, forbidden=[home.path], known=partial(known_to, home))


def known_to(home: Home) -> Known:
    """As things stand now. A folder of `Home.allowed` that cannot be opened to reading opens nothing."""
    granted = Grants(home).roots(home.keyring.agent.did)
    try:
        allowed = allowed_roots(home.allowed, home.path)
    except PolicyError:
        allowed = frozenset()
    return Known(tuple(sorted(granted | allowed)), home.repositories())
