"""One round over all schedules: what was left is gone on with, what is due is fired, what was missed is told.

Decided: never two firings of a schedule at once; of those that were missed, while this machine slept or the
one before ran, the last is made up for (unless it was signed otherwise), and all others are told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from executor.core.errors import LifecycleError, ScopeError, ToolError, WalkError
from executor.core.files import locked
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.store.lifecycle.view import View
from ir import IntentFailBody
from ir.errors import MclError
from ir.schedule import Schedule
from mcl.core.home import sealed
from mcl.plugins.schedules.firing import REFUSED, fire, run_child
from mcl.plugins.schedules.scope import moments_of
from mcl.usecases.intents import Shown, read_view, shown

TERMS: Final = "record.schedule.proposed"
MISSED: Final = "record.schedule.missed"
LOOKED: Final = "record.schedule.looked"
_GRACE: Final = timedelta(minutes=15)  # so late is still on time, where what is missed is skipped
_MOST: Final = 10_000  # moments that are looked through
_LONGEST: Final = 16 << 20  # bytes of a file that is looked at


@dataclass(frozen=True)
class Happened:
    """What a round did of one schedule. what: fired, resumed, missed, waits or refused; outcome: of a run."""

    schedule: str
    what: str
    child: str = ""
    due: str = ""
    outcome: str = ""
    code: str = ""
    message: str = ""
    many: int = 0


def schedules(home: Home) -> list[Shown]:
    """All that were signed and not revoked, the oldest first."""
    ids = proposed_in(home)
    return [
        shown(home, id) for id in ids if (view := read_view(home, id)).schedule and view.state == "accepted"
    ]


def proposed_in(home: Home) -> list[str]:
    """The intents for which a scope was ever proposed, the oldest first."""
    return list(dict.fromkeys(row.intent for row in home.journal.rows(kind=TERMS) if row.intent))


def round_of(home: Home) -> Iterator[Happened]:
    """One round. Raises WalkError ALREADY_RUNNING where another process makes one."""
    folder = home.path / "leases"
    folder.mkdir(mode=0o700, exist_ok=True)
    busy = WalkError(
        "ALREADY_RUNNING", "another process fires the schedules", place="schedule", fix="let it finish"
    )
    with locked(folder / "schedules", busy=busy):
        for found in schedules(home):
            try:
                yield from _one(home, found)
            except MclError as problem:  # one that is broken keeps no other from its time
                yield Happened(found.id, "refused", code=problem.code, message=problem.message)


def _one(home: Home, found: Shown) -> Iterator[Happened]:
    schedule = found.view.schedule
    assert schedule is not None, "it was signed"
    last = found.view.last_firing  # nothing is fired while one has not ended, so no other can be open
    if last is not None and not read_view(home, last.child).terminal:
        yield _go_on(home, found, last.child, schedule)
        if not read_view(home, last.child).terminal:
            return
    if over(found.view, home.clock.now()):
        return
    yield from _by_file(home, found, schedule) if schedule.file else _by_time(home, found, schedule)


def over(view: View, at: str) -> bool:
    """Whether nothing more is fired: its count is reached, or its time over."""
    schedule = view.schedule
    if schedule is None:
        return True
    late = bool(schedule.until) and at > schedule.until
    return late or bool(schedule.count and len(view.firings) >= schedule.count)


def waiting(view: View) -> tuple[str, ...]:
    """The open questions of a firing."""
    return tuple(id for id, gate in view.gates.items() if not gate.decision) if not view.terminal else ()


def _go_on(home: Home, found: Shown, child: str, schedule: Schedule) -> Happened:
    view = read_view(home, child)
    if asked := waiting(view):
        return Happened(found.id, "waits", child, message=f"mcl gate show {asked[0]}")
    return _run(home, found, child, schedule, "resumed", resume=view.state == "executing")


def _run(
    home: Home,
    found: Shown,
    child: str,
    schedule: Schedule,
    what: str,
    *,
    due: str = "",
    resume: bool = False,
) -> Happened:
    try:
        outcome = run_child(home, child, schedule.workspace, resume=resume)
    except (WalkError, ScopeError) as problem:
        return Happened(found.id, what, child, due, "refused", problem.code, problem.message)
    failure = outcome.failure
    if outcome.state == "denied" and read_view(home, child).state == "accepted":
        _end(home, child, f"{failure.code}: {failure.message}" if failure is not None else "")
    code, message = (failure.code, failure.message) if failure is not None else ("", "")
    return Happened(found.id, what, child, due, outcome.state, code, message)


def _end(home: Home, child: str, why: str) -> None:
    """What the gate refuses before it begins is not tried again in each round, but at the next moment."""
    at = home.clock.now()
    body = IntentFailBody("policy_violation", at, why[:500])
    home.journal.append(sealed(home, "intent.fail", body, intent=child, at=at))


def _by_time(home: Home, found: Shown, schedule: Schedule) -> Iterator[Happened]:
    now = datetime.fromisoformat(home.clock.now())
    settled = _settled(home, found)
    begun = datetime.fromisoformat(_accepted_at(home, found))
    due = [
        one
        for one in moments_of(schedule, begun - timedelta(seconds=1), _MOST)
        if one[0] > settled and one[1] <= now
    ]
    if not due:
        return
    last, moment = due[-1]
    late = schedule.missed == "skip" and now - moment > _GRACE
    missed = [local for local, _ in (due if late else due[:-1])]
    if missed:
        body = {"first": missed[0], "last": missed[-1], "many": len(missed)}
        home.journal.record(MISSED, body, intent=found.id)
        yield Happened(found.id, "missed", due=missed[-1], many=len(missed))
    if not late:
        yield from _fired(home, found, schedule, last, "")


def _by_file(home: Home, found: Shown, schedule: Schedule) -> Iterator[Happened]:
    before, now = _looked(home, found), content_hash_of(home, schedule)
    if now[0] == before:
        return
    at = home.clock.now()
    last = found.view.last_firing
    local = datetime.fromisoformat(at).astimezone(ZoneInfo(schedule.zone)).strftime("%Y-%m-%dT%H:%M:%S")
    soon = datetime.fromisoformat(last.due) + timedelta(minutes=1) if last is not None else None
    if now[1] and soon is not None and datetime.fromisoformat(local) < soon:
        return  # it is looked at again then
    home.journal.record(LOOKED, {"sha256": now[0]}, intent=found.id)
    if now[1] and now[0] != (last.cause if last else ""):
        yield from _fired(home, found, schedule, local, now[0])


def _fired(home: Home, found: Shown, schedule: Schedule, due: str, cause: str) -> Iterator[Happened]:
    try:
        child = fire(home, found, due, at=home.clock.now(), cause=cause)
    except LifecycleError as problem:
        yield Happened(found.id, "refused", due=due, code=problem.code, message=problem.message)
        return
    yield _run(home, found, child, schedule, "fired", due=due)


def content_hash_of(home: Home, schedule: Schedule) -> tuple[str, bool]:
    """Of the file that is waited for: its sha256, "" where there is none; whether the word stands in it."""
    workspace = Workspace(Path(schedule.workspace), forbidden=(home.path,))
    try:
        data, _ = workspace.read(schedule.file, _LONGEST)
    except (ScopeError, ToolError, OSError):
        return "", False
    finally:
        workspace.close()
    said = schedule.mentions.casefold() in data.decode("utf-8", "replace").casefold()
    return sha256(data).hexdigest(), said


def require_readable(home: Home, schedule: Schedule) -> None:
    """Raise ScopeError where the file that is waited for lies elsewhere, or is a secret."""
    workspace = Workspace(Path(schedule.workspace), forbidden=(home.path,))
    try:
        workspace.check(schedule.file)
    finally:
        workspace.close()


def _told(home: Home, found: Shown, kind: str) -> dict[str, Any]:
    """What the last record of a kind says of a schedule."""
    rows = home.journal.rows(found.id, kind=kind)
    record = home.journal.open(rows[-1].wire, rows[-1].seq) if rows else None
    return dict(record.body) if isinstance(record, Record) else {}


def _settled(home: Home, found: Shown) -> str:
    """The last moment that was fired, refused or told as missed."""
    last = found.view.last_firing
    missed, refused = _told(home, found, MISSED).get("last", ""), _told(home, found, REFUSED).get("due", "")
    return max(last.due if last else "", str(missed), str(refused))


def _looked(home: Home, found: Shown) -> str:
    return str(_told(home, found, LOOKED).get("sha256", ""))


def _accepted_at(home: Home, found: Shown) -> str:
    return home.journal.row(found.view.accept_id).at


def next_moment(home: Home, found: Shown) -> datetime | None:
    """When it is next due; None where nothing more is, or a file is waited for."""
    schedule = found.view.schedule
    now = home.clock.now()
    if schedule is None or over(found.view, now):
        return None
    coming = moments_of(schedule, datetime.fromisoformat(now), 1)
    return coming[0][1] if coming else None
