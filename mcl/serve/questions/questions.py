"""Questions about calls that came over MCP: put, answered by whoever is first, and the approved call made.

A call for which the gate wants a person becomes a question in the journal (`asked`). Its answer comes by a
form that the client shows, where the user's key can sign in this process, or by `mcl gate` in another one.
What was approved is an intent of one node, run like any other: the gate claims its approval, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeAlias

import anyio
from anyio import get_cancelled_exc_class, sleep_forever

from executor.call import Call
from executor.core.errors import GateError
from executor.core.hashing import json_hash
from executor.gate.approvals import APPROVE, DENY
from executor.gate.examples import EXAMPLES
from executor.gate.verdict import Ask, Deny
from executor.store.home import Home
from executor.walker.questions import TRIES, GateAnswer
from mcl.core.errors import McpError
from mcl.serve.exchange import Caller, Wanted
from mcl.serve.questions.making import WITHDRAWN, Made, States, consumed, make, note
from mcl.serve.questions.people import filled_by, keep_alive, signs
from mcl.serve.questions.putting import put
from mcl.serve.questions.shown import WAIT, call_form, read_answer
from mcl.usecases import decision
from mcl.usecases.asked_call import AskedCall, asked_call, closing, standing

if TYPE_CHECKING:
    from mcl.serve.session import Session

FORM: Final = "call"  # the name of the form that a client of the modern era fills in
MAX_OPEN: Final = 32  # questions of one client that wait at once
MOST_OPEN: Final = 256  # of all of them
MAX_REFUSED: Final = 3  # times that the very same call may be refused within REMEMBERED
REMEMBERED: Final = timedelta(minutes=10)
_LOOK_S: Final = 0.25  # how often the journal is looked at for a decision made by another process


@dataclass(frozen=True)
class Approved:
    """A person allowed the call; `run_approved` makes it."""

    asked: AskedCall
    by: str
    reason: str = ""

    @property
    def intent_id(self) -> str:
        """The intent that the call became."""
        return self.asked.intent.id


@dataclass(frozen=True)
class Denied:
    """The call is not made. gate: the question's id, "" where none was put; intent_id: of the intent that
    keeps a person's refusal, "" where nobody decided."""

    verdict: Deny
    gate: str = ""
    intent_id: str = ""

    @property
    def code(self) -> str:
        """Why, as a stable code."""
        return self.verdict.code

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.verdict.reason


@dataclass(frozen=True)
class Pending:
    """The client has to show a form, and make the same call again with what was filled in."""

    wanted: Wanted
    gate: str


Settled: TypeAlias = Approved | Denied | Pending


class Questions:
    """The questions of one server process. Close it when the process ends.

    states: seals what a client carries from one try of a call to the next.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self.states = States()
        self._waiting: dict[str, AskedCall] = {}
        self._tries: dict[str, int] = {}  # how often what came back for a question was no answer
        self._refused: dict[str, list[datetime]] = {}

    async def settle(self, session: Session, call: Call, ask: Ask, caller: Caller) -> Settled:
        """Have a person decide about a call for which the gate wants one.

        Args:
            call: as it was judged, with its declaration. ask: what the gate said of it.

        Where the task is cancelled the question is closed. Raises HomeError and what the journal raises.
        """
        self._sweep()
        try:
            if caller.state:
                return await self._again(session, call, caller)
            if (refusal := self._flood(call, caller)) is not None:
                return Denied(refusal)
            asked = put(session, call, ask, caller)
        except (GateError, McpError) as problem:
            return Denied(_deny(problem.code, problem.message, problem.fix))
        self._waiting[asked.id] = asked
        if caller.era == "modern" and caller.can_elicit:
            return self._pending(asked, call, caller)
        return await self._wait(session, asked, call, caller, form=caller.elicit is not None)

    async def run_approved(self, session: Session, approved: Approved) -> Made:
        """Make an approved call; it is made once, whoever tries. See `making.make`."""
        return await make(session, approved.asked)

    def withdraw(self, caller: Caller, why: str) -> None:
        """A call came back with a form that was filled in, and the gate does not ask about it any more."""
        asked = self._named(caller, "")
        if asked is not None:
            self._close(asked, why)

    def close(self) -> None:
        """The process ends: nobody waits for an answer any more."""
        for asked in list(self._waiting.values()):
            self._close(asked, "the server that asked has ended")

    def _flood(self, call: Call, caller: Caller) -> Deny | None:
        if len(self._refused.get(_what(call), ())) >= MAX_REFUSED:
            return _deny(
                "CIRCUIT_OPEN",
                "this very call was refused again and again",
                "read the earlier refusals and do something else",
            )
        own = sum(
            (one.client, one.version) == (caller.client, caller.version) for one in self._waiting.values()
        )
        if own >= MAX_OPEN or len(self._waiting) >= MOST_OPEN:
            return _deny(
                "GATE_PENDING",
                f"{own} of your calls already wait for a person, of {len(self._waiting)} in all",
                "wait until those are decided: mcl gate list",
            )
        return None

    # ---- waiting for the answer ----

    async def _wait(
        self, session: Session, asked: AskedCall, call: Call, caller: Caller, *, form: bool
    ) -> Settled:
        """Wait for the first answer, whoever gives it, until the question's time is over."""
        left = _moment(asked.expires_at) - _moment(self._home.clock.now())
        try:
            with anyio.move_on_after(max(0.0, left.total_seconds())):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(keep_alive, caller.channel, asked.id, left.total_seconds())
                    answered = anyio.Event()
                    if form:
                        tasks.start_soon(self._by_form, session, asked, call, caller, answered)
                    while asked.id in self._waiting and self._undecided(asked):
                        with anyio.move_on_after(_LOOK_S):
                            await (sleep_forever() if answered.is_set() else answered.wait())
                    tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            self._abandon(asked)
            raise _first(group) from group
        except get_cancelled_exc_class():
            self._abandon(asked)
            raise
        return self._result(asked, call)

    async def _by_form(
        self, session: Session, asked: AskedCall, call: Call, caller: Caller, answered: anyio.Event
    ) -> None:
        """Have the client show the form, and do what comes back."""
        elicit, here = caller.elicit, self._signs(asked)
        assert elicit is not None
        for place in range(TRIES):
            form = call_form(asked, call.args, here=here, again=place > 0)
            answer = read_answer(await filled_by(elicit, form), here=here)
            if answer is None or answer.decision:
                break
        self._take(session, asked, answer, here=here)
        answered.set()

    def _take(self, session: Session, asked: AskedCall, answer: GateAnswer | None, *, here: bool) -> None:
        """Do what a person answered to a form; where somebody was first that is what counts."""
        answer = answer or GateAnswer("")
        try:
            if answer.decision == APPROVE:
                decision.require_same(self._home, asked, session.registry)
                decision.approve(self._home, asked, reason=answer.reason, unseen=True)
            elif answer.decision == DENY and here:
                decision.deny(self._home, asked, reason=answer.reason, unseen=True)
            elif answer.decision != WAIT:
                clear = answer.decision == DENY
                why = "refused in the client" if clear else "the client gave no clear answer"
                self._close(asked, f"{why}: {answer.reason}" if answer.reason else why)
        except GateError as problem:
            if problem.code in ("TOOL_CHANGED", "APPROVAL_MISMATCH", "KEY_NOT_PERSONAL"):
                note(self._home, asked, problem)
                self._close(asked, problem.message, code=problem.code)

    def _undecided(self, asked: AskedCall) -> bool:
        return self._home.journal.view(asked.intent.id).state == "new"

    def _signs(self, asked: AskedCall) -> bool:
        """Can an answer to a form be signed in this process?"""
        return not asked.chain and signs(self._home)

    # ---- the modern era: the call comes again ----

    def _pending(self, asked: AskedCall, call: Call, caller: Caller, *, again: bool = False) -> Pending:
        form = call_form(asked, call.args, here=self._signs(asked), again=again)
        return Pending(Wanted({FORM: form}, self.states.give(caller, _same(call), gate=asked.id)), asked.id)

    async def _again(self, session: Session, call: Call, caller: Caller) -> Settled:
        asked = self._named(caller, _same(call))
        if asked is None:
            return Denied(
                _deny(
                    "APPROVAL_MISMATCH",
                    "what came back with it was not given out for just this call, or not to this client",
                    "make the call again without requestState and inputResponses",
                )
            )
        now = standing(self._home, asked)
        if now == "decided" and self._home.journal.view(asked.intent.id).state != "accepted":
            was = decision.decided(self._home, asked)
            if was.decision == "approve":
                used = consumed(self._home, asked)
                return self._denied(asked, used.code, used.message, used.fix)
        if now == "open":
            if FORM not in caller.filled:
                return self._pending(asked, call, caller)
            here = self._signs(asked)
            answer = read_answer(caller.filled[FORM], here=here)
            if answer is not None and not answer.decision:
                self._tries[asked.id] = self._tries.get(asked.id, 0) + 1
                if self._tries[asked.id] < TRIES:
                    return self._pending(asked, call, caller, again=True)
            self._take(session, asked, answer, here=here)
            if answer is not None and answer.decision == WAIT:
                self._waiting[asked.id] = asked
                return await self._wait(session, asked, call, caller, form=False)
        return self._result(asked, call)

    def _named(self, caller: Caller, what: str) -> AskedCall | None:
        """The question that a call brought back; what: as of `States.read`."""
        said = self.states.read(caller, what)
        return asked_call(self._home, said["gate"]) if said else None

    # ---- the end of a question ----

    def _result(self, asked: AskedCall, call: Call) -> Approved | Denied:
        self._close(asked, late=True)  # where nothing ended it, its time is over
        if standing(self._home, asked) == "decided":
            was = decision.decided(self._home, asked)
            if was.decision == "approve":
                return Approved(asked, was.by, was.reason)
            self._remember(call)
            why = f": {was.reason}" if was.reason else ""
            said = f"{was.by} refused this call at {was.at}{why}"
            fix = "do without it, or ask for something else"
            return Denied(_deny("GATE_DENIED", said, fix), asked.id, asked.intent.id)
        record = closing(self._home, asked)
        if record is not None and record.kind.endswith(".closed"):
            self._remember(call)
            code, why = str(record.body.get("code") or "GATE_DENIED"), str(record.body.get("why", ""))
            return self._denied(asked, code, why, "do without it, or ask for something else")
        said = f"nobody decided before {asked.expires_at}"
        return self._denied(asked, "GATE_TIMEOUT", said, "ask again when somebody is there to decide")

    def _remember(self, call: Call) -> None:
        self._refused.setdefault(_what(call), []).append(_moment(self._home.clock.now()))

    def _abandon(self, asked: AskedCall) -> None:
        """The caller is gone. Where a person approved meanwhile, nobody makes the call any more."""
        if not self._close(asked, WITHDRAWN):
            decision.give_up(self._home, asked, WITHDRAWN, reason="cancelled_by_user")

    def _sweep(self) -> None:
        """Close what nobody came back for in time; forget refusals of long ago."""
        now = _moment(self._home.clock.now())
        for what, times in list(self._refused.items()):
            self._refused[what] = [one for one in times if now - one < REMEMBERED]
            if not self._refused[what]:
                del self._refused[what]
        for asked in [one for one in self._waiting.values() if _moment(one.expires_at) < now]:
            self._close(asked, late=True)

    def _close(
        self, asked: AskedCall, why: str = "", *, code: str = "GATE_DENIED", late: bool = False
    ) -> bool:
        self._waiting.pop(asked.id, None)
        self._tries.pop(asked.id, None)
        why = why or f"nobody decided before {asked.expires_at}"
        return decision.close(self._home, asked, why, code=code, late=late)

    def _denied(self, asked: AskedCall, code: str, reason: str, fix: str) -> Denied:
        return Denied(_deny(code, reason, fix, gate=asked.id), asked.id)


def _same(call: Call) -> str:
    """What must not differ when a call comes again: tool, arguments and everything that was declared."""
    said = call.declaration
    declared = (
        [said.operation_type, said.data_sensitivity, said.reason, said.variant, said.name] if said else []
    )
    return json_hash([call.tool_ref, call.args_hash, call.timeout_ms, declared])


def _what(call: Call) -> str:
    """The call, whatever is said about it."""
    return json_hash([call.tool_ref, call.args_hash])


def _deny(code: str, reason: str, fix: str, *, gate: str = "") -> Deny:
    data: dict[str, object] = {"gate": gate} if gate else {}
    return Deny(code, reason, fix, "approval", data, EXAMPLES.get(code, ""))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found = group.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
