"""`mcl skill new`: a skill to start from."""

from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.cli.skill.arguments import find

_VERBS = "find, acquire, build, modify, deliver, analyze, negotiate, schedule, monitor, delegate"


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    lines = ("mcl skill new read-file", "mcl skill new weekly-report --verb deliver --in ./more-skills")
    skills.command("new", epilog=example(*lines))(new_skill)


def new_skill(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The id: lower-case letters, digits and dashes.")
    ],
    verb: Annotated[
        str, typer.Option("--verb", metavar="VERB", help=f"What such a goal wants done: {_VERBS}.")
    ] = "find",
    folder: Annotated[
        Path, typer.Option("--in", metavar="DIR", help="The folder of skills to make it in.")
    ] = Path("skills"),
    as_json: AsJson = False,
) -> None:
    """Make a folder with a skill that works, and comments that say how to make it your own."""
    from mcl.cli.views.layout import GOOD, commands, joined
    from mcl.usecases.skill import new

    made, out = new.new_skill(name, verb=verb, folder=folder), Output(as_json)
    elsewhere = "" if folder == Path("skills") else f" --skills {folder}"
    todo = [
        (f"mcl skill validate {made.path}", "what is wrong with it, after each change"),
        (f"mcl skill test {made.path}", "whether its examples are understood"),
        (f'mcl compile "{made.example}"{elsewhere}', "use it"),
    ]
    out.document(
        {
            "id": made.id,
            "path": str(made.path),
            "files": [str(path) for path in made.files],
            "example": made.example,
            "next": [command for command, _ in todo],
        }
    )
    if as_json:
        return
    if hides := [one for one in find([folder]).shadowed if one.id == name and one.by.samefile(made.path)]:
        note(f"{name} hides the skill of the same id in {hides[-1].path}")
    out.tell([joined((("made", GOOD), (str(path), ""))) for path in made.files])
    out.tell([commands(todo)])
