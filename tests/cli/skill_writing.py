"""A small skill that tests write, whole or flawed; no shipped skill is touched."""

from __future__ import annotations

from pathlib import Path

SKILL = """\
§SKILL
id=read-page
version=1.0.0
display="Read a page"
description="Shows the beginning of a page of the handbook."
mcl.verbs=find
example.1="show me the handbook page in the file notes/intro.md"
example.2="read the page of the handbook"

§INPUTS
slot file: string
  required
  hint="the file to read"
slot size: uint
  optional
  default=2000
  hint="how many bytes at most"

§CORTEX
none

§TOOLS
matrix://tool/fs/read@1.0.0

§SUB_SKILLS
none

§PROCEDURE
prompt
  system="You mark in a goal which page is meant. Quote the goal's own words."
  user="Goal: {prose}"
end

§OUTPUTS
slot text: string
  optional

§FAILURE_MODES
none
"""

# Its plan where a step says something of the page; KIND is the kind of that step.
STEP = """\
version: 1
plans:
  - root:
      id: page
      kind: sequential
      children:
        - id: read
          kind: tool_call
          tool_call:
            tool_ref: matrix://tool/fs/read@1.0.0
            side_effect_class: read
            args: {path: "${slot.file}", max_bytes: "${slot.size}"}
        - id: tell
          kind: step
          step:
            kind: KIND
            inputs: {page: "${read.output.text}"}
            expected_outputs: [text]
"""
PLAN = """\
version: 1
plans:
  - root:
      id: read
      kind: tool_call
      description: Read the page
      tool_call:
        tool_ref: matrix://tool/fs/read@1.0.0
        side_effect_class: read
        args: {path: "${slot.file}", max_bytes: "${slot.size}"}
"""


def write_skill(
    folder: Path, *, name: str = "read-page", skill: str = SKILL, plan: str = PLAN, **changes: str
) -> Path:
    """Write a skill below `folder`; `old="…", new="…"` replaces a text of SKILL.mtx, `plan_old` and
    `plan_new` one of plan.yaml, which must be there. An empty plan is none.
    """
    skill = _changed(skill, changes.get("old", ""), changes.get("new", ""))
    plan = _changed(plan, changes.get("plan_old", ""), changes.get("plan_new", ""))
    place = folder / name
    place.mkdir(parents=True)
    (place / "SKILL.mtx").write_text(skill, encoding="utf-8")
    if plan:
        (place / "plan.yaml").write_text(plan, encoding="utf-8")
    return place


def _changed(text: str, old: str, new: str) -> str:
    assert old in text, old
    return text.replace(old, new) if old else text
