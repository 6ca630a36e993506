"""`mcl skill`: what can be asked for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, SkillDirectories, example
from mcl.cli.output import Output

if TYPE_CHECKING:
    from mcl.skills import Skill, Skills

Folders = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Folders of skills, or SKILL.mtx files.")
]
SkillId = Annotated[
    str, typer.Argument(metavar="SKILL", help="The id of a skill, or a folder with a SKILL.mtx.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    skills = typer.Typer(name="skill", help="Skills: what can be asked for.", rich_markup_mode=None)
    skills.command("list", epilog=example("mcl skill list"))(list_skills)
    skills.command("show", epilog=example("mcl skill show files"))(show_skill)
    skills.command(
        "validate", epilog=example("mcl skill validate skills/files", "mcl skill validate skills/*")
    )(validate_skills)
    skills.command("hash", epilog=example("mcl skill hash files"))(hash_skill)
    app.add_typer(skills)


def list_skills(skills: SkillDirectories = None, as_json: AsJson = False) -> None:
    """List the skills that are found: of the package, of the home, of ./skills, of --skills."""
    from mcl.cli.views.layout import BAD, DIM, listing

    found, out = _find(skills), Output(as_json)
    broken = found.broken or {}
    out.document(
        {
            "skills": [_document(skill) for skill in found],
            "broken": {name: error.to_json() for name, error in broken.items()},
        }
    )
    lines = [
        ((skill.id, ""), (skill.version, DIM), (f"{skill.description} ({' '.join(skill.verbs)})", ""))
        for skill in found
    ]
    lines += [((name, BAD), ("broken", BAD), (str(error), "")) for name, error in broken.items()]
    if not as_json:
        out.tell([listing(("skill", "version", "what it does, and its verbs"), lines)])


def show_skill(skill: SkillId, skills: SkillDirectories = None, as_json: AsJson = False) -> None:
    """Show a skill: its verbs, inputs, tools and examples."""
    from mcl.cli.views.layout import DIM, joined, plain, rows

    found, out = _one(skill, skills), Output(as_json)
    out.document(_document(found))
    if as_json:
        return
    pairs = [("skill", joined(((found.ref, "bold"), (found.display, "")))), ("", plain(found.description))]
    pairs += [("verbs", plain(" ".join(found.verbs)))]
    for slot in found.slots:
        kind = f"{slot.type}<{'|'.join(slot.options)}>" if slot.options else slot.type
        kind += "[]" if slot.most > 1 else ""
        need = (
            "required"
            if slot.required
            else f"default {' '.join(slot.default)}"
            if slot.default
            else "optional"
        )
        pairs.append(("inputs", joined(((slot.name, "cyan"), (kind, DIM), (need, DIM), (slot.hint, "")))))
    pairs += [("tools", plain(uri.removeprefix("matrix://tool/"))) for uri in found.tools]
    pairs += [("examples", plain(line)) for line in found.examples]
    pairs += [("folder", plain(str(found.path), DIM)), ("digest", plain(found.digest, DIM))]
    out.tell([rows(pairs)])


def validate_skills(paths: Folders, as_json: AsJson = False) -> int:
    """Check skills strictly: every error of every file, with line and column.

    Exit code 6 when a skill cannot be used.
    """
    from ir.errors import UNVERIFIED
    from mcl.errors import SkillError
    from mcl.skills import load_skill

    out, documents, bad = Output(as_json), [], 0
    for path in paths:
        folder = path.parent if path.name == "SKILL.mtx" else path
        digest, errors = "", list[dict[str, object]]()
        try:
            digest = load_skill(folder).digest
        except SkillError as error:
            bad += 1
            listed = error.data.get("errors")
            errors = listed if isinstance(listed, list) else [error.to_json()]
        documents.append({"path": str(folder), "ok": not errors, "digest": digest, "errors": errors})
        if not as_json:
            _tell_checked(out, folder, digest, errors)
    out.document({"ok": not bad, "skills": documents})
    return UNVERIFIED if bad else 0


def hash_skill(skill: SkillId, skills: SkillDirectories = None, as_json: AsJson = False) -> None:
    """Print the digest of a skill: sha256 over the meaning of its SKILL.mtx and plan.yaml."""
    found = _one(skill, skills)
    Output(as_json).document({"skill": found.ref, "digest": found.digest})
    if not as_json:
        print(found.digest)


def _tell_checked(out: Output, folder: Path, digest: str, errors: list[dict[str, object]]) -> None:
    from mcl.cli.views.layout import BAD, DIM, joined

    out.tell(
        [
            joined(
                (
                    ("BAD" if errors else "ok ", BAD if errors else "green"),
                    (str(folder), ""),
                    (digest[:12], DIM),
                )
            )
        ]
    )
    for error in errors:
        place = f"{error['line']}:{error['column']}" if error.get("line") else str(error.get("place", ""))
        hint = str(error.get("hint") or error.get("fix") or "")
        out.tell(
            [
                joined(
                    (
                        ("    " + place, DIM),
                        (str(error["code"]), BAD),
                        (str(error["message"]), ""),
                        (hint, DIM),
                    )
                )
            ]
        )


def _find(extra: list[Path] | None) -> "Skills":
    from mcl.acts.skills import installed
    from mcl.home import locate

    return installed(locate(), extra or ())


def _one(name: str, extra: list[Path] | None) -> "Skill":
    from mcl.acts.skills import the_skill
    from mcl.skills import load_skill

    if (Path(name) / "SKILL.mtx").is_file():
        return load_skill(Path(name))
    return the_skill(_find(extra), name)


def _document(skill: "Skill") -> dict[str, object]:
    return {
        "id": skill.id,
        "version": skill.version,
        "ref": skill.ref,
        "display": skill.display,
        "description": skill.description,
        "verbs": list(skill.verbs),
        "slots": [
            {
                "name": slot.name,
                "type": slot.type,
                "options": list(slot.options),
                "required": slot.required,
                "default": list(slot.default),
                "hint": slot.hint,
                "most": slot.most,
            }
            for slot in skill.slots
        ],
        "tools": list(skill.tools),
        "sub_skills": list(skill.sub_skills),
        "examples": list(skill.examples),
        "folder": str(skill.path),
        "digest": skill.digest,
    }
