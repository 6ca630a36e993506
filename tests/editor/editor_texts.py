"""Texts for the tests of editor help. `|` in a snippet is where the cursor stands."""

from __future__ import annotations

from mcl.plugins.editor.document import OpenDocument

SKILL = """§SKILL
id=demo
version=1.0.0
description="Shows how it is done"
mcl.verbs=find analyze

§INPUTS
slot target: ArtifactRef
  required
  hint="What to look for"
slot cabin: enum<economy|premium>
  optional
  default=economy
slot loud: bool
  optional

§CORTEX
reads=Fact

§TOOLS
matrix://tool/fs/read@1.0.0

§SUB_SKILLS
matrix://skill/other@2.0.0

§PROCEDURE
kind=reason
on verb=find
  prompt
    system="You find."
    user="Goal {{ {prose} in {slot.cabin} {slot.target.prose}"
  end
  resolve slot.target <- cortex.find(type=Fact, near=slot.target.prose, limit=5)
  unknown slot.target
    severity=blocking
    reason="nobody said what"
  end
end
on slot.cabin=premium
  clarify slot.loud
    prompt="Loud {verb}?"
    type=bool
    required=true
  end
end

§OUTPUTS
slot result: string[]
  optional
  max=3

§FAILURE_MODES
tool_missing
  suggest=install_it
  action=fail
  reason=tool_failure
"""


def typed(line: str, *, instead_of: str = "", after: str = "") -> tuple[OpenDocument, int, int]:
    """The skill with a line typed in, and the cursor's line and column (from 1) in it.

    The line stands in place of the first that begins with `instead_of`, or behind the one that begins with
    `after`.
    """
    rows = SKILL.split("\n")
    number = next(n for n, row in enumerate(rows) if row.startswith(instead_of or after))
    column = line.index("|") + 1
    new = line.replace("|", "", 1)
    rows[number : number + 1] = [new] if instead_of else [rows[number], new]
    number += not instead_of
    return OpenDocument("\n".join(rows)), number + 1, column


def pointed(line: str) -> tuple[OpenDocument, int, int]:
    """The skill, with the cursor where `|` is in this line of it."""
    rows = SKILL.split("\n")
    return OpenDocument(SKILL), rows.index(line.replace("|", "", 1)) + 1, line.index("|") + 1
