"""What a batch is compiled with, as plain values that another process can be told, and opened from them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from executor.store.home import Home
from mcl.compiler.tapes import Tapes, Unloaded
from mcl.core.errors import SkillError
from mcl.core.home import open_home
from mcl.core.zone import zone_here
from mcl.language.mtx.core import core_of
from mcl.language.skills import Skills, find_skills
from mcl.model.protocol import Model
from mcl.usecases.batch.goals import Goals
from mcl.usecases.models import Models
from mcl.usecases.skills import installed


@dataclass(frozen=True)
class Settings:
    """home: its folder. skills: folders; where any is given, only their skills are choices. model: a GGUF, ""
    for the one in use. zone: "" for the home's. passphrase: of sealed keys. The rest as in `Goals`."""

    home: str
    skills: tuple[str, ...] = ()
    model: str = ""
    ai: bool = True
    zone: str = ""
    at: str = ""
    store: bool = True
    cache: bool = True
    truncate: bool = False
    passphrase: str = ""

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Self:
        """From a JSON object."""
        return cls(**{**said, "skills": tuple(said["skills"])})


@contextmanager
def open_goals(
    settings: Settings, *, home: Home | None = None, model: Model | None = None
) -> Iterator[Goals]:
    """Open what is not open yet: home, skills, model. Raises HomeError, SkillError, ModelError."""
    path = Path(settings.home)
    opened = home or open_home(path, passphrase=settings.passphrase.encode() or None)
    try:
        skills, core = choices(path, [Path(one) for one in settings.skills]), core_of(path)
        tapes, manner = None, ""
        if model is None:
            file = Path(settings.model) if settings.model else None
            asked = Models(opened).unloaded(file) if settings.ai else Models(opened).open(ai=False, core=core)
            model = asked.load() if isinstance(asked, Unloaded) else asked
            if settings.cache and isinstance(asked, Unloaded):
                tapes, manner = Tapes.of(path), asked.manner
        yield Goals(
            opened,
            skills,
            core,
            model,
            settings.zone or zone_here(opened),
            settings.at,
            settings.store,
            settings.truncate,
            tapes,
            manner,
        )
    finally:
        if home is None:
            opened.close()


def choices(home: Path, folders: list[Path]) -> Skills:
    """The skills of these folders alone; where none are named, those installed.

    Raises SkillError NO_FOLDER, NO_SKILLS; for a broken skill in a named folder what is wrong with it, since
    its goals would be taken for those of others.
    """
    if not folders:
        return installed(home)
    for folder in folders:
        if not folder.is_dir():
            fix = "give a folder of skills"
            raise SkillError("NO_FOLDER", "this is no folder", place=str(folder), fix=fix)
    found = find_skills(folders, cache=home / "cache")
    for error in (found.broken or {}).values():
        raise error
    if not len(found):
        named = ", ".join(map(str, folders))
        raise SkillError(
            "NO_SKILLS", "there is no skill here", place=named, fix="one folder a skill, each with SKILL.mtx"
        )
    return found
