"""`mcl review remember`: something about a workspace that reviews are told."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output, note


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "remember",
        epilog=example(
            'mcl review remember "Only store/ talks to SQLite" --kind convention --tag store',
            "mcl review remember - --kind summary --source docs/design.md < summary.txt",
        ),
    )(remember_command)


def remember_command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember; - reads standard input.")],
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="fact, decision, convention, summary or warning.")
    ] = "fact",
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="May be given several times.")
    ] = None,
    source: Annotated[str, typer.Option("--source", metavar="TEXT", help="Where it comes from.")] = "",
    id: Annotated[
        str, typer.Option("--id", metavar="ID", help="The same id again makes the next version.")
    ] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Remember a text about the workspace. Reviews of files that share words with it are told."""
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.decide import said
    from mcl.plugins.review.cli.remembered import meanings_view
    from mcl.plugins.review.usecases.memory import review_remember

    given = said(text)
    made = review_remember(
        given,
        kind=kind,
        tags=tag or (),
        source=source,
        id=id,
        workspace=workspace,
        home=use_home(signs=True),
    )
    out = Output(as_json)
    out.document(made.to_json())
    if "[redacted: " in made.text and "[redacted: " not in given:
        note("a secret was taken out of it")
    if not as_json:
        out.tell(meanings_view([made]))
