"""`mcl review decide`: a decision of architecture is written down."""

import sys
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output, note

_MOST_BYTES = 64_000  # of standard input


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "decide",
        epilog=example(
            'mcl review decide "One SQLite file" --decision "All is kept in one file." --about "store/**"',
            'mcl review decide "No ORM" --kind rejected --decision - --context "We tried one." < why.md',
        ),
    )(decide_command)


def decide_command(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What was decided, in a few words.")],
    decision: Annotated[
        str, typer.Option("--decision", metavar="TEXT", help="The decision; - reads standard input.")
    ],
    context: Annotated[str, typer.Option("--context", metavar="TEXT", help="Why it was needed.")] = "",
    consequences: Annotated[
        str, typer.Option("--consequences", metavar="TEXT", help="What follows from it.")
    ] = "",
    about: Annotated[
        list[str] | None,
        typer.Option(
            "--about",
            metavar="GLOB",
            help="Paths that it is about, such as src/**; may be given several times (default: all).",
        ),
    ] = None,
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="decisions, boundaries, philosophy or rejected."),
    ] = "decisions",
    status: Annotated[
        str,
        typer.Option(
            "--status", metavar="STATUS", help="proposed, accepted, superseded, deprecated or rejected."
        ),
    ] = "accepted",
    no_file: Annotated[
        bool, typer.Option("--no-file", help="Remember it, and write no Markdown file.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Write a decision of architecture down, under the next id (ADR-0001 …).

    It becomes a memory that reviews of these paths are told, and a new Markdown file below
    architecture_memory/ in the workspace. No file is written over. The same decision, word for word, is not
    written twice.
    """
    from mcl.cli.compile import as_typed
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.remembered import decision_view
    from mcl.plugins.review.usecases.memory import review_decide

    made, new = review_decide(
        as_typed(title),
        decision=said(decision),
        context=as_typed(context),
        consequences=as_typed(consequences),
        about=about or (),
        kind=kind,
        status=status,
        write=not no_file,
        workspace=workspace,
        home=use_home(signs=True),
    )
    out = Output(as_json)
    out.document({**made.to_json(), "new": new})
    if not new:
        note(f"{made.id} says this already")
    if not as_json:
        out.tell(decision_view(made))


def said(text: str) -> str:
    """A text as typed, or what standard input says where it is -."""
    from mcl.cli.compile import as_typed
    from mcl.core.errors import ReviewError

    if text != "-":
        return as_typed(text)
    if sys.stdin is None:  # a process may be started without one
        raise ReviewError("TEXT_UNREADABLE", "standard input is closed", fix="give the text itself")
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        message = f"more than {_MOST_BYTES:,} bytes on standard input"
        raise ReviewError("TEXT_UNREADABLE", message, place="-", fix="say less, and name where the rest is")
    try:
        return data.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        message = f"byte {error.start} of standard input is not UTF-8"
        raise ReviewError("TEXT_UNREADABLE", message, place="-", fix="give text") from error
