"""`mcl gate`: questions of running plans and of calls over MCP, seen whole, decided from another terminal."""

from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, Reason, Yes, argument, noun, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_line
from mcl.cli.views.layout import DIM, listing, moment
from mcl.core.text import one_line, safe, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcl.usecases.gates import ShownGate

GateId = Annotated[str, argument("GATE", "Id of a gate, or a unique beginning of it.")]
Option = Annotated[str, option("--option WORD", "A listed answer; needed where several would do.")]


gates = noun("gate", "Gates: questions that wait for you.", "mcl gate list", "mcl gate approve 01K")


@verb(gates, "list")
def list_gates(as_json: AsJson = False) -> None:
    """List the questions that nobody has decided yet."""
    from mcl.usecases.gates import open_gates

    found, out = open_gates(home=use_home()), Output(as_json)
    lines = [
        (
            (gate.id, ""),
            (gate.node_id, DIM),
            (moment(gate.expires_at) if gate.expires_at else "", DIM),
            (one_line(f"{gate.question} {' / '.join(gate.offer.names)}", 400), ""),
        )
        for gate in found
    ]
    out.show(
        {"gates": found},
        [listing(("gate", "node", "until", "question"), lines)] if lines else ["nothing is waiting"],
    )


@verb(gates, "show")
def show_one(gate: GateId, as_json: AsJson = False) -> None:
    """Show a question with all that a decision is about.

    Arguments are shown whole, line by line, control characters written out.
    """
    from mcl.usecases.gates import show_gate

    found, out = show_gate(gate, home=use_home()), Output(as_json)
    out.document(found)
    if not as_json:
        _show(found, out)


@verb(gates, "approve")
def approve_gate(
    gate: GateId,
    option: Option = "",
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Approve, signed with your key: with one of the listed answers, where there are any.

    Exit code 4 when somebody was first, when it is too late, or when the intent has ended.
    """
    _decide(gate, option, reason, as_json, approves=True)


@verb(gates, "deny")
def deny_gate(gate: GateId, option: Option = "", reason: Reason = "", as_json: AsJson = False) -> None:
    """Refuse, signed with your key.

    Exit code 4 when somebody was first, when it is too late, or when the intent has ended.
    """
    _decide(gate, option, reason, as_json, approves=False)


@verb(gates, "correct")
def correct_gate(
    gate: GateId,
    words: Annotated[str, argument("WORDS", "What is to be otherwise, in plain words.")] = "",
    changes: Annotated[list[str] | None, option("--set NAME=VALUE", "Set a slot of the goal.")] = None,
    reason: Reason = "",
    yes: Yes = False,
    as_json: AsJson = False,
) -> int:
    """Answer with a correction of the goal: neither yes nor no.

    It is shown and signed as by mcl correct. Where it is material the run stops until it is accepted again;
    else it goes on, and asks again.

    Exit codes: 0 corrected, 10 corrected and needs an accept, 3 it leaves questions open, 4 refused.
    """
    from functools import partial

    from mcl.cli.correct import sign_shown
    from mcl.usecases.gates import propose_at_gate

    if not (words.strip() or changes):
        raise typer.BadParameter("say what shall be different: in words, or with --set")
    home = use_home(signs=True)
    propose = partial(propose_at_gate, gate, words, changes=changes or (), reason=reason, home=home)
    return sign_shown(Output(as_json), home, propose, {}, yes=yes)


def _decide(gate: str, option: str, reason: str, as_json: bool, *, approves: bool) -> None:
    from mcl.usecases.gates import decide_gate

    chosen = option or ("approve" if approves else "deny")
    done = decide_gate(gate, chosen, reason=reason, approves=approves, home=use_home(signs=True))
    Output(as_json).document(
        {
            "gate": done.gate.id,
            "intent_id": done.gate.intent_id,
            "decision": done.decision,
            "reason": done.reason,
            "by": done.by,
            "at": done.at,
            "envelope": done.envelope,
        }
    )
    note(safe(f"{done.decision}: {done.gate.question}"))
    if done.gate.call and approves:
        note(f"who asked makes the call now; if they are gone: mcl run {done.gate.intent_id}")


def _show(found: "ShownGate", out: Output) -> None:
    from mcl.cli.views.exact import exact, gate_view

    out.tell(gate_view(found))
    _write_whole(found.args, out)
    for line in found.why:  # its values are views already
        out.tell([exact((f"  {line}", ""))])
    if found.said:
        write_line("  What the program says, in its own words; nobody has checked them:")
        _write_whole(found.said, out)


def _write_whole(values: "Mapping[str, object]", out: Output) -> None:
    from rich.padding import Padding

    from ir.display import clear
    from mcl.cli.views.exact import exact

    for name, value in values.items():
        out.tell([Padding(exact((clear(name), "")), (0, 0, 0, 2))])
        out.tell([Padding(exact((f"| {line}", "")), (0, 0, 0, 4)) for line in whole(value)])
