"""`mcl compile --batch`: many goals from a file of JSON lines into another."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mcl.cli.output import note, write_document

if TYPE_CHECKING:
    from mcl.usecases.batch import BatchSummary

_STANDARD = Path("-")


def check_options(batch: Path | None, with_batch: dict[str, object], without: dict[str, object]) -> None:
    """Raise a usage error for an option (by its name) that goes only with --batch, or not with it."""
    wrong = without if batch is not None else with_batch
    for name, value in wrong.items():
        if value:
            raise typer.BadParameter(
                f"{name} does not go with --batch" if batch is not None else f"{name} goes only with --batch"
            )


def compile_lines(source: Path, out: Path | None, *, as_json: bool, **settings: Any) -> int:
    """Compile all of `source`, with a progress bar on a terminal, and say what came of it. settings: those of
    `compile_batch`. The exit code is 0 whatever the goals were, as each line says its own; 5 where none of
    them could be tried, as each is an error."""
    from ir.errors import FAILED
    from mcl.cli.home import given_passphrase, use_home
    from mcl.usecases.batch import compile_batch

    if out is None:
        raise typer.BadParameter("--batch needs --out, a file or - for standard output")
    with use_home(signs=bool(settings["store"])) as home, _bar(quiet=as_json) as progress:
        passphrase = given_passphrase().decode()
        summary = compile_batch(source, out, home=home, passphrase=passphrase, progress=progress, **settings)
    if as_json and out != _STANDARD:
        write_document(summary.to_json())
    else:
        note(_sentence(summary, out))
    return FAILED if summary.lines and summary.outcomes["error"] == summary.lines else 0


def _sentence(summary: "BatchSummary", out: Path) -> str:
    counts = ", ".join(f"{count} {name}" for name, count in summary.outcomes.items())
    where = "" if out == _STANDARD else f" in {out}"
    kept = f"; {summary.kept} were there already" if summary.kept else ""
    speed = f"; {summary.seconds:.1f} s, {summary.per_second:.0f} a second"
    return f"{summary.lines} lines{where}: {counts}{kept}{speed}"


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Callable[[int, int | None], None] | None]:
    """A progress bar on standard error, where that is a terminal; None elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("compiling"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as shown:
        task = shown.add_task("compiling", total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)
