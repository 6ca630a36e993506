"""`mcl list`, `show`, `accept` and `cancel`: the intents of a home, and a person's word on them."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mcl.cli.arguments import (
    AsJson,
    IntentId,
    LastIntent,
    ModelPath,
    NoAi,
    Reason,
    SkillDirectories,
    Workspace,
    Yes,
    argument,
    as_typed,
    option,
    verb,
)
from mcl.cli.home import tell_unattended, use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed
from mcl.cli.views.layout import BAD, DIM, WARN, age, commands, listing, plain
from mcl.core.text import counted, one_line

if TYPE_CHECKING:
    from executor import Verdict
    from executor.core.errors import GateError

verbs = typer.Typer()
_SHORT = 8  # characters of an id's end: those of a day have the same beginning


# ---- What is known of them.


@verb(verbs, "show")
def show_command(
    intent: IntentId,
    why: Annotated[bool, option("--why", "Also show why its open questions are asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show an intent: its goal, Frame, questions, plan and state; of a review what it found."""
    from mcl.usecases.documents import of_shown
    from mcl.usecases.intents import show
    from mcl.usecases.runs import runs_of

    home, out = use_home(), Output(as_json)
    found = show(intent, home=home)
    own = runs_of(found)
    added, text = own.said(home, found) if own is not None else ({}, "")
    reasons = None
    if why:
        from mcl.usecases.compile import why_asked

        reasons = why_asked(found.id, home=home)
        added = {**added, "why": reasons.document() if reasons is not None else None}
    out.document(of_shown(found) | added)
    if not as_json:
        from mcl.cli.views.intent import shown_view

        out.tell(shown_view(found, out.people, found_text=text))
    if reasons is not None and not as_json:
        from mcl.cli.views.reasons import reasons_view

        out.tell(reasons_view(reasons))
    elif why and not as_json:
        note("nothing is asked here, or skills and memories changed since: mcl compile GOAL --why --dry-run")


@verb(verbs, "why")
def why_command(
    intent: LastIntent = "@last",
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> None:
    """Tell why a goal was understood just so.

    Which skills were weighed, which word became what and how surely, what memory gave, and which limit
    decided. It is compiled once more for it; nothing is stored.
    """
    from mcl.usecases.why import why

    out = Output(as_json)
    found = why(intent, home=use_home(), model=model, ai=not no_ai, skills=skills or ())
    out.document(found.to_json())
    if not as_json:
        from mcl.cli.views.reasons import why_view

        out.tell(why_view(found))


@verb(verbs, "list")
def list_command(
    text: Annotated[
        list[str] | None, argument("[WORD]...", "Only intents with these words.", show_default=False)
    ] = None,
    state: Annotated[str, option("--state STATE", "Only intents in this state.")] = "",
    limit: Annotated[int, option("--limit N", "At most so many; 0: all.", min=0)] = 50,
    goal: Annotated[
        str, option("--goal ID", "Only intents for this goal: its name, an intent for it, or @last.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the intents, the one last written about first."""
    from ir.intent import STATES
    from mcl.cli.views.intent import STATE_STYLES
    from mcl.core.errors import InputError
    from mcl.usecases.compile import goal_of
    from mcl.usecases.intents import list_intents

    if state and state not in STATES:
        fix = f"one of: {', '.join(STATES)}"
        raise InputError("STATE_UNKNOWN", f"no intent can be {state!r}", place="state", fix=fix)
    home, words = use_home(), " ".join(map(as_typed, text or ()))
    found = list_intents(home=home, limit=limit, state=state, goal=goal_of(goal, home), text=words)
    out, now = Output(as_json), home.clock.now()
    out.document({"intents": found})
    lines = [
        (
            (f"@{one.number}", ""),
            (one.id[-_SHORT:], ""),
            ("waits for you", WARN)
            if one.waits
            else (one.flaw or one.state, BAD if one.flaw else STATE_STYLES.get(one.state, "cyan")),
            (age(one.at, now), DIM),
            (one_line(one.prose, 120), ""),
        )
        for one in found
    ]
    if not as_json:
        none = f"no intent is {state}" if state else "no intents yet"
        none = f"no intent is for the goal {goal}" if goal else none
        none = f"no intent says {words}" if words else none
        out.page([listing(("", "intent", "state", "drafted", "goal"), lines)] if lines else [none])
        if waiting := sum(one.waits for one in found):
            note(f"{counted(waiting, 'question')} for you: mcl gate list")


# ---- `mcl accept`: a person reads an Intent and its plan, and signs both.


@verb(verbs, "accept")
def accept_command(
    intent: IntentId,
    yes: Yes = False,
    plan_hash: Annotated[
        str, option("--plan-hash HASH", "The plan you read; --yes needs it where a model wrote it.")
    ] = "",
    workspace: Workspace = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Read an intent and its plan, and sign both.

    Shows them, and which models steps will be asked of (name the one that you will run with), asks, and signs
    the hashes of both with your key.

    Exit code 4 when you do not agree, or when the intent may not be accepted. With --yes also when the gate
    would refuse the plan as things are: you are told, and nothing is signed.
    """
    from ir.errors import REFUSED
    from ir.results import fields_json
    from mcl.cli.views.exact import refusals_view
    from mcl.cli.views.intent import intent_view
    from mcl.cli.views.plan import plan_view
    from mcl.usecases.accept import accept, acceptable
    from mcl.usecases.plans import show as plan

    home, out = use_home(signs=True), Output(as_json)
    found = acceptable(intent, home=home)
    seen = None
    if found.plan is not None:
        place = workspace or Path.cwd()
        seen = plan(found.id, home=home, workspace=place, skills=skills or (), model=model, ai=not no_ai)
    refused = seen.refused if seen else ()
    if not (as_json and yes):
        out.tell(intent_view(found.intent, out.people, state=found.state))
        if seen is not None:
            out.tell(["", *plan_view(seen, out.people), *refusals_view(refused)])
        else:
            out.tell(["", plain("No plan: this skill only understands; there is nothing to run.", "dim")])
    tell_unattended(home)
    if yes and refused:
        raise _would_be_refused(found.id, refused)
    what = "It would be refused, as things are. " if refused else ""
    if not yes and not agreed(f"{what}Sign this intent and this plan?"):
        note("not accepted; nothing was signed")
        return REFUSED
    seen_hash = plan_hash or (None if yes else found.view.plan_hash)
    signed = accept(
        found.id,
        home=home,
        intent_hash=found.intent.hash,
        plan_hash=seen_hash,
        skills=skills or (),
        unseen=yes,
    )
    models = {one.node_id: asdict(one.model) for one in (seen.verdicts if seen else ()) if one.model}
    told = {"models": models} if models else {}
    out.document({**fields_json(signed), **home.marks, **told, "next": f"mcl run {found.id}"})
    if not as_json:
        out.tell(["", plain(f"accepted, signed by {signed.signed_by}", "green")])
        out.tell(plain(f"remembered {uri}", "dim") for uri in signed.remembered)
        out.tell([commands([(f"mcl run {found.id}", "run it")])] if signed.plan_hash else [])
    return 0


@verb(verbs, "cancel")
def cancel_command(
    intent: IntentId,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Cancel an intent that has not ended.

    A walk in another process stops before its next node.
    """
    from mcl.usecases.intents import cancel

    envelope = cancel(intent, reason=reason, home=use_home(signs=True))
    id = envelope.intent.rpartition("/")[2]
    Output(as_json).document(
        {"intent_id": id, "state": "cancelled", "reason": reason, "envelope": envelope.id}
    )
    note(f"cancelled {id}")


def _would_be_refused(id: str, refused: "Sequence[Verdict]") -> "GateError":
    from executor.core.errors import GateError
    from executor.gate.verdict import Deny

    first = next(one for one in refused if isinstance(one.reply, Deny))
    assert isinstance(first.reply, Deny)
    where = first.node_id or "this plan"
    return GateError(
        "PLAN_REFUSED",
        f"the gate would refuse {where}: {first.reply.code}: {first.reply.reason}; nothing was signed",
        place=id,
        fix=f"{first.reply.fix}; without --yes you are asked all the same",
    )


GROUPS: Final = (verbs,)
