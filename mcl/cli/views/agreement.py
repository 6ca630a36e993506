"""What is shown once before one answer signs and runs it, and what came of it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType

from ir.display import clear
from mcl.cli.views.exact import changes_view, exact, refusals_view
from mcl.cli.views.intent import intent_view
from mcl.cli.views.layout import BAD, DIM, STRONG, WARN, commands, plain
from mcl.cli.views.plan import plan_view
from mcl.cli.views.walk import may_write, outcome_view

if TYPE_CHECKING:
    from mcl.usecases.do import DoOutcome
    from mcl.usecases.do_proposal import AskedCall, DoProposal


def proposal_view(proposal: "DoProposal", console: Console) -> Iterator[RenderableType]:
    """The Intent and its plan with the gate's verdicts: what would be signed; of a correction what it
    changes."""
    if proposal.correction is not None:
        yield plain("Goes on from the last goal; this becomes otherwise:", STRONG)
        yield from changes_view(proposal.correction.changes)
        yield ""
    yield from intent_view(proposal.planned.intent, console, state=proposal.planned.state)
    yield ""
    yield from plan_view(proposal.planned, console)
    yield from refusals_view(proposal.planned.refused)
    if proposal.review:
        yield ""
        yield exact((f"To be read with care: {clear(proposal.review)}", WARN))


def asked_view(asked: "Sequence[AskedCall]") -> Iterator[RenderableType]:
    """The calls that one word may approve, each whole, and which of them are irreversible."""
    for call in asked:
        yield ""
        if call.irreversible:
            yield exact(("IRREVERSIBLE", BAD), (clear(call.node_id), BAD))
        yield exact((call.question, WARN))


def done_view(proposal: "DoProposal", done: "DoOutcome") -> Iterator[RenderableType]:
    """What it gave, how it ended, and what can be done about it."""
    outcome, id = done.outcome, proposal.id
    if outcome is None:
        return
    plan = proposal.planned.unfolded
    yield from outcome_view(outcome, plan)
    steps = [(f"mcl log {id}", "what was signed")]
    if outcome.nodes and may_write(plan, outcome.nodes):
        steps = [(f"mcl undo {id}", "put the files back"), *steps]
    if outcome.state == "failed":
        steps = [(f'mcl correct {id} "…"', "say what is to be otherwise, and go on from there"), *steps]
    if proposal.only_reads and done.signed is not None:
        made = proposal.compiled.intent.compile_metadata
        skill = f"{made.skill_id}, " if made is not None and made.skill_id else ""
        said = " ".join(f"{one.name}={one.value}" for one in proposal.compiled.intent.frame.objects)
        yield plain(f"{skill}{said}" if said else skill.rstrip(", "), DIM)
        yield plain(
            "It only reads, so it ran at once, and is signed unseen (mcl config set do.reads ask).", DIM
        )
        steps = [(f"mcl why {id}", "why just this")]
    yield commands(steps)
