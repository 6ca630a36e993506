"""Arguments that several verbs of `mcl skill` share."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mcl.language.skills import Skill, Skills


def complete_skill(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: the skills that are found here, and what they do."""
    from ir.errors import MclError

    try:
        found = find(None)
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


def find(extra: list[Path] | None) -> "Skills":
    """The skills that are found from here. Raises SkillError NO_FOLDER."""
    from mcl.core.home import locate
    from mcl.usecases.skills import installed

    return installed(locate(), extra or ())


def one(name: str, extra: list[Path] | None) -> "Skill":
    """The skill with this id, or in this folder. Raises SkillError."""
    from mcl.language.skills import load_skill
    from mcl.usecases.skills import the_skill

    if (Path(name) / "SKILL.mtx").is_file():
        return load_skill(Path(name))
    return the_skill(find(extra), name)
