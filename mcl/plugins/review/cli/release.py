"""`mcl release`: may a repository be released as it is?"""

from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example

BLOCKED = 1


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    release = typer.Typer(
        name="release",
        help="May this repository be released?",
        epilog=example("mcl release check"),
        rich_markup_mode=None,
    )
    release.command(
        "check",
        epilog=example(
            "mcl release check",
            "mcl release check --no-tests --workspace ../shop",
            "mcl release check --strict --json",
        ),
    )(check_command)
    app.add_typer(release)


def check_command(
    no_tests: Annotated[bool, typer.Option("--no-tests", help="Do not run the tests.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="A warning ends with 1, too.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Look at a repository as it would be released: pass, warning or blocked.

    All but the tests only reads. The tests are programs of the repository: they run as a call that is signed,
    judged by the gate and kept, and only where you let your agent run programs (mcl grant add shell).

    Exit codes: 0 pass or warning, 1 blocked (with --strict also a warning).
    """
    from mcl.cli.home import use_home
    from mcl.cli.output import Output
    from mcl.plugins.review.cli.flaws import release_view, steps
    from mcl.plugins.review.usecases.release import check_release

    home, out = use_home(signs=not no_tests), Output(as_json)
    with steps() as step:
        report = check_release(workspace or Path.cwd(), tests=not no_tests, step=step, home=home)
    out.document(report.to_json())
    out.view(release_view(report))
    return BLOCKED if report.verdict == "blocked" or (strict and report.verdict == "warning") else 0
