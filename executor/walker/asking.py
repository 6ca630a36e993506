"""Putting a question to people and waiting for a signed decision."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

import anyio

from executor.clock import Clock, instant
from executor.errors import LifecycleError
from executor.gate.approvals import APPROVE, DENY
from executor.lifecycle.fold import GateState
from executor.sandbox.redaction import Redactor, visible
from executor.walker.ledger import Ledger, moment
from executor.walker.outcome import Failure
from executor.walker.people import GateAnswer, GateQuestion, People, approves
from ir import EnvelopeError, PolicyGateResolveBody

CORRECTED = "CORRECTED"  # code of the failure of a question that a correction made idle
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
        options: tuple[str, ...] = (),
        timeout_ms: int = 0,
        expires_at: str = "",
        tool_ref: str = "",
        args: Mapping[str, object] | None = None,
        binding: str = "",
    ) -> tuple[str, GateState] | Failure:
        """Ask, and give the gate's id and state once it is approved; else the failure.

        Args:
            timeout_ms: milliseconds until the question closes; 0 = no limit, unless ``expires_at`` sets one.
            binding: what an approval of an exact call is bound to; it becomes part of what the person signs.
        """
        if timeout_ms and not expires_at:
            expires_at = instant(moment(self._clock.now()) + timedelta(milliseconds=timeout_ms))
        shown = visible(self._redactor.text(question)).strip()
        open_since = None if binding else self._left_open(node_id, options, rule)
        if open_since is not None:
            gate_id, expires_at = open_since
        else:
            gate_id = self._ledger.ask(node_id, shown, rule=rule, options=options, expires_at=expires_at).id
        asked = GateQuestion(
            gate_id,
            self._ledger.intent_id,
            node_id,
            kind,
            shown,
            options,
            expires_at,
            tool_ref,
            args or {},
            binding,
        )
        async with self._one_at_a_time:
            timely = await self._decision(asked)
        view = self._ledger.view()
        state = view.gates.get(gate_id)
        if state is None or view.state == "proposed":  # nobody needs an answer any more
            return Failure(CORRECTED, "the run was corrected while this was asked", "", node_id, denied=True)
        if state.decision and approves(state.decision, options) and (not binding or state.answer == binding):
            return gate_id, state
        if state.decision or timely:
            said = _said(state) if state.decision else "nobody answered"
            return Failure(
                "GATE_DENIED", said, "state the goal again and approve, or another goal", node_id, denied=True
            )
        self._ledger.note("timeout", {"gate": gate_id, "node": node_id})
        message = f"nobody decided before {expires_at}"
        return Failure(
            "GATE_TIMEOUT", message, "state the goal again and answer in time", node_id, denied=True
        )

    def _left_open(self, node_id: str, options: tuple[str, ...], rule: str) -> tuple[str, str] | None:
        """The question that a run which died left open here, and when it closes: nobody is asked twice."""
        now = moment(self._clock.now())
        for id, gate in self._ledger.view().gates.items():
            ours = (gate.node_id, gate.options, gate.rule) == (node_id, options, rule)
            if ours and not gate.decision and not (gate.expires_at and moment(gate.expires_at) <= now):
                return id, gate.expires_at
        return None

    def decided(self, node_id: str, options: tuple[str, ...]) -> GateState | Failure | None:
        """What a person decided at this node's gate while no run was waiting; None where nobody did."""
        states = [gate for gate in self._ledger.view().gates.values() if gate.node_id == node_id]
        state = next((gate for gate in reversed(states) if gate.decision), None)
        if state is None or approves(state.decision, options):
            return state
        return Failure(
            "GATE_DENIED", _said(state), "state a new goal, or change the plan", node_id, denied=True
        )

    async def _decision(self, asked: GateQuestion) -> bool:
        """Wait until the gate is decided; False when its time is over."""
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
                try:
                    answer = await self._people.ask(asked)
                except EOFError:  # the end of input is an answer: no
                    answer = None
                self._keep(asked, answer)
                tasks.cancel_scope.cancel()
        return not limit.cancelled_caught

    def _is_open(self, gate_id: str) -> bool:
        view = self._ledger.view()
        gate = view.gates.get(gate_id)
        return gate is not None and not gate.decision and view.state != "proposed"

    def _keep(self, asked: GateQuestion, answer: GateAnswer | None) -> None:
        if answer is None:
            return
        try:
            if answer.envelope is not None:
                body = answer.envelope.body
                if isinstance(body, PolicyGateResolveBody) and body.gate_of == asked.gate_id:
                    self._ledger.take(answer.envelope)
            else:
                approved = approves(answer.decision, asked.options)
                decision = (
                    answer.decision if answer.decision in asked.options else APPROVE if approved else DENY
                )
                told = asked.binding if approved else ""
                self._ledger.resolve(asked.gate_id, decision, told or answer.answer or _listed(answer, asked))
        except LifecycleError as problem:
            if problem.code not in ("GATE_RESOLVED", "GATE_EXPIRED", "GATE_UNKNOWN", "ILLEGAL_EVENT"):
                raise  # else: somebody else was first, or it is too late; the journal says what holds
        except EnvelopeError as problem:  # forged, or signed long ago: that is no answer
            where = {"gate": asked.gate_id, "node": asked.node_id, "code": problem.code}
            self._ledger.note("refused", {**where, "reason": problem.message})


def _said(state: GateState) -> str:
    why = f": {visible(state.answer)}" if state.answer not in ("", state.decision) else ""
    return f"the answer was {visible(state.decision)!r}, by {state.by} at {state.at}{why}"


def _listed(answer: GateAnswer, asked: GateQuestion) -> str:
    return answer.decision if answer.decision in asked.options else ""
