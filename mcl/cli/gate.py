"""`mcl gate`: questions of running plans, decided from another terminal."""

from dataclasses import asdict
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note

GateId = Annotated[str, typer.Argument(metavar="GATE", help="Id of a gate, or a unique beginning of it.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    gates = typer.Typer(name="gate", help="Gates: questions that wait for you.", rich_markup_mode=None)
    gates.command("list", epilog=example("mcl gate list"))(list_gates)
    gates.command("approve", epilog=example("mcl gate approve 01K", "mcl gate approve 01K --option retry"))(
        approve_gate
    )
    gates.command("deny", epilog=example("mcl gate deny 01K"))(deny_gate)
    app.add_typer(gates)


def list_gates(as_json: AsJson = False) -> None:
    """List the questions that nobody has decided yet."""
    from mcl.acts.gates import open_gates
    from mcl.cli.home import use_home
    from mcl.cli.safe import one_line
    from mcl.cli.views.layout import DIM, listing, moment

    found, out = open_gates(home=use_home()), Output(as_json)
    out.document({"gates": [asdict(gate) for gate in found]})
    lines = [
        (
            (gate.id, ""),
            (gate.node_id, DIM),
            (moment(gate.expires_at) if gate.expires_at else "", DIM),
            (one_line(f"{gate.question} {' / '.join(gate.options)}", 400), ""),
        )
        for gate in found
    ]
    if not as_json:
        out.tell([listing(("gate", "node", "until", "question"), lines)] if lines else ["nothing is waiting"])


def approve_gate(
    gate: GateId,
    option: Annotated[str, typer.Option("--option", metavar="WORD", help="A listed answer.")] = "approve",
) -> None:
    """Approve, signed with your key."""
    _decide(gate, option)


def deny_gate(gate: GateId) -> None:
    """Refuse, signed with your key."""
    _decide(gate, "deny")


def _decide(gate: str, decision: str) -> None:
    from mcl.acts.gates import decide_gate
    from mcl.cli.home import use_home

    found = decide_gate(gate, decision, home=use_home(signs=True))
    note(f"{decision}: {found.question}")
