"""`mcl skill publish`: §HASH."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJsonLines, ModelPath, NoAi, SkillDirectories, example
from mcl.cli.output import note_error, write_event, write_line
from mcl.cli.skill.arguments import Paths

NoTest = Annotated[bool, typer.Option("--no-test", help="Do not try the examples.")]


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    lines = ("mcl skill publish skills/read-file", "mcl skill publish skills --no-test")
    skills.command("publish", epilog=example(*lines))(publish_skills)


def publish_skills(
    paths: Paths,
    no_test: NoTest = False,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
    as_json: AsJsonLines = False,
) -> int:
    """Write the digest of each skill into its §HASH, and print `<digest>  <path>`.

    Only a skill without errors (as of validate --strict) whose examples are understood is published. With
    --json one line a file. Exit code 6 when one is not.
    """
    from ir import MclError
    from ir.errors import UNVERIFIED
    from mcl.cli.home import use_home
    from mcl.usecases.skill.files import skill_files
    from mcl.usecases.skill.publish import publish_file

    home = None if no_test else use_home()
    bad = False
    for given in paths:
        shown = given
        try:
            for file in skill_files(given):
                shown = file.shown
                done = publish_file(
                    file, test=not no_test, model=model, ai=not no_ai, folders=skills or (), home=home
                )
                if as_json:
                    write_event(
                        {"path": done.path, "ok": True, "digest": done.digest, "changed": done.changed}
                    )
                else:
                    write_line(f"{done.digest}  {done.path}")
        except MclError as error:
            bad = True
            if as_json:
                write_event({"path": shown, "ok": False, "error": error.to_json()})
            note_error(error)
    return UNVERIFIED if bad else 0
