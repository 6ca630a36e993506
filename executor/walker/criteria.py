"""Success criteria, and constraints that are checked: each is looked at, and what was found is evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
from anyio import from_thread, to_thread

from executor.call import Allow, Call
from executor.core.errors import ScopeError, ToolError, UnresolvedError
from executor.core.hashing import json_hash
from executor.gate.context import Context
from executor.gate.looks import flaw_of
from executor.gate.mandate import Mandate
from executor.gate.measures import find_measure
from executor.gate.page import GRAMMAR, PageCheck, parse_check
from executor.gate.references import typed_args
from executor.gate.standings import artifact_path
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.walker.engine import Failure
from executor.walker.ledger import ANSWERED
from executor.walker.nodes import get_leave
from executor.walker.questions import Questions
from executor.walker.run import Run
from ir import (
    AttestationPredicate,
    CommandPredicate,
    Constraint,
    DeliveredPredicate,
    Envelope,
    ExtensionConstraint,
    ExtensionPredicate,
    ExternalPredicate,
    Intent,
    IntentAttestBody,
    MclError,
    Predicate,
    Promise,
    QualityConstraint,
    SignedOffPredicate,
    promises_of,
)

_SIGN_OFF: Final = "matrix://rule/sign-off"
_SAID: Final = 300  # characters
_IN_WORDS: Final = (CommandPredicate, QualityConstraint, ExtensionConstraint, ExtensionPredicate)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One success predicate, or constraint, and what was found. ``reason`` says why it does not hold."""

    predicate: Predicate | Constraint
    holds: bool
    reason: str = ""
    evidence: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The predicate in a few words, such as ``delivered report.md``."""
        if isinstance(self.predicate, _IN_WORDS):
            return visible(f"{self.predicate.type} {Promise('', True, self.predicate).says}")[:300]
        said = self.predicate.model_dump(exclude={"type", "schema", "data"})
        return visible(" ".join([self.predicate.type, *(str(text) for text in said.values() if text)]))[:300]

    def to_json(self) -> dict[str, object]:
        """The finding as a JSON object."""
        found: dict[str, object] = {"type": self.predicate.type, "holds": self.holds, **self.evidence}
        return {**found, "reason": self.reason} if self.reason else found


def delivered(
    predicate: DeliveredPredicate,
    intent: Intent,
    workspace: Workspace,
    check: Callable[[], None] = lambda: None,
) -> Criterion:
    """Does the artifact lie in the workspace? Its name is a path, or that of an object of the Intent.

    ``check`` is called while it is read, and may stop that by raising.
    """
    path = artifact_path(predicate, intent)
    try:
        digest, size = workspace.digest(path, check=check)
    except ScopeError as problem:
        return Criterion(predicate, False, problem.message, {"artifact": predicate.artifact})
    return Criterion(predicate, True, "", {"artifact": path, "sha256": digest, "size": size})


def attested(predicate: AttestationPredicate, envelopes: Iterable[Envelope]) -> Criterion:
    """Did the source sign an intent.attest of success that cites the topic? The signatures were checked on
    reading."""
    evidence = {"source": predicate.source, "topic": predicate.topic}
    for envelope in envelopes:
        body = envelope.body
        if (
            isinstance(body, IntentAttestBody)
            and envelope.from_ == predicate.source.removeprefix("matrix://agent/")
            and body.outcome == "success"
            and (not predicate.topic or predicate.topic in body.cited_uris)
        ):
            return Criterion(predicate, True, "", {**evidence, "envelope": envelope.id})
    return Criterion(predicate, False, "no such attestation is in the journal", evidence)


def unsupported(predicate: Predicate | Constraint) -> Criterion:
    """What nothing here can look at holds never."""
    return Criterion(predicate, False, f"nothing here knows how to look at {visible(predicate.type)[:100]}")


# ---- All criteria of an Intent.


async def judge(context: Context, run: Run, home: Home) -> tuple[Criterion, ...]:
    """Look at every hard constraint that is checked, and every success criterion, of the Intent that a
    context is about, in order."""
    mandate, workspace = context.mandate, context.workspace
    assert mandate is not None, "criteria are those of a mandate"
    found: list[Criterion] = []
    for promise in promises_of(mandate.intent):
        match promise.item:
            case QualityConstraint() if promise.hard:
                found.append(measured(promise.item, context, run.outputs))
            case ExtensionConstraint() if not promise.hard:
                pass
            case CommandPredicate() | ExtensionPredicate() | ExtensionConstraint() as item:
                found.append(await called(item, mandate.criterion_id(promise.place), context, run))
            case DeliveredPredicate() as predicate:
                found.append(await _delivered(predicate, mandate, workspace))
            case SignedOffPredicate() as predicate:
                node = mandate.criterion_id(promise.place) if predicate.what else ""
                found.append(await _signed_off(predicate, node, mandate, home, run.questions))
            case AttestationPredicate() as predicate:
                found.append(attested(predicate, attestations(home)))
            case ExternalPredicate() as predicate:
                found.append(await external(predicate, mandate.criterion_id(promise.place), context, run))
    return tuple(found)


def measured(wanted: QualityConstraint, context: Context, outputs: Mapping[str, object]) -> Criterion:
    """Is the number that a node of the plan gave at least what is wanted? outputs: by node."""
    assert context.mandate is not None, "criteria are those of a mandate"
    evidence: dict[str, object] = {"metric": wanted.metric, "min": wanted.min}
    measure = find_measure(wanted, context.mandate.plan, context.find)
    if isinstance(measure, str):
        return Criterion(wanted, False, measure, evidence)
    value, flaw = measure.look(wanted, outputs)
    return Criterion(wanted, not flaw, flaw, {**evidence, "by": str(measure), "value": value})


def attestations(home: Home) -> Iterator[Envelope]:
    """What was attested here, and by agents that work was handed to; signatures are checked again."""
    for row in home.journal.rows(kind="intent.attest"):
        envelope = home.journal.open(row.wire)
        if isinstance(envelope, Envelope):
            yield envelope
    for row in home.journal.rows(kind=ANSWERED):
        record = home.journal.open(row.wire)
        if isinstance(record, Record) and record.body["answer"]:
            with suppress(MclError):  # its key was revoked before it signed
                envelope = home.journal.open(record.body["answer"])
                if isinstance(envelope, Envelope):
                    yield envelope


async def left_behind(run: Run) -> tuple[Criterion, ...]:
    """What a run that failed has delivered all the same: the criteria of that kind that hold."""
    mandate, workspace = run.scope.mandate, run.scope.context.workspace
    asked = [one for one in mandate.intent.frame.success_criteria if isinstance(one, DeliveredPredicate)]
    found = [await _delivered(predicate, mandate, workspace) for predicate in asked]
    return tuple(criterion for criterion in found if criterion.holds)


async def _delivered(predicate: DeliveredPredicate, mandate: Mandate, workspace: Workspace) -> Criterion:
    """In a thread: it may be large, and the run may be cancelled meanwhile."""
    look = partial(delivered, predicate, mandate.intent, workspace, from_thread.check_cancelled)
    return await to_thread.run_sync(look)


async def _signed_off(
    predicate: SignedOffPredicate, node: str, mandate: Mandate, home: Home, questions: Questions
) -> Criterion:
    """node: what the question is asked under, so that those about several promises are told apart."""
    who = predicate.by.removeprefix("matrix://user/") or mandate.accepted_by
    evidence: dict[str, object] = {"by": who, **({"what": predicate.what} if predicate.what else {})}
    key = home.keyring.resolver(who)
    if who != mandate.accepted_by and (key is None or key.role != "user" or key.revoked):
        why = f"{who} is no user whose signature counts here (mcl key trust … --role user)"
        return Criterion(predicate, False, why, evidence)
    answer = questions.settled(node, _SIGN_OFF) or await questions.ask(
        "sign_off",
        node,
        f"The plan has run. Is this done: {mandate.intent.prose or mandate.intent.frame.verb}?"
        if not predicate.what
        else f"The plan has run. Was this kept: {predicate.what}?",
        rule=_SIGN_OFF,
    )
    if isinstance(answer, Failure):
        return Criterion(predicate, False, f"not signed off: {answer.message}", evidence)
    if answer[1].by != who:
        return Criterion(predicate, False, f"signed off by {answer[1].by}, not by {who}", evidence)
    return Criterion(predicate, True, "", {**evidence, "gate": answer[0]})


# ---- Looking by a call, at an address or with a command, through the gate like any call.


# Seconds before it is looked again at what may pass: a failed criterion is final, a busy host is not.
_WAITS: Final = (0.5, 2.0)


@dataclass(frozen=True, slots=True)
class _Look:
    """What was found at an address: status and answer (empty for an error's), or why nothing was.

    passing: it may be different a moment later, and nobody has to be asked again.
    """

    status: int = 0
    answer: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""
    passing: bool = False

    def flaw(self, check: PageCheck) -> str:
        """Why the check does not hold; "" where it does."""
        return self.reason or check.flaw(self.status, self.answer)


async def external(predicate: ExternalPredicate, id: str, context: Context, run: Run) -> Criterion:
    """Does the check hold at the address? A host that was not granted is asked about.

    id: what the criterion is called (``Mandate.criterion_id``). What was found is kept as a record too.
    """
    evidence: dict[str, object] = {"url": predicate.url, "check": predicate.check}
    check = parse_check(predicate.check)
    if not predicate.url:
        return Criterion(predicate, False, "it names no address (url) that could be looked at", evidence)
    if check is None:
        why = f"its check {visible(predicate.check)[:200]!r} is not understood; write {GRAMMAR}"
        return Criterion(predicate, False, why, evidence)
    found = await _look(id, context, run)
    for seconds in _WAITS:
        if not found.passing or not found.flaw(check):
            break
        await anyio.sleep(seconds)
        found = await _look(id, context, run)
    flaw = found.flaw(check)
    if found.status:
        evidence |= {"status": found.status}
        evidence |= {"sha256": found.answer["sha256"]} if found.answer else {}
        run.ledger.note("looked", {"node": id, "holds": not flaw, **evidence})
    return Criterion(predicate, not flaw, flaw, evidence)


async def called(
    item: CommandPredicate | ExtensionPredicate | ExtensionConstraint, id: str, context: Context, run: Run
) -> Criterion:
    """Does it hold, by what the tool that looks at it answers? It is asked once: a command may do more.

    id: what the promise is called (``Mandate.criterion_id``). What was found is kept as a record too.
    """
    assert context.mandate is not None, "criteria are those of a mandate"
    planned = context.mandate.criteria.get(id)
    if planned is None:
        return unsupported(item)
    evidence: dict[str, object] = {"tool": planned.tool_ref}
    found = await _look(id, context, run)
    flaw = found.reason or flaw_of(item, found.answer)
    if isinstance(item, CommandPredicate):
        evidence |= {"status": found.status if found.reason else found.answer.get("status")}
    if not found.reason:
        evidence |= {"sha256": json_hash(dict(found.answer))}
    run.ledger.note("looked", {"node": id, "holds": not flaw, **evidence})
    return Criterion(item, not flaw, visible(flaw)[:_SAID], evidence)


async def _look(id: str, context: Context, run: Run) -> _Look:
    """Make the call that looks once, if the gate lets it."""
    assert context.mandate is not None, "criteria are those of a mandate"
    planned = context.mandate.criteria[id]
    manifest = run.registry.find(planned.tool_ref)
    try:
        args = typed_args(planned.args, manifest, run.outputs, planned.documents)
    except UnresolvedError as problem:
        return _Look(reason=f"{problem.code}: {problem.message}")
    wanted = Call(planned.tool_ref, args, planned.side_effect_class, id)
    allowed = await get_leave(wanted, context, run.questions)
    if not isinstance(allowed, tuple):
        return _unseen(allowed)
    call, leave = allowed
    try:
        answer = await _fetch(call, leave, context, run)
    except TimeoutError:
        return _Look(reason="TIMEOUT: no answer in time", passing=not call.approval)
    except MclError as problem:
        passing = isinstance(problem, ToolError) and problem.transient and not call.approval
        status = problem.data.get("status", 0)
        status = status if isinstance(status, int) else 0
        if problem.code == "HTTP_STATUS":
            return _Look(status, passing=passing)
        said = visible(run.redactor.text(f"{problem.code}: {problem.message}"))
        return _Look(status, reason=said, passing=passing)
    return _Look(int(str(answer.get("status", 0))), answer)


async def _fetch(call: Call, leave: Allow, context: Context, run: Run) -> Mapping[str, object]:
    manifest = run.registry.find(call.tool_ref)
    assert manifest is not None, "the gate allowed an unknown tool"
    limit = manifest.timeout_ms / 1000
    if context.spending is not None:
        context.spending.begin(manifest.cost)
        left = context.spending.seconds_left()
        limit = limit if left is None else min(limit, left)
    with context.locks.hold(context.written(call, manifest)), anyio.fail_after(limit):
        return await run.registry.invoke(
            leave,
            call,
            workspace=context.workspace,
            clock=context.clock,
            redactor=run.redactor,
            credentials=context.credentials,
            intent=run.ledger.intent_id,
        )


def _unseen(failure: Failure) -> _Look:
    return _Look(reason=f"{failure.code}: {failure.message}")
