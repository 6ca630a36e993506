"""`mcl model tune`: the model in use learns skills from their examples."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed
from mcl.cli.progress import progress_bar
from mcl.cli.views.layout import DIM, STRONG, joined, plain, rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.train.run import Tuned


def register(models: typer.Typer) -> None:
    verb(models, "tune")(tune_model)


def tune_model(
    skills: Annotated[
        list[Path],
        option("--skills DIR", "A folder of skills; may be given several times."),
    ],
    examples: Annotated[
        Path | None,
        option("--examples FILE", "JSON lines: prose, skill, and verb and slots."),
    ] = None,
    name: Annotated[str, option("--name NAME", "What to call the new model.")] = "",
    steps: Annotated[int, option("--steps", "Steps of each training.", min=1, max=10_000)] = 60,
    folds: Annotated[int, option("--folds", "Parts of the examples, held out in turn.", min=2, max=10)] = 3,
    seed: Annotated[int, option("--seed", "What everything random follows from.", min=0)] = 7,
    use: Annotated[bool, option("--use", "Compile with it from now on; do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Teach the model in use your own skills, from examples.

    Takes a minute or so, on the CPU. The new model is kept only where it does better on held-out examples and
    has forgotten nothing; the old one always stays. Exit code 4 when it is no better.
    """
    from mcl.plugins.train.run import tune
    from mcl.usecases.models import Models

    home, out = use_home(signs=True), Output(as_json)
    with _bar(quiet=as_json) as progress:
        tuned = tune(
            skills, examples=examples, name=name, steps=steps, folds=folds, seed=seed, use=use, home=home,
            progress=progress,
        )  # fmt: skip
    out.document(tuned)
    if as_json:
        return
    out.tell(_told(tuned))
    if not tuned.model.in_use and _wanted(tuned.model.name):
        Models(home).use(tuned.model.name)
        note(f"in use: {tuned.model.name} {tuned.model.digest[:12]}")
    elif not tuned.model.in_use:
        note(f"mcl model use {tuned.model.name} takes it, mcl model use {tuned.base.name} goes back")


def _told(tuned: "Tuned") -> "Iterator[RenderableType]":
    yield joined((("Model", STRONG), (tuned.model.name, STRONG), (tuned.model.digest[:12], DIM)))
    yield rows(
        [
            (
                "taught",
                plain(f"{', '.join(tuned.skills)}: {tuned.lessons} examples, {tuned.seconds:.0f} seconds"),
            ),
            ("held out", plain(f"{tuned.before.said()} before")),
            ("", plain(f"{tuned.after.said()} after")),
            ("known", plain(f"{tuned.known_before.said()} before")),
            ("", plain(f"{tuned.known_after.said()} after")),
            ("file", plain(str(tuned.model.path), DIM)),
        ]
    )


def _wanted(name: str) -> bool:
    """Whether the person says yes; where nobody can be asked, no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False

    return agreed(f"Compile with {name} from now on?")


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on standard error, where that is a terminal; a line for each part elsewhere."""
    said: list[str] = []

    def tell(done: int, total: int, what: str) -> None:
        if not quiet and said[-1:] != [what]:
            said.append(what)
            note(f"{what} ({100 * done // total} %)")

    with progress_bar("reading", quiet=quiet) as bar:
        yield bar or tell
