"""What becomes of a question about one call: approved, refused, or closed. Each is one commit, and the first
counts, in whatever processes they are tried."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from executor.core.errors import GateError
from executor.gate.approvals import APPROVE, DENY
from executor.gate.policy import Policy
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.journal.record import Record
from executor.store.keys.personal import is_personal
from executor.store.lifecycle.events import View
from executor.tools.registry import Registry
from ir import (
    Envelope,
    IntentAcceptBody,
    IntentCancelBody,
    IntentFailBody,
    MclError,
    PolicyGateBody,
    PolicyGateResolveBody,
)
from mcl.core.seal import sealed
from mcl.usecases.asked_call import CLOSED, TIMEOUT, AskedCall, closing, standing
from mcl.usecases.direct import NODE, DirectCall

EXACT_CALL = "matrix://rule/exact-call"


@dataclass(frozen=True)
class Decision:
    """A person's decision about a call. decision: approve or deny; reason: "" where none was given; envelope:
    the id of what says it; unseen: nobody knows whether a person looked."""

    decision: str
    reason: str
    by: str
    at: str
    envelope: str
    unseen: bool = False


def require_same(home: Home, asked: AskedCall, tools: Registry) -> dict[str, object]:
    """The arguments that an approval of this call is about, where everything is still what was asked about.

    Raises:
        GateError: TOOL_CHANGED (the tool is not what it was, or gone), APPROVAL_MISMATCH (the policy is not
            what it was, or what can be shown is not what an approval would be bound to).
    """
    manifest = tools.find(asked.call.tool_ref)
    if manifest is None or manifest.pin != asked.bound.get("tool"):
        gone = "is not there any more" if manifest is None else "is not what it was when this was asked"
        raise GateError(
            "TOOL_CHANGED",
            f"the tool {asked.name} {gone}",
            place=asked.id,
            fix=f"look at it (mcl tool show {asked.name}); whoever wanted the call has to ask again",
        )
    if Policy.read(home.path / "policy.toml").version != asked.bound.get("policy"):
        raise GateError(
            "APPROVAL_MISMATCH",
            "policy.toml changed since this was asked",
            place=asked.id,
            fix="deny it; whoever wanted the call has to ask again",
        )
    try:
        args = asked.args(manifest)
    except MclError as problem:
        raise _untrue(asked) from problem
    if not asked.holds(args):
        raise _untrue(asked)
    return args


def approve(home: Home, asked: AskedCall, *, reason: str = "", unseen: bool = False) -> Decision:
    """Sign the Intent, its plan and the approval of its call with the user's key.

    unseen: it was answered in a client, and nobody knows whether a person looked.

    Raises:
        GateError: GATE_RESOLVED, GATE_EXPIRED, GATE_CLOSED; KEY_NOT_PERSONAL (it acts on a chain, and any
            program here could have signed). KeyringError: the user's key is sealed. Also what appending
            raises.
    """
    at, id, unseen = home.clock.now(), asked.intent.id, home.unseen(unseen)
    if asked.chain and not is_personal(home.keyring, home.keyring.user.did):
        raise GateError(
            "KEY_NOT_PERSONAL",
            "this acts on a chain, and your key opens without a passphrase, as any program could do it",
            place=asked.id,
            fix="seal it: MCL_PASSPHRASE=… mcl key new --role user; whoever wanted the call has to ask again",
        )
    made = DirectCall(asked.intent, asked.plan).envelopes(home, at)
    agreed = IntentAcceptBody(asked.intent.hash, at, plan_hash=asked.plan.hash, unseen=unseen)
    accept = sealed(home, "intent.accept", agreed, intent=id, at=at, causation=made[-1].id)
    question = PolicyGateBody(
        EXACT_CALL, asked.question, asked.plan.id, NODE, (APPROVE, DENY), asked.expires_at, (DENY,)
    )
    gate = sealed(home, "policy.gate", question, intent=id, at=at, causation=asked.id)
    answer = PolicyGateResolveBody(gate.id, APPROVE, at, asked.binding, reason, unseen)
    resolve = sealed(home, "policy.gate.resolve", answer, intent=id, at=at, causation=gate.id)
    _commit(home, asked, [*made, accept, gate, resolve])
    return Decision(APPROVE, reason, resolve.from_, at, resolve.id, unseen)


def deny(home: Home, asked: AskedCall, *, reason: str = "", unseen: bool = False) -> Decision:
    """Refuse the call, signed with the user's key. Raises as `approve`, but for the last of GateError."""
    at, id, unseen = home.clock.now(), asked.intent.id, home.unseen(unseen)
    made = DirectCall(asked.intent, asked.plan).envelopes(home, at)
    said = IntentCancelBody(at, reason, unseen)
    cancel = sealed(home, "intent.cancel", said, intent=id, at=at, causation=asked.id)
    _commit(home, asked, [*made, cancel])
    return Decision("deny", reason, cancel.from_, at, cancel.id, unseen)


def close(home: Home, asked: AskedCall, why: str, *, code: str = "GATE_DENIED", late: bool = False) -> bool:
    """End a question that nobody decided, in the agent's name; False where somebody did, or it has ended.

    why: in a sentence; code: the same, stable. late: because its time is over.
    """
    with home.db.write("journal"):
        now = standing(home, asked)
        if now != "open" and not (late and now == "expired"):
            return False
        body = {"gate": asked.id, "node": NODE, "why": why, **({} if late else {"code": code})}
        home.journal.record(TIMEOUT if late else CLOSED, body)
    return True


def give_up(
    home: Home, asked: AskedCall, why: str, *, reason: str = "policy_violation", begun: bool = False
) -> bool:
    """End the intent of an approved call that will not be made, or whose caller is gone, in the agent's name.

    reason: of the intent.fail; why: in a sentence. begun: also where its run has begun, which is ours. False
    where there was nothing to end.
    """
    with home.db.write("journal"):
        if home.journal.view(asked.intent.id).state not in ("accepted", *(("executing",) if begun else ())):
            return False
        body = IntentFailBody(reason, home.clock.now(), why)
        home.journal.tell(asked.intent.id, Statement("intent.fail", body))
    return True


def decided(home: Home, asked: AskedCall, view: View | None = None) -> Decision:
    """The decision about a question that stands as decided."""
    view = view or home.journal.view(asked.intent.id)
    for id, gate in view.gates.items():
        if gate.node_id == NODE and gate.decision == APPROVE and gate.answer == asked.binding:
            return Decision(APPROVE, gate.reason, gate.by, gate.at, id, gate.unseen)
    refused = next(iter(home.journal.envelopes(asked.intent.id)))
    return Decision("deny", view.reason, refused.from_, refused.at, view.last_id, bool(view.unseen))


def _commit(home: Home, asked: AskedCall, messages: list[Envelope | Record]) -> None:
    with home.db.write("journal"):
        require_open(home, asked)
        home.journal.append_many(messages)


def is_late(home: Home, asked: AskedCall) -> bool:
    """Is the time over in which it could be approved, and an approval be used?"""
    return datetime.fromisoformat(home.clock.now()) > datetime.fromisoformat(asked.expires_at)


def require_open(home: Home, asked: AskedCall) -> None:
    """Raise GateError GATE_RESOLVED, GATE_EXPIRED or GATE_CLOSED where nobody may decide any more."""
    match standing(home, asked):
        case "decided":
            was = decided(home, asked)
            raise GateError(
                "GATE_RESOLVED",
                f"the question was decided at {was.at} by {was.by}: {was.decision}",
                place=asked.id,
                fix=f"the first decision counts; mcl gate show {asked.id}",
                data={"decision": was.decision, "by": was.by, "at": was.at},
            )
        case "closed":
            ended = closing(home, asked)
            why = str(ended.body.get("why", "")) if ended else ""
            message, fix = f"the question was closed: {why}", "there is nothing to decide any more"
            raise GateError("GATE_CLOSED", message, place=asked.id, fix=fix)
        case "expired":
            message = f"the question closed at {asked.expires_at}"
            fix = "whoever wanted the call has to ask again"
            raise GateError("GATE_EXPIRED", message, place=asked.id, fix=fix)


def _untrue(asked: AskedCall) -> GateError:
    return GateError(
        "APPROVAL_MISMATCH",
        "what can be shown of this call is not what was asked about",
        place=asked.id,
        fix="deny it, and look at who writes to this journal: mcl log verify",
    )
