"""`mcl skill test`: whether a skill is chosen for its own examples."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJsonLines, ModelPath, NoAi, SkillDirectories, example
from mcl.cli.output import Output, write_event
from mcl.cli.skill.arguments import complete_skill

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE = 1.0  # seconds before a bar is shown

Tested = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SKILL|PATH",
        help="Ids or folders of skills (default: every skill that is found).",
        autocompletion=complete_skill,
    ),
]
HeldOut = Annotated[
    bool, typer.Option("--held-out", help="Hide each example from its skill while it is tried.")
]
At = Annotated[str, typer.Option("--at", metavar="TIME", help="The moment of the compile, ISO 8601.")]


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    lines = ("mcl skill test skills/read-file", "mcl skill test --no-ai --held-out")
    skills.command("test", epilog=example(*lines))(try_skills)


def try_skills(
    skill: Tested = None,
    held_out: HeldOut = False,
    model: ModelPath = None,
    no_ai: NoAi = False,
    at: At = "",
    skills: SkillDirectories = None,
    as_json: AsJsonLines = False,
) -> int:
    """Compile every example of a skill: of all skills that are found, this one must be chosen.

    Nothing is stored. With --json one line a skill. Exit code 6 when an example is not this skill's; one that
    asks something is told, and is not counted as understood.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.home import use_home
    from mcl.cli.views.examples import tried_document, tried_summary, tried_view
    from mcl.usecases.skill.examples import try_examples

    out, all_tried = Output(as_json), []
    home = use_home()
    with _bar() as progress:
        tried = try_examples(
            skill or (),
            held_out=held_out,
            model=model,
            ai=not no_ai,
            at=at or None,
            folders=skills or (),
            home=home,
            progress=progress,
        )
        for one in tried:
            all_tried.append(one)
            if as_json:
                write_event(tried_document(one))
    if not as_json:
        for one in all_tried:
            out.tell(tried_view(one))
        out.tell([tried_summary(all_tried)])
    return 0 if all(one.ok for one in all_tried) else UNVERIFIED


@contextmanager
def _bar() -> Iterator["Callable[[int, int], None] | None"]:
    """A progress bar on a terminal's standard error, for what takes longer than a moment."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("examples", total=None)
    begun = time.monotonic()

    def progress(done: int, total: int) -> None:
        if time.monotonic() - begun > _PATIENCE:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        bar.stop()
