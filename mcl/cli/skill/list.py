"""`mcl skill list`: what can be asked for, and what hides what."""

import typer

from mcl.cli.arguments import AsJson, SkillDirectories, example
from mcl.cli.output import Output
from mcl.cli.skill.arguments import find


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    skills.command("list", epilog=example("mcl skill list", "mcl skill list --skills ./more-skills"))(
        list_skills
    )


def list_skills(skills: SkillDirectories = None, as_json: AsJson = False) -> None:
    """List the skills that are found: of the package, of the home, of ./skills, of --skills.

    A later one hides an earlier one of the same id. Core modules that the home has of its own are told too.
    """
    from mcl.cli.skill.show import document
    from mcl.cli.views.layout import BAD, DIM, WARN, joined, listing
    from mcl.core.home import locate
    from mcl.language.mtx.core import own_modules

    found, out, own = find(skills), Output(as_json), own_modules(locate())
    broken = found.broken or {}
    out.document(
        {
            "skills": [document(skill) for skill in found],
            "broken": {name: error.to_json() for name, error in broken.items()},
            "shadowed": [{"id": one.id, "path": str(one.path), "by": str(one.by)} for one in found.shadowed],
            "core": {name: str(path) for name, path in own.items()},
        }
    )
    if as_json:
        return
    lines = [
        ((skill.id, ""), (skill.version, DIM), (f"{skill.description} ({' '.join(skill.verbs)})", ""))
        for skill in found
    ]
    lines += [((name, BAD), ("broken", BAD), (str(error), "")) for name, error in broken.items()]
    out.tell([listing(("skill", "version", "what it does, and its verbs"), lines)])
    out.tell(joined(((f"{one.path}", WARN), (f"is hidden by {one.by}", DIM))) for one in found.shadowed)
    out.tell(joined(((str(path), WARN), ("takes the place of a core module", DIM))) for path in own.values())
