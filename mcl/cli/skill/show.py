"""`mcl skill show`: one skill."""

from typing import TYPE_CHECKING

import typer

from mcl.cli.arguments import AsJson, SkillDirectories, example
from mcl.cli.output import Output
from mcl.cli.skill.arguments import OneSkill, one

if TYPE_CHECKING:
    from mcl.language.skills import Skill, Slot


def register(skills: typer.Typer) -> None:
    """Add this verb."""
    skills.command("show", epilog=example("mcl skill show general", "mcl skill show skills/read-file"))(
        show_skill
    )


def show_skill(skill: OneSkill, skills: SkillDirectories = None, as_json: AsJson = False) -> None:
    """Show a skill: its verbs, inputs, tools and examples."""
    from mcl.cli.views.layout import DIM, joined, plain, rows

    found, out = one(skill, skills), Output(as_json)
    out.document(document(found))
    if as_json:
        return
    pairs = [("skill", joined(((found.ref, "bold"), (found.display, "")))), ("", plain(found.description))]
    pairs += [("verbs", plain(" ".join(found.verbs)))]
    for slot in found.slots:
        parts = ((slot.name, "cyan"), (_type(slot), DIM), (_need(slot), DIM), (slot.hint, ""))
        pairs.append(("inputs", joined(parts)))
    pairs += [("tools", plain(uri.removeprefix("matrix://tool/"))) for uri in found.tools]
    pairs += [("sub-skills", plain(uri.removeprefix("matrix://skill/"))) for uri in found.sub_skills]
    pairs += [("examples", plain(line)) for line in found.examples]
    pairs += [("folder", plain(str(found.path), DIM)), ("digest", plain(found.file_digest, DIM))]
    pairs += [("with plan", plain(found.digest, DIM))]
    out.tell([rows(pairs)])


def document(skill: "Skill") -> dict[str, object]:
    """A skill as JSON values. digest covers SKILL.mtx and plan.yaml, file_digest SKILL.mtx alone."""
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
        "file_digest": skill.file_digest,
    }


def _type(slot: "Slot") -> str:
    kind = f"{slot.type}<{'|'.join(slot.options)}>" if slot.options else slot.type
    return kind + ("[]" if slot.most > 1 else "")


def _need(slot: "Slot") -> str:
    if slot.required:
        return "required"
    return f"default {' '.join(slot.default)}" if slot.default else "optional"
