"""`mcl intents import`: a person signs what the file says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from executor.sandbox.paths import Workspace
from executor.store.home import Home
from mcl.core.home import open_home
from mcl.plugins.agents.work.file import read_bytes
from mcl.plugins.agents.work.importing import ImportPlan, plan_import, sign_import
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.root import root_to_sign
from mcl.plugins.agents.work.store import Work
from mcl.usecases.authority.elsewhere import require_not_governed_elsewhere


@dataclass(frozen=True)
class ImportedWork:
    """What became of an import. signed: labels of what was signed, each with its ULID. agreed: whether the
    person said yes; where there was nothing to sign, nobody was asked."""

    plan: ImportPlan
    agreed: bool
    signed: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {
            "root": str(self.plan.root),
            "agreed": self.agreed,
            "changes": [change.to_json() for change in self.plan.changes],
            "signed": [{"id": label, "intent_id": intent} for label, intent in self.signed],
            "warnings": [finding.to_json() for finding in self.plan.report.warnings],
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
    work = Work(home)
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
