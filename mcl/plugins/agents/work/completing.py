"""Completing a piece of work: an agent proposes it, and where all its criteria hold, it is DONE."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from executor.core.hashing import json_bytes
from executor.sandbox.redaction import Redactor
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.journal.record import Record
from ir import IntentAttestBody
from mcl.core.errors import WorkError
from mcl.plugins.agents.work.criteria import Ask, Looked, asked, kept, looked_at
from mcl.plugins.agents.work.file import follow
from mcl.plugins.agents.work.item import WorkItem
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.store import STATUS, Work

PROPOSED: Final = "record.work.proposed"
RELEASED: Final = "record.work.released"
MAX_NOTES: Final = 10_000  # characters


@dataclass(frozen=True)
class CompleteResult:
    """What became of a proposal. left: what is still to be met or signed off. error, code: why not all is."""

    success: bool
    label: str
    status: str
    criteria: tuple[Looked, ...] = ()
    left: tuple[str, ...] = ()
    error: str = ""
    code: str = ""
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        said: dict[str, object] = {
            "success": self.success,
            "id": self.label,
            "status": self.status,
            "criteria": [one.to_json() for one in self.criteria],
            "left": list(self.left),
            "warnings": list(self.warnings),
        }
        return said if self.success else {**said, "error": self.error, "code": self.code}


def complete(
    home: Home,
    work: Work,
    leases: Leases,
    root: Path,
    label: str,
    agent: str,
    *,
    notes: str = "",
    ask: Ask | None = None,
) -> CompleteResult:
    """Propose that work is done; where all its criteria hold, it is.

    label: "" for what the agent holds. ask: puts a sign-off to the person who is there (None: nobody is, so
    the questions wait in the journal for one: mcl gate). With somebody there the lease need not be held.

    Raises:
        WorkError: NOTHING_HELD, NOT_HELD, NOT_FOUND, INVALID_TRANSITION, NOTES_TOO_LONG, CHANGED.
        KeyringError where a key is sealed; HomeError; ScopeError where the folder cannot be opened.
    """
    if len(notes) > MAX_NOTES:
        raise WorkError(
            "NOTES_TOO_LONG",
            f"the notes have {len(notes)} characters",
            place="notes",
            fix=f"at most {MAX_NOTES}",
        )
    item = _meant(work, leases, root, label, agent, person=ask is not None)
    view = home.journal.view(item.intent_id)
    intent = view.intent
    if intent is None:  # never of what `_meant` gives
        raise WorkError("NOT_FOUND", f"nothing was signed as {label}", place=label)
    looked = tuple(looked_at(home, root, item, intent, view))
    notes = Redactor().text(notes)  # what is kept is kept for good
    looked = asked(home, item, _proposal(home, item), looked, ask)
    left = tuple(f"{one.criterion} ({one.why})" for one in looked if not one.holds)
    said = {
        "label": item.label,
        "agent": "" if ask is not None else agent,
        "notes": notes,
        "criteria": [kept(one) for one in looked],
        "done": not left,
    }
    if left:
        home.journal.tell(item.intent_id, Statement(PROPOSED, said))
        return _pending(item, looked, left)
    return _done(home, work, leases, item, agent if ask is None else "", looked, said)


def _proposal(home: Home, item: WorkItem) -> tuple[str, str]:
    """Which agent proposed last that this is done, and how it says that it saw to it."""
    for row in reversed(home.journal.rows(item.intent_id, kind=PROPOSED)):
        record = home.journal.open(row.wire)
        if isinstance(record, Record) and record.body.get("agent"):
            return str(record.body["agent"]), str(record.body.get("notes", ""))
    return "", ""


def _meant(work: Work, leases: Leases, root: Path, label: str, agent: str, *, person: bool) -> WorkItem:
    held = leases.held(root, agent)
    if not label and held is None:
        raise WorkError(
            "NOTHING_HELD",
            f"the agent '{agent}' has checked out nothing in {root}",
            place=agent,
            fix="name the work; mcl intents list says what there is",
        )
    named = label or (held.label if held else "")
    item = work.item(root, named)
    if item is None:
        labels = ", ".join(work.labels(root)) or "none"
        raise WorkError(
            "NOT_FOUND",
            f"no work {named[:80]!r} was signed for {root}",
            place=named[:80],
            fix=f"signed here: {labels}",
        )
    if not person and (held is None or held.intent_id != item.intent_id):
        raise WorkError(
            "NOT_HELD",
            f"the agent '{agent}' has not checked out {item.label}, and completes only what it has",
            place=item.label,
            fix=f"mcl intents select {item.label}, or a person completes it at their terminal",
        )
    if item.status != "IN_PROGRESS":
        raise WorkError(
            "INVALID_TRANSITION",
            f"{item.label} is {item.status}; only what is IN_PROGRESS becomes DONE",
            place=item.label,
            fix="there is nothing to complete"
            if item.status == "DONE"
            else f"mcl intents select {item.label}",
            data={"from": item.status, "to": "DONE"},
        )
    return item


def _done(
    home: Home,
    work: Work,
    leases: Leases,
    item: WorkItem,
    agent: str,
    looked: tuple[Looked, ...],
    said: dict[str, object],
) -> CompleteResult:
    told = {"criteria": said["criteria"], "notes": said["notes"], "agent": agent, **home.marks}
    told |= home.journal.view(item.intent_id).marks
    evidence = json_bytes(told)
    cited = tuple(
        f"file:{one.found.evidence['artifact']}"
        for one in looked
        if one.found is not None and one.found.predicate.type == "delivered"
    )
    with home.db.write():
        now = work.item(item.root, item.label)
        if now != item:
            raise WorkError("CHANGED", f"{item.label} has just changed", place=item.label, fix="try again")
        at, by = home.clock.now(), agent or home.keyring.user.did
        holders = [lease for lease in leases.all(item.root) if lease.intent_id == item.intent_id]
        if agent and agent not in [lease.agent for lease in holders]:
            raise WorkError(
                "NOT_HELD", f"the lease of {item.label} has just ended", place=item.label, fix="select it"
            )
        statements = [Statement(PROPOSED, said, at=at)]
        for lease in holders:
            leases.release(item.root, lease.agent)
            left = {"label": item.label, "agent": lease.agent, "number": lease.number, "why": "completed"}
            statements.append(Statement(RELEASED, left, at=at))
        change = {
            "label": item.label,
            "from": item.status,
            "to": "DONE",
            "by": by,
            "why": "",
            "updated_at": at,
        }
        body = IntentAttestBody(outcome="success", completed_at=at, cited_uris=cited, evidence_json=evidence)
        statements += [Statement(STATUS, change, at=at), Statement("intent.attest", body, at=at)]
        home.journal.tell(item.intent_id, *statements)
    behind = follow(Path(item.root), item.label, item.status, "DONE", at)
    return CompleteResult(True, item.label, "DONE", looked, warnings=(behind,) if behind else ())


def _pending(item: WorkItem, looked: tuple[Looked, ...], left: tuple[str, ...]) -> CompleteResult:
    unmet = [one for one in looked if not one.holds and not one.person]
    if unmet:
        code, error = "CRITERION_NOT_MET", f"{item.label} is not done: {unmet[0].criterion}: {unmet[0].why}"
    else:
        code = "SIGN_OFF_PENDING"
        who = f"a person signs off what is left: mcl intents complete {item.label}"
        error = f"{item.label} is not DONE yet; {who}"
    return CompleteResult(False, item.label, item.status, looked, left, error, code)
