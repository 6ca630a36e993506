"""Flaws of a repository, a release check, and how far either is, as a person reads them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, plain

if TYPE_CHECKING:
    from mcl.plugins.review.drift.drift import DriftReport
    from mcl.plugins.review.drift.rules import RepositoryFlaw
    from mcl.plugins.review.release.report import ReleaseReport

_STYLES: Final = {
    "pass": GOOD,
    "warning": WARN,
    "blocked": BAD,
    "not run": WARN,
    "noted": WARN,
    "does not apply": DIM,
}
_SHOWN: Final = 10  # flaws of one check that are shown; --json has all
_WIDE = max(len(one) for one in _STYLES)


def drift_view(report: DriftReport) -> Iterator[RenderableType]:
    """Each flaw, then how many there are."""
    yield from _flaws(report.flaws)
    files = f"{report.files:,}{' (and more)' if report.cut else ''} files"
    count = f"{len(report.flaws)} flaw{'' if len(report.flaws) == 1 else 's'}" if report.flaws else "no drift"
    version = f"version {report.version}" if report.version else ""
    yield joined(((count, BAD if report.flaws else GOOD), (files, DIM), (version, DIM)))


def release_view(report: ReleaseReport) -> Iterator[RenderableType]:
    """Each check with its flaws; the verdict; what to do next."""
    yield joined((("Release", STRONG), (str(report.workspace), ""), (report.version, STRONG)))
    wide = max(len(one.looked.title) for one in report.checks)
    for check in report.checks:
        line = Text("  ")
        line.append(f"{check.status:<{_WIDE}}  ", _STYLES[check.status])
        line.append(f"{check.looked.title:<{wide}}  ")
        line.append_text(plain(check.said, DIM))
        yield line
        yield from _flaws(check.flaws[:_SHOWN], indent=_WIDE + 4, fixes=False)
        if len(check.flaws) > _SHOWN:
            yield Padding(plain(f"… {len(check.flaws) - _SHOWN} more (--json)", DIM), (0, 0, 0, _WIDE + 4))
    yield joined(
        (("verdict", DIM), (report.verdict, _STYLES[report.verdict]), (f"score {report.score}", DIM))
    )
    for number, one in enumerate(report.next, 1):
        yield plain(f"  {number}. {one}")


def _flaws(
    flaws: Iterable[RepositoryFlaw], *, indent: int = 0, fixes: bool = True
) -> Iterator[RenderableType]:
    for one in flaws:
        head = joined(
            ((one.code, BAD if one.level == "blocked" else WARN), (one.place, STRONG), (one.message, ""))
        )
        yield Padding(head, (0, 0, 0, indent))
        if fixes:
            yield Padding(plain(f"fix  {one.fix}", DIM), (0, 0, 0, indent + 2))


@contextmanager
def steps() -> Iterator[Callable[[str, int, int, str], None]]:
    """How far it is, on standard error where that is a terminal: the check, how much of how much, of what."""
    if not sys.stderr.isatty():
        yield lambda title, done, total, what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    title = TextColumn("{task.description}", markup=False)
    about = TextColumn("{task.fields[what]}", markup=False)
    columns = (SpinnerColumn(), title, BarColumn(), MofNCompleteColumn(), about)
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("looking", total=None, what="")

        def tell(title: str, done: int, total: int, what: str) -> None:
            bar.update(task, description=title, completed=done, total=total, what=plain(what[:60]).plain)

        yield tell
