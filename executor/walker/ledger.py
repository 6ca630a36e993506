"""What a run writes into the journal, in the order it happens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from executor.hashing import json_bytes, json_hash
from executor.home import Home
from executor.keys.keyring import KeyPair
from executor.lifecycle.fold import View
from ir import (
    Body,
    Envelope,
    Header,
    IntentAttestBody,
    IntentFailBody,
    PlanStepBody,
    PlanTree,
    PolicyGateBody,
    PolicyGateResolveBody,
    seal,
)

_ENDS = ("completed", "failed", "cancelled", "denied", "skipped")


class Ledger:
    """The journal of one run: each method is one durable commit, written before it returns.

    Raises:
        LifecycleError: the event is not legal any more (a person cancelled the intent meanwhile).
    """

    def __init__(self, home: Home, intent_id: str, plan: PlanTree) -> None:
        self._home = home
        self.plan = plan
        self._agent = home.keyring.agent
        self._key = self._agent.signing_key
        self.intent_id = intent_id

    def view(self) -> View:
        """The intent as the journal has it now."""
        return self._home.journal.view(self.intent_id)

    def begin(self, node_id: str, attempt: int) -> str:
        """A node begins. Returns its idempotency key (sha256 of plan hash, node and attempt, hex)."""
        key = json_hash([self.plan.hash, node_id, attempt])
        self._step(node_id, "running", result=json_bytes({"attempt": attempt, "key": key}).decode())
        return key

    def end(
        self, node_id: str, state: str, *, output: object = None, error: object = None, ms: int = 0
    ) -> None:
        """A node ended. ``output`` and ``error`` are JSON values, kept unless None; ``ms``: milliseconds."""
        self._step(
            node_id,
            state,
            result="" if output is None else json_bytes(output).decode(),
            error="" if error is None else json_bytes(error).decode(),
            ms=ms,
        )

    def settle(self, node_ids: Sequence[str], state: str) -> None:
        """Several nodes that never began got a state, in one commit."""
        if node_ids and self.view().state != "cancelled":
            self._home.journal.append_many(
                [self._seal("plan.step", PlanStepBody(self.plan.id, node, state)) for node in node_ids]
            )

    def ask(
        self, node_id: str, question: str, *, rule: str, options: tuple[str, ...], expires_at: str
    ) -> Envelope:
        """A question to a person (policy.gate)."""
        body = PolicyGateBody(rule, question, self.plan.id, node_id, options, expires_at)
        return self._append("policy.gate", body)

    def resolve(self, gate_id: str, decision: str, answer: str) -> None:
        """A person's decision, given at this process and signed with the user's key."""
        user = self._home.keyring.user
        body = PolicyGateResolveBody(gate_id, decision, self._home.clock.now(), answer)
        self._home.journal.append(self._seal("policy.gate.resolve", body, user))

    def take(self, envelope: Envelope) -> None:
        """A decision that a person signed elsewhere."""
        self._home.journal.append(envelope)

    def note(self, kind: str, body: dict[str, object]) -> None:
        """A record of the gate: ``kind`` is asked, refused or timeout."""
        self._home.journal.record(f"record.gate.{kind}", _cbor(body), intent=self.intent_id)

    def attest(self, evidence: object, cited: tuple[str, ...]) -> Envelope:
        """The run reached its goal."""
        now = self._home.clock.now()
        return self._append("intent.attest", IntentAttestBody("success", now, cited, json_bytes(evidence)))

    def fail(self, reason: str, message: str, evidence: object) -> Envelope:
        """The run did not reach its goal; ``reason`` is one of the closed set of failure reasons."""
        now = self._home.clock.now()
        return self._append("intent.fail", IntentFailBody(reason, now, message, json_bytes(evidence)))

    def _step(self, node_id: str, state: str, *, result: str = "", error: str = "", ms: int = 0) -> None:
        if (
            state in _ENDS
            and self.view().state == "cancelled"
            and self.view().nodes.get(node_id) != "running"
        ):
            return  # cancelled by a person before this node began: there is nothing to tell
        self._append("plan.step", PlanStepBody(self.plan.id, node_id, state, result, error, ms))

    def _append(self, kind: str, body: Body) -> Envelope:
        envelope = self._seal(kind, body)
        self._home.journal.append(envelope)
        return envelope

    def _seal(self, kind: str, body: Body, signer: KeyPair | None = None) -> Envelope:
        clock = self._home.clock
        header = Header(
            id=clock.new_id(),
            at=clock.now(),
            from_=(signer or self._agent).did,
            intent=f"matrix://intent/{self.intent_id}",
        )
        return seal(kind, body, header, signer.signing_key if signer else self._key)


def _cbor(body: dict[str, object]) -> dict[str, object]:
    """JSON values as the journal's records take them: sets of texts become lists."""
    return {
        name: list(value) if isinstance(value, tuple | set | frozenset) else value
        for name, value in body.items()
    }


def moment(text: str) -> datetime:
    """An ISO 8601 UTC moment."""
    return datetime.fromisoformat(text).astimezone(UTC)
