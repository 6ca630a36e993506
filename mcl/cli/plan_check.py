"""`mcl plan check`: what each guard says of each node, for people and for machines."""

from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, SkillDirectories, Workspace, complete_intent
from mcl.cli.output import Output


def check_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|INTENT",
            help="A PlanTree (JSON), or an intent: its id, a unique beginning of it, or @last.",
            autocompletion=complete_intent,
        ),
    ],
    verb: Annotated[
        str,
        typer.Option(
            "--verb",
            metavar="VERB",
            help="The verb of the goal; a file whose intent is not here has none else.",
        ),
    ] = "",
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Judge a plan by every guard, and run nothing.

    Exit codes: 0 allowed, 10 needs approval, 11 denied, 12 invalid.
    """
    from mcl.cli.home import use_home
    from mcl.cli.views.plan_check import checked_view
    from mcl.usecases.plan_check import check_plan_file, check_plan_of

    home, place, further = use_home(), workspace or Path.cwd(), skills or ()
    if _is_file(what):
        found = check_plan_file(Path(what), verb=verb, workspace=place, skills=further, home=home)
    else:
        found = check_plan_of(what, verb=verb, workspace=place, skills=further, home=home)
    out = Output(as_json)
    out.document(found.to_json())
    out.view(checked_view(found))
    return found.exit


def _is_file(text: str) -> bool:
    """Whether a word means a file: one that is there, or a name that no intent has."""
    return not text.startswith("@") and (Path(text).is_file() or "/" in text or "." in text)
