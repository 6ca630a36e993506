"""`mcl review file`: a file, a folder or a difference is reviewed."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, ModelPath, Workspace, example


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "file",
        epilog=example(
            "mcl review file app.py",
            "mcl review app.py --mode security --deep",
            "mcl review --diff",
            "mcl review --diff main --sarif found.sarif",
            "mcl review src --no-ai --json",
        ),
    )(file_command)


def file_command(
    target: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]", help="A file or a folder; with --diff a revision (default: the last commit)."
        ),
    ] = "",
    diff: Annotated[
        bool,
        typer.Option("--diff", help="What changed since a revision, with the new files."),
    ] = False,
    staged: Annotated[bool, typer.Option("--staged", help="What would be committed.")] = False,
    mode: Annotated[
        str, typer.Option("--mode", metavar="MODE", help="comment, architecture, security or risk.")
    ] = "comment",
    deep: Annotated[
        bool, typer.Option("--deep", help="Ask the model three times: structure, review, consistency.")
    ] = False,
    no_ai: Annotated[bool, typer.Option("--no-ai", help="The rules alone; no model is asked.")] = False,
    model: ModelPath = None,
    sarif: Annotated[
        str,
        typer.Option(
            "--sarif", metavar="FILE", help="Write the findings as SARIF 2.1.0; - is standard output."
        ),
    ] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Review a file, a folder (with --no-ai), or what changed.

    Exit codes: 0 nothing that blocks, 1 blocking findings, 4 refused, 5 failed.
    """
    from mcl.errors import ReviewError

    raise ReviewError("NOTHING_TO_REVIEW", "no file is named", fix="mcl review FILE")
