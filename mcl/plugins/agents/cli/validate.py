"""`mcl intents validate`: what is wrong with the file of intents, line by line."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.agents.usecases.validate import ValidatedWork


def register(intents: typer.Typer) -> None:
    """Add this verb."""
    lines = ("mcl intents validate", "mcl intents validate .orchestration/active_intents.yaml --json")
    intents.command("validate", epilog=example(*lines))(validate)


def validate(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="The file, or the folder it is for (default: that of this folder, or the nearest above).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check .orchestration/active_intents.yaml: every error and warning with its line and what to do.

    Changes and signs nothing. With --json one object: valid, errors, warnings. Exit code 6 when there are
    errors.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.agents.usecases.validate import validate_work

    checked, out = validate_work(file), Output(as_json)
    out.document(checked.to_json())
    out.view(_shown(checked))
    return 0 if checked.report.valid else UNVERIFIED


def _shown(checked: "ValidatedWork") -> "Iterator[RenderableType]":
    from rich.text import Text

    from mcl.cli.views.layout import BAD, GOOD, STRONG, WARN, joined, plain

    styles = {"error": BAD, "warning": WARN}
    report = checked.report
    for one in sorted((*report.errors, *report.warnings), key=lambda one: (one.line, one.level, one.type)):
        place = f"{checked.path}:{one.line}" if one.line else checked.path
        about = f"{one.intent_id}: " if one.intent_id and one.intent_id not in one.message else ""
        yield Text.assemble(
            plain(place.replace("\n", "\\n"), STRONG),
            ": ",
            (f"{one.level} {one.type}", styles[one.level]),
            ": ",
            plain((about + one.message).replace("\n", "\\n")),
            overflow="fold",
        )
    counts = ((checked.intents, "intent"), (len(report.errors), "error"), (len(report.warnings), "warning"))
    parts = [(f"{number} {noun}" + ("" if number == 1 else "s"), "") for number, noun in counts]
    yield joined((*parts, ("valid", GOOD) if report.valid else ("not valid", BAD)))
