"""`mcl undo`: put files back as they were."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, complete_intent, example, folder
from mcl.cli.output import Output, note

if TYPE_CHECKING:
    from executor.store.home import Home

_DAYS = 30


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    app.command(
        "undo",
        epilog=example("mcl undo @last --check", "mcl undo 01K --node write --yes", "mcl undo --prune"),
    )(undo_command)


def undo_command(
    intent: Annotated[
        str,
        typer.Argument(
            metavar="INTENT",
            help="Id of an intent, a unique beginning of it, or @last.",
            autocompletion=complete_intent,
        ),
    ] = "",
    node: Annotated[
        str, typer.Option("--node", metavar="ID", help="Only what this node, or those below it, changed.")
    ] = "",
    leave: Annotated[
        list[str] | None,
        typer.Option(
            "--except", metavar="PATH", help="Leave this file as it is; may be given several times."
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only show what would happen.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; for scripts.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove what is kept for old intents; they cannot be undone then.")
    ] = False,
    days: Annotated[
        int | None,
        typer.Option("--days", min=0, help=f"With --prune: ended more than so many days ago (else {_DAYS})."),
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace", metavar="DIR", help="Where the folder lies now, if it was moved.", parser=folder
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Put the files back that a run changed, as they were before it.

    Those files only: all of them, or none where one was changed since. Files that the run made are removed.
    What processes and the network did stays.

    Exit codes: 0 done, or with --check could be done; 4 refused, or you do not agree.
    """
    from mcl.cli.home import use_home

    if prune == bool(intent) or (days is not None and not prune):
        raise typer.BadParameter("name an INTENT, or give --prune (with --days)")
    home, out = use_home(signs=True), Output(as_json)
    if prune:
        return _prune(home, out, _DAYS if days is None else days)
    return _undo(home, out, intent, node, tuple(leave or ()), workspace, check=check, yes=yes)


def _prune(home: "Home", out: Output, days: int) -> int:
    from mcl.cli.views.undo import pruned_view
    from mcl.usecases.runs import prune_undo

    pruned = prune_undo(days=days, home=home)
    out.document(asdict(pruned))
    out.view(pruned_view(pruned))
    return 0


def _undo(
    home: "Home",
    out: Output,
    intent: str,
    node: str,
    leave: tuple[str, ...],
    workspace: Path | None,
    *,
    check: bool,
    yes: bool,
) -> int:
    from ir.errors import REFUSED
    from mcl.cli.people import agreed
    from mcl.cli.views.undo import undo_view
    from mcl.usecases.runs import undo

    seen = undo(intent, node=node, leave=leave, check=True, workspace=workspace, home=home)
    if check or seen.state in ("already", "nothing"):
        out.document(seen.to_json())
        out.view(undo_view(seen))
        return REFUSED if seen.state == "changed" else 0
    if not (yes and seen.state == "ready"):
        out.tell(undo_view(seen))
    count = len(seen.restored) + len(seen.removed)
    what = "this file" if count == 1 else f"these {count} files"
    if seen.state == "ready" and not yes and not agreed(f"Put {what} back?"):
        note("nothing was touched")
        return REFUSED
    done = undo(seen.intent, node=node, leave=leave, workspace=workspace, home=home)
    out.document(done.to_json())
    out.view(undo_view(done))
    return 0
