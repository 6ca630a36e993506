"""run_intent: walk the plan that a person accepted. What nobody accepted is refused; each call of the plan is
judged by the gate, and its questions go to a person."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from anyio import create_task_group, get_cancelled_exc_class, move_on_after

from executor.core.errors import WalkError
from executor.core.hashing import json_hash
from mcl.plugins.mcp.offered.intents import bounded, how_it_goes_on
from mcl.serve.exchange import Caller, Filled, Form, Json, Reply, WantedForms, refused
from mcl.serve.offered import offered

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from executor import Outcome
    from mcl.plugins.mcp.service import ServedRun, Service
    from mcl.serve.exchange import Channel
    from mcl.usecases.intents import Shown

RUNNABLE: Final = ("accepted", "executing")
LONGEST: Final = 3600  # seconds that one call waits
_FORM: Final = "gate"
_STEP: Final = 0.001  # by which progress grows where nothing was done


async def _run(session: Service, arguments: Json, caller: Caller) -> Reply:
    """Begin a run, or wait on for one that is under way here."""
    from mcl.usecases.intents import show

    found = show(str(arguments["intent"]), home=session.home)
    caller = replace(caller, channel=_Steady(caller.channel))
    run = session.runs.of(found.id)
    if run is None:
        asks = session.corrections.may_ask(found, caller)
        if not asks:
            _require_accepted(session, found)
        run = _begin(session, found, caller, asks=asks, resume=bool(arguments.get("resume")))
    elif not (run.begun or caller.can_elicit):
        _require_accepted(session, found)
    _answer(session, run, caller)
    wait: Any = arguments.get("wait_s", LONGEST)
    try:
        with move_on_after(wait):
            if (wanted := await _followed(session, run, caller)) is not None:
                return wanted
    except get_cancelled_exc_class():
        run.scope.cancel()
        raise
    if not (run.done or run.begun):
        found = show(found.id, home=session.home)
        return Reply(
            {"id": found.id, "state": found.state, "how_to_go_on": how_it_goes_on(session.home, found)}
        )
    if not run.done:
        return Reply(
            {
                "id": found.id,
                "state": "executing",
                "how_to_go_on": "it runs on; call run_intent again to wait for it, or get_intent to look",
            }
        )
    if run.problem is not None:
        raise run.problem
    return _told(session, found.id, run.outcome)


def _answer(session: Service, run: ServedRun, caller: Caller) -> None:
    """Take what a client brought back, where it was shown just this question, in this process."""
    said = session.questions.states.read(caller, run.intent) if _FORM in caller.filled else None
    if said is not None and run.form is not None and said["form"] == json_hash(run.form.message):
        run.answer(caller.filled[_FORM], int(said["asked"]))


async def _followed(session: Service, run: ServedRun, caller: Caller) -> Reply | None:
    """Wait for the end of a run, tell how far it is, and show what it asks; a reply where the client has to
    come back with the answer."""
    while True:
        while run.said:
            ended, words = run.said.popleft()
            await caller.channel.progress(ended, max(run.nodes, ended), words)
        if run.done:
            return None
        if run.form is None or not caller.can_elicit:
            await run.news()
        elif caller.elicit is None:
            form, asked = json_hash(run.form.message), str(run.asked)
            state = session.questions.states.give(caller, run.intent, asked=asked, form=form)
            return Reply(wanted=WantedForms({_FORM: run.form}, state))
        elif not await _shown(run, run.form, caller):
            caller = replace(caller, can_elicit=False)
            if (
                not run.begun
            ):  # only a form could say what is to be otherwise; a gate is decided elsewhere, too
                run.answer(Filled("cancel"), run.asked)


async def _shown(run: ServedRun, form: Form, caller: Caller) -> bool:
    """Have a client of the handshake era show a form, until somebody answered it, there or elsewhere; False
    where the client cannot, whatever it says of itself: then `mcl gate` is left."""
    from mcp.shared.exceptions import MCPError

    asked, able = run.asked, True

    async def show(tasks: TaskGroup) -> None:
        nonlocal able
        assert caller.elicit is not None
        try:
            run.answer(await caller.elicit(form), asked)
        except (MCPError, ValueError, TypeError):
            able = False
        tasks.cancel_scope.cancel()

    async with create_task_group() as tasks:
        tasks.start_soon(show, tasks)
        while run.form is form and not run.done:
            await run.news()
        tasks.cancel_scope.cancel()
    return able


def _begin(session: Service, found: Shown, caller: Caller, *, asks: bool, resume: bool) -> ServedRun:
    """Walk a plan. asks: which nobody accepted yet, or whose run failed; it is asked first what is to be
    otherwise, and walked if somebody accepts it meanwhile."""
    from mcl.plugins.mcp.forms import plan_people
    from mcl.usecases.intents import show
    from mcl.usecases.run import walk_plan

    made = session.compiler

    async def walk(run: ServedRun) -> Outcome:
        if asks:
            run.begun = False
            await session.corrections.before_accept(run.elicit, found)
            _require_accepted(session, show(found.id, home=session.home))
            run.begun = True
        shows = replace(caller, elicit=run.elicit if caller.can_elicit else None)
        with session.channels.open(found.id, "", _Aside(caller.channel)):
            return await walk_plan(
                session.home,
                found.id,
                tools=session.registry,
                workspace=session.workspace.root,
                people=plan_people(session, shows, session.corrections.at_gate),
                listener=run,
                resume=resume,
                model=made.model,
                ai=made.ai,
                skills=made.skills,
            )

    nodes = sum(1 for _ in found.plan.root.walk()) if found.plan is not None else 0
    return session.runs.start(found.id, nodes, walk)


class _Steady:
    """A channel whose progress always grows, as the protocol wants, also while a run waits for a person."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._last = -_STEP
        self._total: float | None = None

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """total: of nodes; None where somebody only says that it still waits."""
        self._total = self._total if total is None else total
        wanted = self._last if total is None else progress
        self._last = max(wanted, self._last + _STEP)
        await self._channel.progress(self._last, self._total, message)

    async def log(self, level: str, data: object, logger: str | None) -> None:
        await self._channel.log(level, data, logger)


class _Aside:
    """What the servers of a plan's nodes say: their log goes on, and how far each is says nothing of how far
    the plan is."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        pass

    async def log(self, level: str, data: object, logger: str | None) -> None:
        await self._channel.log(level, data, logger)


def _require_accepted(session: Service, found: Shown) -> None:
    """Raise WalkError NOT_ACCEPTED for what no person accepted, or what has ended."""
    if found.state in RUNNABLE:
        return
    fix = how_it_goes_on(session.home, found)
    message = f"no person accepted this intent: it is {found.state}"
    if found.state == "failed" and fix:
        message = "the run of this intent failed, and no person has corrected it"
    raise WalkError(
        "NOT_ACCEPTED",
        message if fix else f"this intent is {found.state}, and runs no more",
        place=found.id,
        fix=fix or "get_intent tells what came of it; state the goal again: compile_intent",
        data={"state": found.state},
    )


def _told(session: Service, id: str, outcome: Outcome | None) -> Reply:
    """How a run ended; what did not complete is an error that says why, and how it goes on."""
    from mcl.usecases.intents import show

    if outcome is None:
        return refused(
            "INTERRUPTED",
            "the run was interrupted; what it had begun is in the journal",
            fix="go on with it: run_intent with resume = true",
            example={"intent": id, "resume": True},
        )
    told = cast("dict[str, Any]", session.redactor.value(outcome.to_json()))
    answer = {
        "id": id,
        "state": outcome.state,
        "nodes": told["nodes"],
        "outputs": bounded(told["outputs"]),
        "criteria": told["criteria"],
        "evidence": outcome.envelope_id,
    }
    failure = outcome.failure
    if failure is None:
        return Reply(answer)
    if way := how_it_goes_on(session.home, show(id, home=session.home)):
        answer["how_to_go_on"] = way
    return refused(
        failure.code,
        session.redactor.text(failure.message),
        fix=failure.fix,
        example=failure.example,
        data={**answer, "node": failure.node_id},
        blocked=failure.denied,
    )


RUN_INTENT: Final = offered(__file__, "run_intent", _run)
