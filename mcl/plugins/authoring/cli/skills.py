"""`mcl skill new`, `publish` and `test`: a skill made, finished and tried."""

from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import (
    VERBS,
    AsJson,
    AsJsonLines,
    ModelPath,
    NoAi,
    Paths,
    SkillDirectories,
    argument,
    complete_skill,
    option,
    verb,
)
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, note_error, write_event, write_line
from mcl.cli.progress import progress_bar
from mcl.cli.views.layout import GOOD, commands, joined
from mcl.plugins.authoring.cli import files

verbs = typer.Typer()


# ---- `mcl skill new`: a skill to start from.


@verb(verbs, "new")
def new_skill(
    name: Annotated[str, argument("NAME", "The id: lower-case letters, digits and dashes.")],
    verb: Annotated[str, option("--verb VERB", f"What such a goal wants done: {VERBS}.")] = "find",
    folder: Annotated[Path, option("--in DIR", "The folder of skills to make it in.")] = Path("skills"),
    as_json: AsJson = False,
) -> None:
    """Make a folder with a skill that works, and comments that say how to make it your own."""
    from mcl.plugins.authoring import starter
    from mcl.usecases import installed

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


@verb(verbs, "publish")
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
    from mcl.plugins.authoring.checks import publish_file
    from mcl.plugins.authoring.files import skill_files

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


@verb(verbs, "test")
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
    from mcl.plugins.authoring.cli.views import tried_document, tried_summary, tried_view
    from mcl.plugins.authoring.examples import try_examples

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


verbs.add_typer(files.verbs)
