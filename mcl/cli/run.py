"""`mcl run`: walk the plan that was signed, and watch it."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, IntentId, ModelPath, NoAi, SkillDirectories, Workspace, example
from mcl.cli.output import Output, note

if TYPE_CHECKING:
    from executor.store.home import Home
    from executor.walker.interfaces import Listener
    from executor.walker.questions import People
    from ir import PlanTree
    from mcl.usecases.intents import Shown


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    app.command(
        "run",
        epilog=example(
            "mcl run @last", "mcl run 01K --deny-gates --workspace ~/project", "mcl run @last --resume"
        ),
    )(run_command)


def run_command(
    intent: IntentId,
    yes_gates: Annotated[
        bool,
        typer.Option(
            "--yes-gates", help="Approve every gate unseen; for scripts whose author read the plan."
        ),
    ] = False,
    deny_gates: Annotated[
        bool, typer.Option("--deny-gates", help="Refuse at every gate; ask nobody.")
    ] = False,
    wait_gates: Annotated[
        bool,
        typer.Option("--wait-gates", help="Ask nobody here; wait until somebody decides with mcl gate."),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    workspace: Workspace = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Run the accepted plan of an intent.

    Every call is judged by the gate and kept in the journal.

    Exit codes: 0 done (with --resume also where it was done before), 4 refused or cancelled, 5 failed, 6 the
    journal does not hold, 10 corrected: accept it again. With --json: one line an event, the outcome last.
    """
    from mcl.cli.events import Events
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import commands
    from mcl.cli.views.undo import uncovered_view
    from mcl.cli.views.walk import next_steps, outcome_view
    from mcl.usecases.authority.door import may_answer
    from mcl.usecases.intents import show
    from mcl.usecases.run import run
    from mcl.usecases.runs import not_covered, runs_of

    if yes_gates + deny_gates + wait_gates > 1:
        raise typer.BadParameter("--yes-gates, --deny-gates and --wait-gates exclude each other")
    home, out = use_home(signs=True), Output(as_json)
    answers = yes_gates or deny_gates or wait_gates or may_answer(home)
    if not answers:
        note("no person can answer here, so each question is refused; mcl gate answers with --wait-gates")
    found = show(intent, home=home)
    if resume and found.state == "completed":
        note(f"this run had completed already; nothing is run again: {found.id}")
    tree = _with_plans_below(found, home, workspace, skills)
    display, listener = _display(found.id, tree, out)
    try:
        with display:
            outcome = run(
                found.id,
                home=home,
                workspace=workspace or Path.cwd(),
                people=_people(listener, yes=yes_gates, no=deny_gates or not answers, wait=wait_gates),
                listener=listener,
                resume=resume,
                model=model,
                ai=not no_ai,
                skills=skills or (),
            )
    except KeyboardInterrupt:
        note(f"interrupted; go on with it: mcl run {found.id} --resume")
        raise
    if isinstance(listener, Events):
        listener.end(outcome.to_json())
    else:
        out.tell(["", *outcome_view(outcome, tree), *uncovered_view(not_covered(found.id, home=home))])
        compiled = found.intent is not None and found.intent.compile_metadata is not None
        out.tell([commands(next_steps(outcome, tree, compiled=compiled))])
    own = runs_of(found)
    return outcome.exit or (own.exit(outcome.outputs) if own is not None else 0)


def _with_plans_below(
    found: "Shown", home: "Home", workspace: Path | None, skills: "list[Path] | None"
) -> "PlanTree | None":
    """The plan as it is watched: those of its sub-dispatches below their nodes."""
    if found.plan is None or not any(node.sub_dispatch for node, _ in found.plan.root.walk()):
        return found.plan
    from mcl.usecases.plans import show as plan

    return plan(found.id, home=home, workspace=workspace, skills=skills or ()).unfolded


def _display(
    intent: str, plan: "PlanTree | None", out: Output
) -> "tuple[AbstractContextManager[object], Listener]":
    from mcl.cli.events import Events
    from mcl.cli.views.live import LiveTree
    from mcl.cli.views.walk import Lines

    if out.as_json:
        return nullcontext(), Events(intent, plan)
    if plan is not None and out.people.is_terminal and not out.people.is_dumb_terminal:
        tree = LiveTree(plan, out.people)
        return tree, tree
    return nullcontext(), Lines(out.people)


def _people(listener: "Listener", *, yes: bool, no: bool, wait: bool) -> "People":
    from executor.walker.questions import AlwaysApprove, AlwaysDeny
    from mcl.cli.events import Events, ToldPeople
    from mcl.cli.people import AtTerminal, Elsewhere
    from mcl.cli.views.live import LiveTree

    pause = listener.pause if isinstance(listener, LiveTree) else None
    here: type[AtTerminal | Elsewhere] = Elsewhere if wait else AtTerminal
    asked = here(pause) if pause else here()
    people: People = AlwaysApprove() if yes else AlwaysDeny() if no else asked
    return ToldPeople(people, listener) if isinstance(listener, Events) else people
