"""`mcl review file`: a file, a folder or a difference is reviewed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example

if TYPE_CHECKING:
    from mcl.plugins.review.usecases.draft import DraftedReview


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
            metavar="FILE", help="A file or a folder; with --diff a revision (default: the last commit)."
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
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="PATH",
            help="A GGUF file to ask, or the name of a known model, in place of the model in use.",
        ),
    ] = None,
    sarif: Annotated[
        str,
        typer.Option(
            "--sarif", metavar="FILE", help="Write the findings as SARIF 2.1.0; - is standard output."
        ),
    ] = "",
    dismissed: Annotated[
        bool, typer.Option("--dismissed", help="Tell each finding that was dismissed, and why.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Review a file, a folder (with --no-ai), or what changed.

    The findings are on standard output, in the form [SEVERITY] file:line; everything else is on standard
    error. It is signed with your key and kept in the journal; what was found in a file is remembered, the
    file is not. Nothing in the workspace is written.

    Exit codes: 0 nothing that blocks, also where nothing changed; 1 blocking findings, 2 usage, 4 refused,
    5 failed: what was found before is told, and is not all.
    """
    from mcl.cli.home import use_home
    from mcl.cli.output import note
    from mcl.core.errors import ReviewError
    from mcl.plugins.review.cli.progress import Progress
    from mcl.plugins.review.cli.telling import STANDARD, tell, tell_unchanged
    from mcl.plugins.review.usecases.run import review_code
    from mcl.plugins.review.usecases.unchanged import NOTHING_CHANGED, Unchanged

    if as_json and sarif == STANDARD:
        raise typer.BadParameter("--json and --sarif - both take standard output")
    changed = diff or staged
    began: list[str] = []

    def begins(made: "DraftedReview") -> None:
        began.append(made.intent.id)
        if made.note:
            note(made.note)

    try:
        with Progress() as progress:
            result = review_code(
                "" if changed else target,
                base=(target or "HEAD") if changed else "",
                staged=staged,
                mode=mode,
                deep=deep,
                ai=not no_ai,
                model=model,
                workspace=workspace,
                began=begins,
                listener=progress,
                home=use_home(signs=True),
            )
    except KeyboardInterrupt:
        for intent in began:
            note(f"interrupted; go on with it: mcl run {intent} --resume; what it found: mcl show {intent}")
        raise
    except ReviewError as problem:
        if problem.code != NOTHING_CHANGED:
            raise
        unchanged = Unchanged(problem.message, mode, workspace or Path.cwd())
        return tell_unchanged(unchanged, sarif=sarif, as_json=as_json)
    return tell(result, sarif=sarif, as_json=as_json, dismissed=dismissed)
