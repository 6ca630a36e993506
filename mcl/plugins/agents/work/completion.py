"""Completing a piece of work: an agent proposes it, and where all its criteria hold, it is DONE."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from executor.core.hashing import json_bytes
from executor.gate.approvals import APPROVE, DENY
from executor.sandbox.redaction import Redactor
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.journal.record import Record
from executor.store.lifecycle.view import GateState, View
from executor.walker.criteria import Criterion
from executor.walker.questions import GateQuestion, People, first_answer
from ir import Intent, IntentAttestBody, PolicyGateBody, PolicyGateResolveBody, Predicate, SignedOffPredicate
from ir.display import lines_of
from ir.results import UNTOLD, WHERE_SAID, JsonResult, called
from mcl.core.errors import WorkError
from mcl.core.event_loop import at_once
from mcl.plugins.agents.work.file import follow
from mcl.plugins.agents.work.item import CRITERION, WorkItem, in_words
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.store import STATUS, SignedWork, keep_refusal, require_counting

# ---- The criteria of a piece of work as they stand: looked at where a program can, else put to a person.

SIGN_OFF: Final = "matrix://rule/sign-off"
WHOLE: Final = "success"  # node of the question about work that names no criterion


@dataclass(frozen=True)
class CriterionState(JsonResult):
    """One criterion as it stands.

    holds: whether it is met; why: where it is not. person: whether only a person can say. by: the did whose
    word alone counts then ("": that of any user of this home). node, gate: what the question to the person
    is asked about, and its id ("": there is none).
    """

    criterion: str
    holds: bool
    person: bool
    why: str = field(default="", metadata={**called("reason"), **WHERE_SAID})
    by: str = field(default="", metadata=UNTOLD)
    node: str = field(default="", metadata=UNTOLD)
    gate: str = field(default="", metadata=WHERE_SAID)
    found: Criterion | None = field(default=None, metadata=UNTOLD)


def looked_at(home: Home, root: Path, item: WorkItem, intent: Intent, view: View) -> Iterator[CriterionState]:
    """Each criterion as it stands, before anybody is asked."""
    if not item.predicates:
        yield _signed(WHOLE, f"{item.name} is done", view, "")
    for place, predicate in enumerate(item.predicates):
        words = in_words(predicate)
        if (by := _signer(predicate, view)) is not None:
            yield _signed(_node(place), words, view, by)
        else:
            from mcl.plugins.agents.work.criteria import look

            found = look(home, root, intent, place, predicate)
            yield CriterionState(words, found.holds, person=False, why=found.reason, found=found)


def _signer(predicate: Predicate, view: View) -> str | None:
    """Of a criterion that a person signs off, the did whose word counts ("": any user of this home); None
    where a program can look."""
    if isinstance(predicate, SignedOffPredicate):
        return predicate.by.removeprefix("matrix://user/") or view.accepted_by
    return "" if predicate.type == CRITERION else None


def _signed(node: str, words: str, view: View, by: str) -> CriterionState:
    """A criterion for a person, with the last question about it."""
    asked = [(id, gate) for id, gate in view.gates.items() if gate.node_id == node]
    for id, gate in reversed(asked):
        if gate.decision == APPROVE and by in ("", gate.by):
            return CriterionState(words, True, person=True, by=by, node=node, gate=id)
    id, gate = asked[-1] if asked else ("", GateState((), ""))
    why = "a person must sign it off"
    if gate.decision == DENY:
        why = f"not signed off: {gate.why}" if gate.why else "not signed off: a person said no"
    elif by and (gate.decision or by != view.accepted_by):
        why = f"{by} must sign it off"
    return CriterionState(
        words, False, person=True, why=why, by=by, node=node, gate="" if gate.decision else id
    )


def asked(
    home: Home,
    item: WorkItem,
    proposal: tuple[str, str],
    looked: tuple[CriterionState, ...],
    people: People | None,
) -> tuple[CriterionState, ...]:
    """The same after the questions were put: to who is there, or into the journal. Nobody is asked while
    something is left that a program has seen to be missing.

    proposal: the agent that proposed last, and its notes.
    """
    if not all(one.holds or one.person for one in looked):
        return looked
    return tuple(one if one.holds else _put(home, item, proposal, one, people) for one in looked)


def _put(
    home: Home, item: WorkItem, proposal: tuple[str, str], one: CriterionState, people: People | None
) -> CriterionState:
    """One criterion after its question: what counts is what the journal then says."""
    question = f"{item.label} {item.name}: is this met? {one.criterion}"
    gate = one.gate
    if not gate:
        body = PolicyGateBody(rule_ref=SIGN_OFF, question=question, node_id=one.node)
        gate = home.journal.tell(item.intent_id, Statement("policy.gate", body))[0].id
    if people is None or one.by not in ("", home.keyring.user.did):  # whose key could sign the answer here
        return replace(one, gate=gate)

    def is_open() -> bool:
        return not home.journal.view(item.intent_id).gates[gate].decision

    agent, notes = proposal  # which nobody has checked
    told = f"{question}\nthe agent {agent} says: {notes}" if notes else question
    words = "\n".join(lines_of(told))  # of the file and of an agent: shown as views, never as they are
    put = GateQuestion(gate, item.intent_id, one.node, "sign_off", words)
    answer = at_once(partial(first_answer, people, put, is_open=is_open, seconds=None, redactor=Redactor()))
    if not isinstance(answer, str):
        at, unseen = home.clock.now(), home.unseen(answer.unseen)
        resolve = PolicyGateResolveBody(gate, answer.decision, at, reason=answer.reason, unseen=unseen)
        home.journal.tell(item.intent_id, Statement("policy.gate.resolve", resolve, at=at))
    elif is_open():  # nobody said yes or no: it waits
        return replace(one, gate=gate)
    return _signed(one.node, one.criterion, home.journal.view(item.intent_id), one.by)


def kept(one: CriterionState) -> dict[str, object]:
    """A criterion as the record has it: only values that CBOR and JSON both hold."""
    evidence = one.found.to_json() if one.found is not None else {}
    return {**{name: value for name, value in evidence.items() if value is not None}, **one.to_json()}


def _node(place: int) -> str:
    return f"success[{place}]"


PROPOSED: Final = "record.work.proposed"
RELEASED: Final = "record.work.released"
MAX_NOTES: Final = 10_000  # characters


@dataclass(frozen=True)
class CompleteResult(JsonResult):
    """What became of a proposal. left: what is still to be met or signed off. error, code: why not all is."""

    success: bool
    label: str = field(metadata=called("id"))
    status: str
    criteria: tuple[CriterionState, ...] = ()
    left: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    error: str = field(default="", metadata=WHERE_SAID)
    code: str = field(default="", metadata=WHERE_SAID)


def complete(
    home: Home,
    work: SignedWork,
    leases: Leases,
    root: Path,
    label: str,
    agent: str,
    *,
    notes: str = "",
    people: People | None = None,
) -> CompleteResult:
    """Propose that work is done; where all its criteria hold, it is.

    label: "" for what the agent holds. people: the person who is there (None: nobody is, so the questions
    wait in the journal for one: mcl gate). With somebody there the lease need not be held.

    Raises:
        WorkError: NOTHING_HELD, NOT_HELD, NOT_FOUND, INVALID_TRANSITION, INTENT_EXPIRED, NOTES_TOO_LONG,
            CHANGED. Each is recorded.
        KeyringError where a key is sealed; HomeError; ScopeError where the folder cannot be opened.
    """
    with _refusals_kept(home, work, leases, root, label, agent, person=people is not None):
        if len(notes) > MAX_NOTES:
            raise WorkError(
                "NOTES_TOO_LONG",
                f"the notes have {len(notes)} characters",
                place="notes",
                fix=f"at most {MAX_NOTES}",
            )
        item = _meant(work, leases, root, label, agent, person=people is not None)
        view = home.journal.view(item.intent_id)
        intent = view.intent
        if intent is None:  # never of what `_meant` gives
            raise WorkError("NOT_FOUND", f"nothing was signed as {label}", place=label)
        looked = tuple(looked_at(home, root, item, intent, view))
        notes = Redactor().text(notes)  # what is kept is kept for good
        looked = asked(home, item, _proposal(home, item), looked, people)
        left = tuple(f"{one.criterion} ({one.why})" for one in looked if not one.holds)
        said = {
            "label": item.label,
            "agent": "" if people is not None else agent,
            "notes": notes,
            "criteria": [kept(one) for one in looked],
            "done": not left,
        }
        if left:
            home.journal.tell(item.intent_id, Statement(PROPOSED, said))
            return _pending(item, looked, left)
        return _done(home, work, leases, item, agent if people is None else "", looked, said)


@contextmanager
def _refusals_kept(
    home: Home, work: SignedWork, leases: Leases, root: Path, label: str, agent: str, *, person: bool
) -> Iterator[None]:
    try:
        yield
    except WorkError as problem:
        held = leases.held(root, agent)
        named = label or (held.label if held else "")
        keep_refusal(
            home, "complete", named, "" if person else agent, problem, work.labels(root).get(named, "")
        )
        raise


def _proposal(home: Home, item: WorkItem) -> tuple[str, str]:
    """Which agent proposed last that this is done, and how it says that it saw to it."""
    for row in reversed(home.journal.rows(item.intent_id, kind=PROPOSED)):
        record = home.journal.open(row.wire)
        if isinstance(record, Record) and record.body.get("agent"):
            return str(record.body["agent"]), str(record.body.get("notes", ""))
    return "", ""


def _meant(work: SignedWork, leases: Leases, root: Path, label: str, agent: str, *, person: bool) -> WorkItem:
    held = leases.held(root, agent)
    if not label and held is None:
        raise WorkError(
            "NOTHING_HELD",
            f"the agent '{agent}' has checked out nothing in {root}",
            place=agent,
            fix="name the work; mcl work list says what there is",
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
            fix=f"mcl work select {item.label}, or a person completes it at their terminal",
        )
    if item.status != "IN_PROGRESS":
        raise WorkError(
            "INVALID_TRANSITION",
            f"{item.label} is {item.status}; only what is IN_PROGRESS becomes DONE",
            place=item.label,
            fix="there is nothing to complete" if item.status == "DONE" else f"mcl work select {item.label}",
            data={"from": item.status, "to": "DONE"},
        )
    require_counting(item, work.home.clock.now())
    return item


def _done(
    home: Home,
    work: SignedWork,
    leases: Leases,
    item: WorkItem,
    agent: str,
    looked: tuple[CriterionState, ...],
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
        require_counting(item, at)  # people take their time
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


def _pending(item: WorkItem, looked: tuple[CriterionState, ...], left: tuple[str, ...]) -> CompleteResult:
    unmet = [one for one in looked if not one.holds and not one.person]
    if unmet:
        code, error = "CRITERION_NOT_MET", f"{item.label} is not done: {unmet[0].criterion}: {unmet[0].why}"
    else:
        code = "SIGN_OFF_PENDING"
        who = f"a person signs off what is left: mcl work complete {item.label}"
        error = f"{item.label} is not DONE yet; {who}"
    return CompleteResult(False, item.label, item.status, looked, left, error=error, code=code)
