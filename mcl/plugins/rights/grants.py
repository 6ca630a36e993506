"""`mcl grant add`, `mcl grant remove`, `mcl grant list`: what an agent may do at all, given and taken back by
a person.

Who gave what and when is kept beside the grant, and each change is a record in the journal.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from executor.core.clock import instant
from executor.gate.grants import Grant, Grants, HostGrant, RootGrant
from executor.store.home import Home
from ir import SIDE_EFFECTS, key_of
from ir.results import UNTOLD, called
from mcl.core.errors import InputError
from mcl.core.home import open_home
from mcl.core.settings import zone_here

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class AgentGrants:
    """All grants of one agent, also those that were taken back or are over. used: calls in the last 24 hours
    of each class that is limited now."""

    agent: str
    classes: tuple[Grant, ...] = field(metadata=called("grants"))
    hosts: tuple[HostGrant, ...]
    roots: tuple[RootGrant, ...]
    used: Mapping[str, int]
    at: str = field(metadata=UNTOLD)

    def holds(self, grant: Grant | HostGrant | RootGrant) -> bool:
        """Does a grant hold at the moment this was read?"""
        over = bool(grant.until) and datetime.fromisoformat(self.at) >= datetime.fromisoformat(grant.until)
        return not grant.revoked_at and not over


def add(
    classes: Collection[str],
    *,
    agent: str = "",
    hosts: Collection[str] = (),
    regions: Collection[str] = (),
    roots: Collection[Path] = (),
    max_calls: int = 0,
    until: str = "",
    home: Home | None = None,
) -> AgentGrants:
    """Let an agent do calls of these side-effect classes, where the gate allows them.

    Args:
        agent: its did (default: the home's own). hosts: with network; regions: where these are, by the codes
            of ISO 3166-1, or EU. roots: folders outside the workspace, with read. max_calls: of each class in
            24 hours, over all runs; 0 = as it is. until: a moment (ISO 8601), a date (its end, UTC), or a
            duration from now (P7D); "" = as it is. With hosts or roots it is theirs, and the end of a class
            that is held already stays.

    Raises:
        InputError: NEEDS_CLASS, NEEDS_HOST (regions without hosts), BAD_LIMIT, BAD_UNTIL. PolicyError:
        UNKNOWN_SIDE_EFFECT, BAD_HOST, BAD_REGION, BAD_ROOT.
        KeyTextError: no did. Nothing is granted then.
    """
    home = home or open_home()
    grants, agent = Grants(home), _agent(home, agent)
    _require(classes, hosts, roots)
    if regions and not hosts:
        raise InputError("NEEDS_HOST", "a region is that of a host", place="regions", fix="--host HOST too")
    if max_calls < 0:
        raise InputError("BAD_LIMIT", f"{max_calls} calls are none", place="max_calls", fix="1 or more")
    end = _moment(until, home.clock.now(), home) if until else ""
    by = home.keyring.user.did
    body: dict[str, object] = {"agent": agent, "by": by, "classes": [*classes], "hosts": [*hosts]}
    body |= {"roots": [str(root) for root in roots], "max_calls": max_calls, "until": end}
    body |= {"regions": [*regions]} if regions else {}
    with home.journal.tables.changing():
        placed = {"network" if hosts else "", "read" if roots else ""} & grants.held(agent).keys()
        grants.grant(agent, set(classes) - placed, by=by, until=end, max_calls=max_calls)
        grants.grant(agent, placed, by=by, max_calls=max_calls)
        grants.grant_hosts(agent, hosts, by=by, until=end, regions=regions)
        grants.grant_roots(agent, roots, by=by, until=end)
        home.journal.record("record.grant.given", body)
    return list(agent=agent, home=home)


def remove(
    classes: Collection[str],
    *,
    agent: str = "",
    hosts: Collection[str] = (),
    roots: Collection[Path] = (),
    home: Home | None = None,
) -> AgentGrants:
    """Take grants back. With hosts only these are taken and not the network, with roots only these and not
    reading; network without hosts takes all hosts too, and read all roots.

    Raises:
        InputError: NEEDS_CLASS. PolicyError: UNKNOWN_SIDE_EFFECT, BAD_HOST, NOT_GRANTED. KeyTextError: no
        did. Nothing is taken back then.
    """
    home = home or open_home()
    grants, agent = Grants(home), _agent(home, agent)
    _require(classes, hosts, roots)
    grants.grant(agent, [name for name in classes if name not in SIDE_EFFECTS])  # raises for these
    kept = {"network" if hosts else "", "read" if roots else ""}
    taken = [name for name in classes if name not in kept]
    body: dict[str, object] = {"agent": agent, "by": home.keyring.user.did, "classes": taken}
    body |= {"hosts": [*hosts], "roots": [str(root) for root in roots]}
    with home.journal.tables.changing():
        grants.revoke_hosts(agent, hosts)
        grants.revoke_roots(agent, roots)
        for name in taken:
            grants.revoke(agent, name)
        home.journal.record("record.grant.taken", body)
    return list(agent=agent, home=home)


def list(*, agent: str = "", home: Home | None = None) -> AgentGrants:
    """What was ever granted to an agent (default: the home's own). Raises KeyTextError."""
    home = home or open_home()
    grants, agent = Grants(home), _agent(home, agent)
    limited = (name for name, held in sorted(grants.held(agent).items()) if held.max_calls)
    return AgentGrants(
        agent,
        grants.list(agent),
        grants.list_hosts(agent),
        grants.list_roots(agent),
        {name: grants.used(agent, name) for name in limited},
        home.clock.now(),
    )


def _agent(home: Home, did: str) -> str:
    if not did:
        return home.keyring.agent.did
    key_of(did)
    return did


def _require(classes: Collection[str], hosts: Collection[str], roots: Collection[Path]) -> None:
    for what, given, name in (("host", hosts, "network"), ("root", roots, "read")):
        if given and name not in classes:
            raise InputError("NEEDS_CLASS", f"a {what} goes with the class {name}", place=what, fix=name)


def _moment(text: str, now: str, home: Home) -> str:
    """The moment that a person means. Raises InputError BAD_UNTIL."""
    from executor.core.clock import duration

    here = datetime.fromisoformat(now)
    try:
        if _DATE.fullmatch(text):
            day = datetime.fromisoformat(text) + timedelta(days=1)
            found = day.replace(tzinfo=ZoneInfo(zone_here(home)))
        elif text.startswith("P"):
            found = here + duration(text)
        else:
            found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            raise ValueError("it names no time zone")
        if found <= here:
            raise ValueError("it is over already")
        return instant(found)
    except (ValueError, OverflowError) as problem:
        raise InputError(
            "BAD_UNTIL",
            f"{text!r} is no end of a grant: {problem}",
            place="until",
            fix="such as 2027-01-31, 2027-01-31T12:00:00Z, or P7D for a week from now",
        ) from None
