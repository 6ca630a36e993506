"""`mcl review decisions`: what was decided, and whether its files say the same."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "decisions",
        epilog=example(
            "mcl review decisions",
            "mcl review decisions ADR-0001",
            "mcl review decisions --about src/app.py",
            "mcl review decisions --check",
            "mcl review decisions --read",
        ),
    )(decisions_command)


def decisions_command(
    id: Annotated[str, typer.Argument(metavar="[ID]", help="One decision, such as ADR-0001.")] = "",
    about: Annotated[
        str, typer.Option("--about", metavar="FILE", help="Those that a review of this file is told.")
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Compare the files below architecture_memory/ with the memory.")
    ] = False,
    read: Annotated[
        bool, typer.Option("--read", help="Remember what these files say that is not remembered.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """List the decisions of architecture, show one, or compare them with their files.

    Exit codes: 0; with --check 1 where files and memory differ.
    """
    if sum(map(bool, (id, about, check, read))) > 1:
        raise typer.BadParameter("ID, --about, --check and --read go one at a time")
    from mcl.cli.home import use_home
    from mcl.core.errors import ReviewError
    from mcl.plugins.review.cli.remembered import decision_view, decisions_view, differences_view
    from mcl.plugins.review.usecases.memory import review_decisions, review_decisions_differ

    home, out = use_home(signs=read), Output(as_json)
    if check or read:
        found = review_decisions_differ(read=read, workspace=workspace, home=home)
        shown = [{"what": one.what, "path": one.path, "id": one.id, "why": one.why} for one in found]
        out.document({"differences": shown, "read": read})
        out.view(differences_view(found, read=read))
        return 1 if found and check else 0
    listed = review_decisions(about, workspace=workspace, home=home)
    if not id:
        out.document({"decisions": [one.to_json() for one in listed]})
        out.view(decisions_view(listed))
        return 0
    one = next((one for one in listed if one.id == id.upper()), None)
    if one is None:
        raise ReviewError("DECISION_UNKNOWN", "no such decision", place=id, fix="mcl review decisions")
    out.document(one.to_json())
    out.view(decision_view(one))
    return 0
