"""`mcl review history`, `dismiss` and `dismissals`: what was found, and what of it was set aside."""

from collections.abc import Iterator
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace
from mcl.cli.output import Output, note


def history_command(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="A file of the workspace; all files where left out.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=10, help="At most so many reviews of the file.")
    ] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest reviews of a file, at most 10; or the last review of each file."""
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.views import files_view, history_view
    from mcl.plugins.review.usecases.memory import review_history

    found = review_history(file, limit=limit, workspace=workspace, home=use_home())
    out = Output(as_json)
    out.document({"reviews": [one.to_json() for one in found]})
    out.view(history_view(found) if file else files_view(found))


# ---- `mcl review dismiss`: a person says that what a review found is no fault.


def complete_place(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: where the last reviews of this folder found what blocks."""
    from ir.errors import MclError
    from mcl.core.home import locate
    from mcl.plugins.review.usecases.memory import review_history

    if not locate().exists():
        return
    try:
        found = [one for review in review_history() for one in review.findings if one.blocking]
    except MclError:
        return
    for one in found:
        if one.location.startswith(incomplete):
            yield one.location, one.rule or one.severity


def dismiss_command(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE:LINE",
            help="Where it stands, as the review told it; several are dismissed for one reason.",
            autocompletion=complete_place,
        ),
    ],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="Why it is no fault.")] = "",
    rule: Annotated[str, typer.Option("--rule", metavar="ID", help="Which of several findings there.")] = "",
    mark: Annotated[
        str, typer.Option("--mark", metavar="ID", help="The same, by its mark (--json tells it) or a part.")
    ] = "",
    forget: Annotated[bool, typer.Option("--forget", help="Let it count again.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Dismiss findings of the last review of a file: they are told apart, and do not block.

    Each holds for this file, this rule and the text of the lines that it is about, wherever they move; where
    they change it counts again. What a model said holds for what it said, word for word. Agents cannot do
    this, and nothing that is written in a file does.
    """
    if forget == bool(why):
        raise typer.BadParameter("--why TEXT says why it is no fault; --forget lets it count again")
    from mcl.cli.compile import as_typed
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.views import dismissals_view
    from mcl.plugins.review.usecases.memory import review_dismiss, review_undismiss

    home, out = use_home(signs=True), Output(as_json)
    if forget:
        gone = review_undismiss(places, rule=rule, mark=mark, workspace=workspace, home=home)
        out.document({"forgotten": [one.to_json() for one in gone]})
        out.view(dismissals_view(gone))
        note("these count again")
        return
    words = as_typed(why)
    made = review_dismiss(places, words, rule=rule, mark=mark, workspace=workspace, home=home)
    out.document({"dismissals": [one.to_json() for one in made]})
    if "[redacted: " in made[0].why and "[redacted: " not in words:
        note("a secret was taken out of it")
    out.view(dismissals_view(made))


# ---- `mcl review dismissals`: what was dismissed, and why.


def dismissals_command(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="A file of the workspace; all files where left out.")
    ] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List the findings that were dismissed here: where they stood, by which rule, why and when.

    To let one count again: mcl review dismiss FILE:LINE --forget.
    """
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.views import dismissals_view
    from mcl.plugins.review.usecases.memory import review_dismissals

    found = review_dismissals(file, workspace=workspace, home=use_home())
    out = Output(as_json)
    out.document({"dismissals": [one.to_json() for one in found]})
    out.view(dismissals_view(found))
