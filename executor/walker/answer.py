"""What another agent answers to work that was handed to it: believed only where every check holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from executor.core.errors import ToolError
from executor.core.hashing import is_shallow
from executor.sandbox.redaction import visible_value
from executor.store.keys.keyring import Keyring
from ir import Envelope, IntentAttestBody, IntentFailBody, MclError, PublicKey, open_envelope
from ir.envelope import MAX_SKEW


@dataclass(frozen=True, slots=True)
class Handed:
    """Work that was handed over. dispatch: the envelope that was sent; intent: the address of the Intent that
    it carries; did: of the agent it was sent to."""

    dispatch: Envelope
    intent: str
    did: str


def read_answer(
    wire: bytes, handed: Handed, keyring: Keyring, now: str, *, unattended: bool = False
) -> Envelope:
    """The signed intent.attest or intent.fail of that agent, about that Intent, to this very dispatch.

    unattended: whether the own home is one; only there an answer counts that says it is of such a home.

    Raises:
        MclError: what ``open_envelope`` says (among them UNKNOWN_KEY where another key signed, BAD_SIGNATURE,
            WRONG_ROLE, STALE, FROM_FUTURE); ToolError ANSWER_MISMATCH.
    """

    def only(did: str) -> PublicKey | None:
        return keyring.resolver(did) if did == handed.did else None

    envelope = open_envelope(wire, only, now=now)
    body = envelope.body
    asked = handed.dispatch
    wrong = [
        what
        for what, holds in (
            (f"it is an {envelope.kind}", isinstance(body, IntentAttestBody | IntentFailBody)),
            (f"it is about {envelope.intent}", envelope.intent == handed.intent),
            ("it answers another dispatch", envelope.causation_id == asked.id),
            (f"it is addressed to {envelope.to}", envelope.to in (None, asked.from_)),
            ("it is of a home that no person attends", unattended or not says_unattended(body)),
            ("it is older than the dispatch", _moment(envelope.at) >= _moment(asked.at) - MAX_SKEW),
        )
        if not holds
    ]
    if wrong:
        raise ToolError(
            "ANSWER_MISMATCH",
            f"the answer of the agent does not belong to this dispatch: {', '.join(wrong)}",
            place=envelope.id,
            fix="do not trust this agent, or ask its operator",
        )
    return envelope


def says_unattended(body: object) -> bool:
    """Whether the end of a run says that it was signed in a home that no person attends."""
    if not isinstance(body, IntentAttestBody | IntentFailBody):
        return False
    evidence = _evidence(body.evidence_json)
    return isinstance(evidence, dict) and evidence.get("unattended") is True


def told(envelope: Envelope) -> dict[str, object]:
    """An answer as the output of its node; what the agent wrote is safe for a terminal."""
    return {name: visible_value(value) for name, value in _fields(envelope).items()}


def _fields(envelope: Envelope) -> dict[str, object]:
    body = envelope.body
    shared: dict[str, object] = {
        "agent": envelope.from_,
        "intent": envelope.intent,
        "envelope": envelope.id,
        "at": envelope.at,
    }
    if isinstance(body, IntentAttestBody):
        outcome = {"outcome": body.outcome, "cited_uris": list(body.cited_uris)}
        return {**shared, **outcome, "evidence": _evidence(body.evidence_json)}
    assert isinstance(body, IntentFailBody), "read_answer takes nothing else"
    failed = {"outcome": "failure", "reason": body.reason, "message": body.message}
    return {
        **shared, **failed, "cited_uris": list(body.partial_uris), "evidence": _evidence(body.evidence_json),
    }  # fmt: skip


def _evidence(data: bytes) -> object:
    """What the agent gives as evidence; nothing where it is no JSON."""
    try:
        found: object = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        return {}
    return found if is_shallow(found) else {}


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def refused(problem: MclError) -> ToolError:
    """An answer that is not believed, as the error of the node."""
    if isinstance(problem, ToolError):
        return problem
    return ToolError(
        problem.code,
        f"the answer of the agent is not believed: {problem.message}",
        place=problem.place,
        fix="do not trust this agent, or ask its operator",
    )
