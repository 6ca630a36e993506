"""`mcl show` and `mcl list`: what the journal says about one intent, and about all."""

from dataclasses import asdict
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, IntentId, example
from mcl.cli.output import Output


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    app.command("show", epilog=example("mcl show @last", "mcl show 01K --json"))(show_command)
    app.command("list", epilog=example("mcl list", "mcl list --state proposed"))(list_command)


def show_command(intent: IntentId, as_json: AsJson = False) -> None:
    """Show an intent: its goal, Frame, questions, plan and state; of a review what it found."""
    from mcl.cli.home import use_home
    from mcl.usecases.documents import of_shown
    from mcl.usecases.intents import show
    from mcl.usecases.runs import runs_of

    home, out = use_home(), Output(as_json)
    found = show(intent, home=home)
    own = runs_of(found)
    added, text = own.said(home, found) if own is not None else ({}, "")
    out.document(of_shown(found) | added)
    if not as_json:
        from mcl.cli.views.intent import shown_view

        out.tell(shown_view(found, out.people, found_text=text))


def list_command(
    state: Annotated[str, typer.Option("--state", metavar="STATE", help="Only intents in this state.")] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="At most so many; 0: all.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the intents, the one last written about first."""
    from ir.intent import STATES
    from mcl.cli.home import use_home
    from mcl.cli.views.intent import STATE_STYLES
    from mcl.cli.views.layout import BAD, DIM, listing, moment
    from mcl.core.errors import InputError
    from mcl.core.text import one_line
    from mcl.usecases.intents import list_intents

    if state and state not in STATES:
        fix = f"one of: {', '.join(STATES)}"
        raise InputError("STATE_UNKNOWN", f"no intent can be {state!r}", place="state", fix=fix)
    found = list_intents(home=use_home(), limit=0 if state else limit)
    if state:
        found = tuple(one for one in found if one.state == state)[: limit or None]
    out = Output(as_json)
    out.document({"intents": [asdict(one) for one in found]})
    lines = [
        (
            (one.id, ""),
            (one.flaw or one.state, BAD if one.flaw else STATE_STYLES.get(one.state, "cyan")),
            (moment(one.at[:16] + "Z"), DIM),
            (one_line(one.prose, 120), ""),
        )
        for one in found
    ]
    if not as_json:
        none = f"no intent is {state}" if state else "no intents yet"
        out.tell([listing(("intent", "state", "drafted", "goal"), lines)] if lines else [none])
