"""The walker: runs the plan that a person accepted, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import anyio
from anyio import to_thread

from executor.core.errors import LifecycleError, WalkError
from executor.gate.approvals import Approvals
from executor.gate.budget import Spending
from executor.gate.context import RUNNABLE, Context
from executor.gate.grants import Grants, workspace_of
from executor.gate.locks import Locks, SharedLocks
from executor.gate.mandate import Mandate
from executor.gate.pins import Pins
from executor.gate.policy import PolicyFile
from executor.gate.standings import Signers
from executor.gate.verdict import Deny
from executor.sandbox.paths import Workspace
from executor.sandbox.reach import allowed_roots
from executor.sandbox.redaction import Redactor, known_variables
from executor.store.home import Home
from executor.store.keys.keyring import is_personal
from executor.store.lifecycle.events import View, intent_id
from executor.store.lifecycle.view import way_on
from executor.tools.registry import Registry
from executor.tools.tool import Credentials, credentials_of
from executor.walker.contention import Contended
from executor.walker.criteria import Criterion, judge, left_behind
from executor.walker.dispatch import Agents
from executor.walker.engine import Engine, Failure, LocalEngine
from executor.walker.history import RunHistory, run_history, run_lock
from executor.walker.interfaces import (
    Critic,
    FailureModes,
    Listener,
    Prompts,
    Reasoner,
    RoutedReasoner,
    Silent,
    SubSkills,
)
from executor.walker.ledger import Ledger, Superseded
from executor.walker.outcome import Outcome, close
from executor.walker.preflight import Verdict, preflight, skill_address, unplanned
from executor.walker.questions import AlwaysDeny, People, Questions, first_error
from executor.walker.run import Run
from executor.walker.subplans import KINDS
from executor.walker.tree import PlanScope
from ir import Envelope, Intent, PlanTree
from ir.errors import UNVERIFIED

_LONG = 32  # nodes of a plan for which room is made in the database's log
_WATCH_S = 0.5  # how often the journal is looked at for a cancel by a person


class Walker:
    """Runs accepted plans in one workspace. Use it as an async context.

    Args:
        home: keys, journal and database.
        registry: the tools there are.
        workspace: the folder that tools may work in.
        reasoner: the model for step nodes; without one a plan with steps is refused.
        people: who decides at gates; without anybody every gate is denied.
        listener: who is told of every node's state.
        prompts: where the prompt blocks of skills are found.
        failures: where it is found what skills say of failures.
        critic: what may mend a run that is about to fail; without it the run fails.
        environment: variables that credentials come from, and whose secret values are taken out of outputs
            (default: this process's).
        engine: who gives nodes their turn (default: this process, everything at once that may be).
        sub_skills: what makes the plans of sub-dispatches; without it they are refused.

    Raises:
        ScopeError: the workspace cannot be used. PolicyError: the operator's policy cannot be read.
    """

    def __init__(
        self,
        home: Home,
        registry: Registry,
        *,
        workspace: Path,
        reasoner: Reasoner | None = None,
        people: People | None = None,
        listener: Listener | None = None,
        prompts: Prompts | None = None,
        failures: FailureModes | None = None,
        critic: Critic | None = None,
        environment: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        sub_skills: SubSkills | None = None,
    ) -> None:
        self._home = home
        self._registry = registry
        self._place = workspace
        self._reasoner = reasoner
        self._people = people or AlwaysDeny()
        self._listener = listener or Silent()
        self._prompts = prompts
        self._failures = failures
        self._critic = critic
        shown = known_variables() if environment is None else environment
        variables = os.environ if environment is None else environment
        self._redactor, self._credentials = Redactor(shown), Credentials(variables)
        self._engine = engine or LocalEngine()
        self._sub_skills = sub_skills
        self._workspace: Workspace | None = None

    async def __aenter__(self) -> Self:
        self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the workspace back; done by the context too."""
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = None

    def preflight(self, intent: str) -> list[Verdict]:
        """What the gate says of each node of an intent's plan, before or after a person accepted it.

        Raises:
            WalkError: NO_PLAN. Also what reading the journal raises.
        """
        view = self._home.journal.view(intent_id(intent))
        mandate = Mandate.of(view)
        if mandate is not None and view.state in RUNNABLE:
            context = self._context(mandate)
            return self._judge(mandate, context, run_history(self._home.journal, intent_id(intent), view))
        if view.intent is None or view.plan is None:
            raise _no_plan(intent)
        return self.preflight_plan(view.intent, view.plan)

    def preflight_plan(self, intent: Intent, plan: PlanTree) -> list[Verdict]:
        """What the gate says of each node of a plan that nobody signed, for a goal as this Intent has it."""
        proposed = Mandate(intent, plan, intent.hash, plan.hash, "")
        return self._judge(proposed, self._context(proposed), accepted=False)

    def _judge(
        self,
        mandate: Mandate,
        context: Context,
        earlier: RunHistory | None = None,
        *,
        accepted: bool = True,
    ) -> list[Verdict]:
        return preflight(
            mandate.plan,
            context,
            reasoner=self._reasoner is not None,
            models=self._reasoner if isinstance(self._reasoner, RoutedReasoner) else None,
            accepted=accepted,
            sub_skills=self._sub_skills,
            agents=Agents(self._home),
            earlier=earlier,
        )

    async def run(self, intent: str, *, resume: bool = False) -> Outcome:
        """Run the accepted plan of an intent.

        Args:
            intent: its ULID or ``matrix://intent/<ulid>``.
            resume: go on with a run that was interrupted; completed nodes are not run again. Of one that had
                completed the outcome is given once more.

        Raises:
            WalkError: VERIFICATION_FAILED (the journal does not hold; exit 6), NOT_ACCEPTED, NO_PLAN,
                RUN_INTERRUPTED (resume was not asked for), ALREADY_RUNNING. Also what reading and writing the
                journal raises. Everything that goes wrong with the plan itself is in the Outcome.
        """
        known = intent_id(intent)
        with run_lock(self._home.path, known):
            while True:
                mandate, view = self._mandate(known, completed=resume)
                if view.state == "executing" and not resume:
                    raise WalkError(
                        "RUN_INTERRUPTED",
                        "a run of this intent was interrupted",
                        place=known,
                        fix=f"go on with it: mcl run {known} --resume",
                    )
                earlier = run_history(self._home.journal, known, view)
                if view.state == "completed":
                    return Outcome(
                        known, "completed", earlier.states, earlier.outputs, envelope_id=view.last_id
                    )
                if (outcome := await self._walk(mandate, earlier)) is not None:
                    return outcome
                resume = True  # a correction has some of it run again

    def _mandate(self, intent: str, *, completed: bool = False) -> tuple[Mandate, View]:
        """What the person signed, with every signature and hash on the way checked again from the bytes.
        completed: may it have completed already?"""
        report = self._home.journal.verify(intent=intent)
        if not report.ok:
            first = report.findings[0]
            where = f" in row {first.seq}" if first.seq else ""
            raise WalkError(
                "VERIFICATION_FAILED",
                f"the journal does not hold: {first.code}{where}: {first.message}",
                place=intent,
                fix="nothing was run; see mcl log verify",
                exit=UNVERIFIED,
                data={"findings": [finding.to_json() for finding in report.findings]},
            )
        view = self._home.journal.view(intent)  # goes on from the rows that were just checked
        mandate = Mandate.of(view)
        if view.state not in RUNNABLE and not (completed and view.state == "completed"):
            raise WalkError(
                "NOT_ACCEPTED",
                f"the intent is {view.state}",
                place=intent,
                fix=way_on(view.state, intent),
                data={"state": view.state},
            )
        if view.schedule is not None:
            raise WalkError(
                "SCHEDULED",
                "it was signed to run at its moments, each run an intent of its own",
                place=intent,
                fix="mcl schedule run fires what is due",
            )
        if mandate is None:
            raise _no_plan(intent)
        return mandate, view

    async def _walk(self, mandate: Mandate, earlier: RunHistory) -> Outcome | None:
        """Walk once. None: a correction came that has what it changes run again, so walk once more."""
        intent, plan = mandate.intent.id, mandate.plan
        clock = self._home.clock
        started = earlier.started_at or clock.now()
        spending = Spending(mandate.intent, plan, clock, started_at=started, used=earlier.used_below())
        context = self._context(mandate, spending)
        ledger = Ledger(self._home, intent, plan)
        verdicts = tuple(self._judge(mandate, context, earlier))
        if refused := [verdict for verdict in verdicts if isinstance(verdict.reply, Deny)]:
            for verdict in refused:
                ledger.note(
                    "refused", {"node": verdict.node_id, **(verdict.reply.to_json() if verdict.reply else {})}
                )
            reply = refused[0].reply
            assert isinstance(reply, Deny)
            refusal = Failure(reply.code, reply.reason, reply.fix, refused[0].node_id, True, reply.example)
            return Outcome(intent, "denied", failure=refusal, verdicts=verdicts)
        context.pins.admit(self._registry.own)
        redactor = self._redactor.knowing(self._credentials.values(self._variables(plan)))
        questions = Questions(ledger, self._people, clock, redactor)
        run = Run(
            KINDS,
            PlanScope(context, self._prompts, (skill_address(plan),)),
            ledger,
            self._registry,
            questions,
            self._listener,
            redactor,
            earlier,
            self._reasoner,
            self._home,
            self._sub_skills,
        )
        failure: Failure | None = None
        criteria: tuple[Criterion, ...] = ()
        mended = ""
        if len(run.tree) >= _LONG:
            self._home.db.make_room(len(run.tree))
        try:
            failure, criteria, cancelled = await self._watched(run, ledger)
            if cancelled:
                return Outcome(intent, "cancelled", run.states, run.outputs, failure, verdicts=verdicts)
            mended = await self._mended(run, ledger, failure, criteria)
            envelope, failure = self._close(run, ledger, failure, criteria)
        except Superseded:
            run.rest()
            if (now := ledger.view().state) in RUNNABLE:
                return None
            if now != "proposed":
                return Outcome(intent, "cancelled", run.states, run.outputs, verdicts=verdicts)
            fix = f"read it and sign it: mcl accept {intent}; then go on: mcl run {intent}"
            what = f"the run was corrected ({mended})" if mended else "the run was corrected"
            stop = Failure("CORRECTED", f"{what}, and that needs a new accept", fix)
            return Outcome(intent, "corrected", run.states, run.outputs, stop, verdicts=verdicts)
        except Contended as contended:
            run.rest()
            return Outcome(intent, "paused", run.states, run.outputs, contended.failure, verdicts=verdicts)
        except LifecycleError as problem:
            if problem.state != "cancelled":
                raise
            return Outcome(intent, "cancelled", run.states, run.outputs, failure, criteria, verdicts)
        state: Literal["completed", "failed", "denied"] = "completed"
        if failure is not None:
            state = "denied" if failure.denied else "failed"
        return Outcome(intent, state, run.states, run.outputs, failure, criteria, verdicts, envelope.id)

    async def _mended(
        self, run: Run, ledger: Ledger, failure: Failure | None, criteria: tuple[Criterion, ...]
    ) -> str:
        """Have the critic correct a run that is about to fail; what it did, "" for nothing. What the gate or
        a person refused stays refused, and what the gate would refuse of the correction is not signed."""
        failed = failure is not None or not all(one.holds for one in criteria)
        if self._critic is None or not failed or (failure is not None and failure.denied):
            return ""
        ledger.flush()
        found = await to_thread.run_sync(self._critic, ledger.intent_id, failure, criteria)
        if found is None:
            return ""
        states = {id: state for id, state in ledger.view().nodes.items() if id not in found.again}
        earlier = replace(run.history, states=states)
        mandate = replace(run.scope.mandate, intent=found.intent, plan=found.plan)
        context = replace(run.scope.context, mandate=mandate)
        for verdict in self._judge(mandate, context, earlier, accepted=False):
            if isinstance(verdict.reply, Deny):
                ledger.note("refused", {"node": verdict.node_id, **verdict.reply.to_json()})
                return ""
        if not await to_thread.run_sync(found.sign):
            return ""
        run.tell_pending(found.node, found.says)
        return found.says

    def _close(
        self, run: Run, ledger: Ledger, failure: Failure | None, criteria: tuple[Criterion, ...]
    ) -> tuple[Envelope, Failure | None]:
        """Write how the run ended, under what counts by then. Raises Superseded where it goes on instead."""
        while True:
            run.adopt()
            if failure is None:  # the node of a wish may have been taken out meanwhile
                undone = (one for _, one in unplanned(run.scope.mandate, self._sub_skills))
                failure = next((Failure(one.code, one.reason, one.fix) for one in undone), None)
            try:
                promised = run.scope.context.standings()
                return close(ledger, run.scope.mandate, failure, criteria, self._failures, promised)
            except Superseded:
                continue  # corrected between the look and the write

    async def _watched(self, run: Run, ledger: Ledger) -> tuple[Failure | None, tuple[Criterion, ...], bool]:
        """Walk, look at the success criteria, and stop as soon as a person cancels the intent. Gives the
        failure, the criteria, and whether it was cancelled."""
        failure: Failure | None = None
        criteria: tuple[Criterion, ...] = ()
        try:
            async with anyio.create_task_group() as tasks:

                async def watch() -> None:
                    while ledger.view().state != "cancelled":
                        await anyio.sleep(_WATCH_S)
                    tasks.cancel_scope.cancel()

                tasks.start_soon(watch)
                failure = await self._engine.walk(run.tree.root, run)
                criteria = await (left_behind(run) if failure else judge(run.scope.context, run, self._home))
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            first = first_error(group)
            # Cancelled between a look at the journal and a write to it: the journal refused the write.
            if not (isinstance(first, LifecycleError) and first.state == "cancelled"):
                raise first from group
        return failure, criteria, ledger.view().state == "cancelled"

    def _open(self) -> Workspace:
        if self._workspace is None:
            self._workspace = workspace_of(self._home, self._place)
        return self._workspace

    def _context(self, mandate: Mandate, spending: Spending | None = None) -> Context:
        home, agent, workspace = self._home, self._home.keyring.agent.did, self._open()
        pins, grants = Pins(home), Grants(home)
        pins.meet(self._registry.own)

        def record(kind: str, body: dict[str, object]) -> None:
            Ledger(home, mandate.intent.id, mandate.plan).note(kind, body)

        return Context(
            agent=agent,
            tools=self._registry,
            workspace=workspace,
            policy=PolicyFile(home, self._registry),
            pins=pins,
            grants=grants,
            approvals=Approvals(home),
            clock=home.clock,
            record=record,
            locks=Locks(SharedLocks(home.path / "locks", workspace.root, mandate.intent.id)),
            mandate=mandate,
            view=lambda: home.journal.view(mandate.intent.id),
            spending=spending,
            holds_run=True,
            credentials=self._credentials,
            personal=lambda did: is_personal(home.keyring, did),
            moment=home.db.moment,
            allowed=allowed_roots(home.allowed, home.path),
            signers=lambda: Signers.of(home.keyring.entries()),
        )

    def _variables(self, plan: PlanTree) -> Iterator[str]:
        """The variables that the calls of a plan take credentials from."""
        for call in (node.tool_call for node, _ in plan.root.walk() if node.tool_call):
            if manifest := self._registry.find(call.tool_ref):
                yield from credentials_of(call.args, manifest).values()


def _no_plan(intent: str) -> WalkError:
    return WalkError(
        "NO_PLAN",
        "no plan was accepted for this intent",
        place=intent,
        fix="compile with a skill that has a plan, then accept it",
    )
