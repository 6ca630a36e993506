"""Leases: which agent works on what, until when. Decided in one transaction, whoever else asks meanwhile."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.core.clock import instant
from executor.core.errors import HomeError
from executor.gate.checkout import Checkout
from executor.gate.policy import Policy
from executor.store.home import Home
from ir import MclError
from ir.results import JsonResult
from mcl.core.errors import WorkError
from mcl.plugins.agents.work.item import WorkItem
from mcl.plugins.agents.work.store import COMPONENT, SignedWork

if TYPE_CHECKING:
    from executor.core.globs import Meeting, Scope


_COLUMNS: Final = "root, label, intent_id, agent, since, expires_at, number"
_LIVE: Final = "expires_at > ? AND expires_at <= ?"


@dataclass(frozen=True)
class Lease(JsonResult):
    """Who works on what. since, expires_at: ISO 8601 UTC; number: later leases have greater ones."""

    root: str
    label: str
    intent_id: str
    agent: str
    since: str
    expires_at: str
    number: int


class Leases:
    """The leases of a home. An expired one counts for nothing, and anyone may take what it was of."""

    def __init__(self, home: Home, work: SignedWork | None = None) -> None:
        self._home = home
        self._work = work or SignedWork(home)

    @property
    def minutes(self) -> int:
        """How long a lease holds unless it is renewed (`policy.toml`). Raises PolicyError."""
        return Policy.read(self._home.path / "policy.toml").lease_minutes

    def select(self, root: Path | str, item: WorkItem, agent: str) -> Lease:
        """Let an agent have a piece of work, and nobody else meanwhile.

        Raises:
            WorkError: INTENT_ALREADY_ACTIVE, the agent holds one here, this or another; LEASED, another agent
                holds it; SCOPE_OVERLAP, another agent holds work whose files may be the same ones.
        """
        until, now = self._terms()
        with self._home.db.write(COMPONENT) as connection:
            live = self._live(connection, str(root))
            for other in live:
                if other.agent == agent:
                    raise already_active(other, item.label)
                if other.label == item.label:
                    raise _leased(other)
            for other in live:
                if meeting := self._meeting(item, other):
                    raise _overlap(item, other, meeting)
            connection.execute("UPDATE agent_lease_numbers SET last = last + 1")
            number = connection.execute("SELECT last FROM agent_lease_numbers").fetchone()[0]
            lease = Lease(str(root), item.label, item.intent_id, agent, now, until, number)
            ours = (lease.root, lease.label, lease.agent)
            # Expired ones, of whomever: there are no others now.
            connection.execute("DELETE FROM agent_leases WHERE root = ? AND (label = ? OR agent = ?)", ours)
            values = (*ours[:2], lease.intent_id, agent, lease.since, lease.expires_at, number)
            connection.execute(
                f"INSERT INTO agent_leases ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608  # fixed
                values,
            )
        return lease

    def held(self, root: Path | str, agent: str) -> Lease | None:
        """What an agent holds in a folder now; None where it is nothing, or has expired."""
        sql = f"SELECT {_COLUMNS} FROM agent_leases WHERE root = ? AND agent = ? AND {_LIVE}"  # noqa: S608
        found = self._home.db.read(sql, (str(root), agent, *self._span()))
        return Lease(*found[0]) if found else None

    def all(self, root: Path | str) -> tuple[Lease, ...]:
        """The leases of a folder that hold now, by label."""
        sql = f"SELECT {_COLUMNS} FROM agent_leases WHERE root = ? AND {_LIVE} ORDER BY label"  # noqa: S608
        return tuple(Lease(*row) for row in self._home.db.read(sql, (str(root), *self._span())))

    def renew(self, lease: Lease) -> Lease | None:
        """Let what is held run from now on; None where it has just ended.

        Writes only once a third of the time has gone.
        """
        until, now = self._terms()
        left = datetime.fromisoformat(lease.expires_at) - datetime.fromisoformat(now)
        if left > 2 / 3 * timedelta(minutes=self.minutes):
            return lease
        with self._home.db.write(COMPONENT) as connection:
            changed = connection.execute(
                "UPDATE agent_leases SET expires_at = max(expires_at, ?)"
                " WHERE root = ? AND agent = ? AND number = ? AND expires_at > ?",
                (until, lease.root, lease.agent, lease.number, now),
            ).rowcount
        return self.held(lease.root, lease.agent) if changed else None

    def release(self, root: Path | str, agent: str) -> Lease | None:
        """Give up what an agent holds, also where it has expired; what it was, or None."""
        with self._home.db.write(COMPONENT) as connection:
            found = connection.execute(
                f"DELETE FROM agent_leases WHERE root = ? AND agent = ? RETURNING {_COLUMNS}",  # noqa: S608
                (str(root), agent),
            ).fetchall()
        return Lease(*found[0]) if found else None

    def _terms(self) -> tuple[str, str]:
        now = self._home.clock.now()
        return instant(datetime.fromisoformat(now) + timedelta(minutes=self.minutes)), now

    def _span(self) -> tuple[str, str]:
        """Between which moments a lease ends that holds now: one that would last much longer than any was
        given before the clock was set back."""
        now = self._home.clock.now()
        return now, instant(datetime.fromisoformat(now) + 2 * timedelta(minutes=self.minutes))

    def _live(self, connection: sqlite3.Connection, root: str) -> list[Lease]:
        sql = f"SELECT {_COLUMNS} FROM agent_leases WHERE root = ? AND {_LIVE} ORDER BY label"  # noqa: S608
        return [Lease(*row) for row in connection.execute(sql, (root, *self._span()))]

    def _meeting(self, item: WorkItem, other: Lease) -> Meeting | None:
        held = self._work.by_id(other.intent_id)
        return item.checkout_scope.meeting(held.checkout_scope) if held is not None else None


def already_active(held: Lease, wanted: str) -> WorkError:
    """The refusal of another checkout while an agent holds one, the same or another."""
    return WorkError(
        "INTENT_ALREADY_ACTIVE",
        f"Intent '{held.label}' is already active in this session. "
        "Clear the current intent before selecting a new one.",
        place=wanted,
        fix=f"go on with {held.label}, complete it, or give it up: mcl work release",
        data={"active": held.label, "wanted": wanted, "expires_at": held.expires_at},
    )


def _leased(other: Lease) -> WorkError:
    return WorkError(
        "LEASED",
        f"Intent '{other.label}' is held by the agent '{other.agent}' until {other.expires_at}.",
        place=other.label,
        fix="choose another intent, or try again after that time",
        data={"agent": other.agent, "until": other.expires_at},
    )


def _overlap(item: WorkItem, other: Lease, meeting: Meeting) -> WorkError:
    return WorkError(
        "SCOPE_OVERLAP",
        f"Intent '{item.label}' may change '{meeting.witness}', and so may '{other.label}', which the agent "
        f"'{other.agent}' holds until {other.expires_at}.",
        place=item.label,
        fix=f"wait until {other.label} is free, or choose an intent with other files",
        data={
            "other": other.label,
            "agent": other.agent,
            "until": other.expires_at,
            "path": meeting.witness,
        },
    )


# ---- What the gate is told of the work in one folder and of one agent.


class BoundCheckouts:
    """The checkouts of an agent in a folder, as the gate asks for them (executor.gate.checkout.Checkouts)."""

    def __init__(self, work: SignedWork, leases: Leases, root: Path, agent: str) -> None:
        self._work, self._leases = work, leases
        self.root, self.agent = root, agent

    def governed(self) -> bool:
        """Whether work was signed for this folder, so that changes need a checkout."""
        return self._work.governed(self.root)

    def held(self) -> Checkout | None:
        """What the agent has checked out; its lease is renewed. None, and nothing is renewed, where that or
        the work has expired, or it was blocked, cancelled or completed meanwhile, or what was signed cannot
        be believed."""
        lease = self._leases.held(self.root, self.agent)
        item = self._believed(lease.label) if lease is not None else None
        if lease is None or item is None or item.intent_id != lease.intent_id or item.status != "IN_PROGRESS":
            return None
        if item.is_expired(self._work.home.clock.now()):
            return None
        lease = self._leases.renew(lease)
        if lease is None or lease.intent_id != item.intent_id:  # it ended, or became another, just now
            return None
        return Checkout(item.intent_id, item.label, item.checkout_scope, self.agent, lease.expires_at)

    def owners(self, path: str) -> tuple[str, ...]:
        """The labels of work that is neither done nor expired and may change this path; of many the first."""
        return self._told(lambda: owners(self._work, self.root, path))

    def labels(self) -> tuple[str, ...]:
        """The labels that an agent may choose among: not done, blocked or expired; of many the first."""
        return self._told(lambda: selectable(self._work, self.root))

    def _told(self, find: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """None where what was signed cannot be believed, so that all is refused."""
        try:
            return find()
        except HomeError:
            raise
        except MclError:
            return ()

    def _believed(self, label: str) -> WorkItem | None:
        try:
            return self._work.item(self.root, label)
        except HomeError:
            raise
        except MclError:
            return None


class CallCheckouts(BoundCheckouts):
    """The checkouts of an agent in a governed folder as one call meets them: what it holds is looked up once,
    and its lease renewed by that."""

    def governed(self) -> bool:
        """It is: else nobody would ask."""
        return True

    def held(self) -> Checkout | None:
        """What the agent holds."""
        return self._held

    @property
    def intent_id(self) -> str:
        """The ULID of what it holds, "" where it is nothing."""
        return self._held.intent_id if self._held else ""

    @cached_property
    def _held(self) -> Checkout | None:
        return super().held()


# ---- Which work a message to an agent names: the owners of a path, and what can be selected.
# Found by an index beside the leases, so that not every signed document is read. It decides nothing: what is
# named first was read and checked as it was signed, and whether a file may be written is not asked here.

MOST: Final = 21  # that are named; of more it is only told that they are there
_DONE: Final = "SELECT 1 FROM journal WHERE intent = ? AND kind = 'intent.attest' LIMIT 1"


def owners(work: SignedWork, root: Path, path: str) -> tuple[str, ...]:
    """The labels of work that is neither done nor expired and may change a path; MOST at most."""
    fitting = (label for label, scope in _scopes(_patterns(work, root)) if scope.matches(path))
    return _named(work, root, fitting, lambda one: one.checkout_scope.matches(path))


def selectable(work: SignedWork, root: Path) -> tuple[str, ...]:
    """The labels of work that is not done, blocked or expired; MOST at most."""
    return _named(work, root, iter(work.labels(root)), lambda one: one.status != "BLOCKED")


def note_patterns(
    connection: sqlite3.Connection, root: str, row: str, patterns: Mapping[str, tuple[str, ...]]
) -> None:
    """Keep the patterns of a folder's work, by label. row: of the journal, which says what counts there."""
    said = _written(patterns)
    connection.execute("INSERT OR REPLACE INTO work_patterns VALUES (?, ?, ?)", (root, row, said))


def _named(
    work: SignedWork, root: Path, labels: Iterator[str], holds: Callable[[WorkItem], bool]
) -> tuple[str, ...]:
    ids, found, now = work.labels(root), list[str](), work.home.clock.now()
    for label in labels:
        if len(found) == MOST:
            break
        if work.home.db.read(_DONE, (ids.get(label, ""),)):
            continue
        with suppress(MclError):  # what cannot be believed is not named
            item = work.item(root, label)
            if item is None or item.status == "DONE" or item.is_expired(now):
                continue
            if holds(item):
                found.append(label)
    return tuple(found)


def _patterns(work: SignedWork, root: Path) -> str:
    """The patterns of a folder's work, as they are kept; read from what was signed where those are of another
    import."""
    sql = "SELECT patterns FROM work_patterns JOIN work_roots USING (root, row) WHERE root = ?"
    for (said,) in work.home.db.read(sql, (str(root),)):
        return str(said)
    rows = work.home.db.read("SELECT row FROM work_roots WHERE root = ?", (str(root),))
    made = {one.label: one.owned_scope for one in work.items(root)}
    with suppress(HomeError), work.home.db.write(COMPONENT) as connection:  # it is found without it, too
        for (row,) in rows:
            note_patterns(connection, str(root), row, made)
    return _written(made)


def _written(patterns: Mapping[str, tuple[str, ...]]) -> str:
    return json.dumps(dict(patterns), ensure_ascii=True)


@lru_cache(maxsize=4)
def _scopes(said: str) -> tuple[tuple[str, Scope], ...]:
    """The scope of each label; none where nothing can be made of what is kept."""
    from executor.core.globs import Scope
    from mcl.plugins.agents.file.rules import Patterns

    read = Patterns()
    try:
        return tuple((label, Scope(read.good(tuple(texts)))) for label, texts in json.loads(said).items())
    except (AttributeError, TypeError, ValueError):
        return ()
