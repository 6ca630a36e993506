"""`mcl skill`: the skills that there are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from mcl.cli import skill_files
from mcl.cli.arguments import (
    AsJson,
    AsJsonLines,
    ModelPath,
    NoAi,
    Paths,
    SkillDirectories,
    argument,
    complete_skill,
    noun,
    option,
    verb,
)
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, note_error, write_event, write_line
from mcl.cli.progress import progress_bar
from mcl.cli.views.layout import BAD, DIM, GOOD, WARN, commands, joined, listing, plain, rows
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


@verb(
    skills,
    "list",
    "mcl skill list",
    "mcl skill list --skills ./more-skills",
    "mcl skill list --derived",
)
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


@verb(skills, "show", "mcl skill show general", "mcl skill show skills/read-file")
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


# ---- `mcl skill new`: a skill to start from.

_VERBS = "find, acquire, build, modify, deliver, analyze, negotiate, schedule, monitor, delegate"


@verb(
    skills, "new", "mcl skill new shelf-list", "mcl skill new weekly-report --verb deliver --in ./more-skills"
)
def new_skill(
    name: Annotated[str, argument("NAME", "The id: lower-case letters, digits and dashes.")],
    verb: Annotated[str, option("--verb VERB", f"What such a goal wants done: {_VERBS}.")] = "find",
    folder: Annotated[Path, option("--in DIR", "The folder of skills to make it in.")] = Path("skills"),
    as_json: AsJson = False,
) -> None:
    """Make a folder with a skill that works, and comments that say how to make it your own."""
    from mcl.usecases import installed
    from mcl.usecases.skills import starter

    made, out = starter.new_skill(name, verb=verb, folder=folder), Output(as_json)
    elsewhere = "" if folder == Path("skills") else f" --skills {folder}"
    todo = [
        (f"mcl skill check {made.path}", "what is wrong with it, after each change"),
        (f"mcl skill test {made.path}", "whether its examples are understood"),
        (f'mcl compile "{made.example}"{elsewhere}', "use it"),
    ]
    out.document(
        {
            "id": made.id,
            "path": made.path,
            "files": made.files,
            "example": made.example,
            "next": [command for command, _ in todo],
        }
    )
    if as_json:
        return
    if hides := [
        one
        for one in installed.list_skills([folder]).shadowed
        if one.id == name and one.by.samefile(made.path)
    ]:
        note(f"{name} hides the skill of the same id in {hides[-1].path}")
    out.tell([joined((("made", GOOD), (str(path), ""))) for path in made.files])
    out.tell([commands(todo)])


# ---- `mcl skill publish`: §HASH.

NoTest = Annotated[bool, option("--no-test", "Do not try the examples.")]


@verb(skills, "publish", "mcl skill publish skills/read-file", "mcl skill publish skills --no-test")
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
    from mcl.usecases.skills.checks import publish_file
    from mcl.usecases.skills.files import skill_files

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
                write_event({"path": shown, "ok": False, "error": error})
            note_error(error)
    return UNVERIFIED if bad else 0


# ---- `mcl skill test`: whether a skill is chosen for its own examples.


Tested = Annotated[
    list[str] | None,
    argument(
        "SKILL|PATH",
        "Ids or folders of skills (default: every skill that is found).",
        autocompletion=complete_skill,
    ),
]
HeldOut = Annotated[bool, option("--held-out", "Hide each example from its skill while it is tried.")]
At = Annotated[str, option("--at TIME", "The moment of the compile, ISO 8601.")]


@verb(skills, "test", "mcl skill test skills/read-file", "mcl skill test --no-ai --held-out")
def try_skills(
    skill: Tested = None,
    held_out: HeldOut = False,
    model: ModelPath = None,
    no_ai: NoAi = False,
    at: At = "",
    skills: SkillDirectories = None,
    as_json: AsJsonLines = False,
) -> int:
    """Compile every example of a skill: of all skills that are found, this one must be chosen.

    For the goals of its `not.N` lines it must not be. Nothing is stored. With --json one line a skill. Exit
    code 6 when an example is not this skill's, or a goal that is not for it is; an example that asks
    something is told, and is not counted as understood.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.views.skill import tried_document, tried_summary, tried_view
    from mcl.usecases.skills.examples import try_examples

    out, all_tried = Output(as_json), []
    home = use_home()
    with progress_bar("examples") as progress:
        tried = try_examples(
            skill or (),
            held_out=held_out,
            model=model,
            ai=not no_ai,
            at=at or None,
            folders=skills or (),
            home=home,
            progress=progress,
        )
        for one in tried:
            all_tried.append(one)
            if as_json:
                write_event(tried_document(one))
    if not as_json:
        for one in all_tried:
            out.tell(tried_view(one))
        out.tell([tried_summary(all_tried)])
    return 0 if all(one.ok for one in all_tried) else UNVERIFIED


skills.add_typer(skill_files.verbs)
GROUPS: Final = (skills,)
