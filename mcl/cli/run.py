"""`mcl run` and `mcl undo`: walk the plan that was signed, watch it, and put files back as they were."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mcl.cli.arguments import (
    AsJson,
    IntentId,
    ModelPath,
    NoAi,
    SkillDirectories,
    Workspace,
    Yes,
    argument,
    complete_intent,
    folder,
    option,
    verb,
)
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_event
from mcl.cli.people import agreed
from mcl.cli.views.layout import commands

if TYPE_CHECKING:
    from executor.store.home import Home
    from executor.walker.interfaces import Listener, WalkEvent
    from executor.walker.questions import GateAnswer, GateQuestion, People
    from ir import PlanTree
    from mcl.usecases.intents import Shown

verbs = typer.Typer()


@verb(verbs, "run")
def run_command(
    intent: IntentId,
    yes_gates: Annotated[
        bool, option("--yes-gates", "Approve every gate unseen; for scripts whose author read the plan.")
    ] = False,
    deny_gates: Annotated[bool, option("--deny-gates", "Refuse at every gate; ask nobody.")] = False,
    wait_gates: Annotated[
        bool, option("--wait-gates", "Ask nobody here; wait until somebody decides with mcl gate.")
    ] = False,
    resume: Annotated[bool, option("--resume", "Go on with a run that was interrupted.")] = False,
    workspace: Workspace = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Run the accepted plan of an intent.

    Every call is judged by the gate and kept in the journal.

    Exit codes: 0 done (with --resume also where it was done before), 4 refused, cancelled or paused, 5
    failed, 6 the journal does not hold, 10 corrected: accept it again. With --json: one line an event, the
    outcome last.
    """
    from mcl.cli.views.walk import next_steps, outcome_view, uncovered_view
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
    tree = with_plans_below(found, home, workspace, skills)
    display, listener = display_of(found.id, tree, out)
    try:
        with display:
            outcome = run(
                found.id,
                home=home,
                workspace=workspace or Path.cwd(),
                people=people_of(
                    home, listener, yes=yes_gates, no=deny_gates or not answers, wait=wait_gates
                ),
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


def with_plans_below(
    found: "Shown", home: "Home", workspace: Path | None, skills: "list[Path] | None"
) -> "PlanTree | None":
    """The plan as it is watched: those of its sub-dispatches below their nodes."""
    if found.plan is None or not any(node.sub_dispatch for node, _ in found.plan.root.walk()):
        return found.plan
    from mcl.usecases.plans import show as plan

    return plan(found.id, home=home, workspace=workspace, skills=skills or ()).unfolded


def display_of(
    intent: str, plan: "PlanTree | None", out: Output
) -> "tuple[AbstractContextManager[object], Listener]":
    """How a run is watched: what holds the terminal while it lasts, and what is told of it."""
    from mcl.cli.views.walk import LiveTree, NodeLines

    if out.as_json:
        return nullcontext(), Events(intent, plan)
    if plan is not None and out.people.is_terminal and not out.people.is_dumb_terminal:
        tree = LiveTree(plan, out.people)
        return tree, tree
    return nullcontext(), NodeLines(out.people)


def people_of(home: "Home", listener: "Listener | None", *, yes: bool, no: bool, wait: bool) -> "People":
    """Who is asked in a run. yes, no, wait: approve all, refuse all, or wait for others; else a person
    here."""
    from executor.walker.questions import AlwaysApprove, AlwaysDeny
    from mcl.cli.people import AtTerminal, Elsewhere
    from mcl.cli.views.walk import LiveTree

    pause = listener.pause if isinstance(listener, LiveTree) else None
    quiet = pause or (lambda asking: None)
    asked: People = (
        Elsewhere(quiet) if wait else AtTerminal(quiet, corrections=lambda *said: _correction(home, *said))
    )
    people: People = AlwaysApprove() if yes else AlwaysDeny() if no else asked
    return ToldPeople(people, listener) if isinstance(listener, Events) else people


def _correction(home: "Home", intent: str, words: str) -> "tuple[list[str], Callable[[], object]]":
    """A correction that is typed at a gate: what it comes to, line by line, and what signs it."""
    from functools import partial

    from ir.display import clear, of_value
    from mcl.usecases.corrections import propose_correction, sign_correction

    proposal = propose_correction(intent, words=words, home=home)
    lines = [
        f"  {clear(one.place)}: {of_value(one.before)} → {of_value(one.after)}" for one in proposal.changes
    ]
    last = "stops until it is accepted again" if proposal.material else "goes on, and asks again"
    return [*lines, f"  The run {last}."], partial(sign_correction, proposal, home=home)


# ---- `mcl run --json`: one line an event, each written at once.


class Events:
    """Writes what happens in a run."""

    def __init__(self, intent: str = "", plan: "PlanTree | None" = None) -> None:
        from executor.core.clock import SystemClock

        self._clock = SystemClock()
        count = sum(1 for _ in plan.root.walk()) if plan else 0
        plan_hash = plan.hash if plan else ""
        # Written with the first event: a run that is refused before it begins is one error and nothing else.
        self._first: dict[str, object] = {"event": "run", "intent": intent}
        self._first |= {"plan_hash": plan_hash, "nodes": count}

    def on(self, event: "WalkEvent") -> None:
        from mcl.usecases.documents import of_event

        self._write(of_event(event))

    def spoke(self, node_id: str, text: str) -> None:
        """A node said something while it runs."""
        self._write({"event": "output", "node": node_id, "text": text})

    def end(self, outcome: Mapping[str, object]) -> None:
        """The last line: how it ended."""
        self._write({"event": "outcome", **outcome})

    def asked(self, gate: "GateQuestion") -> None:
        from mcl.usecases.documents import of_question_asked

        self._write(of_question_asked(gate))

    def _write(self, event: Mapping[str, object]) -> None:
        first, self._first = self._first, {}
        for one in (first, event) if first else (event,):
            write_event({**one, "at": self._clock.now()})


class ToldPeople:
    """People whose questions are events too, so that a program knows what the run waits for."""

    def __init__(self, people: "People", events: Events) -> None:
        self._people = people
        self._events = events

    async def ask(self, gate: "GateQuestion") -> "GateAnswer | None":
        """Tell of the question, then put it."""
        self._events.asked(gate)
        return await self._people.ask(gate)


# ---- `mcl undo`: put files back as they were.


_DAYS = 30


@verb(verbs, "undo")
def undo_command(
    intent: Annotated[
        str,
        argument(
            "INTENT", "Id of an intent, a unique beginning of it, or @last.", autocompletion=complete_intent
        ),
    ] = "",
    node: Annotated[str, option("--node ID", "Only what this node, or those below it, changed.")] = "",
    leave: Annotated[
        list[str] | None, option("--except PATH", "Leave this file as it is; may be given several times.")
    ] = None,
    check: Annotated[bool, option("--check", "Only show what would happen.")] = False,
    yes: Yes = False,
    prune: Annotated[
        bool, option("--prune", "Remove what is kept for old intents; they cannot be undone then.")
    ] = False,
    days: Annotated[
        int | None, option("--days", f"With --prune: ended more than so many days ago (else {_DAYS}).", min=0)
    ] = None,
    workspace: Annotated[
        Path | None, option("--workspace DIR", "Where the folder lies now, if it was moved.", parser=folder)
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Put the files back that a run changed, as they were before it.

    Those files only: all of them, or none where one was changed since. Files that the run made are removed.
    What processes and the network did stays.

    Exit codes: 0 done, or with --check could be done; 4 refused, or you do not agree.
    """
    if prune == bool(intent) or (days is not None and not prune):
        raise typer.BadParameter("name an INTENT, or give --prune (with --days)")
    home, out = use_home(signs=True), Output(as_json)
    if prune:
        return _prune(home, out, _DAYS if days is None else days)
    return undo_shown(home, out, intent, node, tuple(leave or ()), workspace, check=check, yes=yes)


def _prune(home: "Home", out: Output, days: int) -> int:
    from mcl.cli.views.walk import pruned_view
    from mcl.usecases.runs import prune_undo

    pruned = prune_undo(days=days, home=home)
    out.show(pruned, pruned_view(pruned))
    return 0


def undo_shown(
    home: "Home",
    out: Output,
    intent: str,
    node: str = "",
    leave: tuple[str, ...] = (),
    workspace: Path | None = None,
    *,
    check: bool,
    yes: bool,
) -> int:
    """Show what would be put back, ask, and put it back; the arguments are those of the command."""
    from ir.errors import REFUSED
    from mcl.cli.views.walk import undo_view
    from mcl.usecases.runs import undo

    seen = undo(intent, node=node, leave=leave, check=True, workspace=workspace, home=home)
    if check or seen.state in ("already", "nothing"):
        out.show(seen, undo_view(seen))
        return REFUSED if seen.state == "changed" else 0
    if not (yes and seen.state == "ready"):
        out.tell(undo_view(seen))
    count = len(seen.restored) + len(seen.removed)
    what = "this file" if count == 1 else f"these {count} files"
    if seen.state == "ready" and not yes and not agreed(f"Put {what} back?"):
        note("nothing was touched")
        return REFUSED
    done = undo(seen.intent, node=node, leave=leave, workspace=workspace, home=home)
    out.show(done, undo_view(done))
    return 0


GROUPS: Final = (verbs,)
