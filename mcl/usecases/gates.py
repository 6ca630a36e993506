"""Questions that wait for a person, of running plans and of calls over MCP: seen whole, and decided from
another process.

Whether the walker or the server that asked still runs does not matter: a decision is a signed row of the
journal, and the run that goes on finds it there.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from executor import GateError, Home, LifecycleError, Record, Row, View
from executor.core.clock import instant
from executor.core.hashing import json_hash
from executor.gate.approvals import APPROVE, DENY, Offer, binding_hash
from executor.store.lifecycle.events import GateState, is_past
from executor.walker.questions import listed
from ir import Envelope, MclError, PolicyGateBody, PolicyGateResolveBody
from mcl.catalog.tools.foreign import all_tools
from mcl.core.errors import InputError
from mcl.core.home import open_home, sealed
from mcl.usecases import call_question
from mcl.usecases.call_question import (
    ASKED,
    EXACT_CALL,
    MAX_REASON,
    CallQuestion,
    call_questions,
    declared_of,
    find_call_question,
)
from mcl.usecases.direct import NODE

if TYPE_CHECKING:
    from mcl.usecases.corrections import Proposal

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
    intent has ended, or counts no longer) or "asked again" (a resumed run has put the question once more).
    decision, reason, by, decided_at, unseen (nobody looked when it was signed): of a decided one. Of an exact
    call: tool, declared side-effect class, args as they would be passed, why a person is asked, and
    ``bound``: what an approval is bound to. holds: are these arguments and these hashes what the binding was
    made of? Where not, the question cannot be trusted.

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
    since = instant(datetime.fromisoformat(home.clock.now()) - _LONGEST)
    found: Iterator[_Question] = chain(_of_plans(home), _of_calls(home, since=since))
    open_now = (one.gate for one in found if one.standing == "open")
    return tuple(sorted(open_now, key=lambda gate: gate.asked_at))


def show_gate(gate: str, *, home: Home | None = None) -> ShownGate:
    """One question, open or not, with all that belongs to it.

    gate: its id or a unique beginning of it. Raises InputError GATE_UNKNOWN.
    """
    return _named(home or open_home(), gate).shown()


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
            INTENT_EXPIRED (of signed work), GATE_CLOSED (the intent has ended, the question was put again, or
            whoever wanted the call is gone), APPROVAL_MISMATCH (what can be shown is not what an approval
            would be bound to), TOOL_CHANGED (of a call over MCP: the tool is not what it was).
    """
    question = _named(home or open_home(), gate)
    return question.decide(_checked(question.gate, decision, reason, approves), reason)


def propose_at_gate(gate: str, words: str, *, home: Home | None = None, **given: Any) -> "Proposal":
    """What a correction would come to that is said at a question of a running plan: instead of an answer.

    It decides nothing: once it is signed (`corrections.sign_correction`) the run stops where it is material,
    and else asks again. words, given: as of `propose_correction`. Raises as `decide_gate`, and as that.
    """
    from mcl.usecases.corrections import propose_correction

    home = home or open_home()
    question = _named(home, gate)
    if not isinstance(question, _PlanQuestion):
        fix = "approve or deny it; who asked may ask for another call"
        raise InputError("NOT_AN_OPTION", "an exact call is not corrected", place=question.gate.id, fix=fix)
    question._require_open()
    return propose_correction(question.gate.intent_id, words=words, home=home, **given)


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


@dataclass(frozen=True)
class _PlanQuestion:
    """A question of a plan that runs, or ran: a policy.gate of the journal whose row can be believed."""

    home: Home
    row: Row
    envelope: Envelope
    state: GateState
    view: View

    @property
    def gate(self) -> OpenGate:
        body: Any = self.envelope.body
        assert isinstance(body, PolicyGateBody), "the journal checks bodies by kind"
        return OpenGate(
            self.row.id,
            self.row.intent or "",
            body.node_id,
            body.question,
            body.options,
            body.expires_at,
            self.row.at,
            str(self._asked(body).get("binding", "")),
            refuses=body.refuses,
        )

    @property
    def standing(self) -> str:
        if self.state.decision:
            return "decided"
        if self.view.terminal or self._is_over:
            return "closed"
        gates = self.view.gates.items()
        if any(one.node_id == self.state.node_id and id > self.row.id for id, one in gates):
            return "asked again"
        late = self.state.expires_at and self.state.expires_at < self.home.clock.now()
        return "expired" if late else "open"

    @property
    def _is_over(self) -> bool:
        """Whether it is about what has no plan, and counts no longer; a run that began ends as it would."""
        intent = self.view.intent
        if intent is None or self.view.plan is not None or self.view.terminal:
            return False
        return is_past(intent.expires_at, self.home.clock.now())

    def shown(self) -> ShownGate:
        found, state = self.gate, self.state
        asked = self._asked(self.envelope.body) if found.binding else {}
        args: Any = json.loads(str(asked.get("args_json", "{}")))
        bound = {**asked.get("bound", {}), "args": json_hash(args)} if asked else {}
        return ShownGate(
            **vars(found),
            goal=self.view.draft.prose if self.view.draft else "",
            state=self.view.state,
            standing=self.standing,
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

    def decide(self, decision: str, reason: str) -> Decided:
        home, found = self.home, self.gate
        self._require_open()
        at = home.clock.now()
        bound = bool(found.binding) and found.offer.approves(decision)
        if bound and not self.shown().holds:
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
        except LifecycleError:
            # Somebody was first after all, or it ended meanwhile: the journal says which.
            view = home.journal.view(found.intent_id)
            now = view.gates.get(found.id, self.state)
            _PlanQuestion(home, self.row, self.envelope, now, view)._require_open()
            raise
        return Decided(found, decision, reason, signed.from_, at, signed.id)

    def _asked(self, body: Any) -> Mapping[str, Any]:
        """What the gate recorded about an exact call when it asked; nothing of another question."""
        if body.rule_ref != EXACT_CALL:
            return {}
        for row in reversed(self.home.journal.rows(self.row.intent, kind=ASKED)):
            record = self.home.journal.open(row.wire)
            if (
                row.seq < self.row.seq
                and isinstance(record, Record)
                and record.body.get("node") == body.node_id
            ):
                return record.body
        return {}

    def _require_open(self) -> None:
        state, id = self.state, self.row.id
        match self.standing:
            case "decided":
                raise call_question.resolved(id, state.decision, state.by, state.at)
            case "expired":
                intent = self.view.intent.id if self.view.intent else ""
                fix = f"mcl run {intent} --resume asks again"
                message = f"the question closed at {state.expires_at}"
                raise GateError("GATE_EXPIRED", message, place=id, fix=fix)
            case "closed" if self._is_over and self.view.intent is not None:
                message = f"what it is about was to count until {self.view.intent.expires_at}"
                raise GateError("INTENT_EXPIRED", message, place=id, fix="sign that anew")
            case "closed":
                message, fix = f"the intent is {self.view.state}", "there is nothing to decide any more"
                raise GateError("GATE_CLOSED", message, place=id, fix=fix)
            case "asked again":
                message = "a resumed run has put the question again"
                raise GateError("GATE_CLOSED", message, place=id, fix="mcl gate list")


@dataclass(frozen=True)
class _CallOverMcp:
    """A question about a call that no plan holds."""

    home: Home
    asked: CallQuestion

    @property
    def gate(self) -> OpenGate:
        asked = self.asked
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

    @property
    def standing(self) -> str:
        return call_question.standing(self.home, self.asked)

    def shown(self) -> ShownGate:
        home, asked = self.home, self.asked
        view, now = home.journal.view(asked.intent.id), self.standing
        was = call_question.decided(home, asked, view) if now == "decided" else None
        tools, flaw = all_tools(home), ""
        try:
            args = call_question.require_same(home, asked, tools)
        except GateError as problem:
            args, flaw = dict(asked.texts(tools.find(asked.call.tool_ref))), problem.message
        return ShownGate(
            **vars(self.gate),
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

    def decide(self, decision: str, reason: str) -> Decided:
        home, asked = self.home, self.asked
        call_question.require_open(home, asked)
        if decision == APPROVE:
            call_question.require_same(home, asked, all_tools(home))
        end = call_question.approve if decision == APPROVE else call_question.deny
        done = end(home, asked, reason=reason)
        return Decided(self.gate, decision, reason, done.by, done.at, done.envelope)


_Question: TypeAlias = _PlanQuestion | _CallOverMcp


def _of_plans(home: Home, prefix: str = "") -> Iterator[_PlanQuestion]:
    """The questions of plans whose rows can be believed, oldest first."""
    for row in home.journal.rows(kind="policy.gate"):
        if not row.id.startswith(prefix) or row.intent is None:
            continue
        try:
            view, envelope = home.journal.view(row.intent), home.journal.open(row.wire)
        except MclError:
            continue
        state = view.gates.get(row.id)
        if isinstance(envelope, Envelope) and state is not None:
            yield _PlanQuestion(home, row, envelope, state, view)


def _of_calls(home: Home, prefix: str = "", *, since: str = "") -> Iterator[_CallOverMcp]:
    return (_CallOverMcp(home, one) for one in call_questions(home, prefix, since=since))


def _named(home: Home, text: str) -> _Question:
    """The question that a text names: of several that fit, the only open one."""
    found: tuple[_Question, ...] = (
        *_of_plans(home, text.upper()),
        *_of_calls(home, text.upper()),
    )
    fitting = [one for one in found if one.standing == "open"]
    if len(found) > 1 and len(fitting) == 1:
        return fitting[0]
    if len(found) == 1:
        return _first_asked(home, found[0])
    waiting = ", ".join(gate.id for gate in open_gates(home=home)) or "none"
    many = f"{text} begins the ids of {len(found)} gates" if found else f"no gate's id begins with {text}"
    raise InputError("GATE_UNKNOWN", many, place="gate", fix=f"open: {waiting}")


def _first_asked(home: Home, one: _Question) -> _Question:
    """Of the gate in an approved call's intent, the question that a person was asked."""
    if isinstance(one, _CallOverMcp) or not one.envelope.causation_id:
        return one
    asked = find_call_question(home, one.envelope.causation_id)
    return _CallOverMcp(home, asked) if asked is not None and asked.intent.id == one.row.intent else one


# As the command line calls them.
list, show, decide = open_gates, show_gate, decide_gate
