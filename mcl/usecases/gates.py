"""Questions that wait for a person, of running plans and of calls over MCP: seen whole, and decided from
another process.

Whether the walker or the server that asked still runs does not matter: a decision is a signed row of the
journal, and the run that goes on finds it there.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from executor import GateError, Home, LifecycleError, Record, Row, View
from executor.core.clock import instant
from executor.core.hashing import json_hash
from executor.gate.approvals import APPROVE, DENY
from executor.gate.claim import binding_hash
from executor.gate.offer import Offer
from executor.store.lifecycle.events import GateState
from executor.walker.questions import listed
from ir import Envelope, MclError, PolicyGateBody, PolicyGateResolveBody
from mcl.core.errors import InputError
from mcl.core.home import open_home
from mcl.core.seal import sealed
from mcl.usecases import decision
from mcl.usecases.asked_call import AskedCall, asked_call, asked_calls, declared_of, standing
from mcl.usecases.direct import NODE
from mcl.usecases.tools import tools_of

EXACT_CALL = "matrix://rule/exact-call"
MAX_REASON = 1000  # characters
_ASKED = "record.gate.asked"
_LONGEST: Final = timedelta(minutes=1440)  # that a question about a call stays open


@dataclass(frozen=True)
class OpenGate:
    """A question nobody has decided.

    options: listed answers; empty: approve or deny. refuses: those of them that refuse. expires_at:
    ISO 8601, "" = no limit. binding: what an
    approval of one exact call is bound to, "" for any other question. call: of a call over MCP that no plan
    holds, the tool as ``server:tool``; its intent begins with the decision.
    """

    id: str
    intent_id: str
    node_id: str
    question: str
    options: tuple[str, ...]
    expires_at: str
    asked_at: str
    binding: str
    call: str = ""
    refuses: tuple[str, ...] = ()

    @property
    def offer(self) -> Offer:
        """What may be answered."""
        return Offer(self.options, self.refuses)


@dataclass(frozen=True)
class ShownGate(OpenGate):
    """One question with all that a person must see before deciding it.

    goal: the person's words. state: that of the intent. standing: "open", "decided", "expired", "closed" (the
    intent has ended) or "asked again" (a resumed run has put the question once more). decision, reason, by,
    decided_at, unseen (nobody looked when it was signed): of a decided one. Of an exact call: tool, declared
    side-effect class, args as they would be passed, why a person is asked, and ``bound``: what an approval is
    bound to. holds: are these arguments and these hashes what the binding was made of? Where not, the
    question cannot be trusted.

    Of a call over MCP also: the server and whether a person trusts it, operation and effects, what the
    program says of itself and of the call (not to be believed), and ``flaw``: why it cannot be approved any
    more, though nobody decided.
    """

    goal: str = ""
    state: str = ""
    standing: str = "open"
    decision: str = ""
    reason: str = ""
    by: str = ""
    decided_at: str = ""
    unseen: bool = False
    tool: str = ""
    declared: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    why: tuple[str, ...] = ()
    bound: Mapping[str, str] = field(default_factory=dict)
    holds: bool = True
    server: str = ""
    trusted: bool = True
    operation: str = ""
    effects: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)
    flaw: str = ""


@dataclass(frozen=True)
class Decided:
    """A decision that is in the journal now. envelope: its id."""

    gate: OpenGate
    decision: str
    reason: str
    by: str
    at: str
    envelope: str


def open_gates(*, home: Home | None = None) -> tuple[OpenGate, ...]:
    """The undecided questions of intents that have not ended and have not run out of time, oldest first.

    Of a question that a resumed run has put again, the last.
    """
    home = home or open_home()
    of_plans = [
        _gate(home, row, envelope)
        for row, envelope, state, view in _believed(home)
        if _standing(home, row.id, state, view) == "open"
    ]
    since = instant(datetime.fromisoformat(home.clock.now()) - _LONGEST)
    of_calls = [_of_call(one) for one in asked_calls(home, since=since) if standing(home, one) == "open"]
    return tuple(sorted([*of_plans, *of_calls], key=lambda gate: gate.asked_at))


def show_gate(gate: str, *, home: Home | None = None) -> ShownGate:
    """One question, open or not, with all that belongs to it.

    gate: its id or a unique beginning of it. Raises InputError GATE_UNKNOWN.
    """
    home = home or open_home()
    named = _named(home, gate)
    if isinstance(named, AskedCall):
        return _show_call(home, named)
    row, envelope, state, view = named
    found = _gate(home, row, envelope)
    asked = _asked(home, row, found.node_id) if found.binding else {}
    args: Any = json.loads(str(asked.get("args_json", "{}")))
    bound = {**asked.get("bound", {}), "args": json_hash(args)} if asked else {}
    return ShownGate(
        **vars(found),
        goal=view.draft.prose if view.draft else "",
        state=view.state,
        standing=_standing(home, row.id, state, view),
        decision=state.decision,
        reason=state.why if state.why != found.binding else "",
        by=state.by,
        decided_at=state.at,
        unseen=state.unseen,
        tool=str(asked.get("tool", "")),
        declared=str(asked.get("declared", "")),
        args=args,
        why=tuple(map(str, asked.get("why", ()))),
        bound=bound,
        holds=not found.binding or binding_hash(bound) == found.binding,
    )


def decide_gate(
    gate: str, decision: str, *, reason: str = "", approves: bool | None = None, home: Home | None = None
) -> Decided:
    """Decide a question, signed with the user's key; the run that asked it goes on, or stops.

    Args:
        gate: its id or a unique beginning of it. decision: one of its answers, or "deny"; of a question
            that is answered with yes or no also such a word. reason: why, at most 1,000 characters; it is
            signed with the decision, and a run that is refused says it. approves: whether the decision is
            meant to go on, or to refuse; None: whatever it does.

    Raises:
        InputError: GATE_UNKNOWN, NOT_AN_OPTION, REASON_TOO_LONG.
        GateError: GATE_RESOLVED (somebody was first: ``data`` says who, when and what), GATE_EXPIRED,
            GATE_CLOSED (the intent has ended, the question was put again, or whoever wanted the call is
            gone), APPROVAL_MISMATCH (what can be shown is not what an approval would be bound to),
            TOOL_CHANGED (of a call over MCP: the tool is not what it was).
    """
    home = home or open_home()
    named = _named(home, gate)
    if isinstance(named, AskedCall):
        return _decide_call(home, named, decision, reason, approves)
    row, envelope, state, view = named
    found = _gate(home, row, envelope)
    decision = _checked(found, decision, reason, approves)
    _require_open(home, row.id, state, view)
    at = home.clock.now()
    bound = bool(found.binding) and found.offer.approves(decision)
    if bound and not show_gate(found.id, home=home).holds:
        raise GateError(
            "APPROVAL_MISMATCH",
            "what can be shown of this call is not what was asked about",
            place=found.id,
            fix="deny it, and look at who writes to this journal: mcl log verify",
        )
    answer = found.binding if bound else listed(decision, found.options)
    body = PolicyGateResolveBody(found.id, decision, at, answer, reason, home.unseen())
    signed = sealed(home, "policy.gate.resolve", body, intent=found.intent_id, at=at, causation=found.id)
    try:
        home.journal.append_many([signed])
    except LifecycleError as problem:
        # Somebody was first after all, or it ended meanwhile: the journal says which.
        view = home.journal.view(found.intent_id)
        _require_open(home, row.id, view.gates.get(row.id, state), view)
        raise problem
    return Decided(found, decision, reason, signed.from_, at, signed.id)


def _checked(gate: OpenGate, text: str, reason: str, approves: bool | None) -> str:
    """The answer that a text is, by its name."""
    offer = gate.offer
    decision = offer.read(text)
    if not decision:
        going, refusing = ", ".join(offer.continuing), ", ".join(offer.refusing) or DENY
        fix = f"mcl gate approve --option, one of: {going}; or mcl gate deny: {refusing}"
        raise InputError("NOT_AN_OPTION", f"{text!r} is no answer to this", place=gate.id, fix=fix)
    if approves not in (None, offer.approves(decision)):
        what, verb = ("refuses", "deny") if approves else ("goes on", "approve")
        fix = f"mcl gate {verb} {gate.id} --option"
        raise InputError("NOT_AN_OPTION", f"{decision!r} {what}", place=gate.id, fix=fix)
    if len(reason) > MAX_REASON:
        message = f"the reason has {len(reason)} characters"
        raise InputError("REASON_TOO_LONG", message, place="reason", fix=f"at most {MAX_REASON}")
    return decision


def _decide_call(home: Home, asked: AskedCall, answer: str, reason: str, approves: bool | None) -> Decided:
    answer = _checked(_of_call(asked), answer, reason, approves)
    decision.require_open(home, asked)
    if answer == APPROVE:
        decision.require_same(home, asked, tools_of(home))
    done = (decision.approve if answer == APPROVE else decision.deny)(home, asked, reason=reason)
    return Decided(_of_call(asked), answer, reason, done.by, done.at, done.envelope)


def _of_call(asked: AskedCall) -> OpenGate:
    return OpenGate(
        asked.id,
        asked.intent.id,
        NODE,
        asked.question,
        (APPROVE, DENY),
        asked.expires_at,
        asked.at,
        asked.binding,
        asked.name,
        (DENY,),
    )


def _show_call(home: Home, asked: AskedCall) -> ShownGate:
    view = home.journal.view(asked.intent.id)
    now = standing(home, asked, view)
    was = decision.decided(home, asked, view) if now == "decided" else None
    tools, flaw = tools_of(home), ""
    try:
        args = decision.require_same(home, asked, tools)
    except GateError as problem:
        args, flaw = dict(asked.texts(tools.find(asked.call.tool_ref))), problem.message
    return ShownGate(
        **vars(_of_call(asked)),
        goal=asked.intent.prose,
        state="not begun" if view.state == "new" else view.state,
        standing=now,
        decision=was.decision if was else "",
        reason=was.reason if was else "",
        by=was.by if was else "",
        decided_at=was.at if was else "",
        unseen=was is not None and was.unseen,
        tool=asked.call.tool_ref,
        declared=asked.call.side_effect_class,
        args=args,
        why=asked.why,
        bound=asked.bound,
        holds=not flaw or now != "open",
        server=asked.server,
        trusted=asked.trusted,
        operation=asked.operation,
        effects=asked.effects,
        said=declared_of(asked),
        flaw=flaw if now == "open" else "",
    )


def _require_open(home: Home, gate: str, state: GateState, view: View) -> None:
    match _standing(home, gate, state, view):
        case "decided":
            raise GateError(
                "GATE_RESOLVED",
                f"the question was decided at {state.at} by {state.by}: {state.decision}",
                place=gate,
                fix=f"the first decision counts; mcl gate show {gate}",
                data={"decision": state.decision, "by": state.by, "at": state.at},
            )
        case "expired":
            message = f"the question closed at {state.expires_at}"
            fix = (
                f"mcl run {_intent(view)} --resume asks again"
                if not view.terminal
                else "state the goal again"
            )
            raise GateError("GATE_EXPIRED", message, place=gate, fix=fix)
        case "closed":
            message, fix = f"the intent is {view.state}", "there is nothing to decide any more"
            raise GateError("GATE_CLOSED", message, place=gate, fix=fix)
        case "asked again":
            raise GateError(
                "GATE_CLOSED", "a resumed run has put the question again", place=gate, fix="mcl gate list"
            )


def _intent(view: View) -> str:
    return view.intent.id if view.intent else ""


def _standing(home: Home, gate: str, state: GateState, view: View) -> str:
    if state.decision:
        return "decided"
    if view.terminal:
        return "closed"
    later = [id for id, one in view.gates.items() if one.node_id == state.node_id and id > gate]
    if later:
        return "asked again"
    return "expired" if state.expires_at and state.expires_at < home.clock.now() else "open"


def _believed(home: Home, prefix: str = "") -> Iterator[tuple[Row, Envelope, GateState, View]]:
    """The gates whose rows can be believed, oldest first."""
    for row in home.journal.rows(kind="policy.gate"):
        if not row.id.startswith(prefix) or row.intent is None:
            continue
        try:
            view, envelope = home.journal.view(row.intent), home.journal.open(row.wire)
        except MclError:
            continue
        state = view.gates.get(row.id)
        if isinstance(envelope, Envelope) and state is not None:
            yield row, envelope, state, view


def _named(home: Home, text: str) -> tuple[Row, Envelope, GateState, View] | AskedCall:
    """The gate that a text names: of several that fit, the only open one."""
    calls = list(asked_calls(home, text.upper()))
    found: list[tuple[Row, Envelope, GateState, View] | AskedCall] = [*_believed(home, text.upper()), *calls]
    fitting = [one for one in found if _is_open(home, one)]
    if len(found) > 1 and len(fitting) == 1:
        return fitting[0]
    if len(found) == 1:
        return _question(home, found[0])
    waiting = ", ".join(gate.id for gate in open_gates(home=home)) or "none"
    many = f"{text} begins the ids of {len(found)} gates" if found else f"no gate's id begins with {text}"
    raise InputError("GATE_UNKNOWN", many, place="gate", fix=f"open: {waiting}")


def _is_open(home: Home, one: tuple[Row, Envelope, GateState, View] | AskedCall) -> bool:
    if isinstance(one, AskedCall):
        return standing(home, one) == "open"
    row, _, state, view = one
    return _standing(home, row.id, state, view) == "open"


def _question(
    home: Home, one: tuple[Row, Envelope, GateState, View] | AskedCall
) -> tuple[Row, Envelope, GateState, View] | AskedCall:
    """Of the gate in an approved call's intent, the question that a person was asked."""
    if isinstance(one, AskedCall) or not one[1].causation_id:
        return one
    asked = asked_call(home, one[1].causation_id)
    return asked if asked is not None and asked.intent.id == one[0].intent else one


def _gate(home: Home, row: Row, envelope: Envelope) -> OpenGate:
    body: Any = envelope.body
    assert isinstance(body, PolicyGateBody), "the journal checks bodies by kind"
    exact = body.rule_ref == EXACT_CALL
    binding = str(_asked(home, row, body.node_id).get("binding", "")) if exact else ""
    intent = row.intent or ""
    return OpenGate(
        row.id, intent, body.node_id, body.question, body.options, body.expires_at, row.at, binding,
        refuses=body.refuses,
    )  # fmt: skip


def _asked(home: Home, gate: Row, node_id: str) -> Mapping[str, Any]:
    """What the gate recorded about this call when it asked."""
    for row in reversed(home.journal.rows(gate.intent, kind=_ASKED)):
        record = home.journal.open(row.wire)
        if row.seq < gate.seq and isinstance(record, Record) and record.body.get("node") == node_id:
            return record.body
    return {}
