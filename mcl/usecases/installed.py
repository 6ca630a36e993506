"""The skills that are found here: of the package, of the home, of this folder, and of further ones."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from mcl.core.errors import SkillError
from mcl.language.skills import Skill, Skills, find_skills, load_skill, skill_folders
from mcl.plugins.hooks import plugins


def installed(home: Path, extra: Sequence[Path] = (), *, here: Path | None = None) -> Skills:
    """The skills of the package, of the home's folder, of ./skills (or that of `here`), and of `extra`;
    beside them those that plug-ins derive from what the home knows.

    Raises SkillError NO_FOLDER for a folder of `extra` that is none.
    """
    for folder in extra:
        if not folder.is_dir():
            raise SkillError(
                "NO_FOLDER", "this is no folder", place=str(folder), fix="give a folder of skills"
            )
    here = here or Path.cwd()
    folders = skill_folders(home, here=here, extra=list(extra))
    found = find_skills(folders, cache=home / "cache" if home.is_dir() else None)
    makers = [(one, one.derived) for one in plugins() if one.derived]
    return found.beside(plugin.load_named(named)(home, here) for plugin, named in makers)


def the_skill(skills: Skills, id: str) -> Skill:
    """The skill with this id.

    Raises SkillError SKILL_UNKNOWN with the nearest ids, or what is wrong with it.
    """
    found = skills.get(id)
    if found is None:
        ids = [*skills.ids, *skills.derived.by_id]
        nearest = get_close_matches(id, ids, n=3) or ids[:5]
        raise SkillError(
            "SKILL_UNKNOWN",
            f"no skill is called {id}",
            place=id,
            fix=f"nearest: {', '.join(nearest)}; mcl skill list shows all",
            data={"nearest": nearest},
        )
    return found


def list_skills(folders: Sequence[Path] = ()) -> Skills:
    """The skills that are found from here, with those of further folders. Raises SkillError NO_FOLDER."""
    from mcl.core.home import locate

    return installed(locate(), folders)


def show_skill(name: str, folders: Sequence[Path] = ()) -> Skill:
    """The skill with this id, or in this folder. Raises SkillError."""
    if (Path(name) / "SKILL.mtx").is_file():
        return load_skill(Path(name))
    return the_skill(list_skills(folders), name)
