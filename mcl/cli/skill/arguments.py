"""Arguments that several verbs of `mcl skill` share."""

from collections.abc import Iterator
from typing import Annotated

import typer


def complete_skill(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the skills that are found here, and what they do."""
    from ir.errors import MclError
    from mcl.usecases.installed import list_skills

    try:
        found = list_skills()
    except (MclError, OSError):
        return
    for skill in found:
        if skill.id.startswith(incomplete):
            yield skill.id, skill.description


Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="A .mtx file, the folder of a skill, or a folder of such folders."),
]
OneSkill = Annotated[
    str,
    typer.Argument(
        metavar="SKILL",
        help="The id of a skill, or a folder with a SKILL.mtx.",
        autocompletion=complete_skill,
    ),
]
