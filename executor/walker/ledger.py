"""What a run writes into the journal, in the order it happens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import anyio

from executor.core.errors import LifecycleError
from executor.core.hashing import json_bytes, json_hash
from executor.gate.approvals import Offer
from executor.gate.mandate import Mandate
from executor.store.home import Home
from executor.store.journal.bodies import set_beside
from executor.store.journal.journal import Statement
from executor.store.lifecycle.events import View
from ir import (
    Body,
    Envelope,
    Header,
    Intent,
    IntentAttestBody,
    IntentDispatchBody,
    IntentFailBody,
    MclError,
    PlanOutputBody,
    PlanStepBody,
    PlanTree,
    PolicyGateBody,
    PolicyGateResolveBody,
    canonical_bytes,
    seal,
)

if TYPE_CHECKING:
    from executor.walker.steps import StepEvidence

# ---- How a walk ends when a correction takes the ground from under it: between nodes, none of them cut
# off.


class Superseded(Exception):  # noqa: N818  # a signal within the walker: nothing went wrong
    """What was accepted when this walk began, or this step of it, does not count any more."""


class Pause:
    """Where all branches of a walk wait for those terminals that are still at work.

    over: nothing of this walk happens any more, and nothing more of it is told.
    """

    def __init__(self) -> None:
        self.over = False
        self._busy: set[str] = set()
        self._changed = anyio.Event()

    def begin(self, node_id: str) -> None:
        """A terminal is at work."""
        self._busy.add(node_id)

    def end(self, node_id: str) -> None:
        """It is not any more, and that is written down."""
        self._busy.discard(node_id)
        self._changed.set()

    async def quiet(self) -> None:
        """Wait until no terminal is at work."""
        while self._busy:
            self._changed = anyio.Event()
            await self._changed.wait()


ANSWERED: Final = "record.dispatch.answer"
_CORRECTED = ("CORRECTED", "NODE_INCOMPLETE")
ENDS = ("completed", "failed", "cancelled", "denied", "skipped")


class Ledger:
    """The journal of one run: each method is one durable commit, written before it returns.

    The one exception is an ``end`` with ``more``: it is written with whatever is written next, in one commit,
    and at the latest when the walk waits for anything.

    Raises:
        LifecycleError: the event is not legal any more (a person cancelled the intent meanwhile).
        Superseded: nor is it, because a person corrected it.
    """

    def __init__(self, home: Home, intent_id: str, plan: PlanTree) -> None:
        self._home = home
        self.plan = plan
        self.intent_id = intent_id
        self._ended: list[Statement] = []  # ends of nodes and records that are yet to be written
        self._running: set[str] = set()  # nodes that began in this run
        self._due = False  # are they to be written when the event loop has its next turn?
        self._under: tuple[str, str, int] | None = None

    def view(self) -> View:
        """The intent as the journal has it now."""
        return self._home.journal.view(self.intent_id)

    def bind(self, mandate: Mandate, restarts: int) -> None:
        """From now on nothing begins, and the run does not end, but under this mandate: where a correction
        comes in between, they raise Superseded, and nothing is written."""
        self.plan = mandate.plan
        self._under = mandate.accepted_hash, mandate.accepted_plan_hash, restarts

    def flush(self) -> None:
        """Write the ends that are yet to be written."""
        self._write()

    def _holds(self, view: View) -> None:
        if self._under not in (None, (view.accepted_hash, view.accepted_plan_hash, view.restarts)):
            raise LifecycleError(
                "CORRECTED",
                "what was accepted was corrected meanwhile",
                place=self.intent_id,
                fix="look at it again",
                state=view.state,
                legal=view.legal(),
            )

    def begin(self, node_id: str, attempt: int, told: Mapping[str, object] | None = None) -> str:
        """A node begins. Returns its idempotency key (sha256 of plan hash, node and attempt, hex).

        told: more to be kept: ``calls``, ``agents`` and ``cost`` are what the budget counts.
        """
        key = json_hash([self.plan.hash, node_id, attempt])
        result = json_bytes({**(told or {}), "attempt": attempt, "key": key})
        self._step(node_id, "running", result=result, bound=True)
        return key

    def end(
        self,
        node_id: str,
        state: str,
        *,
        output: object = None,
        error: object = None,
        ms: int = 0,
        evidence: StepEvidence | None = None,
        more: bool = False,
    ) -> None:
        """A node ended. ``output`` and ``error`` are JSON values, kept unless None; ``ms``: milliseconds;
        ``evidence``: of a step that a model answered.

        more: the start of another node follows at once. Both are then one commit, half the time of two: the
        end is on disk before the next effect, as it would be otherwise. Where the walk waits for anything
        before that start, the end is written then. A process that dies in between leaves this node in doubt,
        as if it had died a moment earlier.
        """
        self._step(
            node_id,
            state,
            result=b"" if output is None else json_bytes(output),
            error="" if error is None else json_bytes(error).decode(),
            ms=ms,
            evidence=evidence,
            more=more,
        )

    def said(self, node_id: str, sequence: int, text: str, *, channel: str, final: bool) -> None:
        """A piece of what a node says while it runs (plan.output). What it says after a person cancelled or
        corrected the intent is not kept; the node itself goes on to its end."""
        chunk = text.encode("utf-8", "replace")
        body = PlanOutputBody(self.plan.id, node_id, sequence, chunk, channel, final)
        with suppress(LifecycleError, Superseded):
            self._write(self._said("plan.output", body))

    def later(self, kind: str, body: Mapping[str, Any]) -> str:
        """A record that is written with whatever is written next, in one commit. Returns its id."""
        clock = self._home.clock
        said = Statement(kind, body, clock.now(), clock.new_id())
        self._ended.append(said)
        return said.id

    def settle(self, node_ids: Sequence[str], state: str) -> None:
        """Several nodes that never began got a state, in one commit."""
        if node_ids and self.view().state != "cancelled":
            self._write(
                *(Statement("plan.step", PlanStepBody(self.plan.id, node, state)) for node in node_ids)
            )

    def ask(self, node_id: str, question: str, *, rule: str, offer: Offer, expires_at: str) -> Envelope:
        """A question to a person (policy.gate)."""
        plan = self.plan.id
        body = PolicyGateBody(rule, question, plan, node_id, offer.options, expires_at, offer.refuses)
        return self._append("policy.gate", body)

    def dispatch(self, intent: Intent, scope_uri: str) -> Envelope:
        """A part of the work is handed to another skill, or another agent (intent.dispatch)."""
        return self._append("intent.dispatch", IntentDispatchBody(canonical_bytes(intent), scope_uri))

    def hand_over(self, intent: Intent, scope_uri: str, *, to: str) -> Envelope:
        """The same, addressed to the agent (its did) that is to do it; the envelope is what is sent."""
        agent, clock = self._home.keyring.agent, self._home.clock
        header = Header(clock.new_id(), clock.now(), agent.did, f"matrix://intent/{self.intent_id}", to)
        body = IntentDispatchBody(canonical_bytes(intent), scope_uri)
        envelope = seal("intent.dispatch", body, header, agent.signing_key)
        self.take(envelope)
        return envelope

    def answered(self, node_id: str, dispatch: Envelope, answer: Envelope, *, whole: bool) -> None:
        """What another agent answered to a dispatch; whole: with its bytes, so that anybody can check it
        again."""
        told = {
            "node": node_id,
            "dispatch": dispatch.id,
            "agent": answer.from_,
            "id": answer.id,
            "answer": answer.wire if whole else b"",
            "sha256": sha256(answer.wire).hexdigest(),
        }
        self._write()
        self._home.journal.record(ANSWERED, told, intent=self.intent_id)

    def resolve(self, gate_id: str, decision: str, answer: str, *, reason: str, unseen: bool) -> None:
        """A person's decision, given at this process and signed with the user's key. answer: the binding of
        an approved call, or the option. unseen: it is not known that anybody looked."""
        now = self._home.clock.now()
        body = PolicyGateResolveBody(gate_id, decision, now, answer, reason, self._home.unseen(unseen))
        self._append("policy.gate.resolve", body)

    def take(self, envelope: Envelope) -> None:
        """An envelope that was signed apart. Raises ir.EnvelopeError where it must not be believed."""
        self._write()
        self._home.journal.receive(envelope)

    def note(self, kind: str, body: Mapping[str, object]) -> None:
        """A record of the gate: ``kind`` is asked, refused, timeout, in_doubt or looked (at an external
        criterion)."""
        self._write()
        self._home.journal.record(f"record.gate.{kind}", _cbor(body), intent=self.intent_id)

    @property
    def marks(self) -> Mapping[str, object]:
        """What the end of a run says of this home, and of what nobody looked at."""
        return {**self._home.marks, **self.view().marks}

    def attest(self, evidence: object, cited: tuple[str, ...]) -> Envelope:
        """The run reached its goal."""
        now = self._home.clock.now()
        body = IntentAttestBody("success", now, cited, json_bytes(evidence))
        return self._write(Statement("intent.attest", body), bound=True)[-1]

    def fail(self, reason: str, message: str, evidence: object, partial: tuple[str, ...] = ()) -> Envelope:
        """The run did not reach its goal; ``reason`` is one of the closed set of failure reasons, ``partial``
        what it delivered all the same."""
        now = self._home.clock.now()
        body = IntentFailBody(reason, now, message, json_bytes(evidence), partial)
        return self._write(Statement("intent.fail", body), bound=True)[-1]

    def _step(
        self,
        node_id: str,
        state: str,
        *,
        result: bytes = b"",
        error: str = "",
        ms: int = 0,
        evidence: StepEvidence | None = None,
        more: bool = False,
        bound: bool = False,
    ) -> None:
        told: tuple[Statement, ...] = ()
        began = node_id in self._running
        self._running.discard(node_id)
        view = self.view() if state in ENDS and not began else None
        # Cancelled by a person before this node began: there is nothing to tell.
        if view is None or view.state != "cancelled" or view.nodes.get(node_id) == "running":
            body = PlanStepBody(self.plan.id, node_id, state, result, error, ms)
            if evidence is not None:
                body = replace(body, **asdict(evidence))
            told = (self._said("plan.step", body),)
        if more and self._soon():
            self._ended += told
        else:
            self._write(*told, bound=bound)
        if state == "running":
            self._running.add(node_id)

    def _said(self, kind: str, body: PlanStepBody | PlanOutputBody) -> Statement:
        """What a node gave lies beside the row that tells of it, but for what began: that is how a run is
        kept."""
        if isinstance(body, PlanStepBody) and body.status == "running":
            return Statement(kind, body, self._home.clock.now())
        apart, beside = set_beside(body)
        return Statement(kind, apart, self._home.clock.now(), beside=beside)

    def _soon(self) -> bool:
        """Have what is yet to be written written at the event loop's next turn, which is when the walk waits.
        False where that cannot be arranged: on another kind of loop, or on none."""
        if not self._due:
            try:
                asyncio.get_running_loop().call_soon(self._write_due)
            except RuntimeError:
                return False
            self._due = True
        return True

    def _write_due(self) -> None:
        self._due = False
        ended = self._ended
        try:
            self._write()
        except MclError:  # whoever writes next is told
            self._ended = ended

    def _append(self, kind: str, body: Body) -> Envelope:
        return self._write(Statement(kind, body))[-1]

    def _write(self, *statements: Statement, bound: bool = False) -> tuple[Envelope, ...]:
        """Write these, after the ends that are yet to be written."""
        ended, self._ended = self._ended, []
        if not (ended or statements):
            return ()
        holds = self._holds if bound else None
        try:
            return self._home.journal.tell(self.intent_id, *ended, *statements, holds=holds)
        except LifecycleError as problem:
            self._write_each(ended)  # what follows became illegal meanwhile; what ended, ended all the same
            if not statements:
                return ()
            if problem.code in _CORRECTED or problem.state == "proposed":
                raise Superseded from problem
            raise

    def _write_each(self, ended: Sequence[Statement]) -> None:
        """Write ends one by one; a branch below which a correction brought more has not ended."""
        for one in ended:
            try:
                self._home.journal.tell(self.intent_id, one)
            except LifecycleError as problem:
                if problem.code not in _CORRECTED:
                    raise


def _cbor(body: Mapping[str, object]) -> dict[str, object]:
    """JSON values as the journal's records take them: sets of texts become lists."""
    return {
        name: list(value) if isinstance(value, tuple | set | frozenset) else value
        for name, value in body.items()
    }


def moment(text: str) -> datetime:
    """An ISO 8601 UTC moment."""
    return datetime.fromisoformat(text).astimezone(UTC)
