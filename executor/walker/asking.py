"""Putting a question to people and waiting for a signed decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Literal

import anyio

from executor.core.clock import Clock, instant
from executor.core.errors import LifecycleError
from executor.gate.offer import Offer
from executor.sandbox.redaction import Redactor, visible
from executor.store.lifecycle.events import GateState
from executor.walker.ledger import Ledger, moment
from executor.walker.outcome import Failure
from executor.walker.people import GateAnswer, GateQuestion, People
from ir import EnvelopeError, PolicyGateResolveBody
from ir.shown import lines_of

CORRECTED = "CORRECTED"  # code of the failure of a question that a correction made idle
TRIES = 3  # how often a question is put before what is no answer denies it
_SHOWN = 40  # characters of what is no answer
_LOOK_S = 0.5  # how often the journal is looked at for a decision made by another process


class Asking:
    """The questions of one run."""

    def __init__(self, ledger: Ledger, people: People, clock: Clock, redactor: Redactor) -> None:
        self._ledger = ledger
        self._people = people
        self._clock = clock
        self._redactor = redactor
        self._one_at_a_time = anyio.Lock()

    async def ask(
        self,
        kind: Literal["gate", "approval", "in_doubt", "sign_off"],
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
            unanswered = await self._decision(asked)
        view = self._ledger.view()
        state = view.gates.get(gate_id)
        if state is None or view.state == "proposed":  # nobody needs an answer any more
            return Failure(CORRECTED, "the run was corrected while this was asked", "", node_id, denied=True)
        if state.decision and _goes_on(state) and (not binding or state.answer == binding):
            return gate_id, state
        if state.decision or unanswered:
            said = _said(state) if state.decision else unanswered
            return Failure(
                "GATE_DENIED", said, "state the goal again and approve, or another goal", node_id, denied=True
            )
        self._ledger.note("timeout", {"gate": gate_id, "node": node_id})
        message = f"nobody decided before {expires_at}"
        return Failure(
            "GATE_TIMEOUT", message, "state the goal again and answer in time", node_id, denied=True
        )

    def _left_open(self, node_id: str, offer: Offer, rule: str) -> tuple[str, str] | None:
        """The question that a run which died left open here, and when it closes: nobody is asked twice."""
        now = moment(self._clock.now())
        for id, gate in self._ledger.view().gates.items():
            put = Offer(gate.options, gate.refuses)
            ours = (gate.node_id, put, gate.rule) == (node_id, offer, rule)
            if ours and not gate.decision and not (gate.expires_at and moment(gate.expires_at) <= now):
                return id, gate.expires_at
        return None

    def decided(self, node_id: str) -> GateState | Failure | None:
        """What a person decided at this node's gate while no run was waiting; None where nobody did."""
        states = [gate for gate in self._ledger.view().gates.values() if gate.node_id == node_id]
        state = next((gate for gate in reversed(states) if gate.decision), None)
        if state is None or _goes_on(state):
            return state
        return Failure(
            "GATE_DENIED", _said(state), "state a new goal, or change the plan", node_id, denied=True
        )

    async def _decision(self, asked: GateQuestion) -> str:
        """Wait until the gate is decided; why it is not where nobody decided, "" when its time is over."""
        why = ""
        left = None
        if asked.expires_at:
            left = max(0.0, (moment(asked.expires_at) - moment(self._clock.now())).total_seconds())
        with anyio.move_on_after(left) as limit:
            async with anyio.create_task_group() as tasks:

                async def elsewhere() -> None:
                    while self._is_open(asked.gate_id):
                        await anyio.sleep(_LOOK_S)
                    tasks.cancel_scope.cancel()

                tasks.start_soon(elsewhere)
                answer = await self._answer(asked)
                why = "nobody answered"
                if isinstance(answer, str):
                    why = answer
                elif answer is not None:
                    self._keep(asked, answer)
                tasks.cancel_scope.cancel()
        return "" if limit.cancelled_caught else why or "nobody answered"

    async def _answer(self, asked: GateQuestion) -> GateAnswer | str | None:
        """An answer that is one, or None at the end of input; else why what was said is none."""
        offer = asked.offer
        for _ in range(TRIES):
            try:
                answer = await self._people.ask(asked)
            except EOFError:  # the end of input is an answer: no
                return None
            if answer is None or answer.envelope is not None:
                return answer
            if option := offer.read(answer.decision):
                return replace(answer, decision=option)
            said = visible(self._redactor.text(answer.decision))[:_SHOWN]
            asked = replace(asked, again=f"{said!r} is no answer to this" if said else "an answer is needed")
            told = {"gate": asked.gate_id, "node": asked.node_id, "code": "NOT_AN_OPTION"}
            self._ledger.note("refused", {**told, "reason": asked.again})
        return f"{TRIES} times what was answered was none of: {', '.join(map(visible, offer.names))}"

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
                self._ledger.resolve(asked.gate_id, answer, bound or listed(answer.decision, asked.options))
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
