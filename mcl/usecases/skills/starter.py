"""`mcl skill new`: a folder with a skill that validates and runs, to be made one's own."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from executor.gate.effects import over_ceiling
from ir import VERBS, valid_verb
from mcl.core.errors import InputError, SkillError
from mcl.usecases.skills.files import PLAN_FILE, SKILL_FILE

# ---- The texts of a new skill: what it says teaches how to say something else.


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
        skill, plan = _SKILL.replace("%REPORT%", _REPORT), _WRITING_PLAN
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
        skill, plan = _SKILL.replace("%REPORT%", ""), _READING_PLAN
        tools = "matrix://tool/fs/list@1.0.0"
        does = "Lists the files of a folder."
        marks = "the folder and the file names"
        failed = "the folder could not be listed"
    values = {
        "%NAME%": name,
        "%TITLE%": title,
        "%VERB%": verb,
        "%DESCRIPTION%": f"{title}: {does[0].lower()}{does[1:]}",
        "%EXAMPLES%": "\n".join(f'example.{number}="{text}"' for number, text in enumerate(examples, 1)),
        "%TOOLS%": tools,
        "%MARKS%": marks,
        "%FAILED%": failed,
    }
    for place, value in values.items():
        skill, plan = skill.replace(place, value), plan.replace(place, value)
    return Starter(skill, plan, examples[0])


_SKILL = """\
# What can be asked for. The compiler matches goals with the words of this section: change them first.
§SKILL
id=%NAME%
version=1.0.0
display="%TITLE%"
description="%DESCRIPTION%"
# What such a goal wants done: find acquire build modify deliver analyze negotiate schedule monitor delegate.
# The verb also limits what a plan may do: to find, analyze or monitor is to look and change nothing.
mcl.verbs=%VERB%
# Goals that must be understood as this skill; `mcl skill test %NAME%` tries each. Five to ten that differ
# in wording teach most.
%EXAMPLES%

# What a goal has to say, or may say. Types: string uint float bool iso8601 enum<a|b> …, and lists, string[].
# A required slot that a goal does not fill is asked about. The hint helps to find its words in the goal.
§INPUTS
slot folder: string
  optional
  default=.
  hint="the folder to look in"
slot pattern: string
  optional
  hint="which file names, such as *.md"
%REPORT%
# Which memories are read: reads=Fact Preference, tags=travel.
§CORTEX
none

# The tools that plan.yaml may call, each with its version.
§TOOLS
%TOOLS%

# Other skills that plan.yaml may hand work to, such as matrix://skill/general@1.0.0.
§SUB_SKILLS
none

# How a goal is read, from top to bottom: the prompt for the model, `on verb=…` blocks, and what to ask when
# something is unclear. Places: {prose} {verb} {slots} {slot.folder} {cortex.bundle}; {{ is a literal brace.
§PROCEDURE
prompt
  system="You mark in a goal %MARKS%. Quote the goal's own words; add nothing."
  user="Goal: {prose}"
end
on confidence<0.5
  clarify slot.folder
    prompt="In which folder?"
    type=string
    required=false
  end
end

# What a run gives.
§OUTPUTS
slot files: string
  optional
  hint="one path a line"

# What may go wrong, by the code of the failure in small letters (not_found, exists) or tool_failure for any
# failed call, and what a person is told then.
§FAILURE_MODES
tool_failure
  message="%FAILED%"
  suggest=name_a_folder_that_exists
  action=fail
  reason=tool_failure
"""

_REPORT = """\
slot report: string
  required
  hint="the new file to write the list to"
"""

_READING_PLAN = """\
# What runs. The first plan whose `when` holds is taken, as in `when: {verb: find, slot.pattern: "*"}`; one
# without `when` always holds.
version: 1
plans:
  - root:
      id: list                  # names this node; later nodes can use ${list.output.text}
      kind: tool_call           # or sequential, parallel (with children), step, sub_dispatch, gate
      description: List the folder
      tool_call:
        tool_ref: matrix://tool/fs/list@1.0.0
        side_effect_class: read # what the tool does: read write network shell chain
        args:                   # ${slot.x} is what the goal says; a place that nothing fills is left out
          path: "${slot.folder}"
          glob: "${slot.pattern}"
"""

_WRITING_PLAN = """\
# What runs. The first plan whose `when` holds is taken, as in `when: {verb: %VERB%, slot.pattern: "*"}`; one
# without `when` always holds.
version: 1
plans:
  - root:
      id: report
      kind: sequential          # one child after the other; also parallel, step, sub_dispatch, gate
      description: List the folder and write the list to a new file
      children:
        - id: list              # names this node; later nodes use what it gives
          kind: tool_call
          description: List the folder
          tool_call:
            tool_ref: matrix://tool/fs/list@1.0.0
            side_effect_class: read
            args:               # ${slot.x} is what the goal says; a place that nothing fills is left out
              path: "${slot.folder}"
              glob: "${slot.pattern}"
        - id: write
          kind: tool_call
          description: Write the list
          tool_call:
            tool_ref: matrix://tool/fs/write@1.0.0
            side_effect_class: write  # what the tool does: read write network shell chain
            args:
              path: "${slot.report}"
              content: "${list.output.text}"
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
