"""`mcl review drift`: what a repository says of itself and is not so any more."""

from pathlib import Path

import typer

from mcl.cli.arguments import AsJson, Workspace, example

FOUND = 1


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "drift", epilog=example("mcl review drift", "mcl review drift --workspace ../shop --json")
    )(drift_command)


def drift_command(workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Find what a repository says of itself and is not so any more.

    Versions that differ, documents of tools, maps and decisions that are old, pages that name what is not
    there. Nothing is written or run.

    Exit codes: 0 no drift, 1 drift.
    """
    from mcl.cli.home import use_home
    from mcl.cli.output import Output
    from mcl.plugins.review.cli.flaws import drift_view, steps
    from mcl.plugins.review.usecases.drift import review_drift

    home, out = use_home(), Output(as_json)
    with steps() as step:
        report = review_drift(
            workspace or Path.cwd(),
            progress=lambda done, total, what: step("drift", done, total, what),
            home=home,
        )
    out.document(report.to_json())
    out.view(drift_view(report))
    return FOUND if report.flaws else 0
