"""Questions to people: what is asked, who may be asked, and how a run puts one and waits for the answer.

There is one way to an answer, whoever sits at which door: ``People`` put the question, and meanwhile the
journal is looked at, for somebody may decide it in another process (`mcl gate`). What is no answer is asked
again; what nobody answers refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, Literal, Protocol, TypeAlias

import anyio

from executor.core.clock import Clock, instant
from executor.core.errors import LifecycleError
from executor.gate.approvals import APPROVE, DENY, Offer
from executor.sandbox.redaction import Redactor, visible
from executor.store.lifecycle.events import GateState
from executor.walker.engine import Failure
from executor.walker.ledger import Ledger, moment
from ir import Envelope, EnvelopeError, PolicyGateResolveBody
from ir.display import lines_of

CORRECTED: Final = "CORRECTED"  # code of the failure of a question that a correction made idle
TRIES: Final = 3  # how often a question is put before what is no answer denies it
_SHOWN: Final = 40  # characters of what is no answer
_LOOK_S: Final = 0.25  # how often the journal is looked at for a decision made by another process
QuestionKind: TypeAlias = Literal["gate", "approval", "in_doubt", "sign_off"]


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """A question that a person must decide.

    gate_id: id of the policy.gate envelope. kind: a gate of the plan, the approval of one exact call
    (tool_ref and args say which), a node that may have run before, or the sign-off at the end. options:
    listed answers; empty = approve or deny. refuses: those of them that refuse. expires_at: ISO 8601 UTC,
    "" = no limit. again: why it is put once more, "" the first time.
    """

    gate_id: str
    intent_id: str
    node_id: str
    kind: QuestionKind
    question: str
    options: tuple[str, ...] = ()
    expires_at: str = ""
    tool_ref: str = ""
    args: Mapping[str, object] = field(default_factory=dict)
    binding: str = ""
    refuses: tuple[str, ...] = ()
    again: str = ""

    @property
    def offer(self) -> Offer:
        """What may be answered."""
        return Offer.of(self.options, self.refuses)


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """An answer, at whatever door it was given: what was decided, and apart from it why.

    decision: an option by its name, or a word for yes or no, where that answers the question; what is neither
    is asked again. envelope: the signed policy.gate.resolve, where the person signed it elsewhere. Without it
    the person answered at this process, and the answer is signed with the home's user key. unseen: nobody
    looked at the question, or it is not known that anybody did.
    """

    decision: str
    reason: str = ""
    envelope: Envelope | None = None
    unseen: bool = False


class People(Protocol):
    """Whoever decides at gates."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Put the question; None when nobody answers (end of input), which refuses."""
        ...


class AlwaysDeny:
    """Nobody is there: every gate is denied."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        return GateAnswer(DENY, unseen=True)


class AlwaysApprove:
    """Everything is approved, unseen: for scripts whose author has read the plan, and for tests. Of several
    options the first that goes on."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        going_on = gate.offer.continuing
        option = APPROVE if APPROVE in going_on else next(iter(going_on), DENY)
        return GateAnswer(option, unseen=True)


async def first_answer(
    people: People,
    asked: GateQuestion,
    *,
    is_open: Callable[[], bool],
    seconds: float | None,
    redactor: Redactor,
    refused: Callable[[str], None] = lambda why: None,
) -> GateAnswer | str:
    """Put a question until somebody answers it, here or elsewhere, or its time is over.

    Args:
        is_open: looks at the journal: has nobody decided it yet? seconds: how long it waits; None: for ever.
        redactor: of what was said and is no answer. refused: is told each time why it is none.

    Returns:
        The answer that was given here, not written down yet; else why there is none: "" where somebody
        decided elsewhere, or the time is over.

    Raises:
        What ``people`` and ``is_open`` raise.
    """
    found: GateAnswer | str = ""
    try:
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as tasks:

                async def look() -> None:
                    while is_open():
                        await anyio.sleep(_LOOK_S)
                    tasks.cancel_scope.cancel()

                tasks.start_soon(look)
                found = await _put(people, asked, redactor, refused)
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    return found


async def _put(
    people: People, asked: GateQuestion, redactor: Redactor, refused: Callable[[str], None]
) -> GateAnswer | str:
    """An answer that is one; else why there is none."""
    offer = asked.offer
    for _ in range(TRIES):
        try:
            answer = await people.ask(asked)
        except EOFError:  # the end of input is an answer: no
            answer = None
        if answer is None:
            return "nobody answered"
        if answer.envelope is not None:
            return answer
        if option := offer.read(answer.decision):
            return replace(answer, decision=option)
        said = visible(redactor.text(answer.decision))[:_SHOWN]
        asked = replace(asked, again=f"{said!r} is no answer to this" if said else "an answer is needed")
        refused(asked.again)
    return f"{TRIES} times what was answered was none of: {', '.join(map(visible, offer.names))}"


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that ended the tasks of a group; the others are its consequences, and stay as its cause."""
    found = group.exceptions[0]
    return first_error(found) if isinstance(found, BaseExceptionGroup) else found


class Questions:
    """The questions of one run: kept in its journal, put to its people."""

    def __init__(self, ledger: Ledger, people: People, clock: Clock, redactor: Redactor) -> None:
        self._ledger = ledger
        self._people = people
        self._clock = clock
        self._redactor = redactor
        self._one_at_a_time = anyio.Lock()

    async def ask(
        self,
        kind: QuestionKind,
        node_id: str,
        question: str,
        *,
        rule: str,
        offer: Offer = Offer(),  # noqa: B008  # it is frozen
        timeout_ms: int = 0,
        expires_at: str = "",
        tool_ref: str = "",
        args: Mapping[str, object] | None = None,
        binding: str = "",
    ) -> tuple[str, GateState] | Failure:
        """Ask, and give the gate's id and state once it is approved; else the failure.

        What is none of the answers is asked again, and denied after three tries; nobody signs that no.

        Args:
            timeout_ms: milliseconds until the question closes; 0 = no limit, unless ``expires_at`` sets one.
            binding: what an approval of an exact call is bound to; it becomes part of what the person signs.
        """
        if timeout_ms and not expires_at:
            expires_at = instant(moment(self._clock.now()) + timedelta(milliseconds=timeout_ms))
        shown = self._redactor.text(question).strip()
        # The gate's own questions hold views of values; words from elsewhere become one, a line at a time.
        shown = visible(shown) if kind == "approval" else "\n".join(lines_of(shown))
        open_since = None if binding else self._left_open(node_id, offer, rule)
        if open_since is not None:
            gate_id, expires_at = open_since
        else:
            gate_id = self._ledger.ask(node_id, shown, rule=rule, offer=offer, expires_at=expires_at).id
        asked = GateQuestion(
            gate_id,
            self._ledger.intent_id,
            node_id,
            kind,
            shown,
            offer.options,
            expires_at,
            tool_ref,
            args or {},
            binding,
            offer.refuses,
        )
        async with self._one_at_a_time:
            unanswered = await self._put(asked)
        view = self._ledger.view()
        state = view.gates.get(gate_id)
        if state is None or view.state == "proposed":  # nobody needs an answer any more
            return Failure(CORRECTED, "the run was corrected while this was asked", "", node_id, denied=True)
        if state.decision and _goes_on(state) and (not binding or state.answer == binding):
            return gate_id, state
        if state.decision or unanswered:
            fix = "state the goal again and approve, or another goal"
            return _denied(_said(state) if state.decision else unanswered, fix, node_id)
        self._ledger.note("timeout", {"gate": gate_id, "node": node_id})
        message = f"nobody decided before {expires_at}"
        return Failure(
            "GATE_TIMEOUT", message, "state the goal again and answer in time", node_id, denied=True
        )

    def decided(self, node_id: str) -> GateState | Failure | None:
        """What a person decided at this node's gate while no run was waiting; None where nobody did."""
        states = [gate for gate in self._ledger.view().gates.values() if gate.node_id == node_id]
        state = next((gate for gate in reversed(states) if gate.decision), None)
        if state is None or _goes_on(state):
            return state
        return _denied(_said(state), "state a new goal, or change the plan", node_id)

    def settled(self, node_id: str, rule: str) -> tuple[str, GateState] | Failure | None:
        """What a person decided, while no run was waiting, of what is asked when all has run; None where
        nobody did, or a correction came since."""
        view = self._ledger.view()
        asked = (
            (id, gate) for id, gate in view.gates.items() if (gate.node_id, gate.rule) == (node_id, rule)
        )
        decided = [(id, gate) for id, gate in asked if gate.decision]
        if view.corrections or not decided:
            return None
        fix = "state the goal again and approve, or another goal"
        return decided[-1] if _goes_on(decided[-1][1]) else _denied(_said(decided[-1][1]), fix, node_id)

    def _left_open(self, node_id: str, offer: Offer, rule: str) -> tuple[str, str] | None:
        """The question that a run which died left open here, and when it closes: nobody is asked twice."""
        now = moment(self._clock.now())
        for id, gate in self._ledger.view().gates.items():
            put = Offer(gate.options, gate.refuses)
            ours = (gate.node_id, put, gate.rule) == (node_id, offer, rule)
            if ours and not gate.decision and not (gate.expires_at and moment(gate.expires_at) <= now):
                return id, gate.expires_at
        return None

    async def _put(self, asked: GateQuestion) -> str:
        """Put it and keep the answer; why there is none where nobody answered, "" when its time is over."""
        left = None
        if asked.expires_at:
            left = max(0.0, (moment(asked.expires_at) - moment(self._clock.now())).total_seconds())

        def refused(why: str) -> None:
            told = {"gate": asked.gate_id, "node": asked.node_id, "code": "NOT_AN_OPTION", "reason": why}
            self._ledger.note("refused", told)

        found = await first_answer(
            self._people,
            asked,
            is_open=lambda: self._is_open(asked.gate_id),
            seconds=left,
            redactor=self._redactor,
            refused=refused,
        )
        if isinstance(found, str):
            return found
        self._keep(asked, found)
        return "nobody answered"  # where what was said did not count, and nobody else has decided

    def _is_open(self, gate_id: str) -> bool:
        view = self._ledger.view()
        gate = view.gates.get(gate_id)
        return gate is not None and not gate.decision and view.state != "proposed"

    def _keep(self, asked: GateQuestion, answer: GateAnswer) -> None:
        try:
            if answer.envelope is not None:
                body = answer.envelope.body
                if isinstance(body, PolicyGateResolveBody) and body.gate_of == asked.gate_id:
                    self._ledger.take(answer.envelope)
            else:
                bound = asked.binding if asked.offer.approves(answer.decision) else ""
                kept = bound or listed(answer.decision, asked.options)
                self._ledger.resolve(
                    asked.gate_id, answer.decision, kept, reason=answer.reason, unseen=answer.unseen
                )
        except LifecycleError as problem:
            if problem.code not in ("GATE_RESOLVED", "GATE_EXPIRED", "GATE_UNKNOWN", "ILLEGAL_EVENT"):
                raise  # else: somebody else was first, or it is too late; the journal says what holds
        except EnvelopeError as problem:  # forged, or signed long ago: that is no answer
            where = {"gate": asked.gate_id, "node": asked.node_id, "code": problem.code}
            self._ledger.note("refused", {**where, "reason": problem.message})


def listed(option: str, options: tuple[str, ...]) -> str:
    """What a decision says as its answer: the option, where the question listed any."""
    return option if option in options else ""


def _goes_on(state: GateState) -> bool:
    return Offer(state.options, state.refuses).approves(state.decision)


def _said(state: GateState) -> str:
    why = f": {visible(state.why)}" if state.why else ""
    return f"the answer was {visible(state.decision)!r}, by {state.by} at {state.at}{why}"


def _denied(message: str, fix: str, node_id: str) -> Failure:
    return Failure("GATE_DENIED", message, fix, node_id, denied=True)
