"""`mcl intents complete`: an agent proposes that work is done; at a terminal a person signs off the rest."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.plugins.agents.cli.arguments import Agent, Root

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.agents.work.completing import CompleteResult
    from mcl.plugins.agents.work.criteria import SignOff


def register(intents: typer.Typer) -> None:
    """Add this verb."""
    intents.command(
        "complete",
        epilog=example(
            "mcl intents complete INT-001", "mcl intents complete --agent worker-2 --notes 'make test passes'"
        ),
    )(complete)


def complete(
    label: Annotated[
        str, typer.Argument(metavar="[INTENT]", help="Its id (default: what the agent has checked out).")
    ] = "",
    notes: Annotated[
        str, typer.Option("--notes", metavar="TEXT", help="How the criteria were seen to; it is kept.")
    ] = "",
    agent: Agent = "",
    root: Root = None,
    as_json: AsJson = False,
) -> int:
    """Complete a piece of work: its typed criteria are looked at, and a person signs off the others.

    At a terminal, with no agent named, you are asked about each, and your answers are signed with your key.
    Otherwise it is an agent's proposal: what only people can say waits for one (mcl gate list). Exit code 4
    while something is left.
    """
    from ir.errors import REFUSED
    from mcl.cli.home import use_home
    from mcl.core.environment import AGENT
    from mcl.core.safe import safe
    from mcl.plugins.agents.usecases.complete import complete_work
    from mcl.usecases.authority.door import may_answer

    out, home = Output(as_json), use_home(signs=True)
    person = not agent and not os.environ.get(AGENT) and sys.stdin.isatty() and may_answer(home)
    ask = _ask if person else None
    found = complete_work(label, notes=notes, agent=agent, ask=ask, root=root, home=home)
    out.document(found.to_json())
    out.view(_view(found))
    for warning in found.warnings:
        note(safe(f"warning: {warning}"))
    if not found.success:
        note(safe(f"error: {found.error}\n  code  {found.code}"))
        return REFUSED
    note(f"done: {found.label}")
    return 0


def _ask(question: "SignOff") -> "bool | None":
    """The person's answer; nothing leaves the question open, and so does what is no answer three times."""
    from executor.gate.offer import Offer
    from executor.walker.asking import TRIES
    from mcl.core.safe import safe

    said = f"\n  the agent {question.agent} says: {question.notes}" if question.notes else ""
    sys.stderr.write(safe(f"\n{question.label}  {question.criterion}{said}\n"))
    offer = Offer()
    for _ in range(TRIES):
        sys.stderr.write("Is this met? [y/n, Enter: later] ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line.endswith("\n"):
            sys.stderr.write("\n")
        word = line.strip()
        if not word:
            return None
        if option := offer.read(word):
            return offer.approves(option)
    return None


def _view(found: "CompleteResult") -> "list[RenderableType]":
    from mcl.cli.views.layout import BAD, GOOD, WARN, columns

    styles = {True: GOOD, False: BAD}
    lines = [
        (
            (
                "met" if one.holds else "waits" if one.person else "not met",
                WARN if one.person and not one.holds else styles[one.holds],
            ),
            (one.criterion + (f": {one.why}" if one.why and not one.person else ""), ""),
        )
        for one in found.criteria
    ]
    return [columns(lines)] if lines else []
