"""`mcl tool call`: one call of a tool, signed, judged and run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcl.cli.arguments import AsJson, ToolName, Workspace, argument, option, read_source, verb
from mcl.cli.home import tell_unattended, use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed

if TYPE_CHECKING:
    from executor.walker.questions import People
    from mcl.usecases.call import Called
    from mcl.usecases.plans import Planned

verbs = typer.Typer()


# ---- How a call by hand ended: the same words and exit codes whichever command made it.


def ended(called: "Called", out: Output, *, undone: str) -> int:
    """Tell a person what became of a call, and give the exit code.

    undone: what did not happen, besides signing, where they did not agree.
    """
    from ir.errors import REFUSED
    from mcl.cli.views.plan import plan_view
    from mcl.cli.views.walk import outcome_view

    if called.outcome is not None:
        if not out.as_json:
            out.tell(["", *outcome_view(called.outcome, called.planned.plan)])
        return called.outcome.exit
    if called.refused is not None:
        out.view(plan_view(called.planned, out.people))
        note(f"{called.refused.code}: {called.refused.reason}\n  {called.refused.fix}")
    else:
        note(f"not agreed to; nothing was signed or {undone}")
    return REFUSED


_MAX_FILE = 8 << 20  # bytes


@verb(verbs, "call")
def call_tool(
    tool: ToolName,
    given: Annotated[
        list[str] | None, argument("[NAME=VALUE]...", "Arguments; the tool's schema makes values of them.")
    ] = None,
    file: Annotated[str, option("--args FILE", "Arguments from a JSON object; - is standard input.")] = "",
    yes: Annotated[bool, option("--yes", "Sign the call without being asked.")] = False,
    yes_gates: Annotated[
        bool, option("--yes-gates", "Approve also what needs approval of this exact call.")
    ] = False,
    deny_gates: Annotated[
        bool, option("--deny-gates", "Refuse what needs approval of this exact call; ask nobody.")
    ] = False,
    timeout: Annotated[int, option("--timeout-ms MS", "Milliseconds (default: the tool's).", min=0)] = 0,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Call one tool.

    What it would do is shown, you sign it, the gate judges it, it runs. It becomes an intent of one node,
    in the journal like any other.

    Exit codes: 0 done, 4 refused or not agreed to, 5 failed.
    """
    from mcl.cli.views.plan import plan_view
    from mcl.usecases import call as acts

    if yes_gates and deny_gates:
        raise typer.BadParameter("--yes-gates and --deny-gates exclude each other")
    args = {**_from_file(file), **_named(given or [])}
    home, out = use_home(signs=True), Output(as_json)

    def agree(seen: "Planned") -> bool:
        if not (yes and as_json):
            out.tell(plan_view(seen, out.people))
        tell_unattended(home)
        return yes or agreed("Sign this call and run it?")

    called = acts.call_tool(
        tool,
        args,
        agree=agree,
        workspace=workspace or Path.cwd(),
        people=_people(yes=yes_gates, no=deny_gates),
        timeout_ms=timeout,
        home=home,
        unseen=yes,
    )
    out.document({**called.to_json(), **home.marks})
    return ended(called, out, undone="run")


def _named(given: list[str]) -> dict[str, object]:
    """The arguments written as NAME=VALUE."""
    from mcl.core.errors import InputError

    found: dict[str, object] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name:
            raise InputError(
                "BAD_ARGUMENT",
                f"{one!r} is no argument",
                place="NAME=VALUE",
                fix="such as path=notes/a.md",
            )
        if name in found:
            raise InputError("BAD_ARGUMENT", f"{name} is given twice", place=name, fix="give it once")
        found[name] = value
    return found


def _from_file(file: str) -> dict[str, Any]:
    """The arguments of a JSON object in a file, or on standard input."""
    if not file:
        return {}
    from ir.canonical import parse_json
    from mcl.core.errors import InputError

    try:
        data = read_source(file, _MAX_FILE)
    except OSError as problem:
        raise InputError(
            "FILE_UNREADABLE", f"{file} cannot be read: {problem.strerror}", place=file, fix="name a file"
        ) from problem
    if len(data) > _MAX_FILE:
        raise InputError("FILE_TOO_LARGE", "more than 8 MiB", place=file, fix="give less")
    values = parse_json(data)
    if not isinstance(values, dict):
        raise InputError("BAD_ARGUMENT", "no JSON object", place=file, fix='such as {"path": "a.txt"}')
    return values


def _people(*, yes: bool, no: bool) -> "People":
    from executor.walker.questions import AlwaysApprove, AlwaysDeny
    from mcl.cli.people import AtTerminal

    return AlwaysApprove() if yes else AlwaysDeny() if no else AtTerminal()
