"""Questions of running plans that wait for a person, and deciding them from another process."""

from dataclasses import dataclass

from executor import Home, Record, Row
from executor.gate.approvals import APPROVE, DENY
from ir import Envelope, MclError, PolicyGateBody, PolicyGateResolveBody
from mcl.acts.seal import sealed
from mcl.errors import InputError
from mcl.home import open_home

_EXACT_CALL = "matrix://rule/exact-call"
_ASKED = "record.gate.asked"


@dataclass(frozen=True)
class OpenGate:
    """A question nobody has decided.

    options: listed answers; empty: approve or deny. expires_at: ISO 8601, "" = no limit. binding: what an
    approval of one exact call is bound to, "" for any other question.
    """

    id: str
    intent_id: str
    node_id: str
    question: str
    options: tuple[str, ...]
    expires_at: str
    asked_at: str
    binding: str


def open_gates(*, home: Home | None = None) -> tuple[OpenGate, ...]:
    """The undecided questions of intents that have not ended and have not run out of time, oldest first."""
    home = home or open_home()
    found = (_open(home, row) for row in home.journal.rows(kind="policy.gate"))
    return tuple(gate for gate in found if gate is not None)


def decide_gate(gate: str, decision: str, *, home: Home | None = None) -> OpenGate:
    """Decide a question, signed with the user's key; the run that asked it goes on, or stops.

    gate: its id or a unique beginning of it. decision: "approve", "deny", or a listed option.
    Raises InputError GATE_UNKNOWN, NOT_AN_OPTION; LifecycleError where it was decided or closed meanwhile.
    """
    home = home or open_home()
    gates = open_gates(home=home)
    fitting = [one for one in gates if one.id.startswith(gate.upper())]
    if len(fitting) != 1:
        waiting = ", ".join(one.id for one in gates) or "none"
        raise InputError(
            "GATE_UNKNOWN", f"{gate} names {len(fitting)} open gates", place="gate", fix=f"open: {waiting}"
        )
    found = fitting[0]
    allowed = {APPROVE, DENY, *found.options}
    if decision not in allowed:
        raise InputError(
            "NOT_AN_OPTION",
            f"{decision!r} is no answer to this",
            place=found.id,
            fix=f"one of: {sorted(allowed)}",
        )
    at = home.clock.now()
    told = found.binding if decision == APPROVE else ""
    body = PolicyGateResolveBody(gate_of=found.id, decision=decision, resolved_at=at, answer=told)
    home.journal.append(
        sealed(home, "policy.gate.resolve", body, intent=found.intent_id, at=at, causation=found.id)
    )
    return found


def _open(home: Home, row: Row) -> OpenGate | None:
    """The gate of a row, or None where it is decided, closed, or cannot be believed."""
    assert row.intent is not None, "a gate is always about an intent"
    try:
        view = home.journal.view(row.intent)
        envelope = home.journal.open(row.wire)
    except MclError:
        return None
    state = view.gates.get(row.id)
    if not isinstance(envelope, Envelope) or state is None or state.decision or view.terminal:
        return None
    if state.expires_at and state.expires_at < home.clock.now():
        return None
    body = envelope.body
    assert isinstance(body, PolicyGateBody), "the journal checks bodies by kind"
    binding = _binding(home, row, body.node_id) if body.rule_ref == _EXACT_CALL else ""
    return OpenGate(
        row.id, row.intent, body.node_id, body.question, body.options, body.expires_at, row.at, binding
    )


def _binding(home: Home, gate: Row, node_id: str) -> str:
    """What the gate recorded about this call when it asked."""
    for row in reversed(home.journal.rows(gate.intent, kind=_ASKED)):
        record = home.journal.open(row.wire)
        if row.seq < gate.seq and isinstance(record, Record) and record.body.get("node") == node_id:
            return str(record.body.get("binding", ""))
    return ""
