"""The work of coding agents: what a person signs for them, and what they check out."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from ir.results import JsonResult, called
from mcl.core.environment import agent_name
from mcl.core.errors import WorkError
from mcl.core.event_loop import outside_loop
from mcl.core.home import open_home
from mcl.core.yaml import MAX_BYTES, FlawReport
from mcl.plugins.agents.file.document import NAME, read_file, write_file
from mcl.plugins.agents.file.rules import STATUSES
from mcl.plugins.agents.file.validation import validate
from mcl.plugins.agents.trace.line import TraceLine, opened_folder, read_map
from mcl.plugins.agents.trace.trace import Trace, TraceReport, read_trace
from mcl.plugins.agents.work.completion import CompleteResult, complete
from mcl.plugins.agents.work.file import read_bytes, write_bytes
from mcl.plugins.agents.work.item import WorkItem, entry_of
from mcl.plugins.agents.work.leases import Lease, Leases
from mcl.plugins.agents.work.selection import SelectResult, select
from mcl.plugins.agents.work.signature import ImportPlan, plan_import, sign_import
from mcl.plugins.agents.work.store import SignedWork, find_root, root_to_sign
from mcl.plugins.agents.writes.images import Unended, unended
from mcl.usecases.authority.door import require_not_governed_elsewhere

if TYPE_CHECKING:
    from executor.walker.questions import People


@dataclass(frozen=True)
class ListedWork:
    """One piece of signed work, and who holds it now (None: nobody). expired: whether it counts no more."""

    item: WorkItem
    lease: Lease | None
    expired: bool = False

    def to_json(self) -> dict[str, object]:
        held = {"agent": self.lease.agent, "expires_at": self.lease.expires_at} if self.lease else None
        ends = {"expired": self.expired} if self.item.expires_at else {}
        return {**self.item.to_json(), **ends, "held": held}


@dataclass(frozen=True)
class WorkList(JsonResult):
    """The work of a folder. governed: work was signed for it, so that changes there need a checkout."""

    root: Path
    governed: bool
    items: tuple[ListedWork, ...] = field(metadata=called("intents"))


def _opened(home: Home | None, root: Path | None) -> tuple[Home, SignedWork, Leases, Path]:
    """The home, its work and its leases, and the folder that is meant (default: this one)."""
    home = home or open_home()
    work = SignedWork(home)
    return home, work, Leases(home, work), find_root(work, root or Path.cwd())


def list_work(*, root: Path | None = None, status: str = "", home: Home | None = None) -> WorkList:
    """The signed work of a folder, in the order of its file.

    root: a folder in it (default: this one). status: only what has it.
    Raises WorkError INVALID_STATUS; what reading the journal raises.
    """
    if status and status not in STATUSES:
        raise WorkError(
            "INVALID_STATUS",
            f"{status[:40]!r} is no status",
            place="status",
            fix=f"one of {', '.join(STATUSES)}",
        )
    home, work, leases, found = _opened(home, root)
    held, now = {lease.label: lease for lease in leases.all(found)}, home.clock.now()
    items = tuple(
        ListedWork(item, held.get(item.label), item.is_expired(now))
        for item in work.items(found)
        if not status or item.status == status
    )
    return WorkList(found, work.governed(found), items)


def show_work(label: str, *, root: Path | None = None, home: Home | None = None) -> ListedWork:
    """One piece of signed work. Raises WorkError NOT_FOUND, which lists what there is."""
    found = list_work(root=root, home=home)
    for one in found.items:
        if one.item.label == label:
            return one
    there = ", ".join(one.item.label for one in found.items) or "none"
    raise WorkError(
        "NOT_FOUND",
        f"no work {label[:80]!r} was signed for {found.root}",
        place=label[:80],
        fix=f"signed here: {there}; a person signs more with mcl work import",
        data={"available": [one.item.label for one in found.items]},
    )


# ---- `mcl work select`: an agent checks out work that a person signed.


def select_work(
    label: str, *, agent: str = "", root: Path | None = None, home: Home | None = None
) -> SelectResult:
    """Check out the work under a label; why it cannot be is in the result.

    agent: its name (default: $MCL_AGENT, else "local"). root: a folder in the work's (default: this one).
    Raises WorkError BAD_AGENT_NAME; HomeError; KeyringError where the agent's key is sealed.
    """
    name = agent_name(agent)
    return select(*_opened(home, root), label, name)


# ---- `mcl work release`: an agent gives up what it has checked out, or a person takes it back.

RELEASED: Final = "record.work.released"


def release_work(*, agent: str = "", root: Path | None = None, home: Home | None = None) -> Lease:
    """Give up what an agent holds. The work stays IN_PROGRESS, and another may check it out.

    Raises WorkError NOTHING_HELD, BAD_AGENT_NAME; HomeError; KeyringError where the agent's key is sealed.
    """
    name = agent_name(agent)
    home, _, leases, place = _opened(home, root)
    with home.db.write():
        lease = leases.release(place, name)
        if lease is not None:
            body = {"label": lease.label, "agent": name, "number": lease.number, "why": "released"}
            home.journal.record(RELEASED, body, intent=lease.intent_id)
    if lease is None:
        raise WorkError(
            "NOTHING_HELD",
            f"the agent '{name}' holds nothing in {place}",
            place=name,
            fix="mcl work list says who holds what; name another with --agent",
        )
    return lease


# ---- `mcl work complete`: an agent proposes that work is done, or a person signs off what is left of
# it.


def complete_work(
    label: str = "",
    *,
    notes: str = "",
    agent: str = "",
    people: People | None = None,
    root: Path | None = None,
    home: Home | None = None,
) -> CompleteResult:
    """Look at all criteria of a piece of work; where they hold, it is DONE and given up.

    label: "" for what the agent holds. notes: how it saw to them, in the agent's words. agent: its name
    (default: $MCL_AGENT, else "local"). people: the person who is there; with one the answers are signed with
    the user's key, and nothing need be checked out. root: a folder in the work's.

    What a program looks at may take as long as an address takes to answer. Raises what
    `mcl.plugins.agents.work.completion.complete` raises; WorkError BAD_AGENT_NAME.
    """
    outside_loop("complete_work", plugin=True)
    name = agent_name(agent)
    return complete(*_opened(home, root), label, name, notes=notes, people=people)


# ---- `mcl work map`: the files of a folder, each with the intents under which it was changed.


@dataclass(frozen=True)
class WorkMap(JsonResult):
    """By file, relative to root, the labels of the intents under which it was changed; both in order."""

    root: Path
    files: Mapping[str, tuple[str, ...]]


def map_work(*, root: Path | None = None, home: Home | None = None) -> WorkMap:
    """What the map in the folder says, and what this home knows besides.

    root: a folder in it (default: this one).
    Raises ScopeError where the map is no plain file, HomeError.
    """
    home = home or open_home()
    found = find_root(SignedWork(home), root or Path.cwd())
    known: dict[str, set[str]] = {}
    try:
        with opened_folder(found) as folder:
            for path, labels in read_map(folder).items():
                known.setdefault(path, set()).update(labels)
    except ScopeError as problem:
        if problem.code != "NOT_FOUND":
            raise
    for path, label in Trace(home, found).pairs():
        known.setdefault(path, set()).add(label)
    return WorkMap(found, {path: tuple(sorted(known[path])) for path in sorted(known)})


# ---- `mcl work trace`: what was changed in a folder, under which intent, and whether the trace holds.


@dataclass(frozen=True)
class WorkTrace(JsonResult):
    """The lines that were asked for, oldest first, and what is to be said of the trace as a whole.

    unended: files that changed since a call of which nobody saw the end, and that no line tells of.
    """

    JSON: ClassVar = (
        "root=report.root ok=report.ok torn=report.torn unsigned=report.unsigned total "
        "findings=report.findings unended lines"
    )
    lines: tuple[TraceLine, ...]
    report: TraceReport
    unended: tuple[Unended, ...] = ()

    @property
    def total(self) -> int:
        """How many lines the trace has."""
        return len(self.report.lines)


def trace_work(
    *,
    root: Path | None = None,
    intent: str = "",
    file: str = "",
    agent: str = "",
    last: int | None = None,
    home: Home | None = None,
) -> WorkTrace:
    """Read and check the trace of a folder.

    Args:
        root: a folder in it (default: this one).
        intent, file, agent: only lines of this label or ULID, this file (relative to the root), this agent.
        last: at most so many, the newest.

    Raises:
        ScopeError: the trace is no plain file. JournalError: a record cannot be believed. HomeError.
    """
    home = home or open_home()
    work = SignedWork(home)
    report = read_trace(home, find_root(work, root or Path.cwd()))
    lines = [
        line
        for line in report.lines
        if (not intent or intent in (line.change.label, line.change.intent_id))
        and (not file or line.change.file == file)
        and (not agent or line.change.agent == agent)
    ]
    traced = {line.change.file: line.change.after for line in report.lines}
    missed = unended(home, report.root, [one.intent_id for one in work.items(report.root)], traced)
    return WorkTrace(tuple(lines if last is None else lines[max(0, len(lines) - last) :]), report, missed)


# ---- `mcl work check`: what is wrong or doubtful in a file of intents. Needs no home, signs nothing.


@dataclass(frozen=True)
class ValidatedWork(JsonResult):
    """What became of a validation. path: the file, as it was given or found. intents: how many it has."""

    JSON: ClassVar = "valid=report.valid errors=report.errors warnings=report.warnings"
    path: str
    intents: int
    report: FlawReport


def validate_work(path: Path | None = None) -> ValidatedWork:
    """Validate a file of intents.

    path: the file, or a folder with `.orchestration/active_intents.yaml`; default: the nearest such file at
    or above this folder. Raises WorkError FILE_UNREADABLE; what is in the file raises
    nothing.
    """
    found = _nearest(Path.cwd()) if path is None else path / NAME if path.is_dir() else path
    document = read_file(_read(found))
    return ValidatedWork(str(found), len(document.entries), validate(document))


def _nearest(start: Path) -> Path:
    real = start.resolve()
    for folder in (real, *real.parents):
        if (folder / NAME).exists():
            return folder / NAME
    return real / NAME


def _read(path: Path) -> bytes:
    """The bytes, and one more than is read of a file that is too large. Never waits, as for a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a plain file")
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        number = problem.errno if isinstance(problem, OSError) else errno.EINVAL
        name = errno.errorcode.get(number or errno.EIO, "EIO")
        why = (getattr(problem, "strerror", None) or str(problem)).lower()
        message = f"the file of intents cannot be read: {name} ({why})"
        fix = f"write {NAME}, or name another file" if name == "ENOENT" else "name a file that can be read"
        raise WorkError("FILE_UNREADABLE", message, place=str(path), fix=fix) from problem


# ---- `mcl work export`: the file, written from what was signed.


@dataclass(frozen=True)
class ExportedWork(JsonResult):
    """The file as it was signed. path: where it was written; None where it was only asked for."""

    JSON: ClassVar = "root intents=labels file=path text"
    root: Path
    text: str
    labels: tuple[str, ...]
    path: Path | None


def export_work(
    *, write: bool = False, overwrite: bool = False, root: Path | None = None, home: Home | None = None
) -> ExportedWork:
    """The file that says what was signed for a folder, and how far it is.

    write: put it in its place. overwrite: also where there is one, whose comments are lost.
    Raises WorkError NOTHING_SIGNED, FILE_EXISTS; ScopeError where it cannot be written; HomeError.
    """
    work = SignedWork(home or open_home())
    place = find_root(work, root or Path.cwd())
    items = work.items(place)
    if not items:
        raise WorkError(
            "NOTHING_SIGNED",
            f"no work was signed for {place}",
            place=str(place),
            fix="a person signs what a file says: mcl work import",
        )
    data = write_file(entry_of(item) for item in items)
    path = write_bytes(place, data, overwrite=overwrite) if write else None
    return ExportedWork(place, data.decode(), tuple(item.label for item in items), path)


# ---- `mcl work import`: a person signs what the file says.


@dataclass(frozen=True)
class ImportedWork:
    """What became of an import. signed: labels of what was signed, each with its ULID. agreed: whether the
    person said yes; where there was nothing to sign, nobody was asked."""

    plan: ImportPlan
    agreed: bool
    signed: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, object]:
        return {
            "root": str(self.plan.root),
            "agreed": self.agreed,
            "changes": self.plan.changes,
            "signed": [{"id": label, "intent_id": intent} for label, intent in self.signed],
            "warnings": self.plan.report.warnings,
        }


def import_work(
    *,
    agree: Callable[[ImportPlan], bool],
    root: Path | None = None,
    home: Home | None = None,
    unseen: bool = False,
) -> ImportedWork:
    """Sign the work that a folder's file describes, with the user's key, all of it in one commit.

    agree: is shown what would be signed; only its True signs it. It is not asked where all is signed already.
    root: a folder in it (default: this one). unseen: nobody looks at what `agree` is shown.

    Raises:
        WorkError: FILE_UNREADABLE, INVALID_FILE, INVALID_TRANSITION, LEASED, SECRET_INLINE, IMPORT_CHANGED.
        DoorError: GOVERNED_ELSEWHERE.
        ScopeError where tools may not work in the folder. KeyringError where a key
            is sealed; HomeError.
    """
    home = home or open_home()
    work = SignedWork(home)
    leases = Leases(home, work)
    place = root_to_sign(work, root or Path.cwd())
    require_not_governed_elsewhere(home, place)
    Workspace(place, forbidden=[home.path]).close()  # where nothing may be worked on, nothing is signed
    data = read_bytes(place)
    plan = plan_import(work, leases, place, data)
    if plan.nothing:
        return ImportedWork(plan, agreed=True)
    if not agree(plan):
        return ImportedWork(plan, agreed=False)
    intents = sign_import(home, work, leases, plan, data, unseen=unseen)
    return ImportedWork(plan, True, tuple((intent.goal_id, intent.id) for intent in intents))
