"""`mcl skill`: the skills that there are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from mcl.cli.arguments import (
    AsJson,
    SkillDirectories,
    argument,
    complete_skill,
    noun,
    option,
    verb,
)
from mcl.cli.output import Output, note
from mcl.cli.views.layout import BAD, DIM, WARN, joined, listing, plain, rows
from mcl.core.text import some

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.language.skills import Skill, Slot

skills = noun("skill", "Skills: what can be asked for.", "mcl skill list", "mcl skill new water-plants")


def _lacking(home: Path) -> "dict[str, tuple[str, ...]]":
    """What a home's own core modules leave to the shipped ones, by module; {} where they cannot be read,
    which every compile tells."""
    from mcl.core.errors import SkillError
    from mcl.language.mtx.core import core_of

    try:
        return {name: module.lacking for name, module in core_of(home).modules.items()}
    except SkillError:
        return {}


OneSkill = Annotated[
    str, argument("SKILL", "The id of a skill, or a folder with a SKILL.mtx.", autocompletion=complete_skill)
]


# ---- `mcl skill list`, `show`, `new`, `publish` and `test`: the skills that there are.


DerivedOnes = Annotated[
    bool, option("--derived", "Those that were made of tools: of other servers, and of declared commands.")
]


@verb(skills, "list")
def list_skills(
    skills: SkillDirectories = None, derived: DerivedOnes = False, as_json: AsJson = False
) -> None:
    """List the skills that are found: of the package, of the home, of ./skills, of --skills.

    A later one hides an earlier one of the same id. Core modules that the home has of its own are told too.
    """
    if derived:
        _list_derived(Output(as_json), as_json=as_json)
        return
    from executor.tools.names import short_name
    from mcl.catalog.extras import needs_extra
    from mcl.core.home import locate
    from mcl.language.mtx.core import own_modules
    from mcl.usecases import installed

    found, out, own = installed.list_skills(skills or ()), Output(as_json), own_modules(locate())
    broken = found.broken or {}
    out.document(
        {
            "skills": [document(skill) for skill in found],
            "broken": broken,
            "shadowed": [{"id": one.id, "path": one.path, "by": one.by} for one in found.shadowed],
            "core": own,
        }
    )
    if as_json:
        return
    lines = []
    for skill in found:
        lacking = needs_extra(map(short_name, skill.tools))
        said = f"{skill.description} ({' '.join(skill.verbs)}){lacking and f'; {lacking}'}"
        lines.append(((skill.id, ""), (skill.version, DIM), (said, "")))
    lines += [((name, BAD), ("broken", BAD), (str(error), "")) for name, error in broken.items()]
    out.tell([listing(("skill", "version", "what it does, and its verbs"), lines)])
    out.tell(joined(((f"{one.path}", WARN), (f"is hidden by {one.by}", DIM))) for one in found.shadowed)
    absent = _lacking(locate()) if own else {}
    for name, path in own.items():
        more = f", but for what it lacks: {some(absent[name], 5)}" if absent.get(name) else ""
        out.tell([joined(((str(path), WARN), (f"takes the place of a core module{more}", DIM)))])


def _list_derived(out: Output, *, as_json: bool) -> None:
    """Each with what its tool says, in quotes as it is somebody else's word; then the tools that no goal can
    ask for, and why."""
    from mcl.usecases import installed

    derived = installed.list_skills().derived
    by_id = derived.by_id
    out.document({"skills": [document(skill) for skill in by_id.values()], "not_askable": derived.flaws})
    if as_json:
        return
    lines = [
        ((id, ""), (" ".join(skill.verbs), DIM), (f"“{skill.description}”", ""))
        for id, skill in by_id.items()
    ]
    lines += [
        ((id, WARN), ("", ""), (f"cannot be asked for: {why}", DIM)) for id, why in derived.flaws.items()
    ]
    if not lines:
        note("none: a tool of a server becomes one when it is approved, a command when it is declared")
        return
    out.tell([listing(("skill", "verb", "what its tool says of itself"), lines)])


# ---- `mcl skill show`: one skill.


@verb(skills, "show")
def show_skill(skill: OneSkill, skills: SkillDirectories = None, as_json: AsJson = False) -> None:
    """Show a skill: its verbs, inputs, tools and examples."""
    from executor.tools.names import short_name
    from mcl.catalog.extras import missing_of
    from mcl.usecases import installed

    found, out = installed.show_skill(skill, skills or ()), Output(as_json)
    out.document(document(found))
    if as_json:
        return
    pairs: list[tuple[str, RenderableType]] = [
        ("skill", joined(((found.ref, "bold"), (found.display, "")))),
        ("", found.description),
    ]
    pairs += [("verbs", " ".join(found.verbs))]
    for slot in found.slots:
        parts = ((slot.name, "cyan"), (_type(slot), DIM), (_need(slot), DIM), (slot.hint, ""))
        pairs.append(("inputs", joined(parts)))
    pairs += [("tools", uri.removeprefix("matrix://tool/")) for uri in found.tools]
    if missing := missing_of(map(short_name, found.tools)):
        pairs += [("extra", plain(missing.message, WARN)), ("", missing.fix)]
    pairs += [("sub-skills", uri.removeprefix("matrix://skill/")) for uri in found.sub_skills]
    pairs += [("examples", line) for line in found.examples]
    pairs += [("phrases", line) for line in found.phrases]
    pairs += [("not for", line) for line in found.not_for]
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
        "verbs": skill.verbs,
        "slots": skill.slots,
        "tools": skill.tools,
        "sub_skills": skill.sub_skills,
        "examples": skill.examples,
        "phrases": skill.phrases,
        "not_for": skill.not_for,
        "folder": skill.path,
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


GROUPS: Final = (skills,)
