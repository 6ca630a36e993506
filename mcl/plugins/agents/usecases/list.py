"""`mcl intents list`, `mcl intents show`: the signed work of a folder, and who holds it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from executor.store.home import Home
from mcl.core.errors import WorkError
from mcl.core.home import open_home
from mcl.plugins.agents.file.labels import STATUSES
from mcl.plugins.agents.work.item import WorkItem
from mcl.plugins.agents.work.leases import Lease, Leases
from mcl.plugins.agents.work.root import find_root
from mcl.plugins.agents.work.store import Work


@dataclass(frozen=True)
class ListedWork:
    """One piece of signed work, and who holds it now (None: nobody)."""

    item: WorkItem
    lease: Lease | None

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        held = {"agent": self.lease.agent, "expires_at": self.lease.expires_at} if self.lease else None
        return {**self.item.to_json(), "held": held}


@dataclass(frozen=True)
class WorkList:
    """The work of a folder. governed: work was signed for it, so that changes there need a checkout."""

    root: Path
    governed: bool
    items: tuple[ListedWork, ...]

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {
            "root": str(self.root),
            "governed": self.governed,
            "intents": [one.to_json() for one in self.items],
        }


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
    home = home or open_home()
    work = Work(home)
    leases = Leases(home, work)
    found = find_root(work, root or Path.cwd())
    held = {lease.label: lease for lease in leases.all(found)}
    items = tuple(
        ListedWork(item, held.get(item.label))
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
        fix=f"signed here: {there}; a person signs more with mcl intents import",
        data={"available": [one.item.label for one in found.items]},
    )
