"""A question about one call that came over MCP: what is asked, as a record that anybody can read back, and
what becomes of it: approved, refused, or closed.

Nothing is signed in the user's name before the person decides. Until then the Intent and the plan of the call
are in no intent's story: they lie in a record signed by the agent, to the byte as they would be signed. Each
end is one commit, and the first counts, in whatever processes they are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias

from executor.core.errors import GateError, JournalError
from executor.core.hashing import json_hash
from executor.gate.approvals import APPROVE, DENY, binding_hash
from executor.gate.policy import Policy
from executor.gate.references import typed_args
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.journal.record import Record
from executor.store.journal.rows import Row
from executor.store.keys.keyring import is_personal
from executor.store.lifecycle.events import View
from executor.tools.manifest import Manifest
from executor.tools.registry import Registry
from executor.walker.questions import GateQuestion
from ir import (
    Envelope,
    Intent,
    IntentAcceptBody,
    IntentCancelBody,
    IntentFailBody,
    MclError,
    PlanTree,
    PolicyGateBody,
    PolicyGateResolveBody,
    ToolCall,
    canonical_bytes,
    content_hash,
    is_ulid,
)
from mcl.core.home import sealed
from mcl.usecases.direct import NODE, proposal

EXACT_CALL: Final = "matrix://rule/exact-call"
MAX_REASON: Final = 1000  # characters of what a person gives as reason
ASKED: Final = "record.gate.asked"
CLOSED: Final = "record.gate.closed"
TIMEOUT: Final = "record.gate.timeout"
Standing: TypeAlias = Literal["open", "decided", "expired", "closed"]

_TEXTS: Final = (
    *("name", "server", "operation", "variant", "client", "version", "question", "expires_at", "binding"),
    *("operation_type", "data_sensitivity", "reason"),
)


@dataclass(frozen=True)
class CallQuestion:
    """What a person is asked about one call.

    id: of the record, and of the question. intent, plan: what will be signed where it is approved. name:
    ``server:tool``; server: the server that has it. trusted: whether a person trusts that server. operation,
    effects: what the call does. why: what makes a person necessary. client, version, variant, operation_type,
    data_sensitivity, reason: what the caller says of itself and of the call; not to be believed. bound: what
    an approval is bound to, by name; binding: their hash. seq: of the record's row.
    """

    id: str
    at: str
    intent: Intent
    plan: PlanTree
    name: str
    server: str
    trusted: bool
    operation: str
    effects: tuple[str, ...]
    why: tuple[str, ...]
    client: str
    version: str
    variant: str
    operation_type: str
    data_sensitivity: str
    reason: str
    question: str
    expires_at: str
    bound: Mapping[str, str] = field(repr=False)
    binding: str
    seq: int = 0

    @property
    def call(self) -> ToolCall:
        """The call as the plan has it."""
        found = self.plan.root.tool_call
        assert found is not None, "read_asked takes no other plan"
        return found

    @property
    def gate(self) -> GateQuestion:
        """The question as it is put to people."""
        return GateQuestion(
            self.id,
            self.intent.id,
            NODE,
            "approval",
            self.question,
            (APPROVE, DENY),
            self.expires_at,
            self.call.tool_ref,
            self.call.args,
            self.binding,
            (DENY,),
        )

    @property
    def chain(self) -> bool:
        """Does it act on a chain, so that only a person's own key may approve it?"""
        return "chain" in self.effects

    def body(self) -> dict[str, object]:
        """The record's body, which ``read_asked`` takes."""
        return {
            **{name: getattr(self, name) for name in _TEXTS},
            "intent_json": canonical_bytes(self.intent),
            "plan_json": canonical_bytes(self.plan),
            "trusted": self.trusted,
            "effects": list(self.effects),
            "why": list(self.why),
            "bound": dict(self.bound),
        }

    def args(self, manifest: Manifest) -> dict[str, object]:
        """The values that the call would be made with. Raises UnresolvedError."""
        return typed_args(self.call.args, manifest, {}, self.call.documents)

    def texts(self, manifest: Manifest | None) -> Mapping[str, object]:
        """The arguments as far as they can be read, whatever became of the tool."""
        try:
            return typed_args(self.call.args, manifest, {}, self.call.documents)
        except MclError:
            return self.call.args

    def holds(self, args: Mapping[str, object]) -> bool:
        """Is this, with these arguments, to the byte what an approval would be bound to?"""
        said = {
            **self.bound,
            "intent": content_hash(self.intent),
            "plan": content_hash(self.plan),
            "node": self.plan.root.id,
            "args": json_hash(dict(args)),
            "expires_at": self.expires_at,
        }
        return dict(said) == dict(self.bound) and binding_hash(said) == self.binding


def read_asked(row: Row, record: Record) -> CallQuestion | None:
    """The question in a record; None for a record of another kind, or of a question of a running plan.

    Raises:
        MclError: the documents in it are none, or are no Intent with a plan of one call.
    """
    body: Mapping[str, Any] = record.body
    if record.kind != ASKED or "plan_json" not in body:
        return None
    try:
        intent, plan = Intent.from_json(body["intent_json"]), PlanTree.from_json(body["plan_json"])
        asked = CallQuestion(
            id=record.id,
            at=record.at,
            intent=intent,
            plan=plan,
            trusted=body["trusted"] is True,
            effects=_texts(body["effects"]),
            why=_texts(body["why"]),
            bound=dict(zip(_texts(list(body["bound"])), _texts(list(body["bound"].values())), strict=True)),
            seq=row.seq,
            **dict(zip(_TEXTS, _texts([body[name] for name in _TEXTS]), strict=True)),
        )
        datetime.fromisoformat(asked.expires_at)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise _no_question(record, f"{type(problem).__name__}: {problem}") from problem
    root = plan.root
    if root.tool_call is None or root.id != NODE or plan.intent_id != intent.id or not is_ulid(intent.id):
        raise _no_question(record, "its plan is no plan of one call")
    return asked


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise TypeError("not a list of texts")
    return tuple(values)


def _no_question(record: Record, why: str) -> JournalError:
    return JournalError("RECORD_SHAPE", f"no question: {why}", place=record.id, fix="do not approve it")


def call_questions(home: Home, prefix: str = "", *, since: str = "") -> Iterator[CallQuestion]:
    """The questions whose ids begin with ``prefix``, asked since a moment (ISO 8601), oldest first; those
    whose records cannot be believed are left out."""
    for row in home.journal.rows(kind=ASKED):
        if row.intent is None and row.id.startswith(prefix) and row.at >= since:
            try:
                record = home.journal.open(row.wire)
                found = read_asked(row, record) if isinstance(record, Record) else None
            except MclError:
                continue
            if found is not None:
                yield found


def find_call_question(home: Home, id: str) -> CallQuestion | None:
    """The question with just this id; None where there is none that can be believed."""
    try:
        row = home.journal.row(id)
        record = home.journal.open(row.wire)
        return read_asked(row, record) if isinstance(record, Record) else None
    except MclError:
        return None


def standing(home: Home, asked: CallQuestion) -> Standing:
    """How a question stands. Who decides looks at it inside of the transaction that it decides in."""
    if home.journal.view(asked.intent.id).state != "new":
        return "decided"
    if closing(home, asked) is not None:
        return "closed"
    late = datetime.fromisoformat(home.clock.now()) > datetime.fromisoformat(asked.expires_at)
    return "expired" if late else "open"


def closing(home: Home, asked: CallQuestion) -> Record | None:
    """The record that ended a question which nobody decided; None where there is none."""
    for kind in (CLOSED, TIMEOUT):
        for row in home.journal.rows(after=asked.seq, kind=kind):
            record = home.journal.open(row.wire) if row.intent is None else None
            if isinstance(record, Record) and record.body.get("gate") == asked.id:
                return record
    return None


def declared_of(asked: CallQuestion) -> dict[str, str]:
    """What the program says of itself and of the call, by name; what it does not say is left out."""
    said = {
        "client": f"{asked.client} {asked.version}".strip(),
        "calls with": asked.variant,
        "operation": asked.operation_type,
        "sensitivity": asked.data_sensitivity,
        "reason": asked.reason,
    }
    return {name: text for name, text in said.items() if text}


# ---- What becomes of it.


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


def require_same(home: Home, asked: CallQuestion, tools: Registry) -> dict[str, object]:
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


def approve(home: Home, asked: CallQuestion, *, reason: str = "", unseen: bool = False) -> Decision:
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
    made = proposal(home, asked.intent, asked.plan, at)
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


def deny(home: Home, asked: CallQuestion, *, reason: str = "", unseen: bool = False) -> Decision:
    """Refuse the call, signed with the user's key. Raises as `approve`, but for the last of GateError."""
    at, id, unseen = home.clock.now(), asked.intent.id, home.unseen(unseen)
    made = proposal(home, asked.intent, asked.plan, at)
    said = IntentCancelBody(at, reason, unseen)
    cancel = sealed(home, "intent.cancel", said, intent=id, at=at, causation=asked.id)
    _commit(home, asked, [*made, cancel])
    return Decision("deny", reason, cancel.from_, at, cancel.id, unseen)


def close(
    home: Home, asked: CallQuestion, why: str, *, code: str = "GATE_DENIED", late: bool = False
) -> bool:
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
    home: Home, asked: CallQuestion, why: str, *, reason: str = "policy_violation", begun: bool = False
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


def decided(home: Home, asked: CallQuestion, view: View | None = None) -> Decision:
    """The decision about a question that stands as decided."""
    view = view or home.journal.view(asked.intent.id)
    for id, gate in view.gates.items():
        if gate.node_id == NODE and gate.decision == APPROVE and gate.answer == asked.binding:
            return Decision(APPROVE, gate.reason, gate.by, gate.at, id, gate.unseen)
    refused = next(iter(home.journal.envelopes(asked.intent.id)))
    return Decision("deny", view.reason, refused.from_, refused.at, view.last_id, bool(view.unseen))


def _commit(home: Home, asked: CallQuestion, messages: list[Envelope | Record]) -> None:
    with home.db.write("journal"):
        require_open(home, asked)
        home.journal.append_many(messages)


def is_late(home: Home, asked: CallQuestion) -> bool:
    """Is the time over in which it could be approved, and an approval be used?"""
    return datetime.fromisoformat(home.clock.now()) > datetime.fromisoformat(asked.expires_at)


def require_open(home: Home, asked: CallQuestion) -> None:
    """Raise GateError GATE_RESOLVED, GATE_EXPIRED or GATE_CLOSED where nobody may decide any more."""
    match standing(home, asked):
        case "decided":
            was = decided(home, asked)
            raise resolved(asked.id, was.decision, was.by, was.at)
        case "closed":
            ended = closing(home, asked)
            why = str(ended.body.get("why", "")) if ended else ""
            message, fix = f"the question was closed: {why}", "there is nothing to decide any more"
            raise GateError("GATE_CLOSED", message, place=asked.id, fix=fix)
        case "expired":
            message = f"the question closed at {asked.expires_at}"
            fix = "whoever wanted the call has to ask again"
            raise GateError("GATE_EXPIRED", message, place=asked.id, fix=fix)


def resolved(gate: str, decision: str, by: str, at: str) -> GateError:
    """Somebody was first."""
    return GateError(
        "GATE_RESOLVED",
        f"the question was decided at {at} by {by}: {decision}",
        place=gate,
        fix=f"the first decision counts; mcl gate show {gate}",
        data={"decision": decision, "by": by, "at": at},
    )


def _untrue(asked: CallQuestion) -> GateError:
    return GateError(
        "APPROVAL_MISMATCH",
        "what can be shown of this call is not what was asked about",
        place=asked.id,
        fix="deny it, and look at who writes to this journal: mcl log verify",
    )
