"""Questions about calls that came over MCP: put, answered by whoever is first, and the approved call made.

A call for which the gate wants a person becomes a question in the journal (`call_question`). Its answer comes
by a form that the client shows, where the user's key can sign in this process, or by `mcl gate` in another
one. What was approved is an intent of one node, run like any other: the gate claims its approval, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeAlias

from anyio import get_cancelled_exc_class

from executor import Outcome, Walker
from executor.call import Call, Declaration
from executor.core.errors import GateError, KeyringError, WalkError
from executor.core.hashing import json_hash, json_size
from executor.gate.approvals import APPROVE, DENY, binding_hash, bound_to
from executor.gate.breaker import Breaker
from executor.gate.mandate import Mandate
from executor.gate.verdict import EXAMPLES, Ask, Deny
from executor.store.home import Home
from executor.store.journal.record import seal_record
from executor.tools.names import OURSELVES
from executor.walker.engine import Failure
from executor.walker.questions import TRIES, GateAnswer, GateQuestion, first_answer
from ir import MclError
from ir.display import beginning, of_value, quoted
from mcl.core.errors import McpError
from mcl.core.text import one_line
from mcl.plugins.mcp.forms import WAIT, ClientPeople, States, call_form, read_form, signs
from mcl.serve.exchange import Caller, Form, WantedForms
from mcl.usecases import call_question as asked_of
from mcl.usecases.call_question import ASKED, MAX_REASON, CallQuestion, find_call_question, standing
from mcl.usecases.direct import NODE, DirectCall, direct_call, texts_of

if TYPE_CHECKING:
    from mcl.plugins.mcp.session import Session

FORM: Final = "call"  # the name of the form that a client of the modern era fills in
MAX_OPEN: Final = 32  # questions of one client that wait at once
MOST_OPEN: Final = 256  # of all of them
REMEMBERED: Final = timedelta(minutes=10)  # after which a person may be asked anew about what was refused
WITHDRAWN: Final = "the client withdrew the call, or is gone"
_SHOWN: Final = 80  # characters of an argument, or of what a client calls itself, in a sentence


@dataclass(frozen=True)
class ApprovedCall:
    """A person allowed the call; `CallQuestions.run_approved` makes it."""

    asked: CallQuestion
    by: str
    reason: str = ""

    @property
    def intent_id(self) -> str:
        """The intent that the call became."""
        return self.asked.intent.id


@dataclass(frozen=True)
class DeniedCall:
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

    wanted: WantedForms
    gate: str


@dataclass(frozen=True)
class Made:
    """What became of an approved call: the tool's answer, or why there is none; of a tool of another server
    that says it failed, both."""

    intent_id: str
    output: Mapping[str, object] | None = None
    failure: Failure | None = None


Settled: TypeAlias = ApprovedCall | DeniedCall | Pending


class CallQuestions:
    """The questions of one server process. Close it when the process ends.

    states: seals what a client carries from one try of a call to the next.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self.states = States()
        self._waiting: dict[str, CallQuestion] = {}
        self._tries: dict[str, int] = {}  # how often what came back for a question was no answer
        self._breaker = Breaker(home, forgets=REMEMBERED)

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
                return DeniedCall(refusal)
            asked = _kept(session, call, ask, caller)
        except (GateError, McpError) as problem:
            return DeniedCall(_deny(problem.code, problem.message, problem.fix))
        self._waiting[asked.id] = asked
        if caller.era == "modern" and caller.can_elicit:
            return self._pending(asked, call, caller)
        return await self._wait(session, asked, call, caller)

    async def run_approved(self, session: Session, approved: ApprovedCall) -> Made:
        """Make an approved call by running its intent; it is made once, whoever tries.

        Where the task is cancelled the call is ended, and its intent with it. Raises what a run raises, but
        for what says that somebody else ran it: that is a failure with the code APPROVAL_CONSUMED.
        """
        home, asked = session.home, approved.asked
        intent = asked.intent.id
        try:
            asked_of.require_same(home, asked, session.registry)
            if asked_of.is_late(home, asked):
                message = f"the approval was good until {asked.expires_at}"
                raise GateError("GATE_TIMEOUT", message, place=asked.id, fix="ask again")
        except GateError as problem:
            _note(home, asked, problem)
            asked_of.give_up(home, asked, f"{problem.code}: {problem.message}")
            why = Failure(problem.code, problem.message, problem.fix, NODE, denied=True)
            return Made(intent, failure=why)
        walker = Walker(home, session.registry, workspace=session.workspace.root, people=_Nobody())
        try:
            async with walker:
                outcome = await walker.run(intent)
        except WalkError as problem:
            if problem.code not in ("ALREADY_RUNNING", "NOT_ACCEPTED", "RUN_INTERRUPTED"):
                raise
            return Made(intent, failure=_consumed(home, asked))
        except get_cancelled_exc_class():
            asked_of.give_up(home, asked, WITHDRAWN, reason="cancelled_by_user", begun=True)
            raise
        return _made(session, asked, outcome)

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
        # Whoever asks, and whatever they call themselves: it is the person who has had enough.
        if self._breaker.open("", "", _what(call), self._home.clock.now()) is not None:
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

    async def _wait(self, session: Session, asked: CallQuestion, call: Call, caller: Caller) -> Settled:
        """Wait for the first answer, whoever gives it, until the question's time is over."""
        left = max(0.0, (_moment(asked.expires_at) - _moment(self._home.clock.now())).total_seconds())
        here = self._signs(asked)

        def form(gate: GateQuestion) -> Form:
            return call_form(asked, call.args, here=here, again=bool(gate.again))

        try:
            found = await first_answer(
                ClientPeople(caller, form, left),
                asked.gate,
                is_open=lambda: asked.id in self._waiting and self._undecided(asked),
                seconds=left,
                redactor=session.redactor,
            )
            if found:  # else somebody decided elsewhere, or nobody in time
                self._take(session, asked, None if isinstance(found, str) else found, here=here)
        except BaseException:  # the caller is gone, or the journal cannot be written to
            self._abandon(asked)
            raise
        return self._result(asked, call)

    def _take(self, session: Session, asked: CallQuestion, answer: GateAnswer | None, *, here: bool) -> None:
        """Do what a person answered to a form; where somebody was first that is what counts."""
        answer = answer or GateAnswer("")
        try:
            if answer.decision == APPROVE:
                asked_of.require_same(self._home, asked, session.registry)
                asked_of.approve(self._home, asked, reason=answer.reason, unseen=True)
            elif answer.decision == DENY and here:
                asked_of.deny(self._home, asked, reason=answer.reason, unseen=True)
            elif answer.decision != WAIT:
                clear = answer.decision == DENY
                why = "refused in the client" if clear else "the client gave no clear answer"
                self._close(asked, f"{why}: {answer.reason}" if answer.reason else why)
        except GateError as problem:
            if problem.code in ("TOOL_CHANGED", "APPROVAL_MISMATCH", "KEY_NOT_PERSONAL"):
                _note(self._home, asked, problem)
                self._close(asked, problem.message, code=problem.code)

    def _undecided(self, asked: CallQuestion) -> bool:
        return self._home.journal.view(asked.intent.id).state == "new"

    def _signs(self, asked: CallQuestion) -> bool:
        """Can an answer to a form be signed in this process?"""
        return not asked.chain and signs(self._home)

    # ---- the modern era: the call comes again ----

    def _pending(self, asked: CallQuestion, call: Call, caller: Caller, *, again: bool = False) -> Pending:
        form = call_form(asked, call.args, here=self._signs(asked), again=again)
        return Pending(
            WantedForms({FORM: form}, self.states.give(caller, _same(call), gate=asked.id)), asked.id
        )

    async def _again(self, session: Session, call: Call, caller: Caller) -> Settled:
        asked = self._named(caller, _same(call))
        if asked is None:
            return DeniedCall(
                _deny(
                    "APPROVAL_MISMATCH",
                    "what came back with it was not given out for just this call, or not to this client",
                    "make the call again without requestState and inputResponses",
                )
            )
        now = standing(self._home, asked)
        if now == "decided" and self._home.journal.view(asked.intent.id).state != "accepted":
            was = asked_of.decided(self._home, asked)
            if was.decision == "approve":
                used = _consumed(self._home, asked)
                return self._denied(asked, used.code, used.message, used.fix)
        if now == "open":
            if FORM not in caller.filled:
                return self._pending(asked, call, caller)
            here = self._signs(asked)
            answer = read_form(call_form(asked, call.args, here=here), caller.filled[FORM])
            if answer is not None and not answer.decision:
                self._tries[asked.id] = self._tries.get(asked.id, 0) + 1
                if self._tries[asked.id] < TRIES:
                    return self._pending(asked, call, caller, again=True)
            self._take(session, asked, answer, here=here)
            if answer is not None and answer.decision == WAIT:
                self._waiting[asked.id] = asked
                return await self._wait(session, asked, call, caller)
        return self._result(asked, call)

    def _named(self, caller: Caller, what: str) -> CallQuestion | None:
        """The question that a call brought back; what: as of `States.read`."""
        said = self.states.read(caller, what)
        return find_call_question(self._home, said["gate"]) if said else None

    # ---- the end of a question ----

    def _result(self, asked: CallQuestion, call: Call) -> ApprovedCall | DeniedCall:
        self._close(asked, late=True)  # where nothing ended it, its time is over
        if standing(self._home, asked) == "decided":
            was = asked_of.decided(self._home, asked)
            if was.decision == "approve":
                return ApprovedCall(asked, was.by, was.reason)
            self._remember(call, "GATE_DENIED")
            why = f": {was.reason}" if was.reason else ""
            said = f"{was.by} refused this call at {was.at}{why}"
            fix = "do without it, or ask for something else"
            return DeniedCall(_deny("GATE_DENIED", said, fix), asked.id, asked.intent.id)
        record = asked_of.closing(self._home, asked)
        if record is not None and record.kind.endswith(".closed"):
            code, why = str(record.body.get("code") or "GATE_DENIED"), str(record.body.get("why", ""))
            self._remember(call, code)
            return self._denied(asked, code, why, "do without it, or ask for something else")
        said = f"nobody decided before {asked.expires_at}"
        return self._denied(asked, "GATE_TIMEOUT", said, "ask again when somebody is there to decide")

    def _remember(self, call: Call, code: str) -> None:
        self._breaker.note("", "", _what(call), code, self._home.clock.now())

    def _abandon(self, asked: CallQuestion) -> None:
        """The caller is gone. Where a person approved meanwhile, nobody makes the call any more."""
        if not self._close(asked, WITHDRAWN):
            asked_of.give_up(self._home, asked, WITHDRAWN, reason="cancelled_by_user")

    def _sweep(self) -> None:
        """Close what nobody came back for in time."""
        now = _moment(self._home.clock.now())
        for asked in [one for one in self._waiting.values() if _moment(one.expires_at) < now]:
            self._close(asked, late=True)

    def _close(
        self, asked: CallQuestion, why: str = "", *, code: str = "GATE_DENIED", late: bool = False
    ) -> bool:
        self._waiting.pop(asked.id, None)
        self._tries.pop(asked.id, None)
        why = why or f"nobody decided before {asked.expires_at}"
        return asked_of.close(self._home, asked, why, code=code, late=late)

    def _denied(self, asked: CallQuestion, code: str, reason: str, fix: str) -> DeniedCall:
        return DeniedCall(_deny(code, reason, fix, gate=asked.id), asked.id)


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


# ---- Making a question: what would be signed, what it is bound to, and who asks.


def _kept(session: Session, call: Call, ask: Ask, caller: Caller) -> CallQuestion:
    """Keep what a person is asked about a call, signed by the agent.

    Raises:
        McpError: SECRET_INLINE, and whatever else keeps the call from being a plan that can be shown whole.
        KeyringError: the agent's key is sealed. Also what appending raises.
    """
    home = session.home
    try:
        asked = _question(session, call, ask, caller)
        record = seal_record(ASKED, asked.body(), id=asked.id, at=asked.at, signer=home.keyring.agent)
    except (KeyringError, McpError):
        raise
    except MclError as problem:  # too large, or nothing that a plan can hold
        raise McpError(
            problem.code,
            f"a person must approve this call, and it cannot be put to one: {problem.message}",
            place=call.tool_ref,
            fix=problem.fix or "ask for less at once",
        ) from problem
    return replace(asked, seq=home.journal.append(record).seq)


def _question(session: Session, call: Call, ask: Ask, caller: Caller) -> CallQuestion:
    home, context, redact = session.home, session.context, session.redactor.text
    manifest, said = context.manifest(call), call.declaration or Declaration()
    assert manifest is not None, "the gate asks about no tool that it does not know"
    args = dict(call.args)
    if session.redactor.value(args) != args:
        raise McpError(
            "SECRET_INLINE",
            "what looks like a key, or is a secret of this machine, stands in the arguments",
            place=manifest.name,
            fix="leave it out; a tool that takes credentials takes $env:NAME",
        )
    client, version, reason = redact(caller.client), redact(caller.version), redact(said.reason)
    effect = context.effect(call, manifest)
    effects = tuple(sorted(effect.classes))
    words: Mapping[str, str] = {
        "operation": said.operation_type,
        "data": "" if said.data_sensitivity == "unknown" else said.data_sensitivity,
        "reason": reason,
    }
    prose = _prose(manifest.name, args, client=f"{client} {version}".strip(), said=words)
    texts = texts_of(args, manifest)
    made = direct_call(home, manifest, texts, effect, prose=prose, timeout_ms=call.timeout_ms)
    bound = _bound(made, call, ask, session)
    server = manifest.outside.server if manifest.outside else OURSELVES
    return CallQuestion(
        id=home.clock.new_id(),
        at=home.clock.now(),
        intent=made.intent,
        plan=made.plan,
        name=manifest.name,
        server=server,
        trusted=server == OURSELVES or _trusted(home, server),
        operation=effect.operation,
        effects=effects,
        why=ask.why,
        client=client,
        version=version,
        variant=said.variant,
        operation_type=said.operation_type,
        data_sensitivity=said.data_sensitivity,
        reason=reason,
        question=_sentence(manifest.name, effect.operation, effects, client),
        expires_at=ask.expires_at,
        bound=bound,
        binding=binding_hash(bound),
    )


def _bound(made: DirectCall, call: Call, ask: Ask, session: Session) -> dict[str, str]:
    """What an approval of this call will be claimed by, as the gate works it out when the plan runs."""
    intent, plan = made.intent, made.plan
    mandate = Mandate(intent, plan, intent.hash, plan.hash, session.home.keyring.user.did)
    declared = plan.root.tool_call.side_effect_class if plan.root.tool_call else ""
    exact = Call(call.tool_ref, call.args, declared, NODE, call.timeout_ms)
    return bound_to(exact, replace(session.context, mandate=mandate), ask.expires_at)


def _trusted(home: Home, server: str) -> bool:
    from mcl.catalog.servers import Servers

    found = Servers(home).find(server)
    return found is not None and found.trusted


def _sentence(name: str, operation: str, effects: tuple[str, ...], client: str) -> str:
    """The question in a sentence."""
    return (
        f"{beginning(client, _SHOWN) if client else 'A program'} wants to call {quoted(name)} "
        f"({operation}: {', '.join(effects)}). Allow exactly this?"
    )


def _prose(name: str, args: Mapping[str, object], *, client: str, said: Mapping[str, str]) -> str:
    """What the Intent of such a call says in words. said: what the program declares, by name."""
    shown = ", ".join(f"{beginning(one, _SHOWN)} = {of_value(value, _SHOWN)}" for one, value in args.items())
    words = "; ".join(f"{what} {one_line(text, MAX_REASON)}" for what, text in said.items() if text)
    asked = f"{one_line(client, _SHOWN) or 'a program'} over MCP"
    return f"call {one_line(name)}{f' with {shown}' if shown else ''}, as {asked} asks" + (
        f" ({words})" if words else ""
    )


# ---- Making the call that was approved.


def _consumed(home: Home, asked: CallQuestion) -> Failure:
    """Why a call that was approved is not made again."""
    state = home.journal.view(asked.intent.id).state
    return Failure(
        "APPROVAL_CONSUMED",
        f"this approval was used already; the intent {asked.intent.id} is {state}",
        f"ask again; what became of it: mcl show {asked.intent.id}",
        NODE,
        denied=True,
    )


def _note(home: Home, asked: CallQuestion, problem: MclError) -> None:
    """Keep that an approved call, or the approval of one, was refused."""
    told = {"gate": asked.id, "tool": asked.call.tool_ref, "code": problem.code, "reason": problem.message}
    home.journal.record("record.gate.refused", told)


def _made(session: Session, asked: CallQuestion, outcome: Outcome) -> Made:
    failure, output = outcome.failure, outcome.outputs.get(NODE)
    if failure is None and outcome.state != "completed":
        failure = Failure("CANCELLED", f"the run was {outcome.state}", "ask again", NODE, denied=True)
    if (
        failure is not None and not outcome.envelope_id
    ):  # refused before it began: nobody shall begin it later
        asked_of.give_up(session.home, asked, f"{failure.code}: {failure.message}")
    if failure is not None:  # what the tool itself says of it goes back as a call that needs nobody gives it
        output = session.redactor.value(session.channels.error(asked.intent.id, NODE))
        manifest, size = session.registry.find(asked.call.tool_ref), json_size(output)
        if manifest is None or size is None or size > manifest.max_output:
            output = None
    return Made(asked.intent.id, output if isinstance(output, dict) else None, failure)


class _Nobody:
    """What the plan asks beyond its approval, nobody answers."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        return None
