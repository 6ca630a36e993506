"""`mcl skill hash`: what a skill means, in 64 digits."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJsonLines, SkillDirectories, example
from mcl.cli.output import note_error, write_event, write_line
from mcl.cli.skill.arguments import complete_skill, find

if TYPE_CHECKING:
    from mcl.usecases.skill.files import SkillFile

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="A .mtx file, the folder of a skill, a folder of such folders, or the id of a skill.",
        autocompletion=complete_skill,
    ),
]


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    lines = ("mcl skill hash skills/read-file/SKILL.mtx", "mcl skill hash general")
    skills.command("hash", epilog=example(*lines))(hash_skills)


def hash_skills(paths: Paths, skills: SkillDirectories = None, as_json: AsJsonLines = False) -> int:
    """Print `<digest>  <path>` for each file: sha256 over what it means, not how it is laid out.

    It is what §HASH records. With --json one line a file. Exit code 6 when a file cannot be read.
    """
    from ir import MclError
    from ir.errors import UNVERIFIED
    from mcl.usecases.skill.hash import hash_file

    bad = False
    for given in paths:
        try:
            for file in _files(given, skills):
                digest = hash_file(file)
                if as_json:
                    write_event({"path": file.shown, "digest": digest})
                else:
                    write_line(f"{digest}  {file.shown}")
        except MclError as error:
            bad = True
            if as_json:
                write_event({"path": given, "error": error.to_json()})
            note_error(error)
    return UNVERIFIED if bad else 0


def _files(given: str, extra: list[Path] | None) -> Iterator["SkillFile"]:
    """The files of a path, or that of an installed skill where there is no such path."""
    from mcl.usecases.skill.files import SKILL_FILE, SkillFile, skill_files

    if not Path(given).exists() and (skill := find(extra).get(given)) is not None:
        yield SkillFile(str(skill.path / SKILL_FILE))
    else:
        yield from skill_files(given)
