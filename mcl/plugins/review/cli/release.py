"""`mcl release` and `mcl review drift`: may a repository be released, and does it say how it is?"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcl.cli.arguments import AsJson, Workspace, option
from mcl.cli.home import use_home
from mcl.cli.output import Output
from mcl.cli.progress import nobody, progress_bar
from mcl.core.text import one_line

if TYPE_CHECKING:
    from mcl.plugins.review.release.checks import Step

BLOCKED = 1


def check_command(
    no_tests: Annotated[bool, option("--no-tests", "Do not run the tests.")] = False,
    strict: Annotated[bool, option("--strict", "A warning ends with 1, too.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Look at a repository as it would be released: pass, warning or blocked.

    All but the tests only reads. The tests are programs of the repository: they run as a call that is signed,
    judged by the gate and kept, and only where you let your agent run programs (mcl grant add shell).

    Exit codes: 0 pass or warning, 1 blocked (with --strict also a warning).
    """
    from mcl.plugins.review.cli.views import release_view
    from mcl.plugins.review.usecases.release import check_release

    home, out = use_home(signs=not no_tests), Output(as_json)
    with steps() as step:
        report = check_release(workspace or Path.cwd(), tests=not no_tests, step=step, home=home)
    out.show(report, release_view(report))
    return BLOCKED if report.verdict == "blocked" or (strict and report.verdict == "warning") else 0


# ---- `mcl review drift`: what a repository says of itself and is not so any more.

FOUND = 1


def drift_command(workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Find what a repository says of itself and is not so any more.

    Versions that differ, documents of tools, maps and decisions that are old, pages that name what is not
    there. Nothing is written or run.

    Exit codes: 0 no drift, 1 drift.
    """
    from mcl.plugins.review.cli.views import drift_view
    from mcl.plugins.review.usecases.release import review_drift

    home, out = use_home(), Output(as_json)
    with steps() as step:
        report = review_drift(
            workspace or Path.cwd(),
            progress=lambda done, total, what: step("drift", done, total, what),
            home=home,
        )
    out.show(report, drift_view(report))
    return FOUND if report.flaws else 0


@contextmanager
def steps() -> "Iterator[Step]":
    """What is told which check is made, how much of how much of it is done, and of what."""
    with progress_bar() as bar:
        told = bar or nobody
        yield lambda title, done, total, what: told(done, total, f"{title}  {one_line(what, 60)}")
