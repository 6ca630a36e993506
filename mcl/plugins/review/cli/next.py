"""`mcl review next`: what to review first."""

from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output, note

if TYPE_CHECKING:
    from mcl.plugins.review.maps.order import Due


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command("next", epilog=example("mcl review next", "mcl review next --limit 3 --json"))(
        next_command
    )


def next_command(
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="At most so many.")
    ] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show what to review first: what much depends on, and what changed much since its last review.

    Files of code alone; one that nobody changed since its last review is not shown. The score is (hub score
    + 0.1) × changes.
    """
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import DIM, listing
    from mcl.plugins.review.cli.waiting import waiting
    from mcl.plugins.review.usecases.next_ import next_reviews

    home = use_home()
    with waiting(quiet=as_json) as progress:
        found = next_reviews(workspace=workspace, progress=progress, home=home)
    out = Output(as_json)
    out.document({"files": [one.to_json() for one in found[:limit]], "count": len(found)})
    if not found:
        note("nothing changed since its last review")
        return
    lines = [
        [
            (f"{one.score:.2f}", ""),
            (one.file.path, ""),
            (one.file.role, DIM),
            (_why(one), DIM),
        ]
        for one in found[:limit]
    ]
    out.view([listing(("score", "file", "role", "why"), lines)])
    if len(found) > limit:
        out.view([f"… and {len(found) - limit:,} more"])


def _why(one: "Due") -> str:
    since = f"since {one.reviewed[:10]}" if one.reviewed else "never reviewed"
    changes = "1 change" if one.changes == 1 else f"{one.changes:,} changes"
    count = one.file.importers
    imported = f", {count:,} import{'s' * (count == 1)} it" if count else ""
    return f"{changes} {since}{imported}" if one.reviewed else f"{since}, {changes}{imported}"
