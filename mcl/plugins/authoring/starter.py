"""`mcl skill new`: a folder with a skill that validates and runs, to be made one's own."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from executor.gate.effects import over_ceiling
from ir import VERBS, valid_verb
from mcl.core.errors import InputError, SkillError
from mcl.plugins.authoring.files import PLAN_FILE, SKILL_FILE

# ---- The texts of a new skill (`new_skill.mtx` and a plan): what they say teaches how to say something else.


@dataclass(frozen=True)
class Starter:
    """SKILL.mtx, plan.yaml, and a goal that the two of them can do."""

    skill: str
    plan: str
    example: str


def starter(name: str, verb: str, *, writes: bool) -> Starter:
    """The files of a skill called `name` for goals with `verb`.

    It lists a folder; with `writes` it writes the list to a new file.
    """
    words = name.replace("-", " ")
    title = words[:1].upper() + words[1:]
    if writes:
        examples = (
            f"write the {words} of the folder notes to overview.txt",
            f"{words}: docs to new.txt",
            f"put the {words} of drafts into report.txt",
        )
        plan, report = "new_plan_writing.yaml", _REPORT
        tools = "matrix://tool/fs/list@1.0.0\nmatrix://tool/fs/write@1.0.0"
        does = "Lists the files of a folder and writes the list to a new file."
        marks = "the folder, the file names and the new file"
        failed = "the list was not written"
    else:
        examples = (
            f"{words} in the folder notes",
            f"show the {words} of docs",
            f"{words} for all *.md files here",
        )
        plan, report = "new_plan_reading.yaml", ""
        tools = "matrix://tool/fs/list@1.0.0"
        does = "Lists the files of a folder."
        marks = "the folder and the file names"
        failed = "the folder could not be listed"
    values = {
        "%REPORT%": report,
        "%NAME%": name,
        "%TITLE%": title,
        "%VERB%": verb,
        "%DESCRIPTION%": f"{title}: {does[0].lower()}{does[1:]}",
        "%EXAMPLES%": "\n".join(f'example.{number}="{text}"' for number, text in enumerate(examples, 1)),
        "%TOOLS%": tools,
        "%MARKS%": marks,
        "%FAILED%": failed,
    }
    skill, plan = (files(__package__).joinpath(file).read_text("utf-8") for file in ("new_skill.mtx", plan))
    for place, value in values.items():
        skill, plan = skill.replace(place, value), plan.replace(place, value)
    return Starter(skill, plan, examples[0])


_REPORT = """\
slot report: string
  required
  hint="the new file to write the list to"
"""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


@dataclass(frozen=True)
class NewSkill:
    """What was made. files: SKILL.mtx and plan.yaml. example: a goal that it understands."""

    id: str
    path: Path
    files: tuple[Path, ...]
    example: str


def new_skill(name: str, *, verb: str = "find", folder: Path | str = "skills") -> NewSkill:
    """Make `folder`/`name` with a SKILL.mtx and a plan.yaml that teach: both validate strictly, and the
    example compiles, is accepted and runs. A verb that may not change things gets a skill that lists a
    folder, any other one that writes the list to a file.

    name: lower-case letters, digits and dashes; the skill's id. verb: one of the ten, or x:<name>. Raises
    InputError NAME_INVALID, VERB_UNKNOWN; SkillError EXISTS, NOT_WRITTEN. Nothing is left half made.
    """
    if not _NAME.fullmatch(name):
        fix = "at most 64 lower-case letters, digits and dashes, such as read-file"
        raise InputError("NAME_INVALID", f"{name!r} cannot be the id of a skill", place="name", fix=fix)
    if not valid_verb(verb):
        fix = f"one of {', '.join(VERBS)}, or x:<name>"
        raise InputError("VERB_UNKNOWN", f"there is no verb {verb!r}", place="verb", fix=fix)
    texts = starter(name, verb, writes=not over_ceiling(verb, "write", "write"))
    place = Path(folder) / name
    try:
        place.mkdir(parents=True)
    except FileExistsError as error:
        fix = "take another name, or remove it first"
        raise SkillError("EXISTS", "there is something of this name", place=str(place), fix=fix) from error
    except OSError as error:
        raise _not_written(place, error) from error
    files = (place / SKILL_FILE, place / PLAN_FILE)
    try:
        for path, text in zip(files, (texts.skill, texts.plan), strict=True):
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise _not_written(place, error) from error
    return NewSkill(name, place, files, texts.example)


def _not_written(place: Path, error: OSError) -> SkillError:
    message = f"cannot write it: {error.strerror or error}"
    return SkillError("NOT_WRITTEN", message, place=str(place), fix="check who may write there")
